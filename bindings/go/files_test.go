package gloom_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"example.org/gloom/bindings/go"
)

type streamed interface {
	many
	io.WriterTo
	io.ReaderFrom
	WriteFormat(io.Writer, gloom.Format) (int64, error)
}

func filled(t testing.TB, c gloom.Config) map[string]many {
	all := opened(t, c)
	for _, f := range all {
		f.AddManyString(names("key", 500))
		for _, key := range names("key", 500) {
			f.AddString(key)
		}
	}
	return all
}

var small = gloom.Config{ExpectedItems: 1000, FPRate: 0.01}

func same(t *testing.T, a, b many) {
	t.Helper()
	if !a.Equal(b) || a.Count() != 1000 || b.Count() != 1000 || !b.TestString("key:499") || b.TestString("other") {
		t.Errorf("not the same: Equal %v, Count %d and %d", a.Equal(b), a.Count(), b.Count())
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter of ö")
	for name, f := range filled(t, small) {
		for _, format := range []gloom.Format{gloom.FormatV1, gloom.FormatNative} {
			check(t, f.Save(path, format))
			same(t, f, must(gloom.Load(path, gloom.LoadConfig{})))
			same(t, f, must(gloom.LoadAtomic(path, gloom.LoadConfig{SmallPages: true, MaxBytes: 1 << 20})))
			sharded := must(gloom.LoadShardedAtomic(path, gloom.LoadConfig{NumShards: 2}))
			same(t, f, sharded)
			if sharded.NumShards() != 2 {
				t.Errorf("%d shards", sharded.NumShards())
			}
			info := must(gloom.Inspect(path))
			stat := must(os.Stat(path))
			if info.Format != format || info.K != f.K() || info.NumBlocks != f.NumBlocks() || info.Count != 1000 || info.Bytes != uint64(stat.Size()) || info.Dirty {
				t.Errorf("%s: %+v", name, info)
			}
			if format == gloom.FormatNative && (info.ExpectedItems != 1000 || info.FPRate != 0.01) {
				t.Errorf("%s: %+v", name, info)
			}
		}
		wantError(t, f.Save(path, 77), gloom.ErrInvalidArgument)
		wantError(t, f.Save("a\x00b", gloom.FormatV1), gloom.ErrInvalidArgument)
	}
	_, err := gloom.Load(path, gloom.LoadConfig{MaxBytes: 100})
	wantError(t, err, gloom.ErrLimit)
	_, err = gloom.Load(path+".none", gloom.LoadConfig{})
	wantError(t, err, gloom.ErrIO)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path+".none") {
		t.Errorf("%v", err)
	}
	_, err = gloom.Inspect(path + ".none")
	wantError(t, err, gloom.ErrIO)
	check(t, os.WriteFile(path, []byte{1, 2, 3}, 0o600))
	_, err = gloom.LoadAtomic(path, gloom.LoadConfig{})
	wantError(t, err, gloom.ErrCorrupt)
	err = gloom.New(10, 0.1).Save(filepath.Join(path, "below a file"), gloom.FormatV1)
	wantError(t, err, gloom.ErrIO)
}

func TestSeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	for _, f := range filled(t, gloom.Config{ExpectedItems: 1000, FPRate: 0.01, Seed: 42}) {
		wantError(t, f.Save(path, gloom.FormatV1), gloom.ErrUnsupported)
		_, err := f.AppendFormat(nil, gloom.FormatV1)
		wantError(t, err, gloom.ErrUnsupported)
		loaded := must(gloom.UnmarshalBinary(must(f.MarshalBinary())))
		same(t, f, loaded)
		if loaded.Seed() != 42 {
			t.Errorf("Seed() = %d", loaded.Seed())
		}
	}
}

