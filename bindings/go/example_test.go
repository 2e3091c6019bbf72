package gloom_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"example.org/gloom/bindings/go"
)

func Example() {
	f := gloom.New(10_000, 0.01) // ten thousand keys, 1 % false positives
	defer f.Close()
	f.AddString("user:17")
	fmt.Println(f.TestString("user:17"), f.TestString("user:18"))
	// Output: true false
}

// A service at its start: goroutines load what is there while new keys come in.
func Example_load() {
	f := gloom.NewAtomic(40_000, 0.01)
	defer f.Close()
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var rows gloom.Batch
			for i := range 10_000 {
				rows.AppendString(fmt.Sprintf("%d:%d", part, i))
				if rows.Len() == 1000 {
					rows.Flush(f)
				}
			}
		}()
	}
	f.AddString("live") // meanwhile
	fmt.Println(f.TestString("live"))
	wg.Wait()
	fmt.Println(f.Count(), f.TestString("3:9999"))
	// Output:
	// true
	// 40001 true
}

func ExampleNew() {
	f := gloom.New(1000, 0.001)
	fmt.Println(f.K(), f.NumBlocks(), f.Cap())
	// Output: 9 31 15872
}

func ExampleNewWithParams() {
	f := gloom.NewWithParams(1000, 7)
	fmt.Println(f.NumBlocks(), f.K(), f.Cap())
	// Output: 1000 7 512000
}

func ExampleNewAtomic() {
	f := gloom.NewAtomic(1000, 0.01)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f.AddString(fmt.Sprint(i))
		}()
	}
	wg.Wait()
	fmt.Println(f.Count())
	// Output: 10
}

func ExampleNewAtomicWithParams() {
	f := gloom.NewAtomicWithParams(8, 17)
	fmt.Println(f.K())
	// Output: 17
}

func ExampleNewShardedAtomic() {
	f := gloom.NewShardedAtomic(100_000, 0.01, 16)
	fmt.Println(f.NumShards())
	// Output: 16
}

func ExampleNewShardedAtomicDefault() {
	f := gloom.NewShardedAtomicDefault(100_000, 0.01)
	f.AddManyString([]string{"a", "b"})
	fmt.Println(f.TestManyString([]string{"a", "b", "c"}, nil))
	// Output: [true true false]
}

func ExampleOpen() {
	_, err := gloom.Open(gloom.Config{ExpectedItems: 1_000_000, FPRate: 0.01, MaxBytes: 1 << 20})
	fmt.Println(errors.Is(err, gloom.ErrLimit))
	fmt.Println(err)
	// Output:
	// true
	// gloom: Open: max_bytes = 1048576: the blocks would take 1252416 bytes
}

func ExampleOpenAtomic() {
	f, err := gloom.OpenAtomic(gloom.Config{ExpectedItems: 1000, FPRate: 0.01, Seed: 99})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Seed())
	// Output: 99
}

func ExampleOpenShardedAtomic() {
	f, err := gloom.OpenShardedAtomic(gloom.Config{ExpectedItems: 1000, FPRate: 0.01, NumShards: 2})
	fmt.Println(f.NumShards(), err)
	// Output: 2 <nil>
}

func ExampleSizeFor() {
	s, err := gloom.SizeFor(1_000_000, 0.01)
	fmt.Printf("%d bytes, k = %d, %.2f bits a key, %.4f %%, %v\n", s.Bytes, s.K, s.BitsPerItem, 100*s.FPRate, err)
	// Output: 1252416 bytes, k = 7, 10.02 bits a key, 0.9998 %, <nil>
}

func ExampleOptimalParams() {
	blocks, k, bits := gloom.OptimalParams(1_000_000, 0.01)
	fmt.Printf("%d %d %.2f\n", blocks, k, bits)
	// Output: 19569 7 10.02
}

func ExampleEstimateFalsePositiveRate() {
	fmt.Printf("%.4f\n", gloom.EstimateFalsePositiveRate(19569, 7, 2_000_000)) // twice as many as planned
	// Output: 0.1433
}

func ExampleVersion() {
	fmt.Println(gloom.Version() >= "0.1.0")
	// Output: true
}

func ExampleFilter_TestAndAdd() {
	seen := gloom.New(1000, 0.001)
	for _, post := range []string{"a", "b", "a"} {
		fmt.Print(seen.TestAndAdd([]byte(post)), " ")
	}
	// Output: false false true
}

func ExampleHashString() {
	muted, blocked := gloom.New(1000, 0.001), gloom.New(50_000, 0.01)
	blocked.AddString("user:17")
	h := gloom.HashString("user:17", 0) // once, for both
	fmt.Println(muted.TestHash(h), blocked.TestHash(h))
	// Output: false true
}

