package gloom

// #include "gloom.h"
import "C"

import (
	"syscall"
	"unsafe"
)

// Status is the kind of a failure. It is an error of its own, for [errors.Is]:
//
//	if errors.Is(err, gloom.ErrCorrupt) { ... }
type Status int32

// The failures that the library knows. Later releases may return others.
const (
	ErrNull            Status = C.GLOOM_ERR_NULL             // a required argument is nil
	ErrInvalidArgument Status = C.GLOOM_ERR_INVALID_ARGUMENT // an argument is outside its range
	ErrOutOfMemory     Status = C.GLOOM_ERR_OUT_OF_MEMORY    // the system has no memory to give
	ErrLimit           Status = C.GLOOM_ERR_LIMIT            // more memory would be needed than MaxBytes or an address space
	ErrUnreachableRate Status = C.GLOOM_ERR_UNREACHABLE_RATE // no filter has so small a false-positive rate
	ErrBufferTooSmall  Status = C.GLOOM_ERR_BUFFER_TOO_SMALL // a buffer is too small
	ErrCorrupt         Status = C.GLOOM_ERR_CORRUPT          // the data is damaged or is not a filter
	ErrUnsupported     Status = C.GLOOM_ERR_UNSUPPORTED      // a version, format or option that this release does not know
	ErrIncompatible    Status = C.GLOOM_ERR_INCOMPATIBLE     // two filters differ in K, NumBlocks or Seed
	ErrReadOnly        Status = C.GLOOM_ERR_READ_ONLY        // the filter is mapped read-only
	ErrIO              Status = C.GLOOM_ERR_IO               // the operating system reported an error
	ErrCancelled       Status = C.GLOOM_ERR_CANCELLED        // a reader or writer stopped the call
	ErrBusy            Status = C.GLOOM_ERR_BUSY             // the file is in use
	ErrPanic           Status = C.GLOOM_ERR_PANIC            // a bug in the library was caught at its boundary
)

// Error says what the status means.
func (s Status) Error() string {
	return "gloom: " + C.GoString(C.gloom_status_string(C.gloom_status(s)))
}

// Error is a failed call.
type Error struct {
	Op      string        // what was called, such as "Load"
	Status  Status        // what kind of failure it is
	Errno   syscall.Errno // the error of the operating system, or 0
	Message string        // names the argument, its value and what is allowed
}

// Error tells the operation and the reason.
func (e *Error) Error() string {
	return "gloom: " + e.Op + ": " + e.Message
}

// Unwrap lets [errors.Is] find the status and the error of the operating system, so that
// errors.Is(err, fs.ErrNotExist) works.
func (e *Error) Unwrap() []error {
	if e.Errno == 0 {
		return []error{e.Status}
	}
	return []error{e.Status, e.Errno}
}

// failure makes an error of a status that is not GLOOM_OK; details may be nil.
func failure(op string, status C.gloom_status, details *C.gloom_error) *Error {
	e := &Error{Op: op, Status: Status(status)}
	if details != nil && details.status == status {
		e.Errno = syscall.Errno(details.os_error)
		e.Message = C.GoString((*C.char)(unsafe.Pointer(&details.message)))
	} else {
		e.Message = C.GoString(C.gloom_status_string(status))
	}
	return e
}

// misuse makes the error of an argument that is not worth asking the library.
func misuse(op, message string) *Error {
	return &Error{Op: op, Status: ErrInvalidArgument, Message: message}
}
