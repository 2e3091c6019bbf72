// A Go program over the installed library, by pkg-config.
package main

// #cgo pkg-config: gloom
// #include <gloom.h>
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

func main() {
	filter := C.gloom_new_atomic(1000, 0.01)
	defer C.gloom_free(filter)
	key := []byte("key")
	at := unsafe.Pointer(&key[0])
	if C.gloom_test(filter, at, 3) || C.gloom_add(filter, at, 3) != C.GLOOM_OK || !C.gloom_test(filter, at, 3) {
		fmt.Println("the filter does not work")
		os.Exit(1)
	}
	fmt.Println("gloom", C.GoString(C.gloom_version_string()))
}
