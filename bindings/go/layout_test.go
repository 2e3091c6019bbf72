package gloom

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"unsafe"
)

// Each loop sets k bits, in a block and nowhere else, and sees when one of them is missing.
func TestLoops(t *testing.T) {
	if len(loops) != 18 {
		t.Fatalf("%d loops", len(loops))
	}
	for k := 3; k <= 17; k++ {
		for _, set := range []func(unsafe.Pointer, uint32) uint64{loops[k].set, loops[k].share} {
			for wide := uint64(1); wide < 1<<32; wide *= 3 {
				probe := uint32(wide)
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
