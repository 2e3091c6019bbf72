package gloom

// #include <stdlib.h>
// #include "gloom.h"
import "C"

import (
	"runtime"
	"strings"
	"unsafe"
)

// Format is how a filter is written as bytes.
type Format int32

const (
	// FormatNative is the library's own format, which holds everything and can be mapped.
	FormatNative Format = C.GLOOM_FORMAT_NATIVE
	// FormatV1 is that of the pure-Go module jcalabro/gloom. It holds no seed: filters with one cannot be written.
	FormatV1 Format = C.GLOOM_FORMAT_V1
)

// LoadConfig says what a filter that is loaded shall be like. The zero value will do for data that you trust.
type LoadConfig struct {
	// MaxBytes is the most that the blocks may take, 0 for no limit. More is refused before anything is taken.
	MaxBytes uint64
	// NumShards is as in Config, for ShardedAtomicFilters.
	NumShards uint32
	// SmallPages is as in Config.
	SmallPages bool
	// SpecialFiles lets Load and its kin load also from what is no regular file, such as a FIFO or a device. Opening and reading it
	// waits for whoever writes to it, for ever if nobody does.
	SpecialFiles bool
}

func (c LoadConfig) options(kind C.int32_t) C.gloom_load_options {
	return C.gloom_load_options{
		struct_size: C.sizeof_gloom_load_options,
		kind:        kind,
		flags:       pages(c.SmallPages) | special(c.SpecialFiles),
		num_shards:  C.uint32_t(c.NumShards),
		max_bytes:   C.uint64_t(c.MaxBytes),
	}
}

func special(files bool) C.uint32_t {
	if files {
		return C.GLOOM_FLAG_SPECIAL_FILES
	}
	return 0
}

// withPath lends a path to C.
func withPath(op, path string, do func(path *C.char, reason *C.gloom_error) C.gloom_status) error {
	if strings.IndexByte(path, 0) >= 0 {
		return misuse(op, "path has a zero byte in it")
	}
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	var reason C.gloom_error
	if status := do(p, &reason); status != C.GLOOM_OK {
		e := failure(op, status, &reason)
		e.Message = path + ": " + e.Message
		return e
	}
	return nil
}

// Save saves the filter to a file. The file appears whole or not at all: a crash, a full disk or a failed call leave the
// old one as it was. The exception is a failure of the very last step, writing the folder to the disk: the new file is in
// place then, though Save returns [ErrIO]. Without an error the new one is on the disk. Others may add meanwhile: the file
// holds every key whose add had returned before. It reads the whole filter and waits for the disk.
//
// The error is [ErrUnsupported] (v1 holds no seed), [ErrBusy] (the file is mapped for writing) or [ErrIO], which also
// matches the system's, such as [io/fs.ErrPermission].
func (c *core) Save(path string, format Format) error {
	n := c.native()
	n.settle()
	err := withPath("Save", path, func(p *C.char, reason *C.gloom_error) C.gloom_status {
		return C.gloom_save(n.filter, p, C.int32_t(format), reason)
	})
	runtime.KeepAlive(n)
	return err
}

func (c LoadConfig) load(op, path string, kind C.int32_t) (*native, error) {
	options := c.options(kind)
	var filter *C.gloom_filter
	err := withPath(op, path, func(p *C.char, reason *C.gloom_error) C.gloom_status {
		return C.gloom_load(p, &options, &filter, reason)
	})
	if err != nil {
		return nil, err
	}
	return adopt(filter), nil
}

// Load loads the filter in a file, whatever its format and type, and checks its checksum. It reads the whole file.
//
// The error is [ErrCorrupt], [ErrUnsupported], [ErrLimit], [ErrOutOfMemory] or [ErrIO], which also matches the
// system's, such as [io/fs.ErrNotExist]. What is no regular file, but for a pipe without a name, is [ErrIO], without waiting
// for anybody (it matches [syscall.ENODEV], or [syscall.EISDIR]), unless c.SpecialFiles asks for it.
func Load(path string, c LoadConfig) (*Filter, error) {
	return made[Filter](c.load("Load", path, C.GLOOM_KIND_PLAIN))
}

// LoadAtomic loads an [AtomicFilter]; otherwise as [Load].
func LoadAtomic(path string, c LoadConfig) (*AtomicFilter, error) {
	return made[AtomicFilter](c.load("LoadAtomic", path, C.GLOOM_KIND_ATOMIC))
}

// LoadShardedAtomic loads a [ShardedAtomicFilter]; otherwise as [Load].
func LoadShardedAtomic(path string, c LoadConfig) (*ShardedAtomicFilter, error) {
	return made[ShardedAtomicFilter](c.load("LoadShardedAtomic", path, C.GLOOM_KIND_SHARDED))
}

// FileInfo is what the header of a file tells.
type FileInfo struct {
	Format        Format
	K             uint32
	NumBlocks     uint64
	Seed          uint64
	SipHash       bool    // keys are hashed by SipHash instead of XXH3
	Count         uint64  // if Dirty, what it was when the file was last clean
	Bytes         uint64  // of the file
	ExpectedItems uint64  // 0 in format v1, and if made from NumBlocks and K
	FPRate        float64 // in the same cases 0
	Dirty         bool    // the file is mapped for writing, or a writer died
}

