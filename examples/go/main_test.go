package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/gloom/bindings/go"
)

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	var lines, out strings.Builder
	for i := range 25_500 {
		fmt.Fprintf(&lines, "key:%d\n", i)
	}
	err := run(options{expect: 1_000_000, rate: 0.01, loaders: 3, save: path}, strings.NewReader(lines.String()), &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"keys loaded       25500 by 3 ", "false negatives   0\n", "saved "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, &out)
		}
	}
	f, err := gloom.Load(path, gloom.LoadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if !f.TestString("key:25499") || !f.TestString("live:0") || f.Count() < 25_501 {
		t.Errorf("%d adds in the file", f.Count())
	}
}

func TestBadOptions(t *testing.T) {
	if err := run(options{expect: 10, rate: 2, loaders: 1}, strings.NewReader(""), &strings.Builder{}); err == nil {
		t.Error("a rate of 200 %")
	}
	err := run(options{expect: 10, rate: 0.1, loaders: 1}, strings.NewReader(strings.Repeat("x", 2<<20)), &strings.Builder{})
	if err == nil {
		t.Error("a line of 2 MiB")
	}
}
