package gloom_test

import (
	"bytes"
	"testing"

	"example.org/gloom/bindings/go"
)

// Whatever the bytes are, they are refused, or make a filter that is written as these bytes again.
func FuzzUnmarshalBinary(f *testing.F) {
	filter := gloom.NewWithParams(2, 7)
	filter.AddString("key")
	v1 := must(filter.AppendFormat(nil, gloom.FormatV1))
	f.Add(v1)
	f.Add(v1[:len(v1)-4])
	f.Add(must(filter.AppendFormat(nil, gloom.FormatNative)))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := gloom.UnmarshalBinary(data)
		streamed, streamErr := gloom.ReadAtomic(bytes.NewReader(data), gloom.LoadConfig{MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		defer got.Close()
		if len(data) > 0 && data[0] == 1 && !bytes.Equal(must(got.MarshalBinary()), data) {
			t.Error("written otherwise")
		}
		if got.NumBlocks() <= 1<<14 && (streamErr != nil || !streamed.Equal(got)) {
			t.Errorf("a stream makes another filter: %v", streamErr)
		}
		got.AddString("more")
		if !got.TestString("more") {
			t.Error("lost")
		}
	})
}

// Whatever the keys are, no way of adding loses one, all set the same bits, and all ways of asking agree.
func FuzzAddAndTest(f *testing.F) {
	f.Add([]byte("key"), []byte("other"), uint8(7), uint16(3), uint64(0))
	f.Add([]byte(nil), make([]byte, 300), uint8(17), uint16(1), uint64(9))
	f.Fuzz(func(t *testing.T, a, b []byte, k uint8, blocks uint16, seed uint64) {
		config := gloom.Config{NumBlocks: uint64(blocks) + 1, K: uint32(k)%15 + 3, Seed: seed}
		keys := []string{string(a), string(b), string(a) + string(b)}
		model := must(gloom.Open(config))
		defer model.Close()
		model.AddManyString(keys)
		for name, filter := range opened(t, config) {
			filter.Add(a)
			filter.AddString(keys[1])
			filter.AddHash(gloom.HashString(keys[2], seed))
			if !filter.Equal(model) || filter.Count() != 3 {
				t.Errorf("%s: other bits", name)
			}
			for i, found := range answers(t, filter, append(keys, "one more")) {
				if i < 3 && !found {
					t.Errorf("%s: key %d is lost", name, i)
				}
			}
			filter.Close()
		}
	})
}