func TestMarshalBinary(t *testing.T) {
	for name, f := range filled(t, small) {
		data := must(f.MarshalBinary())
		if len(data) != 21+int(f.NumBlocks())*64+4 || data[0] != 1 || uint32(data[1]) != f.K() {
			t.Errorf("%s: not v1", name)
		}
		if again := must(f.AppendBinary([]byte("before"))); string(again) != "before"+string(data) {
			t.Errorf("%s: AppendBinary", name)
		}
		if native := must(f.AppendFormat(nil, gloom.FormatNative)); len(native) <= len(data) || native[0] == 1 {
			t.Errorf("%s: AppendFormat", name)
		}
		var plain gloom.Filter
		var atomic gloom.AtomicFilter
		var sharded gloom.ShardedAtomicFilter
		for _, g := range []many{&plain, &atomic, &sharded} {
			check(t, g.UnmarshalBinary(data))
			same(t, f, g)
			wantError(t, g.UnmarshalBinary(data[1:]), gloom.ErrUnsupported)
			same(t, f, g)
			g.AddString("other")
			if !g.TestString("other") || g.Count() != 1001 {
				t.Errorf("%s: cannot be added to", name)
			}
		}
	}
	var buffer bytes.Buffer
	sent := gloom.New(10, 0.01)
	sent.AddString("key")
	check(t, gob.NewEncoder(&buffer).Encode(sent))
	var got gloom.AtomicFilter
	check(t, gob.NewDecoder(&buffer).Decode(&got))
	if !got.Equal(sent) || got.Count() != 1 {
		t.Error("gob")
	}
}

// No damage goes unnoticed, nothing is read that is not there.
func TestDamage(t *testing.T) {
	f := gloom.NewWithParams(3, 7)
	f.AddString("key")
	for _, format := range []gloom.Format{gloom.FormatV1, gloom.FormatNative} {
		data := must(f.AppendFormat(nil, format))
		if _, err := gloom.UnmarshalBinary(append(bytes.Clone(data), 0)); err == nil {
			t.Error("a byte too many")
		}
		step := 1
		if len(data) > 1000 {
			step = 97
		}
		for i := 0; i < len(data); i += step {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << (i % 8)
			if _, err := gloom.UnmarshalBinary(damaged); err == nil {
				t.Errorf("format %d: byte %d is damaged and nobody notices", format, i)
			}
			if _, err := gloom.Read(bytes.NewReader(damaged), gloom.LoadConfig{MaxBytes: 1 << 20}); err == nil {
				t.Errorf("format %d: byte %d is damaged and no reader notices", format, i)
			}
			if _, err := gloom.UnmarshalBinary(data[:i]); err == nil {
				t.Errorf("format %d: %d bytes are enough", format, i)
			}
		}
	}
	if _, err := gloom.UnmarshalBinary(nil); err == nil {
		t.Error("nil is a filter")
	}
}

func TestStreams(t *testing.T) {
	for name, f := range filled(t, gloom.Config{NumBlocks: 3000, K: 7}) { // 192 kB: several pieces
		for _, format := range []gloom.Format{gloom.FormatV1, gloom.FormatNative} {
			var buffer bytes.Buffer
			n, err := f.(streamed).WriteFormat(&buffer, format)
			if err != nil || n != int64(buffer.Len()) || !bytes.Equal(buffer.Bytes(), must(f.AppendFormat(nil, format))) {
				t.Errorf("%s, format %d: %d bytes, %v", name, format, n, err)
			}
			data := buffer.Bytes()
			for how, r := range map[string]func(io.Reader) io.Reader{
				"as it is": func(r io.Reader) io.Reader { return r }, "half": iotest.HalfReader, "data and error": iotest.DataErrReader,
			} {
				source := bytes.NewReader(append(bytes.Clone(data), "more"...))
				same(t, f, must(gloom.Read(r(source), gloom.LoadConfig{MaxBytes: 1 << 20})))
				if how == "as it is" && source.Len() != 4 {
					t.Errorf("%s, format %d: %d bytes are left instead of 4", name, format, source.Len())
				}
			}
			same(t, f, must(gloom.ReadAtomic(bytes.NewReader(data), gloom.LoadConfig{})))
			same(t, f, must(gloom.ReadShardedAtomic(bytes.NewReader(data), gloom.LoadConfig{NumShards: 4})))
			var plain gloom.Filter
			var atomic gloom.AtomicFilter
			var sharded gloom.ShardedAtomicFilter
			for _, g := range []streamed{&plain, &atomic, &sharded} {
				n, err := g.ReadFrom(bytes.NewReader(data))
				check(t, err)
				same(t, f, g)
				if n != int64(len(data)) {
					t.Errorf("read %d of %d bytes", n, len(data))
				}
				if _, err := g.ReadFrom(bytes.NewReader(data[:len(data)-1])); err == nil {
					t.Error("a cut stream is a filter")
				}
				same(t, f, g)
			}
			_, err = gloom.Read(bytes.NewReader(data), gloom.LoadConfig{MaxBytes: 1000})
			wantError(t, err, gloom.ErrLimit)
		}
		var buffer bytes.Buffer
		_, err := f.(streamed).WriteTo(&buffer)
		check(t, err)
		if !bytes.Equal(buffer.Bytes(), must(f.MarshalBinary())) {
			t.Error("WriteTo")
		}
		_, err = f.(streamed).WriteFormat(io.Discard, 9)
		wantError(t, err, gloom.ErrInvalidArgument)
	}
}

