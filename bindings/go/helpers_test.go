package gloom_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"example.org/gloom/bindings/go"
)

// random is a generator whose seed is in the output of a test that fails; GLOOM_SEED repeats it.
func random(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("GLOOM_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("GLOOM_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func names(prefix string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s:%d", prefix, i)
	}
	return keys
}

func wantError(t *testing.T, err error, want gloom.Status) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, wanted one that is: %v", err, want)
	}
	var e *gloom.Error
	if !errors.As(err, &e) || e.Op == "" || e.Message == "" {
		t.Errorf("error %#v says too little", err)
	}
}

// panicked runs f and returns what it panicked with, or nil.
func panicked(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}

func wantPanic(t *testing.T, f func(), want gloom.Status) {
	t.Helper()
	err, ok := panicked(f).(error)
	if !ok {
		t.Errorf("no panic with an error, wanted: %v", want)
		return
	}
	wantError(t, err, want)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
