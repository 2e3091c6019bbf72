package gloom_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"example.org/gloom/bindings/go"
)

// Go adds and tests single keys itself, and the library does it in batches: both must set and see the same bits, for
// each k, whatever the number of blocks and the seed.
func TestGoAndTheLibraryAgree(t *testing.T) {
	r := random(t)
	for k := uint32(3); k <= 17; k++ {
		for _, blocks := range []uint64{1, 2, 7, 64, 1000, 4097} {
			seed := r.Uint64() & -(r.Uint64() & 1) // none, half of the time
			config := gloom.Config{NumBlocks: blocks, K: k, Seed: seed}
			reference := must(gloom.Open(config))
			keys := make([][]byte, blocks*8)
			for i := range keys {
				keys[i] = make([]byte, r.IntN(300))
				for j := range keys[i] {
					keys[i][j] = byte(r.Uint32())
				}
			}
			reference.AddMany(keys)
			others := names("other", 1000)
			want := reference.TestManyString(others, nil)
			for name, f := range opened(t, config) {
				for _, key := range keys {
					f.Add(key)
				}
				if !f.Equal(reference) || f.Count() != uint64(len(keys)) {
					t.Fatalf("%s, k %d, %d blocks, seed %d: other bits than a batch", name, k, blocks, seed)
				}
				for i, key := range others {
					if f.TestString(key) != want[i] {
						t.Fatalf("%s, k %d, %d blocks, seed %d: %q is %v in a batch", name, k, blocks, seed, key, want[i])
					}
				}
			}
		}
	}
}

// The race detector does not see the library's memory. A model instead: what goroutines add one by one, in batches and
// by merges at the same time is what a single one adds, with no bit and no count lost.
func TestConcurrentAddsLoseNothing(t *testing.T) {
	const writers, each = 8, 4000
	for _, blocks := range []uint64{1, 40, 4000} { // from much contention to little
		config := gloom.Config{NumBlocks: blocks, K: 7}
		model := must(gloom.Open(config))
		for w := range writers {
			model.AddManyString(names(fmt.Sprint(w), each))
		}
		for name, f := range opened(t, config) {
			if name == "Filter" {
				continue
			}
			var wg sync.WaitGroup
			for w := range writers {
				wg.Add(1)
				go func() {
					defer wg.Done()
					keys := names(fmt.Sprint(w), each)
					switch w % 4 {
					case 0, 1:
						for _, key := range keys {
							f.AddString(key)
							if !f.TestString(key) {
								t.Errorf("%s: %q is lost at once", name, key)
								return
							}
						}
					case 2:
						for len(keys) > 0 {
							f.AddManyString(keys[:100])
							keys = keys[100:]
						}
					case 3:
						part := must(gloom.Open(config))
						for _, key := range keys {
							part.AddString(key)
						}
						if err := f.Merge(part); err != nil {
							t.Error(err)
						}
					}
				}()
			}
			for range 20 { // counts are settled meanwhile
				must(f.MarshalBinary())
				f.Count()
				runtime.Gosched()
			}
			wg.Wait()
			if !f.Equal(model) || f.Count() != model.Count() {
				t.Errorf("%s, %d blocks: Equal %v, Count() %d instead of %d", name, blocks, f.Equal(model), f.Count(), model.Count())
			}
			if !bytes.Equal(must(f.MarshalBinary()), must(model.MarshalBinary())) {
				t.Errorf("%s, %d blocks: other bytes", name, blocks)
			}
		}
	}
}