func ExampleFilter_TestManyString() {
	f := gloom.New(1000, 0.01)
	f.AddManyString([]string{"a", "c"})
	var found []bool // used again and again
	for range 3 {
		found = f.TestManyString([]string{"a", "b", "c"}, found)
	}
	fmt.Println(found)
	// Output: [true false true]
}

func ExampleAddFixed() {
	f := gloom.NewAtomic(1000, 0.01)
	gloom.AddFixed(f, []uint64{1, 2, 3})
	fmt.Println(gloom.TestFixed(f, []uint64{3, 4}, nil))
	// Output: [true false]
}

func ExampleBatch() {
	f := gloom.NewAtomic(1000, 0.01)
	var b gloom.Batch
	b.AppendString("a")
	b.Append([]byte("b"))
	fmt.Println(f.TestBatch(&b, nil))
	b.Flush(f)
	fmt.Println(b.Len(), f.Count())
	// Output:
	// [false false]
	// 0 2
}

func ExampleFilter_Merge() {
	today, week := gloom.New(1000, 0.01), gloom.NewAtomic(1000, 0.01)
	today.AddString("a")
	week.AddString("b")
	fmt.Println(week.Merge(today), week.TestString("a"), week.Count())
	fmt.Println(errors.Is(week.Merge(gloom.New(5000, 0.01)), gloom.ErrIncompatible))
	// Output:
	// <nil> true 2
	// true
}

func ExampleFilter_Fold() {
	f, _ := gloom.Open(gloom.Config{ExpectedItems: 1_000_000, FPRate: 0.01, BlockMultiple: 64})
	f.AddString("a") // far fewer came than were expected
	small, err := f.Fold(64)
	fmt.Println(f.NumBlocks()/small.NumBlocks(), small.TestString("a"), err)
	// Output: 64 true <nil>
}

func ExampleFilter_Save() {
	dir, _ := os.MkdirTemp("", "gloom")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "blocks.gloom")
	f := gloom.New(1000, 0.01)
	f.AddString("a")
	fmt.Println(f.Save(path, gloom.FormatNative))
	loaded, err := gloom.LoadAtomic(path, gloom.LoadConfig{MaxBytes: 1 << 20})
	fmt.Println(loaded.Equal(f), loaded.Count(), err)
	info, _ := gloom.Inspect(path)
	fmt.Println(info.ExpectedItems, info.FPRate, info.Dirty)
	// Output:
	// <nil>
	// true 1 <nil>
	// 1000 0.01 false
}

func ExampleMap() {
	dir, _ := os.MkdirTemp("", "gloom")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "blocks.gloom")
	f, err := gloom.MapCreate(path, gloom.Config{ExpectedItems: 1000, FPRate: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	f.AddString("a")
	fmt.Println(f.Sync(), f.Close())
	f, err = gloom.Map(path, gloom.MapReadOnly) // so can any number of processes
	fmt.Println(f.TestString("a"), f.IsReadOnly(), err)
	f.Close()
	// Output:
	// <nil> <nil>
	// true true <nil>
}

func ExampleUnmarshalBinary() {
	f := gloom.NewAtomic(1000, 0.01)
	f.AddString("a")
	data, _ := f.MarshalBinary() // the pure-Go module reads these bytes, too
	again, err := gloom.UnmarshalBinary(data)
	fmt.Println(len(data), again.TestString("a"), err)
	// Output: 1305 true <nil>
}

func ExampleFilter_WriteTo() {
	var stream bytes.Buffer
	f := gloom.New(1000, 0.01)
	f.AddString("a")
	_, _ = f.WriteTo(&stream)
	stream.WriteString("more")
	again, err := gloom.Read(&stream, gloom.LoadConfig{MaxBytes: 1 << 20})
	fmt.Println(again.TestString("a"), err, stream.String())
	// Output: true <nil> more
}

func ExampleFilter_AddString() {
	f := gloom.New(1000, 0.01)
	f.AddString("user:17")
	f.Add([]byte("user:17")) // the same key: it counts, and sets no bit
	fmt.Println(f.TestString("user:17"), f.Count(), f.EstimatedItems())
	// Output: true 2 1
}

func ExampleFilter_AddHash() {
	muted, blocked := gloom.New(1000, 0.001), gloom.New(50_000, 0.01)
	h := gloom.HashKey([]byte("user:17"), 0)
	muted.AddHash(h)
	blocked.AddHash(h)
	fmt.Println(muted.TestString("user:17"), blocked.TestString("user:17"))
	// Output: true true
}

// Many goroutines load, each key into the shard that has its block.
func ExampleShardedAtomicFilter_AddManyString() {
	f := gloom.NewShardedAtomicDefault(40_000, 0.01)
	defer f.Close()
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			keys := make([]string, 10_000)
			for i := range keys {
				keys[i] = fmt.Sprintf("%d:%d", part, i)
			}
			f.AddManyString(keys)
		}()
	}
	wg.Wait()
	fmt.Println(f.Count(), f.TestString("3:9999"))
	// Output: 40000 true
}

