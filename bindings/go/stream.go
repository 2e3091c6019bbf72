package gloom

// #include "gloom.h"
//
// int64_t gloom_go_write(void *context, void *data, size_t len);
// int64_t gloom_go_read(void *context, void *data, size_t len);
import "C"

import (
	"io"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// stream is what the library's callbacks work on.
type stream struct {
	op    string // what the user called
	w     io.Writer
	r     io.Reader
	moved int64 // bytes
	err   error // of w or r
	panic any   // of w or r; it must not unwind through the library. Goexit would: nothing stops it
}

// WriteTo writes the filter in the format of MarshalBinary; otherwise as WriteFormat. Others may add meanwhile, as for Save.
func (c *core) WriteTo(w io.Writer) (int64, error) {
	n := c.native()
	return n.write("WriteTo", w, n.portable())
}

// WriteFormat writes the filter in a format, in pieces of at most 64 KiB. An error of w comes back as it is, others are those of
// AppendFormat; a panic of w comes through.
//
// w must not end the goroutine ([runtime.Goexit], which FailNow of a test calls): it would leave the library in
// the midst of the call, and what that has taken would never be given back.
func (c *core) WriteFormat(w io.Writer, format Format) (int64, error) {
	return c.native().write("WriteFormat", w, format)
}

func (n *native) write(op string, w io.Writer, format Format) (int64, error) {
	n.settle()
	s := stream{op: op, w: w}
	var reason C.gloom_error
	status := s.run(func(context unsafe.Pointer) C.gloom_status {
		return C.gloom_write(n.filter, C.int32_t(format), C.gloom_write_fn(C.gloom_go_write), context, &reason)
	})
	runtime.KeepAlive(n)
	return s.moved, s.outcome(status, &reason)
}

// Read reads a filter of either format, piece by piece. It takes exactly the bytes of the filter, so that something else
// may follow. An error of r comes back as it is; others are those of [Load], with [ErrCorrupt] if r ends too early. A panic of r
// comes through. Set MaxBytes for streams from strangers.
//
// r must not end the goroutine ([runtime.Goexit], which FailNow of a test calls): the memory of the whole filter would never be
// given back.
func Read(r io.Reader, c LoadConfig) (*Filter, error) {
	n, _, err := c.read("Read", r, C.GLOOM_KIND_PLAIN)
	return made[Filter](n, err)
}

// ReadAtomic reads an [AtomicFilter]; otherwise as [Read].
func ReadAtomic(r io.Reader, c LoadConfig) (*AtomicFilter, error) {
	n, _, err := c.read("ReadAtomic", r, C.GLOOM_KIND_ATOMIC)
	return made[AtomicFilter](n, err)
}

// ReadShardedAtomic reads a [ShardedAtomicFilter]; otherwise as [Read].
func ReadShardedAtomic(r io.Reader, c LoadConfig) (*ShardedAtomicFilter, error) {
	n, _, err := c.read("ReadShardedAtomic", r, C.GLOOM_KIND_SHARDED)
	return made[ShardedAtomicFilter](n, err)
}

// ReadFrom replaces the filter by one that it reads; see [Read]. There is no limit on memory. Unlike other types' ReadFrom,
// it ends with the filter, not with r. A map that is replaced is closed, as by UnmarshalBinary. If it fails, the filter is as
// it was. r must not end the goroutine: see [Read].
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	n, moved, err := LoadConfig{}.read("ReadFrom", r, C.GLOOM_KIND_PLAIN)
	return moved, f.become(n, err)
}

// ReadFrom replaces the filter by one that it reads; see [Filter.ReadFrom].
func (f *AtomicFilter) ReadFrom(r io.Reader) (int64, error) {
	n, moved, err := LoadConfig{}.read("ReadFrom", r, C.GLOOM_KIND_ATOMIC)
	return moved, f.become(n, err)
}

// ReadFrom replaces the filter by one that it reads; see [Filter.ReadFrom].
func (f *ShardedAtomicFilter) ReadFrom(r io.Reader) (int64, error) {
	n, moved, err := LoadConfig{}.read("ReadFrom", r, C.GLOOM_KIND_SHARDED)
	return moved, f.become(n, err)
}

func (c LoadConfig) read(op string, r io.Reader, kind C.int32_t) (*native, int64, error) {
	s := stream{op: op, r: r}
	options := c.options(kind)
	var filter *C.gloom_filter
	var reason C.gloom_error
	status := s.run(func(context unsafe.Pointer) C.gloom_status {
		return C.gloom_read(C.gloom_read_fn(C.gloom_go_read), context, &options, &filter, &reason)
	})
	if err := s.outcome(status, &reason); err != nil {
		return nil, s.moved, err
	}
	return adopt(filter), s.moved, nil
}

// run lends the stream to C as a number, since C may not keep Go pointers.
func (s *stream) run(call func(context unsafe.Pointer) C.gloom_status) C.gloom_status {
	handle := cgo.NewHandle(s)
	defer handle.Delete()
	return call(unsafe.Pointer(&handle))
}

func (s *stream) outcome(status C.gloom_status, reason *C.gloom_error) error {
	switch {
	case s.panic != nil:
		panic(s.panic)
	case s.err != nil:
		return s.err
	case status != C.GLOOM_OK:
		return failure(s.op, status, reason)
	}
	return nil
}

// stop is what a callback returns to end the call.
const stop = -1

//export gloom_go_write
func gloom_go_write(context, data unsafe.Pointer, length C.size_t) (taken C.int64_t) {
	s := (*cgo.Handle)(context).Value().(*stream)
	defer s.caught(&taken)
	n, err := s.w.Write(unsafe.Slice((*byte)(data), length))
	if n < 0 || n > int(length) {
		n, err = 0, misuse(s.op, "the writer took more bytes than it was given, or less than none")
	}
	s.moved += int64(n)
	if err == nil && n < int(length) {
		err = io.ErrShortWrite
	}
	if s.err = err; err != nil {
		return stop
	}
	return C.int64_t(n)
}

//export gloom_go_read
func gloom_go_read(context, data unsafe.Pointer, length C.size_t) (given C.int64_t) {
	s := (*cgo.Handle)(context).Value().(*stream)
	defer s.caught(&given)
	for range 100 {
		n, err := s.r.Read(unsafe.Slice((*byte)(data), length))
		if n < 0 || n > int(length) {
			n, err = 0, misuse(s.op, "the reader gave more bytes than it was asked for, or less than none")
		}
		s.moved += int64(n)
		if n > 0 {
			return C.int64_t(n) // an error comes again
		}
		if err == io.EOF {
			return 0
		}
		if s.err = err; err != nil {
			return stop
		}
	}
	s.err = io.ErrNoProgress
	return stop
}

// caught keeps a panic of somebody's writer or reader for later.
func (s *stream) caught(result *C.int64_t) {
	if s.panic = recover(); s.panic != nil {
		*result = stop
	}
}
