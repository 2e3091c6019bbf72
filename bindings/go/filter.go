package gloom

// #include "gloom.h"
import "C"

import (
	"math/bits"
	"unsafe"
)

const (
	// BlockBits is the number of bits in a block: all bits of a key lie in one.
	BlockBits = 512
	// BlockWords is the number of 64-bit words in a block.
	BlockWords = BlockBits / 64
)

// Filter has one writer at a time; any number of goroutines may read meanwhile. Two writers at the same time lose
// adds, but do no other harm.
//
// The zero value is not a filter yet; UnmarshalBinary and ReadFrom make it one. A Filter must not be copied.
type Filter struct{ core }

// AtomicFilter has any number of writers, who never wait. The zero value and copying are as for [Filter].
type AtomicFilter struct{ core }

// ShardedAtomicFilter has any number of writers, each of which owns a range of the filter for the few stores that it
// makes. The zero value and copying are as for [Filter].
type ShardedAtomicFilter struct{ core }

// AnyFilter is a filter of any type as an argument: a *[Filter], *[AtomicFilter] or *[ShardedAtomicFilter].
type AnyFilter interface {
	self() *core
}

// made puts a new filter of the library into a new filter of a type of this package.
func made[T any, P interface {
	*T
	AnyFilter
}](n *native, err error) (P, error) {
	if err != nil {
		return nil, err
	}
	f := P(new(T))
	f.self().handle.Store(n)
	return f, nil
}

// must is for constructors without an error result.
func must[P any](f P, err error) P {
	if err != nil {
		panic(err)
	}
	return f
}

// Config describes a filter. Either ExpectedItems and FPRate say how large it is, or NumBlocks and K.
type Config struct {
	// ExpectedItems is the number of distinct keys to plan for, up to 2^63.
	ExpectedItems uint64
	// FPRate is the false-positive rate once they are in: greater than 0, less than 1, and at least about 2.3e-10.
	FPRate float64
	// NumBlocks is the number of blocks of 64 bytes.
	NumBlocks uint64
	// K is the number of bits a key, 3 to 17.
	K uint32
	// NumShards is for OpenShardedAtomic: 0 to let the library choose, or a power of two, at most NumBlocks and 65536.
	NumShards uint32
	// Seed of the hash. Filters with a seed other than 0 have no form that other implementations read.
	Seed uint64
	// SipHash hashes keys by SipHash-1-3 instead of XXH3, keyed by Seed, which must not be 0 and should be secret: for keys from
	// enemies. Single keys then go by a call of C. See docs/files.md of the library, "Seeds and chosen keys".
	SipHash bool
	// MaxBytes is the most that the blocks may take, 0 for no limit. More is refused before anything is taken.
	MaxBytes uint64
	// BlockMultiple rounds the number of blocks up, so that the filter can be folded by its divisors; 0 for no.
	BlockMultiple uint64
	// SmallPages does without huge pages, which filters of 4 MiB and more otherwise ask for.
	SmallPages bool
}

func (c Config) options(kind C.int32_t) C.gloom_options {
	return C.gloom_options{
		struct_size:    C.sizeof_gloom_options,
		kind:           kind,
		flags:          pages(c.SmallPages) | hashed(c.SipHash),
		expected_items: C.uint64_t(c.ExpectedItems),
		fp_rate:        C.double(c.FPRate),
		num_blocks:     C.uint64_t(c.NumBlocks),
		k:              C.uint32_t(c.K),
		num_shards:     C.uint32_t(c.NumShards),
		seed:           C.uint64_t(c.Seed),
		max_bytes:      C.uint64_t(c.MaxBytes),
		block_multiple: C.uint64_t(c.BlockMultiple),
	}
}

func pages(small bool) C.uint32_t {
	if small {
		return C.GLOOM_FLAG_SMALL_PAGES
	}
	return 0
}

func hashed(bySipHash bool) C.uint32_t {
	if bySipHash {
		return C.GLOOM_FLAG_SIPHASH
	}
	return 0
}

func (c Config) open(op string, kind C.int32_t) (*native, error) {
	options := c.options(kind)
	var filter *C.gloom_filter
	var reason C.gloom_error
	if status := C.gloom_create(&options, &filter, &reason); status != C.GLOOM_OK {
		return nil, failure(op, status, &reason)
	}
	return adopt(filter), nil
}

// Open makes a [Filter]. Arguments are checked before memory is taken. Memory of 1 MiB and more is cleared by the system when it is
// first used, so that Open takes well under a millisecond.
//
// The error is [ErrInvalidArgument], [ErrUnreachableRate], [ErrLimit] or [ErrOutOfMemory].
func Open(c Config) (*Filter, error) {
	return made[Filter](c.open("Open", C.GLOOM_KIND_PLAIN))
}

// OpenAtomic makes an [AtomicFilter]; otherwise as [Open].
func OpenAtomic(c Config) (*AtomicFilter, error) {
	return made[AtomicFilter](c.open("OpenAtomic", C.GLOOM_KIND_ATOMIC))
}

// OpenShardedAtomic makes a [ShardedAtomicFilter]; otherwise as [Open].
func OpenShardedAtomic(c Config) (*ShardedAtomicFilter, error) {
	return made[ShardedAtomicFilter](c.open("OpenShardedAtomic", C.GLOOM_KIND_SHARDED))
}