func ExampleTestFixed() {
	type did [16]byte // any array or integer of a listed width
	f := gloom.New(1000, 0.01)
	gloom.AddFixed(f, []did{{1}, {2}})
	fmt.Println(gloom.TestFixed(f, []did{{2}, {3}}, nil))
	// Output: [true false]
}

func ExampleFilter_TestManyHash() {
	muted, blocked := gloom.New(1000, 0.001), gloom.New(50_000, 0.01)
	muted.AddString("a")
	blocked.AddString("b")
	hashes := []gloom.Hash{gloom.HashString("a", 0), gloom.HashString("b", 0)}
	fmt.Println(muted.TestManyHash(hashes, nil), blocked.TestManyHash(hashes, nil))
	// Output: [true false] [false true]
}

func ExampleFilter_EstimatedFalsePositiveRate() {
	f := gloom.New(1000, 0.01)
	for i := range 2000 { // twice as many as planned
		f.AddString(fmt.Sprint(i))
	}
	fmt.Printf("%.2f full, %.0f %% false positives\n", f.EstimatedFillRatio(), 100*f.EstimatedFalsePositiveRate())
	// Output: 0.74 full, 13 % false positives
}

func ExampleFilter_Clone() {
	f := gloom.New(1000, 0.01)
	f.AddString("a")
	before, err := f.Clone()
	f.AddString("b")
	fmt.Println(before.TestString("a"), before.TestString("b"), before.Equal(f), err)
	// Output: true false false <nil>
}

func ExampleFilter_Intersect() {
	followed, muted := gloom.New(1000, 0.001), gloom.New(1000, 0.001)
	followed.AddManyString([]string{"a", "b"})
	muted.AddManyString([]string{"b", "c"})
	err := followed.Intersect(muted)
	fmt.Println(followed.TestManyString([]string{"a", "b", "c"}, nil), err)
	// Output: [false true false] <nil>
}

func ExampleFilter_Clear() {
	f := gloom.New(1000, 0.01)
	f.AddString("a")
	f.Clear()
	fmt.Println(f.TestString("a"), f.Count())
	// Output: false 0
}

// What another process wrote, merged without loading it.
func ExampleFilter_MergeBinary() {
	theirs, ours := gloom.New(1000, 0.01), gloom.NewAtomic(1000, 0.01)
	theirs.AddString("a")
	data, err := theirs.MarshalBinary()
	if err == nil {
		err = ours.MergeBinary(data)
	}
	fmt.Println(ours.TestString("a"), err)
	// Output: true <nil>
}

func ExampleFilter_AppendFormat() {
	f := gloom.New(1000, 0.01)
	buffer := make([]byte, 0, 1<<20) // used again and again
	v1, err := f.AppendFormat(buffer[:0], gloom.FormatV1)
	fmt.Println(len(v1), v1[0], err)
	// Output: 1305 1 <nil>
}

func ExampleRead() {
	_, err := gloom.Read(strings.NewReader("no filter"), gloom.LoadConfig{MaxBytes: 1 << 20})
	fmt.Println(errors.Is(err, gloom.ErrUnsupported) || errors.Is(err, gloom.ErrCorrupt))
	// Output: true
}

func ExampleLoad() {
	_, err := gloom.Load("no-such-file", gloom.LoadConfig{})
	fmt.Println(errors.Is(err, fs.ErrNotExist), errors.Is(err, gloom.ErrIO))
	// Output: true true
}

func ExampleInspect() {
	dir, _ := os.MkdirTemp("", "gloom")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "blocks.gloom")
	_ = gloom.New(1000, 0.01).Save(path, gloom.FormatV1)
	info, err := gloom.Inspect(path) // reads the header only
	fmt.Println(info.Format == gloom.FormatV1, info.NumBlocks, info.K, info.Count, err)
	// Output: true 20 7 0 <nil>
}

func ExampleMapCreate() {
	dir, _ := os.MkdirTemp("", "gloom")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "blocks.gloom")
	writer, err := gloom.MapCreate(path, gloom.Config{ExpectedItems: 1000, FPRate: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer writer.Close()
	reader, err := gloom.Map(path, gloom.MapReadOnly) // here or in another process
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	writer.AddString("a")
	fmt.Println(reader.TestString("a"))
	// Output: true
}

func ExampleFilter_Close() {
	f := gloom.New(1000, 0.01)
	fmt.Println(f.Close(), f.Close())
	defer func() { fmt.Println(recover()) }()
	f.TestString("a")
	// Output:
	// <nil> <nil>
	// gloom: use of a filter that is closed or was never made
}
