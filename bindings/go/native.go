package gloom

// #include <stdlib.h>
// #include "bytes.h"
//
// // None of these calls back into Go or keeps a pointer: arguments may stay on the stack, and the call is cheaper.
// // gloom_write and gloom_read do call back and are not in this list.
// #cgo noescape gloom_create
// #cgo nocallback gloom_create
// #cgo noescape gloom_free
// #cgo nocallback gloom_free
// #cgo noescape gloom_size_for
// #cgo nocallback gloom_size_for
// #cgo noescape go_add
// #cgo nocallback go_add
// #cgo noescape go_test_and_add
// #cgo nocallback go_test_and_add
// #cgo noescape go_siphash_key
// #cgo nocallback go_siphash_key
// #cgo noescape gloom_add_hash
// #cgo nocallback gloom_add_hash
// #cgo noescape gloom_note_adds
// #cgo nocallback gloom_note_adds
// #cgo noescape go_add_batch_fixed
// #cgo nocallback go_add_batch_fixed
// #cgo noescape go_add_batch_offsets64
// #cgo nocallback go_add_batch_offsets64
// #cgo noescape gloom_add_batch_hashes
// #cgo nocallback gloom_add_batch_hashes
// #cgo noescape go_test_batch_fixed
// #cgo nocallback go_test_batch_fixed
// #cgo noescape go_test_batch_offsets64
// #cgo nocallback go_test_batch_offsets64
// #cgo noescape gloom_test_batch_hashes
// #cgo nocallback gloom_test_batch_hashes
// #cgo noescape gloom_kind_of
// #cgo nocallback gloom_kind_of
// #cgo noescape gloom_num_blocks
// #cgo nocallback gloom_num_blocks
// #cgo noescape gloom_k
// #cgo nocallback gloom_k
// #cgo noescape gloom_num_shards
// #cgo nocallback gloom_num_shards
// #cgo noescape gloom_hash_kind
// #cgo nocallback gloom_hash_kind
// #cgo noescape gloom_seed
// #cgo nocallback gloom_seed
// #cgo noescape gloom_expected_items
// #cgo nocallback gloom_expected_items
// #cgo noescape gloom_fp_rate
// #cgo nocallback gloom_fp_rate
// #cgo noescape gloom_is_mapped
// #cgo nocallback gloom_is_mapped
// #cgo noescape gloom_is_stale
// #cgo nocallback gloom_is_stale
// #cgo noescape gloom_is_read_only
// #cgo nocallback gloom_is_read_only
// #cgo noescape gloom_memory_bytes
// #cgo nocallback gloom_memory_bytes
// #cgo noescape gloom_count
// #cgo nocallback gloom_count
// #cgo noescape gloom_estimate_items
// #cgo nocallback gloom_estimate_items
// #cgo noescape gloom_fill_ratio
// #cgo nocallback gloom_fill_ratio
// #cgo noescape gloom_current_fp_rate
// #cgo nocallback gloom_current_fp_rate
// #cgo noescape gloom_predict_fp_rate
// #cgo nocallback gloom_predict_fp_rate
// #cgo noescape gloom_blocks
// #cgo nocallback gloom_blocks
// #cgo noescape gloom_simd_level
// #cgo nocallback gloom_simd_level
// #cgo noescape gloom_merge
// #cgo nocallback gloom_merge
// #cgo noescape go_merge_serialized
// #cgo nocallback go_merge_serialized
// #cgo noescape gloom_intersect
// #cgo nocallback gloom_intersect
// #cgo noescape gloom_fold
// #cgo nocallback gloom_fold
// #cgo noescape gloom_clear
// #cgo nocallback gloom_clear
// #cgo noescape gloom_clone
// #cgo nocallback gloom_clone
// #cgo noescape gloom_equal
// #cgo nocallback gloom_equal
// #cgo noescape gloom_serialized_size
// #cgo nocallback gloom_serialized_size
// #cgo noescape go_serialize
// #cgo nocallback go_serialize
// #cgo noescape go_deserialize
// #cgo nocallback go_deserialize
// #cgo noescape gloom_save
// #cgo nocallback gloom_save
// #cgo noescape gloom_load
// #cgo nocallback gloom_load
// #cgo noescape gloom_inspect
// #cgo nocallback gloom_inspect
// #cgo noescape gloom_map_create
// #cgo nocallback gloom_map_create
// #cgo noescape gloom_map
// #cgo nocallback gloom_map
// #cgo noescape gloom_map_with_options
// #cgo nocallback gloom_map_with_options
// #cgo noescape gloom_sync
// #cgo nocallback gloom_sync
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"
)

func init() {
	if have, want := uint32(C.gloom_abi_version()), uint32(C.GLOOM_ABI_VERSION); have != want {
		panic(fmt.Sprintf("gloom: this program was built for ABI %d of the library gloom, but runs with version %s, which has ABI %d",
			want, Version(), have))
	}
	if have, want := uint32(C.gloom_version()), uint32(C.GLOOM_VERSION); have < want {
		panic(fmt.Sprintf("gloom: this program was built for version %s of the library gloom, but runs with the older %s",
			C.GLOOM_VERSION_STRING, Version()))
	}
}

// Version is the version of the native library that the program runs with, such as "0.1.0".
func Version() string {
	return C.GoString(C.gloom_version_string())
}

