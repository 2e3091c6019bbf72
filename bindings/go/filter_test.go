package gloom_test

import (
	"math"
	"strings"
	"testing"

	"example.org/gloom/bindings/go"
)

func TestVersion(t *testing.T) {
	if strings.Count(gloom.Version(), ".") != 2 {
		t.Errorf("Version() = %q", gloom.Version())
	}
}

// Keys of all lengths come back, and others mostly not.
func TestNoKeyIsLostAndTheRateHolds(t *testing.T) {
	const n = 20000
	for _, rate := range []float64{0.1, 0.01, 0.001} {
		for name, f := range opened(t, gloom.Config{ExpectedItems: n, FPRate: rate}) {
			keys := names("member", n)
			for i, key := range keys {
				keys[i] = key + strings.Repeat("x", i%300)
				f.AddString(keys[i])
			}
			for _, key := range keys {
				if !f.TestString(key) {
					t.Fatalf("%s: %q is lost", name, key)
				}
			}
			hits := 0
			others := names("other", 10*n)
			for _, found := range f.TestManyString(others, nil) {
				if found {
					hits++
				}
			}
			// The filter is sized for at most this rate. Five standard deviations on top of it.
			if most := rate*10*n + 5*math.Sqrt(rate*10*n); float64(hits) > most || float64(hits) < most/4 {
				t.Errorf("%s, rate %g: %d of %d others hit", name, rate, hits, 10*n)
			}
			if got := f.EstimatedItems(); got < n*95/100 || got > n*105/100 {
				t.Errorf("%s: EstimatedItems() = %d", name, got)
			}
			if got := f.EstimatedFalsePositiveRate(); got > rate*1.1 || got < rate/4 {
				t.Errorf("%s: EstimatedFalsePositiveRate() = %g, wanted about %g", name, got, rate)
			}
		}
	}
}

func TestFacts(t *testing.T) {
	blocks, k, bits := gloom.OptimalParams(100000, 0.01)
	for name, f := range opened(t, gloom.Config{ExpectedItems: 100000, FPRate: 0.01}) {
		if f.K() != k || f.NumBlocks() != blocks || f.Cap() != blocks*gloom.BlockBits || gloom.BlockBits != 64*gloom.BlockWords {
			t.Errorf("%s: K() %d, NumBlocks() %d, Cap() %d", name, f.K(), f.NumBlocks(), f.Cap())
		}
		if f.ExpectedItems() != 100000 || f.FPRate() != 0.01 || f.Seed() != 0 || f.IsMapped() || f.IsReadOnly() || f.IsStale() {
			t.Errorf("%s: ExpectedItems() %d, FPRate() %g, Seed() %d", name, f.ExpectedItems(), f.FPRate(), f.Seed())
		}
		if bytes := f.MemoryBytes(); bytes < blocks*64 || bytes > blocks*64+5*1024+64*65536 {
			t.Errorf("%s: MemoryBytes() = %d", name, bytes)
		}
		if f.Count() != 0 || f.EstimatedItems() != 0 || f.EstimatedFillRatio() != 0 || f.EstimatedFalsePositiveRate() != 0 {
			t.Errorf("%s: not empty", name)
		}
		if f.SIMDLevel() == "" {
			t.Errorf("%s: no SIMDLevel()", name)
		}
	}
	if bits < 10 || bits > 10.1 || k != 7 {
		t.Errorf("OptimalParams: k %d, %g bits a key", k, bits)
	}
	s, err := gloom.SizeFor(100000, 0.01)
	if err != nil || s.NumBlocks != blocks || s.K != k || s.BitsPerItem != bits || s.Bytes != blocks*64 || s.FPRate > 0.01 || s.FPRate < 0.0099 {
		t.Errorf("SizeFor: %+v, %v", s, err)
	}
	if rate := gloom.EstimateFalsePositiveRate(blocks, k, 100000); rate != s.FPRate {
		t.Errorf("EstimateFalsePositiveRate = %g instead of %g", rate, s.FPRate)
	}
	if gloom.EstimateFalsePositiveRate(blocks, k, 0) != 0 || gloom.EstimateFalsePositiveRate(1, 2, 5) != 1 {
		t.Error("EstimateFalsePositiveRate of nothing")
	}
}

func TestConstructors(t *testing.T) {
	if f := gloom.NewWithParams(100, 5); f.NumBlocks() != 100 || f.K() != 5 || f.ExpectedItems() != 0 {
		t.Error("NewWithParams")
	}
	if f := gloom.NewAtomicWithParams(100, 17); f.NumBlocks() != 100 || f.K() != 17 {
		t.Error("NewAtomicWithParams")
	}
	if f := gloom.New(0, 0.5); f.NumBlocks() != 1 || f.TestString("") {
		t.Error("New for no keys")
	}
	for _, c := range []struct{ asked, got uint64 }{{0, 1}, {1, 1}, {2, 2}, {3, 4}, {16, 16}, {17, 32}, {1 << 40, 1024}} {
		f := gloom.NewShardedAtomic(100000, 0.01, c.asked) // 1957 blocks
		if f.NumShards() != c.got {
			t.Errorf("NewShardedAtomic with %d shards has %d", c.asked, f.NumShards())
		}
	}
	if f := gloom.NewShardedAtomic(1<<24, 0.01, math.MaxUint64); f.NumShards() != 65536 {
		t.Errorf("%d shards", f.NumShards())
	}
	if f := gloom.NewShardedAtomicDefault(100000, 0.01); f.NumShards() < 1 {
		t.Error("NewShardedAtomicDefault")
	}
	if f := must(gloom.OpenShardedAtomic(gloom.Config{NumBlocks: 64, K: 7, NumShards: 8})); f.NumShards() != 8 {
		t.Error("OpenShardedAtomic")
	}
	if f := must(gloom.Open(gloom.Config{ExpectedItems: 1 << 20, FPRate: 0.01, SmallPages: true, BlockMultiple: 1024})); f.NumBlocks()%1024 != 0 {
		t.Error("BlockMultiple")
	}
}

