package gloom_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/gloom/bindings/go"
)

// everyCall calls everything that needs a filter.
func everyCall(f many) map[string]func() {
	var b gloom.Batch
	b.AppendString("key")
	other := gloom.NewWithParams(64, 7)
	calls := map[string]func(){
		"Add": func() { f.Add(nil) }, "AddString": func() { f.AddString("") }, "AddHash": func() { f.AddHash(gloom.Hash{}) },
		"AddMany": func() { f.AddMany(nil) }, "AddManyString": func() { f.AddManyString(nil) },
		"AddManyHash": func() { f.AddManyHash(nil) }, "AddBatch": func() { f.AddBatch(&b) },
		"AddFixed": func() { gloom.AddFixed[uint64](f, nil) }, "TestFixed": func() { gloom.TestFixed[uint64](f, nil, nil) },
		"Flush": func() { b.Flush(f) },
		"Test":  func() { f.Test(nil) }, "TestString": func() { f.TestString("") }, "TestHash": func() { f.TestHash(gloom.Hash{}) },
		"TestAndAdd": func() { f.TestAndAdd(nil) }, "TestAndAddString": func() { f.TestAndAddString("") },
		"TestMany": func() { f.TestMany(nil, nil) }, "TestManyString": func() { f.TestManyString(nil, nil) },
		"TestManyHash": func() { f.TestManyHash(nil, nil) }, "TestBatch": func() { f.TestBatch(&b, nil) },
		"Cap": func() { f.Cap() }, "K": func() { f.K() }, "NumBlocks": func() { f.NumBlocks() }, "Seed": func() { f.Seed() },
		"Count": func() { f.Count() }, "EstimatedItems": func() { f.EstimatedItems() },
		"EstimatedFillRatio":         func() { f.EstimatedFillRatio() },
		"EstimatedFalsePositiveRate": func() { f.EstimatedFalsePositiveRate() },
		"ExpectedItems":              func() { f.ExpectedItems() }, "FPRate": func() { f.FPRate() },
		"MemoryBytes": func() { f.MemoryBytes() }, "SIMDLevel": func() { f.SIMDLevel() },
		"IsMapped": func() { f.IsMapped() }, "IsReadOnly": func() { f.IsReadOnly() }, "IsStale": func() { f.IsStale() },
		"MarshalBinary": func() { _, _ = f.MarshalBinary() }, "AppendBinary": func() { _, _ = f.AppendBinary(nil) },
		"AppendFormat": func() { _, _ = f.AppendFormat(nil, gloom.FormatV1) },
		"Merge":        func() { _ = f.Merge(other) }, "Merge from": func() { _ = other.Merge(f) },
		"MergeBinary": func() { _ = f.MergeBinary(nil) }, "Intersect": func() { _ = f.Intersect(other) },
		"Intersect with": func() { _ = other.Intersect(f) },
		"Equal":          func() { f.Equal(other) }, "Equal to": func() { other.Equal(f) }, "Clear": func() { f.Clear() },
		"Save": func() { _ = f.Save("/nowhere/at/all", gloom.FormatV1) }, "Sync": func() { _ = f.Sync() },
	}
	switch f := any(f).(type) {
	case *gloom.Filter:
		calls["Clone"], calls["Fold"] = func() { _, _ = f.Clone() }, func() { _, _ = f.Fold(1) }
		calls["WriteTo"] = func() { _, _ = f.WriteTo(&bytes.Buffer{}) }
	case *gloom.AtomicFilter:
		calls["Clone"], calls["Fold"] = func() { _, _ = f.Clone() }, func() { _, _ = f.Fold(1) }
		calls["WriteFormat"] = func() { _, _ = f.WriteFormat(&bytes.Buffer{}, gloom.FormatV1) }
	case *gloom.ShardedAtomicFilter:
		calls["Clone"], calls["Fold"] = func() { _, _ = f.Clone() }, func() { _, _ = f.Fold(1) }
		calls["NumShards"] = func() { f.NumShards() }
	}
	return calls
}

