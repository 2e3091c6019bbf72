package gloom_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"example.org/gloom/bindings/go"
)

// What pins every stored filter; testdata has copies of ctests/golden, which explains them.

type recipe struct {
	Name           string `json:"name"`
	NumBlocks      uint64 `json:"num_blocks"`
	K              uint32 `json:"k"`
	EdgeKeys       bool   `json:"edge_keys"`
	MemberKeys     int    `json:"member_keys"`
	Count          uint64 `json:"count"`
	SHA256         string `json:"sha256"`
	Probes         int    `json:"probes"`
	ProbeHits      int    `json:"probe_hits"`
	FirstProbeHits []int  `json:"first_probe_hits"`
}

func recipes(t testing.TB) []recipe {
	data, err := os.ReadFile("testdata/v1_recipes.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []recipe
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 19 {
		t.Fatalf("%d recipes instead of 19", len(all))
	}
	return all
}

func (r recipe) keys() []string {
	var keys []string
	if r.EdgeKeys {
		keys = append(keys, "", "\x00", "\xff", "a", "ab", "abc", "abcd", strings.Repeat("\x00", 8),
			strings.Repeat("\xff", 9), "0123456789abcdef", "0123456789abcdefg", strings.Repeat("x", 128),
			strings.Repeat("y", 129), strings.Repeat("z", 240), strings.Repeat("w", 241), "hello, 世界")
	}
	for i := range r.MemberKeys {
		keys = append(keys, numbered("member", i))
	}
	return keys
}

func (r recipe) probes() []string {
	var keys []string
	for i := range r.Probes {
		keys = append(keys, numbered("probe", i))
	}
	return keys
}

func numbered(name string, i int) string {
	key := fmt.Appendf(nil, "%s-%d:", name, i)
	for j := range (i * 7) % 1031 {
		key = append(key, byte(j))
	}
	return string(key)
}

// many is what all three types have.
type many interface {
	gloom.AnyFilter
	Add([]byte)
	AddString(string)
	AddHash(gloom.Hash)
	AddMany([][]byte)
	AddManyString([]string)
	AddManyHash([]gloom.Hash)
	AddBatch(*gloom.Batch)
	Test([]byte) bool
	TestString(string) bool
	TestHash(gloom.Hash) bool
	TestAndAdd([]byte) bool
	TestAndAddString(string) bool
	TestMany([][]byte, []bool) []bool
	TestManyString([]string, []bool) []bool
	TestManyHash([]gloom.Hash, []bool) []bool
	TestBatch(*gloom.Batch, []bool) []bool
	Cap() uint64
	K() uint32
	NumBlocks() uint64
	Seed() uint64
	SipHash() bool
	Count() uint64
	EstimatedItems() uint64
	EstimatedFillRatio() float64
	EstimatedFalsePositiveRate() float64
	ExpectedItems() uint64
	FPRate() float64
	MemoryBytes() uint64
	SIMDLevel() string
	IsMapped() bool
	IsReadOnly() bool
	IsStale() bool
	MarshalBinary() ([]byte, error)
	AppendBinary([]byte) ([]byte, error)
	AppendFormat([]byte, gloom.Format) ([]byte, error)
	UnmarshalBinary([]byte) error
	Merge(gloom.AnyFilter) error
	MergeBinary([]byte) error
	Intersect(gloom.AnyFilter) error
	Equal(gloom.AnyFilter) bool
	Clear()
	Save(string, gloom.Format) error
	Sync() error
	Close() error
}

var (
	_ many = (*gloom.Filter)(nil)
	_ many = (*gloom.AtomicFilter)(nil)
	_ many = (*gloom.ShardedAtomicFilter)(nil)
)

// opened makes a filter of each type.
func opened(t testing.TB, c gloom.Config) map[string]many {
	t.Helper()
	plain, err1 := gloom.Open(c)
	atomic, err2 := gloom.OpenAtomic(c)
	sharded, err3 := gloom.OpenShardedAtomic(c)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]many{"Filter": plain, "AtomicFilter": atomic, "ShardedAtomicFilter": sharded}
}

// ways of adding the same keys
var ways = map[string]func(f many, keys []string){
	"Add": func(f many, keys []string) {
		for _, key := range keys {
			f.Add([]byte(key))
		}
	},
	"AddString": func(f many, keys []string) {
		for _, key := range keys {
			f.AddString(key)
		}
	},
	"AddHash": func(f many, keys []string) {
		for _, key := range keys {
			f.AddHash(hashOf(f, key))
		}
	},
	"TestAndAdd": func(f many, keys []string) {
		for i, key := range keys {
			if i%2 == 0 {
				f.TestAndAdd([]byte(key))
			} else {
				f.TestAndAddString(key)
			}
		}
	},
	"AddMany":       func(f many, keys []string) { f.AddMany(slicesOf(keys)) },
	"AddManyString": func(f many, keys []string) { f.AddManyString(keys) },
	"AddManyHash":   func(f many, keys []string) { f.AddManyHash(hashes(f, keys)) },
	"Batch": func(f many, keys []string) {
		var b gloom.Batch
		for i, key := range keys {
			b.AppendString(key)
			if i%777 == 0 {
				b.Flush(f)
			}
		}
		f.AddBatch(&b)
	},
}