func TestBadArguments(t *testing.T) {
	for _, rate := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1), math.Copysign(0, -1)} {
		for _, f := range []func(){
			func() { gloom.New(1000, rate) },
			func() { gloom.NewAtomic(1000, rate) },
			func() { gloom.NewShardedAtomic(1000, rate, 4) },
			func() { gloom.NewShardedAtomicDefault(1000, rate) },
			func() { gloom.OptimalParams(1000, rate) },
		} {
			wantPanic(t, f, gloom.ErrInvalidArgument)
		}
		_, err := gloom.Open(gloom.Config{ExpectedItems: 1000, FPRate: rate})
		wantError(t, err, gloom.ErrInvalidArgument)
	}
	for _, f := range []func(){
		func() { gloom.NewWithParams(0, 7) },
		func() { gloom.NewWithParams(10, 2) },
		func() { gloom.NewAtomicWithParams(10, 18) },
		func() { gloom.New(math.MaxUint64, 0.01) },
	} {
		wantPanic(t, f, gloom.ErrInvalidArgument)
	}
	_, err := gloom.OpenAtomic(gloom.Config{ExpectedItems: 1000, FPRate: 1e-12})
	wantError(t, err, gloom.ErrUnreachableRate)
	_, err = gloom.OpenShardedAtomic(gloom.Config{ExpectedItems: 1000, FPRate: 0.01, NumShards: 3})
	wantError(t, err, gloom.ErrInvalidArgument)
	_, err = gloom.Open(gloom.Config{ExpectedItems: 1000, FPRate: 0.01, NumShards: 2})
	wantError(t, err, gloom.ErrInvalidArgument)
	_, err = gloom.Open(gloom.Config{ExpectedItems: 1000000, FPRate: 0.01, MaxBytes: 1 << 20})
	wantError(t, err, gloom.ErrLimit)
	_, err = gloom.Open(gloom.Config{NumBlocks: 1 << 62, K: 7})
	wantError(t, err, gloom.ErrLimit)
	_, err = gloom.SizeFor(1000, 0)
	wantError(t, err, gloom.ErrInvalidArgument)
	if !strings.Contains(err.Error(), "fp_rate") || !strings.Contains(err.Error(), "SizeFor") {
		t.Errorf("error %q does not name the argument", err)
	}
	if !strings.Contains(gloom.Status(77).Error(), "gloom: ") {
		t.Error("an unknown status has no text")
	}
}

// Empty keys, nil keys, and keys whose backing array is elsewhere.
func TestEmptyKeys(t *testing.T) {
	for name, f := range opened(t, gloom.Config{ExpectedItems: 100, FPRate: 0.0001}) {
		if f.Test(nil) || f.TestString("") || f.Test([]byte{}) {
			t.Errorf("%s: has the empty key", name)
		}
		f.AddMany(nil)
		f.AddManyString([]string{})
		f.AddManyHash(nil)
		gloom.AddFixed[uint64](f, nil)
		f.AddBatch(&gloom.Batch{})
		if len(f.TestMany(nil, nil)) != 0 || len(f.TestManyHash(nil, nil)) != 0 || len(gloom.TestFixed[uint64](f, nil, nil)) != 0 ||
			len(f.TestBatch(&gloom.Batch{}, nil)) != 0 || f.Count() != 0 {
			t.Errorf("%s: batches of nothing", name)
		}
		f.AddMany([][]byte{nil})
		if !f.Test(nil) || !f.TestString("") || !f.Test([]byte{}) || f.Count() != 1 {
			t.Errorf("%s: lost the empty key", name)
		}
		if got := f.TestMany([][]byte{nil, {}, []byte("a")}, nil); !got[0] || !got[1] || got[2] {
			t.Errorf("%s: %v", name, got)
		}
		f.Clear()
		f.Add(nil)
		if f.TestAndAdd(nil) != true || f.Count() != 2 {
			t.Errorf("%s: Add(nil)", name)
		}
		large := make([]byte, 1<<20)
		if f.TestAndAdd(large) || !f.Test(large) || f.Test(large[1:]) || !f.TestMany([][]byte{large}, nil)[0] {
			t.Errorf("%s: a large key", name)
		}
	}
}

func TestAddIsWhatTheResultSays(t *testing.T) {
	for name, f := range opened(t, gloom.Config{ExpectedItems: 1000, FPRate: 0.01, Seed: 5}) {
		added := uint64(0)
		for _, key := range append(names("a", 1500), names("a", 500)...) {
			before := f.TestString(key)
			if got := f.TestAndAddString(key); got != before {
				t.Fatalf("%s: TestAndAdd(%q) = %v", name, key, got)
			}
			if added++; !f.TestString(key) || f.Count() != added {
				t.Fatalf("%s: %q, Count() = %d instead of %d", name, key, f.Count(), added)
			}
		}
	}
}