// Inspect reads the header of a file. It never waits. Errors are those of [Load].
func Inspect(path string) (FileInfo, error) {
	i := C.gloom_file_info{struct_size: C.sizeof_gloom_file_info}
	err := withPath("Inspect", path, func(p *C.char, reason *C.gloom_error) C.gloom_status {
		return C.gloom_inspect(p, &i, reason)
	})
	if err != nil {
		return FileInfo{}, err
	}
	return FileInfo{
		Format:        Format(i.format),
		K:             uint32(i.k),
		NumBlocks:     uint64(i.num_blocks),
		Seed:          uint64(i.seed),
		SipHash:       i.hash == C.GLOOM_HASH_SIPHASH,
		Count:         uint64(i.count),
		Bytes:         uint64(i.bytes),
		ExpectedItems: uint64(i.expected_items),
		FPRate:        float64(i.fp_rate),
		Dirty:         i.dirty != 0,
	}, nil
}

// MapMode says how a file is mapped; the modes can be combined.
type MapMode uint32

const (
	// MapReadOnly lets any number of processes share one copy in memory. Adding panics.
	MapReadOnly MapMode = 0
	// MapReadWrite lets adds go to the file; all who map it see them at once.
	MapReadWrite MapMode = C.GLOOM_MAP_READ_WRITE
	// MapVerify reads the whole file and checks its checksum.
	MapVerify MapMode = C.GLOOM_MAP_VERIFY
	// MapAllowDirty maps also a file that may have lost adds, because the system or the disk failed while it was mapped for writing.
	MapAllowDirty MapMode = C.GLOOM_MAP_ALLOW_DIRTY
)

// Map uses the filter in a file of [FormatNative] where it is. It takes milliseconds, whatever the size, unless MapVerify reads
// the file. MapReadWrite first has the system allocate all of the file's space: on tmpfs (/dev/shm) that takes time in proportion
// to the size, since the system goes through all pages. Sync makes adds durable. A process that dies loses none.
//
// Nobody may make the file shorter while it is mapped: reading what is not there any more ends the process.
// Replacing it (Save by another process, rename) is fine: the map goes on with the old file, and IsStale reports it.
//
// Errors are those of [Load], with [ErrUnsupported] for format v1, and [ErrCorrupt] also for a dirty file.
func Map(path string, mode MapMode) (*AtomicFilter, error) {
	return mapped("Map", path, func(p *C.char, filter **C.gloom_filter, reason *C.gloom_error) C.gloom_status {
		return C.gloom_map(p, C.uint32_t(mode), filter, reason)
	})
}

// MapConfig says how a file is mapped. The zero value maps it read-only.
type MapConfig struct {
	// Mode is as in Map.
	Mode MapMode
	// MaxBytes is the most that the blocks may take, 0 for no limit. It is checked before space on the disk is taken (by MapReadWrite),
	// of which a file with holes may have taken little before.
	MaxBytes uint64
}

// MapWithConfig maps a file as [Map] does, also with a limit: then the error can be [ErrLimit].
func MapWithConfig(path string, c MapConfig) (*AtomicFilter, error) {
	options := C.gloom_map_options{
		struct_size: C.sizeof_gloom_map_options,
		flags:       C.uint32_t(c.Mode),
		max_bytes:   C.uint64_t(c.MaxBytes),
	}
	return mapped("MapWithConfig", path, func(p *C.char, filter **C.gloom_filter, reason *C.gloom_error) C.gloom_status {
		return C.gloom_map_with_options(p, &options, filter, reason)
	})
}

// MapCreate makes a file for a new filter, and maps it for reading and writing. The file must not exist. All its disk space
// is taken at once.
//
// Errors are those of [Open], and [ErrIO], which also matches the system's, such as [io/fs.ErrExist].
func MapCreate(path string, c Config) (*AtomicFilter, error) {
	options := c.options(C.GLOOM_KIND_ATOMIC)
	return mapped("MapCreate", path, func(p *C.char, filter **C.gloom_filter, reason *C.gloom_error) C.gloom_status {
		return C.gloom_map_create(p, &options, filter, reason)
	})
}

func mapped(op, path string, do func(*C.char, **C.gloom_filter, *C.gloom_error) C.gloom_status) (*AtomicFilter, error) {
	var filter *C.gloom_filter
	err := withPath(op, path, func(p *C.char, reason *C.gloom_error) C.gloom_status {
		return do(p, &filter, reason)
	})
	if err != nil {
		return nil, err
	}
	return made[AtomicFilter](adopt(filter), nil)
}

// Sync waits until all adds to a mapped filter that have returned are on the disk. Others may add meanwhile.
//
// If it fails with [ErrIO] once, it does so from then on: adds since the last Sync that succeeded may be missing in the file, which
// is refused from then on without [MapAllowDirty]. The filter in memory is as it was, and can be saved elsewhere.
//
// The error is [ErrInvalidArgument] (the filter is not mapped), [ErrReadOnly] or [ErrIO].
func (c *core) Sync() error {
	n := c.native()
	return n.change("Sync", func(reason *C.gloom_error) C.gloom_status { return C.gloom_sync(n.filter, reason) })
}
