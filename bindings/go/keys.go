package gloom

// #include "bytes.h"
import "C"

import (
	"runtime"

	"github.com/zeebo/xxh3"
)

// Add adds a key; it counts, also if it was there. Of a [Filter] one goroutine at a time may add, of the other types any number.
// Add costs one hash and one cache line; in a [ShardedAtomicFilter] and a mapped file also a call of C.
//
// It panics with an error that is [ErrReadOnly] if the filter is mapped read-only.
func (c *core) Add(data []byte) {
	c.add("Add", text(data))
}

// AddString adds a key; otherwise as Add.
func (c *core) AddString(s string) {
	c.add("AddString", s)
}

func (c *core) add(op, s string) {
	n := c.native()
	if n.inGo && n.seed == 0 { // as in TestString
		h := xxh3.HashString128(s)
		n.set(n.locate(Hash{h.Lo, h.Hi}))
		n.adds.add()
		runtime.KeepAlive(n)
		return
	}
	if n.inGo {
		n.add(n.hash(s))
		return
	}
	n.added(op, C.go_add(n.filter, pointer(s), C.size_t(len(s))))
}

// Test answers whether the key is in the set: false means certainly not, true means probably. Any number of goroutines may
// ask, also while others add; they never wait. It costs one hash and one cache line.
func (c *core) Test(data []byte) bool {
	return c.TestString(text(data))
}

// TestString answers as Test.
func (c *core) TestString(s string) bool {
	n := c.native()
	if n.seed != 0 {
		return n.test(n.hash(s))
	}
	// HashString and n.test once more, but in line. In a loop over keys the processor works ahead as far as some hundred
	// instructions reach. Few of them a key, and the next key's cache miss begins during this one's.
	h := xxh3.HashString128(s)
	all := n.look(n.locate(Hash{h.Lo, h.Hi}))
	runtime.KeepAlive(n)
	return all&1 != 0
}

// TestAndAdd adds a key and answers whether it was in the set before: false means certainly not, true means probably. Of
// goroutines that race to add one new key, several may be told false. Otherwise as Add: goroutines, cost, count, panics.
func (c *core) TestAndAdd(data []byte) bool {
	return c.testAndAdd("TestAndAdd", text(data))
}

// TestAndAddString adds and answers as TestAndAdd.
func (c *core) TestAndAddString(s string) bool {
	return c.testAndAdd("TestAndAddString", s)
}

func (c *core) testAndAdd(op, s string) bool {
	n := c.native()
	if n.inGo {
		return n.add(n.hash(s))
	}
	var present C.bool
	n.added(op, C.go_test_and_add(n.filter, pointer(s), C.size_t(len(s)), &present))
	return bool(present)
}

// AddHash adds a key by its hash, which must have been made by the filter's hash with its seed; otherwise as Add, without hashing.
func (c *core) AddHash(h Hash) {
	n := c.native()
	if n.inGo {
		n.add(h)
		return
	}
	n.added("AddHash", C.gloom_add_hash(n.filter, C.gloom_hash{lo: C.uint64_t(h.Lo), hi: C.uint64_t(h.Hi)}))
}

// TestHash tests a key by its hash, which must have been made by the filter's hash with its seed; otherwise as Test, without hashing.
func (c *core) TestHash(h Hash) bool {
	return c.native().test(h)
}
