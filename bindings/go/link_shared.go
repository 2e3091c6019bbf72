//go:build !gloom_static && !gloom_checkout

package gloom

// #cgo pkg-config: gloom
import "C"
