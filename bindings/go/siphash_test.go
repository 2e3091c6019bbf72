package gloom_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"example.org/gloom/bindings/go"
)

var bySipHash = gloom.Config{NumBlocks: 100, K: 7, Seed: 42, SipHash: true}

// Every way of adding and asking, single and in batches, in every type.
func TestSipHash(t *testing.T) {
	keys := append(names("key", 300), "", strings.Repeat("long", 100))
	model := must(gloom.Open(bySipHash))
	model.AddManyString(keys)
	for way, add := range ways {
		for name, f := range opened(t, bySipHash) {
			add(f, keys)
			if !f.SipHash() || !f.Equal(model) || f.Count() != uint64(len(keys)) {
				t.Errorf("%s, %s: SipHash() %v, Equal %v, Count() %d", name, way, f.SipHash(), f.Equal(model), f.Count())
			}
			for i, found := range answers(t, f, append(keys, names("other", 300)...)) {
				if i < len(keys) && !found {
					t.Errorf("%s, %s: %q is lost", name, way, keys[i])
				}
			}
		}
	}
}

func TestSipHashFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	for name, f := range opened(t, bySipHash) {
		f.AddManyString(names("key", 500))
		check(t, f.Save(path, gloom.FormatNative))
		if info := must(gloom.Inspect(path)); !info.SipHash || info.Seed != 42 {
			t.Errorf("%s: %+v", name, info)
		}
		for _, loaded := range []many{
			must(gloom.Load(path, gloom.LoadConfig{})),
			must(gloom.LoadShardedAtomic(path, gloom.LoadConfig{})),
			must(gloom.Map(path, gloom.MapReadOnly)),
		} {
			if !loaded.SipHash() || !loaded.Equal(f) || !loaded.TestString("key:7") {
				t.Errorf("%s: not the same", name)
			}
			check(t, loaded.Close())
		}
		if err := f.Save(path, gloom.FormatV1); !errors.Is(err, gloom.ErrUnsupported) {
			t.Errorf("%s: as v1: %v", name, err)
		}
	}
	mapped := must(gloom.MapCreate(path+".map", bySipHash))
	defer mapped.Close()
	mapped.AddString("one")
	mapped.AddManyString([]string{"two"})
	if !mapped.SipHash() || !mapped.TestString("two") || !mapped.TestManyString([]string{"one"}, nil)[0] {
		t.Error("a map hashes in two ways")
	}
}

func TestSipHashMixturesAreRefused(t *testing.T) {
	withoutKey := bySipHash
	withoutKey.Seed = 0
	if _, err := gloom.Open(withoutKey); !errors.Is(err, gloom.ErrInvalidArgument) || !strings.Contains(err.Error(), "seed") {
		t.Errorf("without a seed: %v", err)
	}
	byXXH3 := bySipHash
	byXXH3.SipHash = false
	a, b := must(gloom.Open(bySipHash)), must(gloom.Open(byXXH3))
	if err := a.Merge(b); !errors.Is(err, gloom.ErrIncompatible) || !strings.Contains(err.Error(), "hash") {
		t.Errorf("Merge: %v", err)
	}
	if a.Equal(b) {
		t.Error("two empty filters of different hashes are equal")
	}
}
