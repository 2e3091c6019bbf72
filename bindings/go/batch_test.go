package gloom_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"example.org/gloom/bindings/go"
)

// Batches of all sizes around those of a chunk, with keys that are larger than a chunk, too.
func TestBatchesAreSingleKeys(t *testing.T) {
	r := random(t)
	for _, n := range []int{1, 2, 15, 16, 17, 1023, 1024, 1025, 2048, 5000} {
		keys := names("key", n)
		for i := range keys {
			keys[i] += strings.Repeat("y", r.IntN(100))
			if r.IntN(300) == 0 {
				keys[i] += strings.Repeat("z", r.IntN(200000))
			}
		}
		model := gloom.New(uint64(n), 0.01)
		for _, key := range keys {
			model.AddString(key)
		}
		for name, f := range opened(t, gloom.Config{ExpectedItems: uint64(n), FPRate: 0.01}) {
			f.AddManyString(keys)
			if !f.Equal(model) || f.Count() != uint64(n) {
				t.Errorf("%s, %d keys: other bits", name, n)
			}
			asked := append(names("other", n), keys...)
			for i, found := range answers(t, f, asked) {
				if found != model.TestString(asked[i]) {
					t.Errorf("%s, %d keys: key %d is %v", name, n, i, found)
				}
			}
		}
	}
}

func TestResultsGoWhereTheyShall(t *testing.T) {
	f := gloom.New(1000, 0.01)
	keys := names("key", 100)
	f.AddManyString(keys)
	dst := make([]bool, 3, 200)
	dst[:200][100] = true
	if got := f.TestManyString(keys, dst); len(got) != 100 || &got[0] != &dst[0] || !got[99] || !got[:101][100] {
		t.Error("results are elsewhere, or more than was asked for")
	}
	stale := []bool{true, true, true}
	if got := f.TestManyString([]string{"no", "key:5"}, stale); len(got) != 2 || got[0] || !got[1] || !stale[2] {
		t.Errorf("%v, %v", got, stale)
	}
	if got := f.TestManyString(keys, make([]bool, 5)); len(got) != 100 {
		t.Errorf("%d results", len(got))
	}
}

type id [16]byte

// Keys of fixed width are their bytes.
func TestFixedKeys(t *testing.T) {
	numbers := make([]uint64, 3000)
	ids := make([]id, len(numbers))
	shorts := make([]int32, len(numbers))
	model := map[string]many{}
	for _, name := range []string{"uint64", "id", "int32"} {
		model[name] = gloom.New(3000, 0.01)
	}
	for i := range numbers {
		numbers[i] = uint64(i) * 0x9e3779b97f4a7c15
		binary.BigEndian.PutUint64(ids[i][3:], numbers[i])
		shorts[i] = int32(-i)
		model["uint64"].Add(binary.LittleEndian.AppendUint64(nil, numbers[i]))
		model["id"].Add(ids[i][:])
		model["int32"].Add(binary.LittleEndian.AppendUint32(nil, uint32(shorts[i])))
	}
	for name, want := range model {
		for kind, f := range opened(t, gloom.Config{ExpectedItems: 3000, FPRate: 0.01}) {
			var found []bool
			switch name {
			case "uint64":
				gloom.AddFixed(f, numbers)
				found = gloom.TestFixed(f, append(numbers, 1, 2, 3), nil)
			case "id":
				gloom.AddFixed(f, ids)
				found = gloom.TestFixed(f, append(ids, id{1}, id{2}, id{3}), nil)
			case "int32":
				gloom.AddFixed(f, shorts)
				found = gloom.TestFixed(f, append(shorts, 1, 2, 3), nil)
			}
			if !f.Equal(want) || f.Count() != 3000 {
				t.Errorf("%s of %s: other bits", kind, name)
			}
			for i, ok := range found {
				if i < 3000 && !ok {
					t.Fatalf("%s of %s: %d is lost", kind, name, i)
				}
			}
			if len(found) != 3003 {
				t.Errorf("%d results", len(found))
			}
		}
	}
}

func TestBatchIsReusable(t *testing.T) {
	f := gloom.NewAtomic(1000, 0.01)
	var b gloom.Batch
	for round := range 3 {
		if b.Len() != 0 {
			t.Errorf("%d keys in an empty batch", b.Len())
		}
		b.Append([]byte("key"))
		b.AppendString("")
		b.AppendString("more")
		if b.Len() != 3 || f.Count() != uint64(3*round) {
			t.Errorf("%d keys", b.Len())
		}
		b.Flush(f)
	}
	b.Append(nil)
	b.AppendString("other")
	if got := f.TestBatch(&b, nil); !got[0] || got[1] || len(got) != 2 {
		t.Errorf("%v", got)
	}
	b.Reset()
	if b.Len() != 0 || f.Count() != 9 {
		t.Error("Reset")
	}
}

