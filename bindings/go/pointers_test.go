package gloom_test

import (
	"path/filepath"
	"testing"
	"unsafe"

	"example.org/gloom/bindings/go"
)

// shared is what programs have: one object of keys, buffers and pointers. C gets the address of a part of it; that there are Go
// pointers in the rest is no reason for cgo to panic.
type shared struct {
	pointer *int
	key     [32]byte
	numbers [4]uint64
	ids     [4]id
	hashes  [4]gloom.Hash
	found   [4]bool
	data    [1024]byte
	out     [1024]byte
	last    any
}

func TestKeysBesidePointers(t *testing.T) {
	c := gloom.Config{NumBlocks: 4, K: 7}
	path := filepath.Join(t.TempDir(), "filter")
	filters := opened(t, c)
	filters["mapped"] = must(gloom.MapCreate(path, c))
	for name, f := range filters {
		s := &shared{pointer: new(int), last: new(int)}
		key, text := s.key[:8], unsafe.String(&s.key[16], 16)
		keys, texts := [][]byte{key, s.key[8:]}, []string{text, text[3:]}
		data := s.data[:copy(s.data[:], must(f.MarshalBinary()))]
		var b gloom.Batch
		for _, call := range []struct {
			name string
			do   func()
		}{
			{"Add", func() { f.Add(key) }},
			{"AddString", func() { f.AddString(text) }},
			{"Test", func() { f.Test(key) }},
			{"TestString", func() { f.TestString(text) }},
			{"TestAndAdd", func() { f.TestAndAdd(key) }},
			{"TestAndAddString", func() { f.TestAndAddString(text) }},
			{"HashKey", func() { s.hashes[0] = gloom.HashKey(key, 0) }},
			{"HashString", func() { s.hashes[1] = gloom.HashString(text, 5) }},
			{"AddHash", func() { f.AddHash(s.hashes[0]) }},
			{"TestHash", func() { f.TestHash(s.hashes[0]) }},
			{"AddMany", func() { f.AddMany(keys) }},
			{"AddManyString", func() { f.AddManyString(texts) }},
			{"AddManyHash", func() { f.AddManyHash(s.hashes[:]) }},
			{"TestMany", func() { f.TestMany(keys, s.found[:]) }},
			{"TestManyString", func() { f.TestManyString(texts, s.found[:]) }},
			{"TestManyHash", func() { f.TestManyHash(s.hashes[:], s.found[:]) }},
			{"AddFixed", func() { gloom.AddFixed(f, s.numbers[:]) }},
			{"AddFixed of arrays", func() { gloom.AddFixed(f, s.ids[:]) }},
			{"TestFixed", func() { gloom.TestFixed(f, s.numbers[:], s.found[:]) }},
			{"TestFixed of arrays", func() { gloom.TestFixed(f, s.ids[:], s.found[:]) }},
			{"Append", func() { b.Append(key) }},
			{"AppendString", func() { b.AppendString(text) }},
			{"TestBatch", func() { f.TestBatch(&b, s.found[:]) }},
			{"AddBatch", func() { f.AddBatch(&b) }},
			{"Flush", func() { b.Flush(f) }},
			{"AppendBinary", func() { must(f.AppendBinary(s.out[:0])) }},
			{"AppendFormat", func() { must(f.AppendFormat(s.out[:7], gloom.FormatV1)) }},
			{"MergeBinary", func() { check(t, f.MergeBinary(data)) }},
			{"the function UnmarshalBinary", func() { must(gloom.UnmarshalBinary(data)) }},
			{"UnmarshalBinary", func() { check(t, f.UnmarshalBinary(data)) }}, // last: a map is none any more
		} {
			if reason := panicked(call.do); reason != nil {
				t.Errorf("%s: %s: %v", name, call.name, reason)
			}
		}
		check(t, f.Close())
	}
}