var errMine = errors.New("mine")

// Readers and writers that fail, break their contract or panic.
func TestBadStreams(t *testing.T) {
	f := gloom.NewWithParams(3000, 7)
	data := must(f.MarshalBinary())
	after := func(n int, do func() (int, error)) func(p []byte) (int, error) {
		return func(p []byte) (int, error) {
			if n--; n < 0 {
				return do()
			}
			return len(p), nil
		}
	}
	for calls := range 3 {
		_, err := f.WriteTo(writer(after(calls, func() (int, error) { return 0, errMine })))
		if err != errMine {
			t.Errorf("error %v", err)
		}
		_, err = f.WriteTo(writer(after(calls, func() (int, error) { return 1, nil })))
		if err != io.ErrShortWrite {
			t.Errorf("error %v", err)
		}
		_, err = f.WriteTo(writer(after(calls, func() (int, error) { return 1 << 30, nil })))
		wantError(t, err, gloom.ErrInvalidArgument)
		if reason := panicked(func() { _, _ = f.WriteTo(writer(after(calls, func() (int, error) { panic(errMine) }))) }); reason != errMine {
			t.Errorf("panic %v", reason)
		}
		if reason := panicked(func() { _, _ = f.WriteTo(writer(after(calls, func() (int, error) { panic(nil) }))) }); reason == nil {
			t.Error("panic(nil) is lost")
		}
	}
	reads := func(do func(p []byte) (int, error)) (*gloom.Filter, error) {
		return gloom.Read(io.MultiReader(bytes.NewReader(data[:70000]), reader(do)), gloom.LoadConfig{})
	}
	if _, err := reads(func([]byte) (int, error) { return 0, errMine }); err != errMine {
		t.Errorf("error %v", err)
	}
	if _, err := reads(func([]byte) (int, error) { return 0, nil }); err != io.ErrNoProgress {
		t.Errorf("error %v", err)
	}
	_, err := reads(func(p []byte) (int, error) { return len(p) + 1, nil })
	wantError(t, err, gloom.ErrInvalidArgument)
	_, err = reads(func(p []byte) (int, error) { return -1, nil })
	wantError(t, err, gloom.ErrInvalidArgument)
	if reason := panicked(func() { _, _ = reads(func([]byte) (int, error) { panic(errMine) }) }); reason != errMine {
		t.Errorf("panic %v", reason)
	}
	// The filter and the package are as they were.
	if !bytes.Equal(must(f.MarshalBinary()), data) {
		t.Error("changed")
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

func TestMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	keys := names("key", 1000)
	f := must(gloom.MapCreate(path, gloom.Config{ExpectedItems: 1000, FPRate: 0.01, BlockMultiple: 2}))
	if !f.IsMapped() || f.IsReadOnly() {
		t.Error("IsMapped or IsReadOnly")
	}
	for _, key := range keys[:500] {
		f.AddString(key)
	}
	f.AddManyString(keys[500:])
	check(t, f.Sync())
	if bytes := f.MemoryBytes(); bytes < f.NumBlocks()*64 || bytes > f.NumBlocks()*64+8*1024 {
		t.Errorf("MemoryBytes() = %d", bytes)
	}
	model := must(gloom.OpenAtomic(gloom.Config{ExpectedItems: 1000, FPRate: 0.01, BlockMultiple: 2}))
	model.AddManyString(keys)
	if !f.Equal(model) || f.Count() != 1000 {
		t.Errorf("Count() = %d", f.Count())
	}
	if f.TestAndAddString("key:5") != true {
		t.Error("TestAndAdd")
	}
	folded := must(f.Fold(2))
	if folded.IsMapped() || !folded.TestString(keys[7]) {
		t.Error("Fold")
	}
	_, err := gloom.MapCreate(path, gloom.Config{ExpectedItems: 1000, FPRate: 0.01})
	wantError(t, err, gloom.ErrIO)
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	check(t, f.Close())

	readers := make([]*gloom.AtomicFilter, 3)
	for i := range readers {
		readers[i] = must(gloom.Map(path, gloom.MapReadOnly|gloom.MapVerify))
		r := readers[i]
		if !r.Equal(model) || !r.IsReadOnly() || r.Count() != 1001 {
			t.Errorf("Count() = %d", r.Count())
		}
		for _, found := range answers(t, r, keys) {
			if !found {
				t.Fatal("a key is lost")
			}
		}
	}
	r := readers[0]
	var empty, emptied gloom.Batch
	emptied.AppendString("key")
	emptied.Reset()
	for _, change := range []func(){
		func() { r.AddString("no") }, func() { r.Add(nil) }, func() { r.AddHash(gloom.Hash{}) }, func() { r.TestAndAdd(nil) },
		func() { r.AddManyString(keys) }, func() { r.AddManyHash(make([]gloom.Hash, 1)) }, func() { r.Clear() },
		func() { gloom.AddFixed(r, []uint64{1}) },
		// Without keys, too.
		func() { r.AddMany(nil) }, func() { r.AddManyString(nil) }, func() { r.AddManyHash(nil) },
		func() { gloom.AddFixed[uint64](r, nil) }, func() { r.AddBatch(&empty) }, func() { empty.Flush(r) },
		func() { r.AddBatch(&emptied) }, func() { emptied.Flush(r) },
	} {
		wantPanic(t, change, gloom.ErrReadOnly)
	}
	wantError(t, r.Merge(model), gloom.ErrReadOnly)
	wantError(t, r.Intersect(model), gloom.ErrReadOnly)
	wantError(t, r.Merge(r), gloom.ErrReadOnly) // though nothing would change
	wantError(t, r.Intersect(r), gloom.ErrReadOnly)
	wantError(t, r.Sync(), gloom.ErrReadOnly)
	copied := must(r.Clone())
	copied.AddString("yes")
	if copied.IsMapped() || copied.Count() != 1002 {
		t.Error("Clone")
	}
	for _, r := range readers {
		check(t, r.Close())
	}
	again := must(gloom.Map(path, gloom.MapReadWrite))
	again.AddString("late")
	check(t, again.Close())
	if loaded := must(gloom.Load(path, gloom.LoadConfig{})); !loaded.TestString("late") || loaded.Count() != 1002 {
		t.Errorf("Count() = %d", loaded.Count())
	}
	check(t, model.Save(path, gloom.FormatV1))
	_, err = gloom.Map(path, gloom.MapReadOnly)
	wantError(t, err, gloom.ErrUnsupported)
	_, err = gloom.Map(path, 1<<20)
	wantError(t, err, gloom.ErrInvalidArgument)
}

func TestMapWithConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	f := gloom.NewWithParams(64, 7)
	f.AddString("key")
	check(t, f.Save(path, gloom.FormatNative))
	for _, mode := range []gloom.MapMode{gloom.MapReadOnly, gloom.MapReadWrite} {
		_, err := gloom.MapWithConfig(path, gloom.MapConfig{Mode: mode, MaxBytes: 64*64 - 1})
		wantError(t, err, gloom.ErrLimit)
		m := must(gloom.MapWithConfig(path, gloom.MapConfig{Mode: mode, MaxBytes: 64 * 64}))
		if !m.Equal(f) || m.IsReadOnly() != (mode == gloom.MapReadOnly) {
			t.Errorf("mode %d: another filter", mode)
		}
		check(t, m.Close())
	}
	m := must(gloom.MapWithConfig(path, gloom.MapConfig{}))
	if !m.Equal(f) || !m.IsReadOnly() {
		t.Error("the zero value")
	}
	check(t, m.Close())
	_, err := gloom.MapWithConfig(path, gloom.MapConfig{Mode: 1 << 20})
	wantError(t, err, gloom.ErrInvalidArgument)
}