func TestUseAfterClosePanics(t *testing.T) {
	closed := func(f many) {
		for name, call := range everyCall(f) {
			if reason := panicked(call); !strings.Contains(fmt.Sprint(reason), "closed") {
				t.Errorf("%T.%s after Close: %v", f, name, reason)
			}
		}
	}
	for _, f := range opened(t, gloom.Config{NumBlocks: 64, K: 7}) {
		for name, call := range everyCall(f) {
			if reason := panicked(call); reason != nil {
				t.Errorf("%T.%s: %v", f, name, reason)
			}
		}
		check(t, f.Close())
		check(t, f.Close())
		closed(f)
		fresh := gloom.NewWithParams(64, 7)
		check(t, f.UnmarshalBinary(must(fresh.MarshalBinary())))
		if f.TestString("key") {
			t.Error("a new filter is not empty")
		}
		check(t, f.Close())
	}
	closed(new(gloom.Filter))
	check(t, new(gloom.AtomicFilter).Close())
	file := filepath.Join(t.TempDir(), "filter")
	mapped := must(gloom.MapCreate(file, gloom.Config{NumBlocks: 64, K: 7}))
	check(t, mapped.Close())
	check(t, mapped.Close())
	closed(mapped)
}

// Close in the midst of calls: each of them ends well or says that the filter is closed.
func TestCloseWhileOthersAreInside(t *testing.T) {
	dir := t.TempDir()
	for round := range 12 {
		filters := opened(t, gloom.Config{NumBlocks: 5000, K: 7})
		filters["mapped"] = must(gloom.MapCreate(filepath.Join(dir, fmt.Sprint(round)), gloom.Config{NumBlocks: 5000, K: 7}))
		for name, f := range filters {
			keys := names("key", 2000)
			var running, wg sync.WaitGroup
			var calls atomic.Int64
			loops := []func(){
				func() { f.TestString(keys[5]) },
				func() { f.TestManyString(keys, nil) },
				func() { f.EstimatedFillRatio() },
				func() { must(f.MarshalBinary()) },
				func() { f.AddManyString(keys) },
			}
			if name != "Filter" {
				loops = append(loops, func() { f.AddString(keys[7]) })
			}
			for _, call := range loops {
				running.Add(1)
				wg.Add(1)
				go func() {
					defer wg.Done()
					first := true
					reason := panicked(func() {
						for {
							call()
							calls.Add(1)
							if first {
								running.Done()
								first = false
							}
						}
					})
					if !strings.Contains(fmt.Sprint(reason), "closed") {
						t.Errorf("%s: %v", name, reason)
					}
				}()
			}
			running.Wait()
			var closers sync.WaitGroup
			for range 2 {
				closers.Add(1)
				go func() {
					defer closers.Done()
					if err := f.Close(); err != nil {
						t.Error(err)
					}
				}()
			}
			closers.Wait()
			wg.Wait()
			if calls.Load() < int64(len(loops)) {
				t.Errorf("%s: %d calls", name, calls.Load())
			}
		}
	}
}

// A map is closed when Close returns, even by a process that goes on.
func TestCloseOfAMapIsDone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "filter")
	f := must(gloom.MapCreate(file, gloom.Config{ExpectedItems: 1000, FPRate: 0.01}))
	f.AddString("key")
	if info := must(gloom.Inspect(file)); !info.Dirty {
		t.Error("a file that is mapped for writing is clean")
	}
	wantError(t, gloom.New(1000, 0.01).Save(file, gloom.FormatNative), gloom.ErrBusy)
	check(t, f.Close())
	if info := must(gloom.Inspect(file)); info.Dirty || info.Count != 1 {
		t.Errorf("%+v after Close", info)
	}
	check(t, gloom.New(1000, 0.01).Save(file, gloom.FormatNative))
}

