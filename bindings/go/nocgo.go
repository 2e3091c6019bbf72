//go:build !cgo

package gloom

// The package is a binding of a C library: without cgo there is nothing to bind with.
var _ = gloom_needs_cgo__set_CGO_ENABLED_to_1_and_install_a_C_compiler