// native is one filter of the library.
//
// It is never copied, and whoever works with the filter holds a pointer to it until the work is done
// (runtime.KeepAlive). So the garbage collector knows whether somebody is still inside a call, and the filter is
// freed when nobody is: no counter of users, which every call would have to change.
type native struct {
	filter    *C.gloom_filter
	blocks    unsafe.Pointer // the library's memory: numBlocks blocks of 64 bytes
	numBlocks uint64
	look      func(block unsafe.Pointer, probe uint32) uint64
	set       func(block unsafe.Pointer, probe uint32) uint64 // if inGo
	k         uint32
	seed      uint64
	siphash   bool
	kind      C.int32_t
	mapped    bool
	inGo      bool // single keys are added by Go: see probe.go
	adds      tally
	cleanup   runtime.Cleanup
	bytes     uint64
}

// adopt takes over a filter of the library.
func adopt(filter *C.gloom_filter) *native {
	n := &native{
		filter:    filter,
		blocks:    C.gloom_blocks(filter),
		numBlocks: uint64(C.gloom_num_blocks(filter)),
		k:         uint32(C.gloom_k(filter)),
		seed:      uint64(C.gloom_seed(filter)),
		siphash:   C.gloom_hash_kind(filter) == C.GLOOM_HASH_SIPHASH,
		kind:      C.gloom_kind_of(filter),
		mapped:    bool(C.gloom_is_mapped(filter)),
	}
	n.look = loops[n.k].test
	n.inGo = !n.mapped && (n.kind == C.GLOOM_KIND_PLAIN || n.kind == C.GLOOM_KIND_ATOMIC)
	if n.inGo {
		n.set = loops[n.k].share
		if n.kind == C.GLOOM_KIND_PLAIN {
			n.set = loops[n.k].set
		}
		n.adds.init(n.kind == C.GLOOM_KIND_PLAIN, n.numBlocks)
	}
	if !n.mapped {
		n.bytes = uint64(C.gloom_memory_bytes(filter))
	}
	n.cleanup = runtime.AddCleanup(n, release, allocation{filter, n.bytes})
	outside.took(n.bytes)
	return n
}

// allocation is what the collector gives back once nobody can use the filter any more.
type allocation struct {
	filter *C.gloom_filter
	bytes  uint64
}

func release(a allocation) {
	C.gloom_free(a.filter)
	outside.gaveBack(a.bytes)
}

// core is what the three types have in common.
type core struct {
	handle    atomic.Pointer[native]
	replacing sync.Mutex // held by who changes handle, until a map that was there is closed
}

// native returns the filter, or panics if it is closed.
func (c *core) native() *native {
	if stress {
		runtime.GC()
	}
	if n := c.handle.Load(); n != nil {
		return n
	}
	panic("gloom: use of a filter that is closed or was never made")
}

func (c *core) self() *core { return c }

// Close gives the filter back. Using it afterwards panics; closing it again does nothing.
//
// Other goroutines may be inside a call on the filter: they finish it. The memory goes when they have left and the
// garbage collector has seen it, which Close starts if 64 MiB or more are waiting for that.
//
// A file that is mapped is closed before Close returns, also if another goroutine is closing it: Close waits for the calls on it
// to end, and runs the collector to know when. So a reader or writer that a stream calls must not close the map that is being
// streamed. The last writer's Close makes the file clean; call Sync before to learn of errors.
// The error is always nil; it makes the type an [io.Closer].
func (c *core) Close() error {
	c.replace(nil)
	return nil
}

// replace puts another filter, or none, into the place of the present one. When it returns, a map that was there is closed, also
// if another goroutine was first to replace it.
func (c *core) replace(n *native) {
	c.replacing.Lock()
	defer c.replacing.Unlock()
	filter, users := c.swap(n)
	if filter == nil {
		return
	}
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 50*time.Millisecond) {
		runtime.GC()
		if users.Value() == nil {
			break
		}
		time.Sleep(pause) // somebody is inside a call
	}
	C.gloom_free(filter)
}

// swap puts another filter, or none, into the place of the present one. If that is a map, swap takes it away from its cleanup and
// returns it; others are left to the collector. It is not inlined, so that replace itself is none of the users that it waits for.
//
//go:noinline
func (c *core) swap(n *native) (*C.gloom_filter, weak.Pointer[native]) {
	old := c.handle.Swap(n)
	if old == nil {
		return nil, weak.Pointer[native]{}
	}
	if !old.mapped {
		outside.dropped(old.bytes)
		return nil, weak.Pointer[native]{}
	}
	old.cleanup.Stop()
	filter, users := old.filter, weak.Make(old)
	runtime.KeepAlive(old)
	return filter, users
}

// collector starts garbage collections that Go would not: it does not know of the memory behind a filter, and a
// filter of many megabytes looks like some hundred bytes to it.
type collector struct {
	mu      sync.Mutex
	bytes   uint64 // of all filters that are not freed
	low     uint64 // the least of them since the last collection: about what is in use
	garbage uint64 // of filters that were closed and are not freed
}

var outside collector

// As GOGC=100 has it: collect when there is twice as much as was in use. At first at 64 MiB.
const collectAt = 64 << 20

func (c *collector) took(bytes uint64) {
	c.mu.Lock()
	c.bytes += bytes
	collect := c.bytes > c.low+max(c.low, collectAt)
	if collect {
		c.low = c.bytes
	}
	c.mu.Unlock()
	if collect {
		// Here and now: whoever makes filters faster than they are collected has to wait.
		runtime.GC()
	}
}

func (c *collector) gaveBack(bytes uint64) {
	c.mu.Lock()
	c.bytes -= bytes
	c.low = min(c.low, c.bytes)
	c.garbage -= min(c.garbage, bytes)
	c.mu.Unlock()
}

func (c *collector) dropped(bytes uint64) {
	c.mu.Lock()
	c.garbage += bytes
	collect := c.garbage >= collectAt
	if collect {
		c.garbage = 0
	}
	c.mu.Unlock()
	if collect {
		go runtime.GC()
	}
}
