// Package benchmarks compares the binding with filters in pure Go. It is a module of its own, so that users of the
// binding do not inherit what it imports.
package benchmarks

import (
	"math/bits"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// probeLoop is a probe loop in pure Go, as such modules have: written after docs/layout.md and nothing else, one line for
// each of its formulas. The sizes of the partitions are data, so that each probe is a division, and a test ends at the
// first bit that is not set. It stands in for the module jcalabro/gloom where that cannot be had, and is not that module.
type probeLoop struct {
	blocks     [][blockWords]uint64
	partitions []partition
	adds       atomic.Uint64
	plainAdds  uint64
}

const blockWords = 8

type partition struct{ offset, size uint32 }

// newProbeLoop makes an empty filter with k = 7, which is what 1 % takes.
func newProbeLoop(numBlocks uint64) *probeLoop {
	l := &probeLoop{blocks: make([][blockWords]uint64, numBlocks)}
	offset := uint32(0)
	for _, size := range []uint32{61, 67, 71, 79, 83, 89, 62} {
		l.partitions = append(l.partitions, partition{offset, size})
		offset += size
	}
	return l
}

func (l *probeLoop) locate(key string) (block *[blockWords]uint64, probe uint32) {
	h := xxh3.HashString128(key)
	index, _ := bits.Mul64(h.Hi, uint64(len(l.blocks)))
	return &l.blocks[index], uint32(h.Lo) ^ uint32(h.Lo>>32)
}

// test and add are for one goroutine.
func (l *probeLoop) test(key string) bool {
	block, probe := l.locate(key)
	for _, p := range l.partitions {
		bit := p.offset + probe%p.size
		if block[bit/64]&(1<<(bit%64)) == 0 {
			return false
		}
	}
	return true
}

func (l *probeLoop) add(key string) {
	block, probe := l.locate(key)
	for _, p := range l.partitions {
		bit := p.offset + probe%p.size
		block[bit/64] |= 1 << (bit % 64)
	}
	l.plainAdds++
}

// testAtomic and addAtomic are for any number of them.
func (l *probeLoop) testAtomic(key string) bool {
	block, probe := l.locate(key)
	for _, p := range l.partitions {
		bit := p.offset + probe%p.size
		if atomic.LoadUint64(&block[bit/64])&(1<<(bit%64)) == 0 {
			return false
		}
	}
	return true
}

func (l *probeLoop) addAtomic(key string) {
	block, probe := l.locate(key)
	for _, p := range l.partitions {
		bit := p.offset + probe%p.size
		atomic.OrUint64(&block[bit/64], 1<<(bit%64))
	}
	l.adds.Add(1)
}