// A map goes on with its file when another takes its place, and says so.
func TestStaleMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	f, other := gloom.NewWithParams(64, 7), gloom.NewWithParams(65, 7)
	f.AddString("key")
	check(t, f.Save(path, gloom.FormatNative))
	m := must(gloom.Map(path, gloom.MapReadOnly))
	defer m.Close()
	if m.IsStale() {
		t.Error("stale from the beginning")
	}
	check(t, other.Save(path, gloom.FormatNative))
	if !m.IsStale() || !m.Equal(f) {
		t.Error("the file was replaced")
	}
	again := must(gloom.Map(path, gloom.MapReadWrite))
	defer again.Close()
	again.AddString("key")
	if again.IsStale() {
		t.Error("a map of the new file is stale")
	}
	check(t, os.Remove(path))
	if !again.IsStale() {
		t.Error("the file was removed")
	}
}

// A FIFO is refused without waiting for its writer (or the tests' time limit ends this), unless it is asked for.
func TestSpecialFiles(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "fifo")
	check(t, syscall.Mkfifo(path, 0o600))
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"Load":              second(gloom.Load(path, gloom.LoadConfig{})),
		"LoadAtomic":        second(gloom.LoadAtomic(path, gloom.LoadConfig{})),
		"LoadShardedAtomic": second(gloom.LoadShardedAtomic(path, gloom.LoadConfig{})),
		"Map":               second(gloom.Map(path, gloom.MapReadOnly)),
		"Inspect":           second(gloom.Inspect(path)),
	} {
		wantError(t, err, gloom.ErrIO)
		var e *gloom.Error
		if !errors.Is(err, syscall.ENODEV) || !errors.As(err, &e) || e.Errno != syscall.ENODEV {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, special := range []bool{false, true} {
		if _, err := gloom.Load(folder, gloom.LoadConfig{SpecialFiles: special}); !errors.Is(err, syscall.EISDIR) {
			t.Errorf("a folder: %v", err)
		}
	}

	f := gloom.NewWithParams(3000, 7) // more than a pipe holds
	f.AddString("key")
	written := make(chan error)
	go func() { written <- os.WriteFile(path, must(f.MarshalBinary()), 0) }()
	if !must(gloom.Load(path, gloom.LoadConfig{SpecialFiles: true})).Equal(f) {
		t.Error("another filter")
	}
	check(t, <-written)
}

// A map that is dropped without Close is closed by the collector: its file becomes clean.
func TestDroppedMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	func() {
		f := must(gloom.MapCreate(path, gloom.Config{ExpectedItems: 1000, FPRate: 0.01}))
		f.AddString("key")
	}()
	for must(gloom.Inspect(path)).Dirty { // for ever, if it is never closed: the tests' time limit ends it
		runtime.GC()
		runtime.Gosched()
	}
	if info := must(gloom.Inspect(path)); info.Count != 1 {
		t.Errorf("%+v", info)
	}
}

