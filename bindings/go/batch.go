package gloom

// #include "bytes.h"
import "C"

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// Keys go to the library in chunks: their bytes one after the other, so that no pointer to a pointer crosses to C.
const (
	chunkKeys  = 1024
	chunkBytes = 64 << 10 // a chunk ends with the key that reaches this
	keepBytes  = 1 << 20  // what is larger is not kept for the next call
)

// Batch collects keys that are added or tested together. It is reusable, and for one goroutine at a time; the zero value is
// empty.
type Batch struct {
	data    []byte
	offsets []C.int64_t // of the ends; the keys lie one after the other
}

// Append appends a key, which is copied.
func (b *Batch) Append(key []byte) { b.AppendString(text(key)) }

// AppendString appends a key, which is copied.
func (b *Batch) AppendString(key string) {
	if len(b.offsets) == 0 {
		b.offsets = append(b.offsets, 0)
	}
	b.data = append(b.data, key...)
	b.offsets = append(b.offsets, C.int64_t(len(b.data)))
}

// Len is the number of keys.
func (b *Batch) Len() int { return max(len(b.offsets), 1) - 1 }

// Reset removes the keys and keeps the memory.
func (b *Batch) Reset() {
	b.data, b.offsets = b.data[:0], b.offsets[:0]
}

// Flush adds the keys to a filter and removes them from the batch. It panics as Add does; the batch keeps its keys then.
func (b *Batch) Flush(f AnyFilter) {
	f.self().native().addBatch("Flush", b)
	b.Reset()
}

// AddBatch adds the keys of a batch, which keeps them: one call of C, without copying. Goroutines and panics as for Add.
func (c *core) AddBatch(b *Batch) {
	c.native().addBatch("AddBatch", b)
}

// TestBatch tests the keys of a batch: result i is what Test answers for key i. The results are written to dst, which is
// made longer if necessary, and returned.
func (c *core) TestBatch(b *Batch, dst []bool) []bool {
	n := c.native()
	dst = results(dst, b.Len())
	n.testBatch(b, dst)
	return dst
}

// AddMany adds keys, faster than Add does: their bytes are copied together, about a thousand keys at a time, for one
// call of C. Goroutines and panics as for Add.
func (c *core) AddMany(keys [][]byte) { addMany("AddMany", c.native(), keys) }

// AddManyString adds keys; otherwise as AddMany.
func (c *core) AddManyString(keys []string) { addMany("AddManyString", c.native(), keys) }

// TestMany tests keys, faster than Test does: result i is what Test answers for key i. The results are written to
// dst, which is made longer if necessary (nil is fine), and returned: dst[:len(keys)]. Goroutines as for Test.
func (c *core) TestMany(keys [][]byte, dst []bool) []bool { return testMany(c.native(), keys, dst) }

// TestManyString tests keys; otherwise as TestMany.
func (c *core) TestManyString(keys []string, dst []bool) []bool {
	return testMany(c.native(), keys, dst)
}

// FixedKey is a key of fixed width. A key that is an integer is its bytes in memory: little-endian.
type FixedKey interface {
	~uint32 | ~int32 | ~uint64 | ~int64 |
		~[4]byte | ~[8]byte | ~[12]byte | ~[16]byte | ~[20]byte | ~[24]byte | ~[28]byte | ~[32]byte | ~[48]byte | ~[64]byte
}

// AddFixed adds keys of fixed width to a filter, without copying them; otherwise as AddMany. It is the fastest way to add.
func AddFixed[K FixedKey](f AnyFilter, keys []K) {
	var key K
	f.self().native().addFixed(unsafe.Pointer(unsafe.SliceData(keys)), unsafe.Sizeof(key), len(keys))
}

// TestFixed tests keys of fixed width, without copying them; otherwise as TestMany.
func TestFixed[K FixedKey](f AnyFilter, keys []K, dst []bool) []bool {
	var key K
	n := f.self().native()
	dst = results(dst, len(keys))
	n.testFixed(unsafe.Pointer(unsafe.SliceData(keys)), unsafe.Sizeof(key), dst)
	return dst
}

// AddManyHash adds keys by their hashes, which must have been made by the filter's hash with its seed; otherwise as AddMany, without copying
// or hashing.
func (c *core) AddManyHash(hashes []Hash) {
	n := c.native()
	n.added("AddManyHash", C.gloom_add_batch_hashes(n.filter, (*C.gloom_hash)(unsafe.Pointer(unsafe.SliceData(hashes))), C.size_t(len(hashes))))
}

