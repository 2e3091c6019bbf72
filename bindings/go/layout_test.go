package gloom

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"unsafe"
)

// The remainder without a division is the remainder, for every size: on a grid over all values, and at the smallest and
// the largest multiples and their neighbours, where an error would show first.
func TestPlaceIsTheRemainder(t *testing.T) {
	for size := uint64(2); size < 256; size++ {
		check := func(probe uint64) {
			if got, want := place(probe, size, 300), 300+probe%size; got != want {
				t.Fatalf("%d mod %d: bit %d instead of %d", probe, size, got, want)
			}
		}
		most := uint64(1<<32-1) / size
		for q := range uint64(2000) {
			for _, multiple := range []uint64{(q + 1) * size, (most - q) * size} {
				check(multiple - 1)
				check(multiple)
				check(min(multiple+1, 1<<32-1))
			}
		}
		for probe := uint64(0); probe < 1<<32; probe += 99991 {
			check(probe)
		}
	}
}

// Each loop sets k bits, in a block and nowhere else, and sees when one of them is missing.
func TestLoops(t *testing.T) {
	if len(loops) != 18 {
		t.Fatalf("%d loops", len(loops))
	}
	for k := 3; k <= 17; k++ {
		for _, set := range []func(unsafe.Pointer, uint64) uint64{loops[k].set, loops[k].share} {
			for probe := uint64(1); probe < 1<<32; probe *= 3 {
				var words [3 * BlockWords]uint64
				block := unsafe.Pointer(&words[BlockWords])
				if loops[k].test(block, probe)&1 != 0 || set(block, probe)&1 != 0 || set(block, probe)&1 != 1 {
					t.Fatalf("k %d, probe %d: set", k, probe)
				}
				bits := 0
				for bit := range len(words) * 64 {
					w, mask := &words[bit/64], uint64(1)<<(bit%64)
					if *w&mask == 0 {
						continue
					}
					if bits++; bit < BlockBits || bit >= 2*BlockBits {
						t.Fatalf("k %d, probe %d: bit %d", k, probe, bit)
					}
					*w ^= mask
					if loops[k].test(block, probe)&1 != 0 {
						t.Fatalf("k %d, probe %d: nobody asks for bit %d", k, probe, bit)
					}
					*w ^= mask
				}
				if bits != k || loops[k].test(block, probe)&1 != 1 {
					t.Fatalf("k %d, probe %d: %d bits", k, probe, bits)
				}
			}
		}
	}
}

func TestUnrolledIsUpToDate(t *testing.T) {
	folder := t.TempDir()
	generator, err := os.ReadFile("unroll.go")
	if err == nil {
		err = os.WriteFile(folder+"/unroll.go", generator, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command("go", "run", "unroll.go")
	run.Dir = folder
	run.Env = append(os.Environ(), "GOFLAGS=")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(folder + "/unrolled.go")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("unrolled.go")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("unrolled.go is not what unroll.go writes: go generate (%v)", err)
	}
}
