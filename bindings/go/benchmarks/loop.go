// Package benchmarks compares the binding with filters in pure Go. It is a module of its own, so that users of the
// binding do not inherit what it imports.
package benchmarks

import (
	"math/bits"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// loop is the same filter (XXH3-128, blocks of 512 bits, k = 7) as one writes it in Go: a loop over the k partitions, a
// division in each round, and out at the first bit that is not set. It stands in for the pure-Go module
// jcalabro/gloom where that cannot be had; it is not that module.
type loop struct {
	blocks []atomic.Uint64
	n      uint64
	count  atomic.Uint64
	adds   uint64
	sizes  []uint32
	starts []uint32
}

func newLoop(blocks uint64) *loop {
	l := &loop{blocks: make([]atomic.Uint64, blocks*8), n: blocks, sizes: []uint32{61, 67, 71, 79, 83, 89, 62}}
	start := uint32(0)
	for _, size := range l.sizes {
		l.starts = append(l.starts, start)
		start += size
	}
	return l
}

func (l *loop) place(key string) (first uint64, probe uint32) {
	h := xxh3.HashString128(key)
	block, _ := bits.Mul64(h.Hi, l.n)
	return block * 8, uint32(h.Lo) ^ uint32(h.Lo>>32)
}

func (l *loop) testString(key string) bool {
	first, probe := l.place(key)
	for i, size := range l.sizes {
		bit := l.starts[i] + probe%size
		if l.blocks[first+uint64(bit/64)].Load()&(1<<(bit%64)) == 0 {
			return false
		}
	}
	return true
}

func (l *loop) addAtomic(key string) {
	first, probe := l.place(key)
	for i, size := range l.sizes {
		bit := l.starts[i] + probe%size
		l.blocks[first+uint64(bit/64)].Or(1 << (bit % 64))
	}
	l.count.Add(1)
}

// plainLoop is loop for one goroutine.
type plainLoop struct {
	*loop
	words []uint64
}

func newPlainLoop(blocks uint64) *plainLoop {
	l := newLoop(1)
	l.n = blocks
	return &plainLoop{l, make([]uint64, blocks*8)}
}

func (l *plainLoop) addPlain(key string) {
	first, probe := l.place(key)
	for i, size := range l.sizes {
		bit := l.starts[i] + probe%size
		l.words[first+uint64(bit/64)] |= 1 << (bit % 64)
	}
	l.adds++
}

func (l *plainLoop) testPlain(key string) bool {
	first, probe := l.place(key)
	for i, size := range l.sizes {
		bit := l.starts[i] + probe%size
		if l.words[first+uint64(bit/64)]&(1<<(bit%64)) == 0 {
			return false
		}
	}
	return true
}