func slicesOf(keys []string) [][]byte {
	var all [][]byte
	for _, key := range keys {
		all = append(all, []byte(key))
	}
	return all
}

// hashOf hashes a key as a filter does.
func hashOf(f many, key string) gloom.Hash {
	if f.SipHash() {
		return gloom.SipHashString(key, f.Seed())
	}
	return gloom.HashString(key, f.Seed())
}

func hashes(f many, keys []string) []gloom.Hash {
	var all []gloom.Hash
	for _, key := range keys {
		all = append(all, hashOf(f, key))
	}
	return all
}

// Each recipe, by each type and each way of adding: the same bytes as those of the pure-Go module.
func TestGoldenFilters(t *testing.T) {
	for _, r := range recipes(t) {
		keys := r.keys()
		for way, add := range ways {
			for name, f := range opened(t, gloom.Config{NumBlocks: r.NumBlocks, K: r.K}) {
				t.Run(r.Name+"/"+name+"/"+way, func(t *testing.T) {
					defer f.Close()
					add(f, keys)
					if f.Count() != r.Count {
						t.Errorf("Count() = %d instead of %d", f.Count(), r.Count)
					}
					data, err := f.MarshalBinary()
					if err != nil {
						t.Fatal(err)
					}
					if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != r.SHA256 {
						t.Errorf("SHA-256 %x instead of %s", sum, r.SHA256)
					}
					if f.Count() != r.Count {
						t.Errorf("Count() = %d after MarshalBinary", f.Count())
					}
				})
			}
		}
	}
}

// The answers, by each way of asking, of a filter that came from bytes.
func TestGoldenAnswers(t *testing.T) {
	for _, r := range recipes(t) {
		t.Run(r.Name, func(t *testing.T) {
			made := gloom.NewWithParams(r.NumBlocks, r.K)
			made.AddManyString(r.keys())
			data, err := made.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			f, err := gloom.UnmarshalBinary(data)
			if err != nil {
				t.Fatal(err)
			}
			for i, found := range answers(t, f, r.keys()) {
				if !found {
					t.Fatalf("member %d is lost", i)
				}
			}
			var hits []int
			for i, found := range answers(t, f, r.probes()) {
				if found {
					hits = append(hits, i)
				}
			}
			if len(hits) != r.ProbeHits || fmt.Sprint(hits[:len(r.FirstProbeHits)]) != fmt.Sprint(r.FirstProbeHits) {
				t.Errorf("%d probes hit instead of %d, the first %v", len(hits), r.ProbeHits, hits[:min(len(hits), 20)])
			}
		})
	}
}

// answers asks in every way and checks that they agree.
func answers(t *testing.T, f many, keys []string) []bool {
	t.Helper()
	var b gloom.Batch
	for _, key := range keys {
		b.AppendString(key)
	}
	want := f.TestManyString(keys, nil)
	for way, got := range map[string][]bool{
		"TestMany":     f.TestMany(slicesOf(keys), nil),
		"TestManyHash": f.TestManyHash(hashes(f, keys), nil),
		"TestBatch":    f.TestBatch(&b, nil),
	} {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s and TestManyString differ", way)
		}
	}
	for i, key := range keys {
		if f.TestString(key) != want[i] || f.Test([]byte(key)) != want[i] || f.TestHash(hashOf(f, key)) != want[i] {
			t.Fatalf("key %d: single and batch differ", i)
		}
	}
	return want
}

// The hash of Go code, with and without seeds, and the library's SipHash.
func TestGoldenHashes(t *testing.T) {
	check := func(file string, seeded bool, hash func([]byte, uint64) gloom.Hash) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		vectors := 0
		for lines.Scan() {
			fields := strings.Split(lines.Text(), "\t")
			if strings.HasPrefix(fields[0], "#") || fields[0] == "len" || fields[0] == "seed" {
				continue
			}
			seed := uint64(0)
			if seeded {
				if seed, err = strconv.ParseUint(fields[0], 10, 64); err != nil {
					t.Fatal(err)
				}
				fields = fields[1:]
			}
			length, err := strconv.Atoi(fields[0])
			if err != nil {
				t.Fatal(err)
			}
			key := make([]byte, length)
			for j := range key {
				key[j] = byte(j*131 + length + 7)
			}
			h := hash(key, seed)
			if got := fmt.Sprintf("%016x %016x", h.Hi, h.Lo); got != fields[1]+" "+fields[2] {
				t.Errorf("%s: %d bytes, seed %d: %s instead of %s %s", file, length, seed, got, fields[1], fields[2])
			}
			vectors++
		}
		if vectors < 50 {
			t.Errorf("%s: only %d vectors", file, vectors)
		}
	}
	check("testdata/hash_vectors.tsv", false, gloom.HashKey)
	check("testdata/seeded_vectors.tsv", true, gloom.HashKey)
	check("testdata/siphash_vectors.tsv", true, gloom.SipHashKey)
}
