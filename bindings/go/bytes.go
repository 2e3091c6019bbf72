package gloom

// #include "bytes.h"
import "C"

import (
	"encoding"
	"io"
	"math"
	"runtime"
	"slices"
)

var (
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryAppender    = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
	_ io.WriterTo                = (*Filter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
	_ io.Closer                  = (*Filter)(nil)
)

// portable is the format that others read, too, if it can hold the filter.
func (n *native) portable() Format {
	if n.seed != 0 {
		return FormatNative
	}
	return FormatV1
}

// MarshalBinary writes the whole filter as bytes in [FormatV1]; with a seed, which v1 cannot hold, in [FormatNative]. Others may
// add meanwhile, as for Save. The bytes are the only memory it takes.
func (c *core) MarshalBinary() ([]byte, error) {
	n := c.native()
	return n.append("MarshalBinary", nil, n.portable())
}

// AppendBinary appends what MarshalBinary returns.
func (c *core) AppendBinary(b []byte) ([]byte, error) {
	n := c.native()
	return n.append("AppendBinary", b, n.portable())
}

// AppendFormat appends the filter as bytes in a format; otherwise as MarshalBinary. The error is [ErrUnsupported] (v1 holds no seed)
// or [ErrInvalidArgument] (there is no such format); b is returned as it was then.
func (c *core) AppendFormat(b []byte, format Format) ([]byte, error) {
	return c.native().append("AppendFormat", b, format)
}

func (n *native) append(op string, b []byte, format Format) ([]byte, error) {
	var size C.uint64_t
	var reason C.gloom_error
	if status := C.gloom_serialized_size(n.filter, C.int32_t(format), &size, &reason); status != C.GLOOM_OK {
		return b, failure(op, status, &reason)
	}
	if uint64(size) > uint64(math.MaxInt-len(b)) {
		return b, &Error{Op: op, Status: ErrLimit, Message: "the filter is larger than a slice can be"}
	}
	n.settle()
	b = slices.Grow(b, int(size))
	end := b[len(b) : len(b)+int(size)]
	status := C.go_serialize(n.filter, C.int32_t(format), pointer(text(end)), C.size_t(size), &reason)
	runtime.KeepAlive(n)
	if status != C.GLOOM_OK {
		return b, failure(op, status, &reason)
	}
	return b[:len(b)+int(size)], nil
}

func (c LoadConfig) decode(data []byte, kind C.int32_t) (*native, error) {
	options := c.options(kind)
	var filter *C.gloom_filter
	var reason C.gloom_error
	status := C.go_deserialize(pointer(text(data)), C.size_t(len(data)), &options, &filter, &reason)
	if status != C.GLOOM_OK {
		return nil, failure("UnmarshalBinary", status, &reason)
	}
	return adopt(filter), nil
}

// UnmarshalBinary makes a filter of bytes of either format. Its blocks take less memory than the bytes are long; some
// hundred bytes of bookkeeping come on top.
//
// The error is [ErrCorrupt], [ErrUnsupported] or [ErrOutOfMemory].
func UnmarshalBinary(data []byte) (*Filter, error) {
	return made[Filter](LoadConfig{}.decode(data, C.GLOOM_KIND_PLAIN))
}

// UnmarshalBinary replaces the filter by that of bytes of either format, made by a filter of any type. Others that are inside a
// call finish it on the old one. If that is a map, its file is closed before UnmarshalBinary returns, as by Close, which says
// what that waits for. If it fails, with the errors of the function [UnmarshalBinary], nothing changes.
func (f *Filter) UnmarshalBinary(data []byte) error {
	return f.become(LoadConfig{}.decode(data, C.GLOOM_KIND_PLAIN))
}

// UnmarshalBinary replaces the filter; see [Filter.UnmarshalBinary].
func (f *AtomicFilter) UnmarshalBinary(data []byte) error {
	return f.become(LoadConfig{}.decode(data, C.GLOOM_KIND_ATOMIC))
}

// UnmarshalBinary replaces the filter; see [Filter.UnmarshalBinary].
func (f *ShardedAtomicFilter) UnmarshalBinary(data []byte) error {
	return f.become(LoadConfig{}.decode(data, C.GLOOM_KIND_SHARDED))
}

func (c *core) become(n *native, err error) error {
	if err != nil {
		return err
	}
	c.replace(n)
	return nil
}