// A map that another filter replaces is closed, too, without waiting for the collector.
func TestReplacedMapIsClosed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	data := must(gloom.New(1000, 0.01).MarshalBinary())
	replacements := map[string]func(f *gloom.AtomicFilter) error{
		"UnmarshalBinary": func(f *gloom.AtomicFilter) error { return f.UnmarshalBinary(data) },
		"ReadFrom": func(f *gloom.AtomicFilter) error {
			_, err := f.ReadFrom(bytes.NewReader(data))
			return err
		},
	}
	for name, replace := range replacements {
		file := filepath.Join(t.TempDir(), "filter")
		f := must(gloom.MapCreate(file, gloom.Config{ExpectedItems: 1000, FPRate: 0.01}))
		f.AddString("key")
		check(t, replace(f))
		if f.IsMapped() || f.TestString("key") {
			t.Errorf("%s: the map is still there", name)
		}
		if info := must(gloom.Inspect(file)); info.Dirty || info.Count != 1 {
			t.Errorf("%s: %+v", name, info)
		}
		check(t, f.Save(file, gloom.FormatNative))
		check(t, f.Close())
	}
}

// While somebody is inside a call on a map, nobody who closes or replaces it returns, whoever came first.
func TestAllWaitUntilAMapIsClosed(t *testing.T) {
	data := must(gloom.New(1000, 0.01).MarshalBinary())
	leave := map[string]func(f *gloom.AtomicFilter) error{
		"Close":           (*gloom.AtomicFilter).Close,
		"UnmarshalBinary": func(f *gloom.AtomicFilter) error { return f.UnmarshalBinary(data) },
	}
	for first, one := range leave {
		for second, other := range leave {
			file := filepath.Join(t.TempDir(), "filter")
			f := must(gloom.MapCreate(file, gloom.Config{ExpectedItems: 1000, FPRate: 0.01}))
			inside, goOn := make(chan bool), make(chan bool)
			var wg sync.WaitGroup
			wg.Add(3)
			go func() {
				defer wg.Done()
				_, err := f.WriteTo(writer(func(p []byte) (int, error) {
					inside <- true
					<-goOn
					return 0, errMine
				}))
				if err != errMine {
					t.Errorf("error %v", err)
				}
			}()
			<-inside
			closes := func(name string, do func(f *gloom.AtomicFilter) error) {
				defer wg.Done()
				if err := do(f); err != nil {
					t.Error(err)
				}
				if must(gloom.Inspect(file)).Dirty {
					t.Errorf("%s, then %s: %s left the file dirty", first, second, name)
				}
			}
			go closes(first, one)
			for mapped := true; mapped; runtime.Gosched() {
				mapped = panicked(func() { mapped = f.IsMapped() }) == nil && mapped
			}
			go closes(second, other)
			time.Sleep(20 * time.Millisecond) // for who does not wait
			close(goOn)
			wg.Wait()
			check(t, f.Close())
		}
	}
}

// resident is the memory of this process in bytes.
func resident(t *testing.T) int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	check(t, err)
	return pages * os.Getpagesize()
}

// Filters that are dropped without Close go away, though Go sees only some hundred bytes of each.
func TestDroppedFiltersDoNotPileUp(t *testing.T) {
	if raceEnabled || stressed {
		t.Skip("takes minutes")
	}
	for _, c := range []struct {
		name    string
		count   int
		blocks  uint64
		dispose func(f *gloom.AtomicFilter)
	}{
		{"a million small ones, dropped", 1_000_000, 1, func(*gloom.AtomicFilter) {}},
		{"2 GB in all, dropped", 1000, 32768, func(*gloom.AtomicFilter) {}},
		{"2 GB in all, closed", 1000, 32768, func(f *gloom.AtomicFilter) { f.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			runtime.GC()
			before, most := resident(t), 0
			for i := range c.count {
				f := gloom.NewAtomicWithParams(c.blocks, 7)
				if c.blocks > 1 {
					touch(f)
				}
				f.AddString("key")
				c.dispose(f)
				if i%(c.count/100) == 0 {
					most = max(most, resident(t))
				}
			}
			if grown := most - before; grown > 300<<20 {
				t.Errorf("grew by %d MB", grown>>20)
			}
		})
	}
}

// touch writes to every page.
func touch(f *gloom.AtomicFilter) {
	hashes := make([]gloom.Hash, f.NumBlocks()/64)
	for i := range hashes {
		hashes[i].Hi = uint64(i) << 55
	}
	f.AddManyHash(hashes)
}
