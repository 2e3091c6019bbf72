package gloom

// #include "gloom.h"
import "C"

import (
	"math"
	"runtime"
)

// Cap is the number of all bits.
func (c *core) Cap() uint64 { return c.native().numBlocks * BlockBits }

// K is the number of bits a key.
func (c *core) K() uint32 { return c.native().k }

// NumBlocks is the number of blocks of 64 bytes.
func (c *core) NumBlocks() uint64 { return c.native().numBlocks }

// Seed is the seed of the hash.
func (c *core) Seed() uint64 { return c.native().seed }

// SipHash answers whether keys are hashed by SipHash instead of XXH3.
func (c *core) SipHash() bool { return c.native().siphash }

// NumShards is the number of ranges that have one writer at a time.
func (f *ShardedAtomicFilter) NumShards() uint64 {
	n := f.native()
	shards := uint64(C.gloom_num_shards(n.filter))
	runtime.KeepAlive(n)
	return shards
}

// Count is the number of adds, of new keys or old, and of those of merged filters. It is exact once the adds have
// returned; for a file that is mapped for writing by several processes it is advisory. It sums counters: at most some
// hundred, or one for each shard.
func (c *core) Count() uint64 {
	n := c.native()
	n.adds.mu.Lock()
	defer n.adds.mu.Unlock()
	count, more := uint64(C.gloom_count(n.filter)), n.adds.untold()
	runtime.KeepAlive(n)
	if count > math.MaxUint64-more {
		return math.MaxUint64
	}
	return count + more
}

// EstimatedItems is the number of distinct keys, estimated from the bits, so that keys which were added twice do not
// inflate it. It is math.MaxUint64 if all bits are set. It reads the whole filter.
func (c *core) EstimatedItems() uint64 {
	n := c.native()
	items := uint64(C.gloom_estimate_items(n.filter))
	runtime.KeepAlive(n)
	return items
}

// EstimatedFillRatio is the part of the bits that is set, 0 to 1. It is exact, and reads the whole filter.
func (c *core) EstimatedFillRatio() float64 {
	n := c.native()
	ratio := float64(C.gloom_fill_ratio(n.filter))
	runtime.KeepAlive(n)
	return ratio
}

// EstimatedFalsePositiveRate is the chance that a key which was never added tests true, as the bits that are set
// now give it. It reads the whole filter. [EstimateFalsePositiveRate] predicts it from a number of keys instead.
func (c *core) EstimatedFalsePositiveRate() float64 {
	n := c.native()
	rate := float64(C.gloom_current_fp_rate(n.filter))
	runtime.KeepAlive(n)
	return rate
}

// ExpectedItems is the number of keys that was planned for; 0 if the filter was made from blocks and K, or comes from
// format v1.
func (c *core) ExpectedItems() uint64 {
	n := c.native()
	items := uint64(C.gloom_expected_items(n.filter))
	runtime.KeepAlive(n)
	return items
}

// FPRate is the false-positive rate that was asked for; 0 as for ExpectedItems.
func (c *core) FPRate() float64 {
	n := c.native()
	rate := float64(C.gloom_fp_rate(n.filter))
	runtime.KeepAlive(n)
	return rate
}

// MemoryBytes is the memory that the filter takes outside of Go: the blocks and the library's bookkeeping. The blocks of a map
// count, too, though they are the file's; its header does not: [Inspect] tells the size of a file.
func (c *core) MemoryBytes() uint64 {
	n := c.native()
	bytes := uint64(C.gloom_memory_bytes(n.filter))
	runtime.KeepAlive(n)
	return bytes
}

// IsMapped answers whether the filter is a mapped file.
func (c *core) IsMapped() bool { return c.native().mapped }

// IsReadOnly answers whether the filter is mapped read-only.
func (c *core) IsReadOnly() bool {
	n := c.native()
	readOnly := bool(C.gloom_is_read_only(n.filter))
	runtime.KeepAlive(n)
	return readOnly
}

// IsStale reports whether a mapped filter should be mapped again, because its map is no longer what the path led to: the file
// was replaced (Save by another process, rename) or removed; or, on overlayfs, a writer got a copy of a file of the image. It is
// false for a filter in memory. It costs two calls to the system.
func (c *core) IsStale() bool {
	n := c.native()
	stale := bool(C.gloom_is_stale(n.filter))
	runtime.KeepAlive(n)
	return stale
}

// SIMDLevel is the instruction set that the library uses: "portable", "avx2", ... It makes the string anew.
func (c *core) SIMDLevel() string {
	n := c.native()
	level := C.GoString(C.gloom_simd_level(n.filter))
	runtime.KeepAlive(n)
	return level
}
