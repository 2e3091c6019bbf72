// Package gloom is a Bloom filter: a set of keys in little memory that answers "is this key in it?" with
// definitely not or probably yes, so that a service asks its database only for what may be there.
//
//	seen := gloom.NewAtomic(1_000_000, 0.01) // a million keys, 1 % false positives
//	defer seen.Close()
//	seen.AddString("user:17")
//	if !seen.TestString("user:18") {
//		// certainly not there: no need to ask the database
//	}
//
// It binds the C library gloom by cgo and has the names of the pure-Go module jcalabro/gloom, whose
// filters, as bytes, are the same; see README.md for what differs, for linking and for figures.
//
// # Which type
//
// The types differ in how they are written. Their bits are the same: any of them can be saved, loaded,
// merged and compared as any other, and all are read in the same way, at the same cost, by any number of
// goroutines, also while others write.
//
//   - [Filter]: one writer at a time.
//   - [AtomicFilter]: any number of writers, lock-free. Take it if in doubt, and for files that are mapped.
//   - [ShardedAtomicFilter]: any number of writers, each of which owns a range of the filter for the few stores it
//     makes. Made for loading many keys from many goroutines, by [ShardedAtomicFilter.AddMany] and its kin.
//
// # Keys one by one, and many
//
// Single keys are tested, and added to Filter and AtomicFilter, by Go code on the library's memory, without a
// call of C. Batches (AddMany, TestMany, [AddFixed], [TestFixed], [Batch]) are faster, several times so where
// single keys go by C: one call of C for many keys, whose hashes are computed in groups and whose cache misses
// overlap.
//
// # Goroutines
//
// Everything may be called by any number of goroutines at once, on one filter too, with these exceptions: a [Filter] has
// one writer at a time, where writing is adding and merging; Clear and Intersect want no other writer in any type; a [Batch]
// is for one goroutine at a time. Readers never wait.
//
// # Cost
//
// A key costs one hash and one cache line. Methods that work on the whole filter say so: they go through all of its
// memory. All others take nanoseconds, or what they say. Adds, tests, batches and the figures of a filter allocate no Go memory
// in steady state. Everything else ([AtomicFilter.Merge], [AtomicFilter.Save], [SizeFor], ...) may allocate some small objects,
// however large the filter, besides the filter or bytes that it returns.
//
// # Guarantees
//
// A test that happens after an add returned (by the Go memory model) answers true. The false-positive rate to expect of a
// filter with all expected keys is at most the one asked for; the rate of one such filter is a little above or below the one
// to expect, since that depends on the keys. Nothing is added to or removed from a filter by a call that fails.
//
// # Closing
//
// Filters hold memory that Go does not manage. Close gives it back; a filter that is dropped without Close is
// found by the garbage collector, which this package starts often enough. Using a filter after Close panics. Closing while
// other goroutines are inside a call is safe: what they use stays until they have left. Filters must not be
// copied; pass pointers.
//
// # Errors
//
// Errors are of type [*Error] and match the Err constants with [errors.Is]. The short constructors (New, NewAtomic,
// ...) have no error result: they panic with an *Error if their arguments are out of range or memory
// is exhausted. [Open], [OpenAtomic] and [OpenShardedAtomic] return it instead.
package gloom
