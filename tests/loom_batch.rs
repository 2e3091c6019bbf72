//! Models of batches into a sharded filter, under every interleaving (within a bound on preemptions).
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release --test loom_batch
#![cfg(loom)]

use gloom::{Filter, KeyHash, Keys, Kind, Options};
use loom::model::Builder;
use loom::thread;
use std::sync::Arc;

/// Words of a thread's stack: a batch that is sorted by shard needs more than loom gives.
const STACK: usize = 1 << 15;

/// A key of one of two blocks. Probes below 100 share their words, so that a lost store would lose bits.
fn key(block: u64, probe: u64) -> KeyHash {
    KeyHash { lo: probe, hi: block << 63 }
}

fn two_blocks(kind: Kind, num_shards: u32) -> Filter {
    Filter::create(&Options { num_shards, ..Options::for_blocks(2, 3).kind(kind) }).unwrap()
}

fn model(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn spawn(add: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    thread::Builder::new().stack_size(STACK).spawn(add).unwrap()
}

/// Two threads add batches that both go to both shards: both end, whoever finds a shard taken; a batch is
/// seen by its own thread once it has returned; all bits and the whole count are there in the end.
#[test]
fn two_batches_into_two_shards() {
    model(2, || {
        let filter = Arc::new(two_blocks(Kind::Sharded, 2));
        let batches = [[key(0, 1), key(1, 2)], [key(1, 3), key(0, 4)]];
        let threads = batches.map(|batch| {
            let filter = filter.clone();
            spawn(move || {
                filter.add_batch(Keys::hashes(&batch));
                assert!(batch.into_iter().all(|key| filter.test_hash(key)));
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());

        let expected = two_blocks(Kind::Plain, 0);
        batches.as_flattened().iter().for_each(|&key| _ = expected.add_hash(key));
        assert!(*filter == expected);
        assert_eq!(filter.count(), 4);
    });
}

/// A batch beside a single add, which waits for the shard where a batch would go on with another.
#[test]
fn a_batch_beside_an_add() {
    model(2, || {
        let filter = Arc::new(two_blocks(Kind::Sharded, 2));
        let batch = [key(0, 1), key(1, 2)];
        let adds_batch = {
            let filter = filter.clone();
            spawn(move || filter.add_batch(Keys::hashes(&batch)))
        };
        let adds_one = {
            let filter = filter.clone();
            spawn(move || _ = filter.add_hash(key(0, 3)))
        };
        adds_batch.join().unwrap();
        assert!(batch.into_iter().all(|key| filter.test_hash(key)));
        adds_one.join().unwrap();

        let expected = two_blocks(Kind::Plain, 0);
        [batch[0], batch[1], key(0, 3)].into_iter().for_each(|key| _ = expected.add_hash(key));
        assert!(*filter == expected);
        assert_eq!(filter.count(), 3);
    });
}

/// The same lock-free.
#[test]
fn two_batches_into_an_atomic_filter() {
    model(2, || {
        let filter = Arc::new(two_blocks(Kind::Atomic, 0));
        let batches = [[key(0, 1), key(1, 2)], [key(1, 3), key(0, 4)]];
        let threads = batches.map(|batch| {
            let filter = filter.clone();
            spawn(move || {
                filter.add_batch(Keys::hashes(&batch));
                assert!(batch.into_iter().all(|key| filter.test_hash(key)));
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());

        let expected = two_blocks(Kind::Plain, 0);
        batches.as_flattened().iter().for_each(|&key| _ = expected.add_hash(key));
        assert!(*filter == expected);
        assert_eq!(filter.count(), 4);
    });
}