// Adds, tests, batches and figures allocate nothing once they have run before; other calls a little.
func TestNothingIsAllocated(t *testing.T) {
	if raceEnabled || stressed {
		t.Skip("allocates on its own")
	}
	keys := names("key", 3000)
	slices := slicesOf(keys)
	hashes := hashes(gloom.New(1, 0.5), keys)
	numbers := make([]uint64, 3000)
	dst := make([]bool, 3000)
	var b, full gloom.Batch
	full.AppendString("key")
	path := filepath.Join(t.TempDir(), "filter")
	filters := opened(t, gloom.Config{ExpectedItems: 3000, FPRate: 0.01})
	mapped := must(gloom.MapCreate(path, gloom.Config{ExpectedItems: 3000, FPRate: 0.01}))
	defer mapped.Close()
	filters["mapped"] = mapped
	other := gloom.New(3000, 0.01)
	data := must(other.MarshalBinary())
	for name, f := range filters {
		for call, do := range map[string]func(){
			"Add":              func() { f.Add(slices[0]) },
			"AddString":        func() { f.AddString(keys[0]) },
			"AddHash":          func() { f.AddHash(hashes[0]) },
			"Test":             func() { f.Test(slices[0]) },
			"TestString":       func() { f.TestString(keys[0]) },
			"TestHash":         func() { f.TestHash(hashes[0]) },
			"TestAndAdd":       func() { f.TestAndAdd(slices[0]) },
			"TestAndAddString": func() { f.TestAndAddString(keys[0]) },
			"AddMany":          func() { f.AddMany(slices) },
			"AddManyString":    func() { f.AddManyString(keys) },
			"AddManyHash":      func() { f.AddManyHash(hashes) },
			"TestMany":         func() { f.TestMany(slices, dst) },
			"TestManyString":   func() { f.TestManyString(keys, dst) },
			"TestManyHash":     func() { f.TestManyHash(hashes, dst) },
			"AddFixed":         func() { gloom.AddFixed(f, numbers) },
			"TestFixed":        func() { gloom.TestFixed(f, numbers, dst) },
			"Batch": func() {
				b.AppendString("key")
				f.TestBatch(&b, dst)
				b.Flush(f)
			},
			"AddBatch":                   func() { f.AddBatch(&full) },
			"HashString":                 func() { gloom.HashString(keys[0], 5) },
			"Equal":                      func() { f.Equal(f) },
			"Count":                      func() { f.Count() },
			"EstimatedItems":             func() { f.EstimatedItems() },
			"EstimatedFillRatio":         func() { f.EstimatedFillRatio() },
			"EstimatedFalsePositiveRate": func() { f.EstimatedFalsePositiveRate() },
			"EstimateFalsePositiveRate":  func() { gloom.EstimateFalsePositiveRate(60, 7, 3000) },
			"MemoryBytes":                func() { f.MemoryBytes() },
			"other figures": func() {
				_, _, _, _ = f.Cap(), f.K(), f.NumBlocks(), f.Seed()
				_, _, _, _ = f.ExpectedItems(), f.FPRate(), f.IsMapped(), f.IsReadOnly()
			},
		} {
			if n := testing.AllocsPerRun(20, do); n != 0 {
				t.Errorf("%s.%s allocates %g times a call", name, call, n)
			}
		}
		for call, do := range map[string]func(){
			"Merge":        func() { check(t, f.Merge(other)) },
			"MergeBinary":  func() { check(t, f.MergeBinary(data)) },
			"Intersect":    func() { check(t, f.Intersect(other)) },
			"Clear":        f.Clear,
			"Save":         func() { check(t, f.Save(path+".saved", gloom.FormatNative)) },
			"Inspect":      func() { must(gloom.Inspect(path)) },
			"Map":          func() { check(t, must(gloom.Map(path, gloom.MapAllowDirty)).Close()) },
			"Sync":         func() { check(t, mapped.Sync()) },
			"AppendFormat": func() { must(f.AppendFormat(data[:0:0], gloom.FormatV1)) },
			"WriteTo":      func() { must(f.(streamed).WriteTo(io.Discard)) },
			"Read":         func() { must(gloom.Read(bytes.NewReader(data), gloom.LoadConfig{})) },
			"New":          func() { gloom.New(3000, 0.01) },
			"SizeFor":      func() { must(gloom.SizeFor(3000, 0.01)) },
			"SIMDLevel":    func() { f.SIMDLevel() },
			"Version":      func() { gloom.Version() },
		} {
			if n := testing.AllocsPerRun(5, do); n > 16 {
				t.Errorf("%s.%s allocates %g times a call", name, call, n)
			}
		}
	}
}
