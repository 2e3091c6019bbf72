package benchmarks

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"example.org/gloom/bindings/go"
	"github.com/bits-and-blooms/bloom/v3"
)

// subject is a filter as the benchmarks see it: all of them pay for the same indirect call.
type subject struct {
	name       string
	shared     bool // any number of goroutines may add
	add        func(string)
	test       func(string) bool
	addMany    func([]string)
	testMany   func([]string, []bool)
	addNumbers func([]uint64)
}

func subjects(n uint64) []subject {
	blocks, _, _ := gloom.OptimalParams(n, 0.01)
	plain, atomic, sharded := gloom.New(n, 0.01), gloom.NewAtomic(n, 0.01), gloom.NewShardedAtomicDefault(n, 0.01)
	loop, atomicLoop := newProbeLoop(blocks), newProbeLoop(blocks)
	bits := bloom.NewWithEstimates(uint(n), 0.01)
	locked := bloom.NewWithEstimates(uint(n), 0.01)
	var mu sync.Mutex
	all := []subject{
		{name: "gloom", add: plain.AddString, test: plain.TestString, addMany: plain.AddManyString,
			testMany:   func(keys []string, dst []bool) { plain.TestManyString(keys, dst) },
			addNumbers: func(keys []uint64) { gloom.AddFixed(plain, keys) }},
		{name: "gloom-atomic", shared: true, add: atomic.AddString, test: atomic.TestString, addMany: atomic.AddManyString,
			testMany:   func(keys []string, dst []bool) { atomic.TestManyString(keys, dst) },
			addNumbers: func(keys []uint64) { gloom.AddFixed(atomic, keys) }},
		{name: "gloom-sharded", shared: true, add: sharded.AddString, test: sharded.TestString, addMany: sharded.AddManyString,
			testMany:   func(keys []string, dst []bool) { sharded.TestManyString(keys, dst) },
			addNumbers: func(keys []uint64) { gloom.AddFixed(sharded, keys) }},
		{name: "loop", add: loop.add, test: loop.test},
		{name: "loop-atomic", shared: true, add: atomicLoop.addAtomic, test: atomicLoop.testAtomic},
		{name: "bits-and-blooms", add: func(key string) { bits.AddString(key) }, test: bits.TestString},
		{name: "bits-and-blooms+mutex", shared: true,
			add: func(key string) {
				mu.Lock()
				locked.AddString(key)
				mu.Unlock()
			},
			test: func(key string) bool {
				mu.Lock()
				defer mu.Unlock()
				return locked.TestString(key)
			}},
	}
	for i := range all {
		s := &all[i]
		if s.addMany == nil {
			s.addMany = func(keys []string) {
				for _, key := range keys {
					s.add(key)
				}
			}
			s.testMany = func(keys []string, dst []bool) {
				for i, key := range keys {
					dst[i] = s.test(key)
				}
			}
		}
	}
	return all
}

// keys are 24 bytes each, one after the other in memory, as if just read.
func keys(prefix byte, n int) []string {
	data := make([]byte, 0, 24*n)
	all := make([]string, n)
	for i := range all {
		data = append(data, prefix)
		data = append(data, "did:plc:"...)
		data = append(data, fmt.Sprintf("%015d", i)...)
	}
	text := string(data)
	for i := range all {
		all[i] = text[24*i : 24*i+24]
	}
	return all
}

// The loop is the same filter: what it is compared with answers the same questions in the same way.
func TestTheLoopIsTheSameFilter(t *testing.T) {
	const blocks = 1000
	filter := gloom.NewWithParams(blocks, 7)
	plain, shared := newProbeLoop(blocks), newProbeLoop(blocks)
	for _, key := range keys('i', 10*blocks) {
		filter.AddString(key)
		plain.add(key)
		shared.addAtomic(key)
	}
	const header = 21 // of format v1; then the blocks, and a checksum
	data, err := filter.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range blocks * blockWords {
		want := binary.LittleEndian.Uint64(data[header+8*i:])
		if got := plain.blocks[i/blockWords][i%blockWords]; got != want {
			t.Fatalf("word %d is %x instead of %x", i, got, want)
		}
		if got := shared.blocks[i/blockWords][i%blockWords]; got != want {
			t.Fatalf("word %d is %x instead of %x", i, got, want)
		}
	}
	hits := 0
	for _, key := range append(keys('o', 10*blocks), keys('i', 10)...) {
		want := filter.TestString(key)
		if plain.test(key) != want || shared.testAtomic(key) != want {
			t.Fatalf("%q is not %v", key, want)
		}
		if want {
			hits++
		}
	}
	if hits < 10 || hits > 1000 {
		t.Errorf("%d hits", hits)
	}
}

