//go:build gloom_static && !gloom_checkout

package gloom

// The archive by its name, since -lgloom alone takes the shared library where both are installed. The
// -lgloom that pkg-config adds is then not needed any more.

// #cgo linux LDFLAGS: -Wl,--as-needed -l:libgloom.a
// #cgo pkg-config: --static gloom
import "C"
