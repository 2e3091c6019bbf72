package gloom

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// tally counts the adds that Go made itself, which the library does not know of until it is told (see settle).
type tally struct {
	plain   bool
	stripes []stripe

	mu   sync.Mutex
	told uint64 // how many of the adds the library knows of
}

// stripe has a cache line for itself: one counter would be a line that all writers fight for.
type stripe struct {
	n uint64
	_ [56]byte
}

func (t *tally) init(plain bool, numBlocks uint64) {
	stripes := uint64(1)
	if !plain {
		// Four for each processor, so that few goroutines meet. A small filter gets fewer: its writers meet in its
		// blocks anyway.
		stripes = 4 << bits.Len(uint(runtime.GOMAXPROCS(0)-1))
		for stripes > 64 || stripes > max(1, numBlocks/16) {
			stripes /= 2
		}
	}
	t.plain = plain
	t.stripes = make([]stripe, stripes)
}

// add counts one add, whose bits are set already.
func (t *tally) add() {
	if t.plain {
		t.addPlain()
		return
	}
	// Goroutines differ in where their stacks are.
	var here byte
	stack := uint64(uintptr(unsafe.Pointer(&here))) >> 11
	atomic.AddUint64(&t.stripes[stack*0x9e3779b97f4a7c15>>32&uint64(len(t.stripes)-1)].n, 1)
}

// addPlain has one caller at a time; others may read meanwhile. The number is one aligned word, so they see the old or
// the new one. The race detector would have an atomic store here, which costs as much as the rest of the add.
//
//go:norace
func (t *tally) addPlain() {
	t.stripes[0].n++
}

//go:norace
func (t *tally) sumPlain() uint64 {
	return t.stripes[0].n
}

// sum is the number of all adds that add has counted.
func (t *tally) sum() uint64 {
	if t.plain {
		return t.sumPlain()
	}
	var sum uint64
	for i := range t.stripes {
		sum += atomic.LoadUint64(&t.stripes[i].n)
	}
	return sum
}

// untold is how many adds the library does not know of. The caller holds mu.
func (t *tally) untold() uint64 {
	return t.sum() - t.told
}