var sink bool

const batch = 1000

func Benchmark(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		b.Run("n="+strconv.Itoa(n), func(b *testing.B) { benchmark(b, n) })
	}
}

func benchmark(b *testing.B, n int) {
	in, out := keys('i', n), keys('o', n)
	numbers := make([]uint64, batch)
	for i := range numbers {
		numbers[i] = rand.Uint64()
	}
	dst := make([]bool, batch)
	all := subjects(uint64(n))
	for i := range all {
		for _, key := range in {
			all[i].add(key)
		}
	}
	single := func(name string, keys []string, shared bool, call func(s *subject, key string)) {
		for i := range all {
			if s := &all[i]; s.shared || !shared {
				b.Run(name+"/"+s.name, func(b *testing.B) {
					b.ReportAllocs()
					j := rand.IntN(len(keys)) // or the first filter would warm the keys for the others
					for range b.N {
						call(s, keys[j])
						if j++; j == len(keys) {
							j = 0
						}
					}
				})
			}
		}
	}
	parallel := func(name string, keys []string, onlyShared bool, call func(s *subject, key string, i int)) {
		for i := range all {
			if s := &all[i]; s.shared || !onlyShared {
				b.Run(name+"/"+s.name, func(b *testing.B) {
					b.ReportAllocs()
					b.RunParallel(func(pb *testing.PB) {
						j := rand.IntN(len(keys))
						for pb.Next() {
							call(s, keys[j], j)
							if j++; j == len(keys) {
								j = 0
							}
						}
					})
				})
			}
		}
	}
	batches := func(name string, keys []string, call func(s *subject, keys []string)) {
		for i := range all {
			s := &all[i]
			b.Run(name+"/"+s.name, func(b *testing.B) {
				b.ReportAllocs()
				j := rand.IntN(len(keys)/batch) * batch
				for done := 0; done < b.N; done += batch {
					call(s, keys[j:j+batch])
					if j += batch; j == len(keys) {
						j = 0
					}
				}
			})
		}
	}
	// ns/op are of one key throughout.
	single("test-hit", in, false, func(s *subject, key string) { sink = s.test(key) })
	single("test-miss", out, false, func(s *subject, key string) { sink = s.test(key) })
	single("add-again", in, false, func(s *subject, key string) { s.add(key) })
	parallel("parallel-test-hit", in, false, func(s *subject, key string, _ int) { s.test(key) })
	parallel("parallel-test-miss", out, false, func(s *subject, key string, _ int) { s.test(key) })
	parallel("parallel-add-again", in, true, func(s *subject, key string, _ int) { s.add(key) })
	parallel("parallel-mixed", in, true, func(s *subject, key string, i int) { // one add, nine tests
		if i%10 == 0 {
			s.add(key)
		} else {
			s.test(key)
		}
	})
	batches("batch-test-hit", in, func(s *subject, keys []string) { s.testMany(keys, dst) })
	batches("batch-test-miss", out, func(s *subject, keys []string) { s.testMany(keys, dst) })
	batches("batch-add-again", in, func(s *subject, keys []string) { s.addMany(keys) })
	for i := range all {
		if s := &all[i]; s.addNumbers != nil {
			b.Run("batch-add-uint64/"+s.name, func(b *testing.B) {
				b.ReportAllocs()
				for done := 0; done < b.N; done += batch {
					s.addNumbers(numbers)
				}
			})
		}
	}
}

// New keys into new filters: what a start-up does.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		in := keys('i', n)
		for i, s := range subjects(uint64(n)) {
			for _, how := range []string{"add", "add-many"} {
				b.Run(fmt.Sprintf("n=%d/%s/%s", n, how, s.name), func(b *testing.B) {
					for range b.N {
						b.StopTimer()
						s := subjects(uint64(n))[i]
						b.StartTimer()
						if how == "add" {
							for _, key := range in {
								s.add(key)
							}
						} else {
							for j := 0; j < n; j += batch {
								s.addMany(in[j : j+batch])
							}
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
				})
			}
		}
	}
}
