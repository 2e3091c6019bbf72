//go:build gloom_checkout

package gloom

// The library that `make build` leaves in the checkout which this folder belongs to.

// #cgo LDFLAGS: ${SRCDIR}/../../target/release/libgloom.a
// #cgo linux LDFLAGS: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
// #cgo darwin LDFLAGS: -lpthread -lm
import "C"