// A Filter has one writer, and readers of everything meanwhile.
func TestOneWriterManyReaders(t *testing.T) {
	f := gloom.New(20000, 0.01)
	keys := names("key", 20000)
	f.AddString(keys[0])
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for last := uint64(0); ; {
				count := f.Count()
				if count < last {
					t.Errorf("Count() went from %d to %d", last, count)
				}
				last = count
				copied := must(f.Clone())
				if copied.Count() < last || !f.TestString(keys[0]) {
					t.Errorf("a copy has %d adds after %d", copied.Count(), last)
				}
				copied.Close()
				select {
				case <-done:
					return
				default:
				}
			}
		}()
	}
	for i := 1; i < len(keys); i++ {
		if i%1000 < 500 {
			f.AddString(keys[i])
		} else {
			f.AddManyString(keys[i : i+1])
		}
	}
	close(done)
	wg.Wait()
	if f.Count() != 20000 {
		t.Errorf("Count() = %d", f.Count())
	}
	model := gloom.New(20000, 0.01)
	model.AddManyString(keys)
	if !f.Equal(model) {
		t.Error("bits are lost")
	}
}

// Whatever hands on the count has those adds in it that the library was not told of yet.
func TestTheCountIsHandedOn(t *testing.T) {
	for name, f := range opened(t, gloom.Config{NumBlocks: 64, K: 7}) {
		for _, key := range names("key", 1000) {
			f.AddString(key)
		}
		var copied, folded many
		switch f := any(f).(type) {
		case *gloom.Filter:
			copied, folded = must(f.Clone()), must(f.Fold(2))
		case *gloom.AtomicFilter:
			copied, folded = must(f.Clone()), must(f.Fold(2))
		case *gloom.ShardedAtomicFilter:
			copied, folded = must(f.Clone()), must(f.Fold(2))
		}
		if copied.Count() != 1000 || !copied.Equal(f) || folded.Count() != 1000 || folded.NumBlocks() != 32 || !folded.TestString("key:9") {
			t.Errorf("%s: Clone has %d, Fold %d", name, copied.Count(), folded.Count())
		}
		f.AddString("more")
		merged := gloom.NewAtomicWithParams(64, 7)
		merged.AddString("one")
		check(t, merged.Merge(f))
		if merged.Count() != 1002 || !merged.TestString("more") || !merged.TestString("one") {
			t.Errorf("%s: Merge has %d", name, merged.Count())
		}
		check(t, merged.MergeBinary(must(f.MarshalBinary())))
		if merged.Count() != 2003 {
			t.Errorf("%s: MergeBinary has %d", name, merged.Count())
		}
		f.AddString("more")
		check(t, f.Merge(f))
		check(t, f.Intersect(copied))
		if f.Count() != 1000 || !f.TestString("key:9") {
			t.Errorf("%s: Intersect has %d", name, f.Count())
		}
		f.AddString("after")
		f.AddString("after")
		if f.Count() != 1002 || must(gloom.UnmarshalBinary(must(f.MarshalBinary()))).Count() != 1002 {
			t.Errorf("%s: %d after Intersect", name, f.Count())
		}
		f.Clear()
		if f.Count() != 0 || f.TestString("after") || must(gloom.UnmarshalBinary(must(f.MarshalBinary()))).EstimatedItems() != 0 {
			t.Errorf("%s: Clear has %d", name, f.Count())
		}
		f.AddString("again")
		if loaded := must(gloom.UnmarshalBinary(must(f.MarshalBinary()))); loaded.Count() != 1 || !loaded.Equal(f) {
			t.Errorf("%s: %d after Clear", name, loaded.Count())
		}
	}
}

func TestIncompatible(t *testing.T) {
	f := gloom.NewWithParams(64, 7)
	f.AddString("key")
	for _, other := range []gloom.Config{{NumBlocks: 65, K: 7}, {NumBlocks: 64, K: 8}, {NumBlocks: 64, K: 7, Seed: 1}} {
		for _, source := range opened(t, other) {
			wantError(t, f.Merge(source), gloom.ErrIncompatible)
			wantError(t, f.Intersect(source), gloom.ErrIncompatible)
			if f.Equal(source) || f.Count() != 1 {
				t.Error("changed")
			}
		}
	}
	wantError(t, f.MergeBinary([]byte("no filter")), gloom.ErrUnsupported)
	_, err := f.Fold(3)
	wantError(t, err, gloom.ErrInvalidArgument)
	wantError(t, f.Sync(), gloom.ErrInvalidArgument)
}
