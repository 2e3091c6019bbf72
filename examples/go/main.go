// gloom-go shows what a service does with a filter: at its start, goroutines load the keys that are in its database, while
// a live stream of new keys is added and requests are already answered.
//
//	go run -tags gloom_checkout . [flags] [FILE]
//
// FILE has a key on each line; without it, stdin. Build the library before: make build in the root of the checkout.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"example.org/gloom/bindings/go"
)

func main() {
	var o options
	flag.Uint64Var(&o.expect, "expect", 1_000_000, "distinct `keys` to plan for")
	flag.Float64Var(&o.rate, "rate", 0.01, "false-positive `rate` once they are in")
	flag.IntVar(&o.loaders, "loaders", runtime.GOMAXPROCS(0), "`goroutines` that load")
	flag.StringVar(&o.save, "save", "", "`file` to save the filter to")
	flag.Parse()

	in := io.Reader(os.Stdin)
	if flag.NArg() > 0 {
		file, err := os.Open(flag.Arg(0))
		if err != nil {
			fail(err)
		}
		defer file.Close()
		in = file
	}
	if err := run(o, in, os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "gloom-go:", err)
	os.Exit(1)
}

type options struct {
	expect  uint64
	rate    float64
	loaders int
	save    string
}

func run(o options, in io.Reader, out io.Writer) error {
	filter, err := gloom.OpenShardedAtomic(gloom.Config{ExpectedItems: o.expect, FPRate: o.rate})
	if err != nil {
		return err
	}
	defer filter.Close()

	var loading, serving sync.WaitGroup
	batches := make(chan *gloom.Batch, 2*o.loaders)
	for range o.loaders {
		loading.Add(1)
		go func() {
			defer loading.Done()
			for batch := range batches {
				filter.AddBatch(batch)
			}
		}()
	}

	// The live stream and the requests, until all is loaded.
	loaded := make(chan struct{})
	var live, asked, lost atomic.Int64
	serving.Add(1)
	go func() {
		defer serving.Done()
		for i := 0; ; i++ {
			select {
			case <-loaded:
				return
			default:
			}
			key := fmt.Sprintf("live:%d", i)
			filter.AddString(key)
			live.Add(1)
			if !filter.TestString(key) { // a key whose add has returned is seen at once
				lost.Add(1)
			}
			asked.Add(1)
		}
	}()

	start := time.Now()
	keys, sample, err := read(in, batches)
	close(batches)
	loading.Wait()
	took := time.Since(start)
	close(loaded)
	serving.Wait()
	if err != nil {
		return err
	}

	for _, found := range filter.TestManyString(sample, nil) {
		if !found {
			lost.Add(1)
		}
	}
	misses := make([]string, 100_000)
	for i := range misses {
		misses[i] = fmt.Sprintf("\x00nobody has this key:%d", i)
	}
	hits := 0
	for _, found := range filter.TestManyString(misses, nil) {
		if found {
			hits++
		}
	}
	fmt.Fprintf(out, "keys loaded       %d by %d goroutines in %v\n", keys, o.loaders, took.Round(time.Millisecond))
	fmt.Fprintf(out, "added meanwhile   %d, asked %d\n", live.Load(), asked.Load())
	fmt.Fprintf(out, "adds in all       %d, about %d distinct\n", filter.Count(), filter.EstimatedItems())
	fmt.Fprintf(out, "false negatives   %d\n", lost.Load())
	fmt.Fprintf(out, "false positives   %d of %d, estimated %.3g %%\n", hits, len(misses), 100*filter.EstimatedFalsePositiveRate())
	fmt.Fprintf(out, "memory            %d bytes\n", filter.MemoryBytes())
	if o.save != "" {
		if err := filter.Save(o.save, gloom.FormatNative); err != nil {
			return err
		}
		fmt.Fprintf(out, "saved             %s\n", o.save)
	}
	return nil
}

// read sends the lines in batches, and returns how many they are and some of them.
func read(in io.Reader, batches chan<- *gloom.Batch) (keys int, sample []string, err error) {
	const size = 1000
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	batch := new(gloom.Batch)
	for lines.Scan() {
		batch.Append(lines.Bytes())
		if keys%97 == 0 && len(sample) < 10_000 {
			sample = append(sample, lines.Text())
		}
		keys++
		if batch.Len() == size {
			batches <- batch
			batch = new(gloom.Batch) // the other one is the loader's now
		}
	}
	batches <- batch
	return keys, sample, lines.Err()
}