// New makes a filter for expectedItems distinct keys with false-positive rate fpRate. It panics if they are out of range
// (see [Config]) or memory is exhausted; [Open] returns an error instead.
func New(expectedItems uint64, fpRate float64) *Filter {
	n, err := Config{ExpectedItems: expectedItems, FPRate: fpRate}.open("New", C.GLOOM_KIND_PLAIN)
	return must(made[Filter](n, err))
}

// NewWithParams makes a filter of numBlocks blocks of 64 bytes with k bits a key. It panics as [New] does.
func NewWithParams(numBlocks uint64, k uint32) *Filter {
	n, err := Config{NumBlocks: numBlocks, K: k}.open("NewWithParams", C.GLOOM_KIND_PLAIN)
	return must(made[Filter](n, err))
}

// NewAtomic makes an [AtomicFilter]; otherwise as [New].
func NewAtomic(expectedItems uint64, fpRate float64) *AtomicFilter {
	n, err := Config{ExpectedItems: expectedItems, FPRate: fpRate}.open("NewAtomic", C.GLOOM_KIND_ATOMIC)
	return must(made[AtomicFilter](n, err))
}

// NewAtomicWithParams makes an [AtomicFilter]; otherwise as [NewWithParams].
func NewAtomicWithParams(numBlocks uint64, k uint32) *AtomicFilter {
	n, err := Config{NumBlocks: numBlocks, K: k}.open("NewAtomicWithParams", C.GLOOM_KIND_ATOMIC)
	return must(made[AtomicFilter](n, err))
}

// NewShardedAtomic makes a [ShardedAtomicFilter] of numShards shards, rounded up to a power of two and then down to what
// the number of blocks and the library (65536) allow; otherwise as [New].
func NewShardedAtomic(expectedItems uint64, fpRate float64, numShards uint64) *ShardedAtomicFilter {
	return newSharded("NewShardedAtomic", expectedItems, fpRate, max(numShards, 1))
}

// NewShardedAtomicDefault makes a [ShardedAtomicFilter] of as many shards as suit the processors and the size; otherwise
// as [New].
func NewShardedAtomicDefault(expectedItems uint64, fpRate float64) *ShardedAtomicFilter {
	return newSharded("NewShardedAtomicDefault", expectedItems, fpRate, 0)
}

func newSharded(op string, expectedItems uint64, fpRate float64, shards uint64) *ShardedAtomicFilter {
	if shards > 0 {
		s, err := sizeFor(op, expectedItems, fpRate)
		if err != nil {
			panic(err)
		}
		shards = min(shards, 65536)
		shards = 1 << bits.Len64(shards-1)
		shards = min(shards, 1<<(bits.Len64(s.NumBlocks)-1))
	}
	c := Config{ExpectedItems: expectedItems, FPRate: fpRate, NumShards: uint32(shards)}
	n, err := c.open(op, C.GLOOM_KIND_SHARDED)
	return must(made[ShardedAtomicFilter](n, err))
}

// Sizing is what a filter will be like.
type Sizing struct {
	NumBlocks   uint64  // blocks of 64 bytes
	Bytes       uint64  // of all blocks
	K           uint32  // bits a key
	FPRate      float64 // the predicted false-positive rate once all expected keys are in
	BitsPerItem float64 // 0 if no keys are expected
}

// SizeFor tells what a filter for expectedItems distinct keys with false-positive rate fpRate will be like. It takes no
// memory, and a fraction of a millisecond.
//
// The error is [ErrInvalidArgument], [ErrUnreachableRate] or [ErrLimit].
func SizeFor(expectedItems uint64, fpRate float64) (Sizing, error) {
	return sizeFor("SizeFor", expectedItems, fpRate)
}

func sizeFor(op string, expectedItems uint64, fpRate float64) (Sizing, error) {
	s := C.gloom_sizing{struct_size: C.sizeof_gloom_sizing}
	var reason C.gloom_error
	if status := C.gloom_size_for(C.uint64_t(expectedItems), C.double(fpRate), &s, &reason); status != C.GLOOM_OK {
		return Sizing{}, failure(op, status, &reason)
	}
	return Sizing{
		NumBlocks:   uint64(s.num_blocks),
		Bytes:       uint64(s.bytes),
		K:           uint32(s.k),
		FPRate:      float64(s.fp_rate),
		BitsPerItem: float64(s.bits_per_item),
	}, nil
}

// OptimalParams tells the number of blocks, the bits a key and the bits an item of the filter that [New] makes with the
// same arguments. It panics as New does; [SizeFor] returns an error instead.
func OptimalParams(expectedItems uint64, fpRate float64) (numBlocks uint64, k uint32, bitsPerItem float64) {
	s, err := sizeFor("OptimalParams", expectedItems, fpRate)
	if err != nil {
		panic(err)
	}
	return s.NumBlocks, s.K, s.BitsPerItem
}

// EstimateFalsePositiveRate predicts the false-positive rate of numBlocks blocks with k bits a key that hold itemsAdded
// distinct keys. It is 1 if there is no such geometry.
func EstimateFalsePositiveRate(numBlocks uint64, k uint32, itemsAdded uint64) float64 {
	return float64(C.gloom_predict_fp_rate(C.uint64_t(numBlocks), C.uint32_t(k), C.uint64_t(itemsAdded)))
}

// pointer is the address of a string's bytes, as C takes it: NULL for none.
func pointer(s string) *C.uint8_t {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.StringData(s)))
}

// text is a byte slice as a string, without a copy.
func text(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
