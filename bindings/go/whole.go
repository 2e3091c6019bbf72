package gloom

// #include "bytes.h"
import "C"

import "runtime"

// Merge adds all keys of source, which may be of another type; the count rises by source's. Others may write both filters
// meanwhile, except a target that is a [Filter]. It reads and writes the whole filters.
//
// The error is [ErrIncompatible] if K, NumBlocks, SipHash or Seed differ, or [ErrReadOnly]. Nothing has changed then.
func (c *core) Merge(source AnyFilter) error {
	target, from := c.native(), source.self().native()
	from.settle()
	return target.change("Merge", func(reason *C.gloom_error) C.gloom_status {
		status := C.gloom_merge(target.filter, from.filter, reason)
		runtime.KeepAlive(from)
		return status
	})
}

// MergeBinary merges a filter in the form of bytes, of either format, without loading it; otherwise as Merge. The errors of
// UnmarshalBinary come on top.
func (c *core) MergeBinary(data []byte) error {
	target := c.native()
	return target.change("MergeBinary", func(reason *C.gloom_error) C.gloom_status {
		return C.go_merge_serialized(target.filter, pointer(text(data)), C.size_t(len(data)), reason)
	})
}

// Intersect keeps only what source has, too. A key that was added to both stays; others go as far as the bits tell. The
// count becomes the smaller one. Nobody else may write the target meanwhile. It reads and writes the whole filters. Errors are
// those of Merge.
func (c *core) Intersect(source AnyFilter) error {
	target, from := c.native(), source.self().native()
	target.settle()
	from.settle()
	return target.change("Intersect", func(reason *C.gloom_error) C.gloom_status {
		status := C.gloom_intersect(target.filter, from.filter, reason)
		runtime.KeepAlive(from)
		return status
	})
}

// Clear removes all keys and sets the count to 0. Nobody else may write the filter meanwhile. It writes the whole filter, and panics
// as Add does.
func (c *core) Clear() {
	n := c.native()
	n.adds.mu.Lock() // or somebody who counts meanwhile would tell the library of adds that are gone
	defer n.adds.mu.Unlock()
	err := n.change("Clear", func(*C.gloom_error) C.gloom_status {
		status := C.gloom_clear(n.filter)
		if status == C.GLOOM_OK {
			n.adds.told = n.adds.sum()
		}
		return status
	})
	if err != nil {
		panic(err)
	}
}

// Equal answers whether both filters, of any types, have the same bits, K, NumBlocks, SipHash and Seed. It reads them whole, up to the
// first difference.
func (c *core) Equal(other AnyFilter) bool {
	a, b := c.native(), other.self().native()
	equal := bool(C.gloom_equal(a.filter, b.filter))
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return equal
}

// change runs what changes the filter as a whole.
func (n *native) change(op string, do func(*C.gloom_error) C.gloom_status) error {
	var reason C.gloom_error
	status := do(&reason)
	runtime.KeepAlive(n)
	if status != C.GLOOM_OK {
		return failure(op, status, &reason)
	}
	return nil
}

// another makes a filter out of this one.
func (n *native) another(op string, do func(out **C.gloom_filter, reason *C.gloom_error) C.gloom_status) (*native, error) {
	var filter *C.gloom_filter
	var reason C.gloom_error
	n.settle()
	status := do(&filter, &reason)
	runtime.KeepAlive(n)
	if status != C.GLOOM_OK {
		return nil, failure(op, status, &reason)
	}
	return adopt(filter), nil
}

func (n *native) clone() (*native, error) {
	return n.another("Clone", func(out **C.gloom_filter, reason *C.gloom_error) C.gloom_status {
		return C.gloom_clone(n.filter, out, reason)
	})
}

func (n *native) fold(factor uint64) (*native, error) {
	return n.another("Fold", func(out **C.gloom_filter, reason *C.gloom_error) C.gloom_status {
		return C.gloom_fold(n.filter, C.uint64_t(factor), out, reason)
	})
}

// Clone copies the whole filter. Others may write it meanwhile: the copy holds every key whose add had returned before.
// A copy of a mapped file is in memory. The error is [ErrOutOfMemory].
func (f *Filter) Clone() (*Filter, error) { return made[Filter](f.native().clone()) }

// Clone copies the filter; see [Filter.Clone].
func (f *AtomicFilter) Clone() (*AtomicFilter, error) { return made[AtomicFilter](f.native().clone()) }

// Clone copies the filter; see [Filter.Clone].
func (f *ShardedAtomicFilter) Clone() (*ShardedAtomicFilter, error) {
	return made[ShardedAtomicFilter](f.native().clone())
}

// Fold makes a filter with factor times fewer blocks that holds the same keys and has the same count, at a higher
// false-positive rate. The factor must divide the number of blocks; see BlockMultiple of [Config]. It reads the whole filter, which
// others may write meanwhile. The error is [ErrInvalidArgument] or [ErrOutOfMemory].
func (f *Filter) Fold(factor uint64) (*Filter, error) { return made[Filter](f.native().fold(factor)) }

// Fold makes a smaller filter; see [Filter.Fold].
func (f *AtomicFilter) Fold(factor uint64) (*AtomicFilter, error) {
	return made[AtomicFilter](f.native().fold(factor))
}

// Fold makes a smaller filter; see [Filter.Fold].
func (f *ShardedAtomicFilter) Fold(factor uint64) (*ShardedAtomicFilter, error) {
	return made[ShardedAtomicFilter](f.native().fold(factor))
}
