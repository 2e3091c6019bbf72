package gloom

// #include "bytes.h"
import "C"

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// The layout of a filter's bits once more, in Go: README.md has the measurements that were the reason. It is frozen
// and described in docs/layout.md. The library remains the one that makes, grows old with, saves and
// merges filters; Go only tests single keys in its memory, and adds them where nobody owns a part of it.

// Hash is the hash of a key, for asking many filters of one hash and seed about it.
type Hash struct {
	Lo, Hi uint64
}

// HashKey hashes a key by XXH3-128. The seed must be that of the filters to ask: 0, unless one was given in [Config].
func HashKey(key []byte, seed uint64) Hash {
	return HashString(unsafe.String(unsafe.SliceData(key), len(key)), seed)
}

// HashString hashes a string; otherwise as [HashKey].
func HashString(key string, seed uint64) Hash {
	if seed == 0 {
		h := xxh3.HashString128(key)
		return Hash{h.Lo, h.Hi}
	}
	h := xxh3.HashString128Seed(key, seed)
	return Hash{h.Lo, h.Hi}
}

// SipHashKey hashes a key for filters with SipHash in their [Config], and with this seed. It is a call of C.
func SipHashKey(key []byte, seed uint64) Hash {
	return SipHashString(text(key), seed)
}

// SipHashString hashes a string; otherwise as [SipHashKey].
func SipHashString(key string, seed uint64) Hash {
	h := C.go_siphash_key(pointer(key), C.size_t(len(key)), C.uint64_t(seed))
	return Hash{uint64(h.lo), uint64(h.hi)}
}

// hash hashes a key as the filter does.
func (n *native) hash(key string) Hash {
	if n.siphash {
		return SipHashString(key, n.seed)
	}
	return HashString(key, n.seed)
}

// loop looks at, or sets, the bits of one key in its block, and returns whether all were set before (in bit 0). There is one
// for each k, unrolled with the sizes and offsets of the partitions as constants, which takes a third off its time.
type loop struct {
	test  func(block unsafe.Pointer, probe uint32) uint64
	set   func(block unsafe.Pointer, probe uint32) uint64 // by the only writer
	share func(block unsafe.Pointer, probe uint32) uint64 // among other writers
}

//go:generate go run unroll.go

// place is the bit of a block that a probe value selects. Where the size is a constant, the compiler multiplies instead of dividing.
func place(probe uint32, size, offset uint64) uint64 {
	return offset + uint64(probe%uint32(size))
}

// word is the word of a block that has the bit.
func word(block unsafe.Pointer, bit uint64) *uint64 {
	return (*uint64)(unsafe.Add(block, bit/64*8))
}

// test has no branch: whether a bit of a missing key is set is a coin toss, and the processor would guess wrong half of
// the time.
func test(block unsafe.Pointer, probe uint32, size, offset uint64) uint64 {
	bit := place(probe, size, offset)
	return atomic.LoadUint64(word(block, bit)) >> (bit % 64)
}

// set stores without a locked instruction: there is one writer at a time, and a word is one store.
func set(block unsafe.Pointer, probe uint32, size, offset uint64) uint64 {
	bit := place(probe, size, offset)
	w := word(block, bit)
	old := atomic.LoadUint64(w)
	*w = old | 1<<(bit%64)
	return old >> (bit % 64)
}

// share has an atomic OR for a bit that is not set.
func share(block unsafe.Pointer, probe uint32, size, offset uint64) uint64 {
	bit := place(probe, size, offset)
	w := word(block, bit)
	set := atomic.LoadUint64(w) >> (bit % 64) & 1
	if set == 0 {
		atomic.OrUint64(w, 1<<(bit%64))
	}
	return set
}

// locate returns the block of a key, and the value that selects its bits.
func (n *native) locate(h Hash) (block unsafe.Pointer, probe uint32) {
	index, _ := bits.Mul64(h.Hi, n.numBlocks)
	return unsafe.Add(n.blocks, index*64), uint32(h.Lo) ^ uint32(h.Lo>>32)
}

// test answers whether all bits of a key are set.
func (n *native) test(h Hash) bool {
	all := n.look(n.locate(h))
	runtime.KeepAlive(n)
	return all&1 != 0
}

// add sets the bits of a key and returns whether all were set before. For filters that are inGo.
func (n *native) add(h Hash) bool {
	all := n.set(n.locate(h))
	n.adds.add()
	runtime.KeepAlive(n)
	return all&1 != 0
}

// settle tells the library of the adds that Go made, before anything that hands on the library's count.
func (n *native) settle() {
	n.adds.mu.Lock()
	defer n.adds.mu.Unlock()
	if untold := n.adds.untold(); untold > 0 {
		C.gloom_note_adds(n.filter, C.uint64_t(untold)) // cannot fail: the filter is inGo
		n.adds.told += untold
	}
	runtime.KeepAlive(n)
}