// TestManyHash tests keys by their hashes, which must have been made by the filter's hash with its seed; otherwise as TestMany, without copying
// or hashing.
func (c *core) TestManyHash(hashes []Hash, dst []bool) []bool {
	n := c.native()
	dst = results(dst, len(hashes))
	C.gloom_test_batch_hashes(n.filter, (*C.gloom_hash)(unsafe.Pointer(unsafe.SliceData(hashes))), C.size_t(len(hashes)), resultBytes(dst), nil)
	runtime.KeepAlive(n)
	return dst
}

// results makes room for n results.
func results(dst []bool, n int) []bool {
	if cap(dst) < n {
		return make([]bool, n)
	}
	return dst[:n]
}

// resultBytes is where the library writes results: a bool is a byte that is 0 or 1.
func resultBytes(dst []bool) *C.uint8_t {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(dst)))
}

// added ends an add by the library; op is what the user called.
func (n *native) added(op string, status C.gloom_status) {
	runtime.KeepAlive(n)
	if status != C.GLOOM_OK {
		panic(failure(op, status, nil))
	}
}

func (n *native) addFixed(keys unsafe.Pointer, size uintptr, count int) {
	n.added("AddFixed", C.go_add_batch_fixed(n.filter, (*C.uint8_t)(keys), C.size_t(size), C.size_t(count)))
}

// testFixed cannot fail: the arguments are those of slices. If it did, the library would fill dst with true, "maybe".
func (n *native) testFixed(keys unsafe.Pointer, size uintptr, dst []bool) {
	C.go_test_batch_fixed(n.filter, (*C.uint8_t)(keys), C.size_t(size), C.size_t(len(dst)), resultBytes(dst))
	runtime.KeepAlive(n)
}

func (n *native) addBatch(op string, b *Batch) {
	n.added(op, C.go_add_batch_offsets64(n.filter, pointer(text(b.data)), C.size_t(len(b.data)),
		unsafe.SliceData(b.offsets), C.size_t(b.Len())))
}

// testBatch cannot fail, as testFixed.
func (n *native) testBatch(b *Batch, dst []bool) {
	if b.Len() == 0 {
		return
	}
	C.go_test_batch_offsets64(n.filter, pointer(text(b.data)), C.size_t(len(b.data)),
		unsafe.SliceData(b.offsets), C.size_t(b.Len()), resultBytes(dst))
	runtime.KeepAlive(n)
}

// chunks are kept from call to call.
var chunks = sync.Pool{New: func() any {
	return &Batch{data: make([]byte, 0, chunkBytes), offsets: make([]C.int64_t, 0, chunkKeys+1)}
}}

func giveBack(b *Batch) {
	if cap(b.data) <= keepBytes {
		chunks.Put(b)
	}
}

// fill takes as many of the keys as make a chunk, and returns the rest.
func fill[K string | []byte](b *Batch, keys []K) []K {
	data, offsets, end := b.data[:cap(b.data)], b.offsets[:chunkKeys+1], 0
	offsets[0] = 0
	n := 0
	for n < len(keys) && n < chunkKeys && end < chunkBytes {
		key := *(*string)(unsafe.Pointer(&keys[n])) // a slice begins as a string does: address, length
		if end+len(key) > len(data) {
			data = slices.Grow(data[:end], len(key))
			data = data[:cap(data)]
		}
		copyKey(data[end:end+len(key)], key)
		end += len(key)
		n++
		offsets[n] = C.int64_t(end)
	}
	b.data, b.offsets = data[:end], offsets[:n+1]
	return keys[n:]
}

// copyKey is copy, in a third of its time for keys of 8 to 32 bytes: two moves that may overlap.
func copyKey(dst []byte, key string) {
	to, from, n := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(pointer(key)), len(key)
	switch {
	case 16 <= n && n <= 32:
		*(*[16]byte)(to) = *(*[16]byte)(from)
		*(*[16]byte)(unsafe.Add(to, n-16)) = *(*[16]byte)(unsafe.Add(from, n-16))
	case 8 <= n && n < 16:
		*(*[8]byte)(to) = *(*[8]byte)(from)
		*(*[8]byte)(unsafe.Add(to, n-8)) = *(*[8]byte)(unsafe.Add(from, n-8))
	default:
		copy(dst, key)
	}
}

func addMany[K string | []byte](op string, n *native, keys []K) {
	b := chunks.Get().(*Batch)
	for { // once also without keys: the library tells whether it may write
		keys = fill(b, keys)
		n.addBatch(op, b)
		if len(keys) == 0 {
			break
		}
	}
	giveBack(b)
}

func testMany[K string | []byte](n *native, keys []K, dst []bool) []bool {
	dst = results(dst, len(keys))
	b := chunks.Get().(*Batch)
	for rest := dst; len(keys) > 0; rest = rest[b.Len():] {
		keys = fill(b, keys)
		n.testBatch(b, rest[:b.Len()])
	}
	giveBack(b)
	return dst
}