// An error names the function or method that was called, not one that it shares with others.
func TestErrorsNameWhatWasCalled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	check(t, gloom.NewWithParams(64, 7).Save(path, gloom.FormatNative))
	f := must(gloom.Map(path, gloom.MapReadOnly))
	defer f.Close()
	var b gloom.Batch
	b.AppendString("key")
	var plain gloom.Filter
	var sharded gloom.ShardedAtomicFilter
	greedy := writer(func(p []byte) (int, error) { return len(p) + 1, nil })
	liar := reader(func(p []byte) (int, error) { return -1, nil })
	second := func(_ any, err error) error { return err }
	for _, c := range []struct {
		op   string
		call func() error // or it panics
	}{
		{"Add", func() error { f.Add(nil); return nil }},
		{"AddString", func() error { f.AddString(""); return nil }},
		{"AddHash", func() error { f.AddHash(gloom.Hash{}); return nil }},
		{"TestAndAdd", func() error { f.TestAndAdd(nil); return nil }},
		{"TestAndAddString", func() error { f.TestAndAddString(""); return nil }},
		{"AddMany", func() error { f.AddMany([][]byte{nil}); return nil }},
		{"AddManyString", func() error { f.AddManyString([]string{""}); return nil }},
		{"AddManyHash", func() error { f.AddManyHash(make([]gloom.Hash, 1)); return nil }},
		{"AddFixed", func() error { gloom.AddFixed(f, []uint64{1}); return nil }},
		{"AddBatch", func() error { f.AddBatch(&b); return nil }},
		{"Flush", func() error { b.Flush(f); return nil }},
		{"Clear", func() error { f.Clear(); return nil }},
		{"Merge", func() error { return f.Merge(gloom.NewWithParams(64, 7)) }},
		{"MergeBinary", func() error { return f.MergeBinary(nil) }},
		{"Intersect", func() error { return f.Intersect(gloom.NewWithParams(64, 7)) }},
		{"Fold", func() error { return second(f.Fold(3)) }},
		{"Sync", f.Sync},
		{"Save", func() error { return f.Save(path, 9) }},
		{"Map", func() error { return second(gloom.Map(path, 8)) }},
		{"MapWithConfig", func() error { return second(gloom.MapWithConfig(path, gloom.MapConfig{Mode: 8})) }},
		{"AppendFormat", func() error { return second(f.AppendFormat(nil, 9)) }},
		{"WriteTo", func() error { return second(f.WriteTo(greedy)) }},
		{"WriteFormat", func() error { return second(f.WriteFormat(greedy, gloom.FormatV1)) }},
		{"WriteFormat", func() error { return second(f.WriteFormat(greedy, 9)) }},
		{"UnmarshalBinary", func() error { return f.UnmarshalBinary(nil) }},
		{"UnmarshalBinary", func() error { return second(gloom.UnmarshalBinary(nil)) }},
		{"Read", func() error { return second(gloom.Read(liar, gloom.LoadConfig{})) }},
		{"Read", func() error { return second(gloom.Read(strings.NewReader(""), gloom.LoadConfig{})) }},
		{"ReadAtomic", func() error { return second(gloom.ReadAtomic(strings.NewReader(""), gloom.LoadConfig{})) }},
		{"ReadShardedAtomic", func() error { return second(gloom.ReadShardedAtomic(strings.NewReader(""), gloom.LoadConfig{})) }},
		{"ReadFrom", func() error { return second(f.ReadFrom(liar)) }},
		{"ReadFrom", func() error { return second(plain.ReadFrom(strings.NewReader(""))) }},
		{"ReadFrom", func() error { return second(sharded.ReadFrom(strings.NewReader(""))) }},
	} {
		var err error
		if reason := panicked(func() { err = c.call() }); reason != nil {
			err, _ = reason.(error)
		}
		var e *gloom.Error
		if !errors.As(err, &e) || e.Op != c.op {
			t.Errorf("%s: %v", c.op, err)
		}
	}
	if b.Len() != 1 {
		t.Error("Flush failed and has emptied the batch")
	}
}

func ExampleError() {
	_, err := gloom.Load("no such file", gloom.LoadConfig{})
	var reason *gloom.Error
	if errors.As(err, &reason) {
		fmt.Println(reason.Op, errors.Is(err, gloom.ErrIO), errors.Is(err, fs.ErrNotExist))
	}
	// Output: Load true true
}
