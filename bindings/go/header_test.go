//go:build gloom_checkout

package gloom_test

import (
	"bytes"
	"os"
	"testing"
)

// Copies, since a module takes along only what is in its folder.
func TestCopiesAreUpToDate(t *testing.T) {
	for copied, original := range map[string]string{
		"gloom.h":                      "../../include/gloom.h",
		"testdata/v1_recipes.json":     "../../ctests/golden/v1_recipes.json",
		"testdata/hash_vectors.tsv":    "../../ctests/golden/hash_vectors.tsv",
		"testdata/seeded_vectors.tsv":  "../../ctests/golden/seeded_vectors.tsv",
		"testdata/siphash_vectors.tsv": "../../ctests/golden/siphash_vectors.tsv",
	} {
		if !bytes.Equal(must(os.ReadFile(copied)), must(os.ReadFile(original))) {
			t.Errorf("bindings/go/%s is no copy of %s any more: copy it again", copied, original)
		}
	}
}
