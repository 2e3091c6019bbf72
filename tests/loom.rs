//! What the filter promises to threads, checked in every interleaving, and with every value that a relaxed
//! load may return, of a few operations. The filters are the real ones; only the atomics are loom's.
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release --test loom --target-dir target/loom
//!
//! Add `LOOM_LOG=trace` and `LOOM_LOCATION=1` to see how a failure came about.
#![cfg(loom)]

use gloom::{Filter, Format, KeyHash, Kind, LoadOptions, Options};
use loom::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool as Seen, Ordering::Relaxed};

const K: u32 = 3;

/// The two kinds that may have several writers.
const SHARED: [Kind; 2] = [Kind::Atomic, Kind::Sharded];

/// Hashes whose bits share both words that they need: 128 + n and 167 + n lie in word 2, 340 + n in word 5.
/// Every load is a choice of loom's, so few words keep the models small; and shared words are where bits
/// could be lost.
fn hash(n: u32) -> KeyHash {
    // n + 128 modulo 167, n modulo 173, n modulo 172, found by trying.
    let probe = (0..).find(|probe| (probe % 167, probe % 173, probe % 172) == (n + 128, n, n)).unwrap();
    KeyHash { lo: probe.into(), hi: 0 }
}

/// The same in the last block.
fn hash_in_last_block(n: u32) -> KeyHash {
    KeyHash { hi: u64::MAX, ..hash(n) }
}

/// A filter with one shard for each block, if it is sharded.
fn filter(kind: Kind, num_blocks: u64) -> Arc<Filter> {
    let num_shards = if kind == Kind::Sharded { num_blocks as u32 } else { 0 };
    let options = Options { num_shards, ..Options::for_blocks(num_blocks, K).kind(kind) };
    Arc::new(Filter::create(&options).unwrap())
}

/// Checks `model` in every execution.
fn check(model: impl Fn() + Sync + Send + 'static) {
    loom::model::Builder::new().check(model);
}

/// Checks `model` in every execution in which threads are interrupted at most so many times while they could
/// go on; for models of which all executions would take hours. Errors that need more interruptions are rare
/// (Musuvathi and Qadeer 2007 found none that needs more than two).
fn check_bounded(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// The model can tell right from wrong: the hashes are where they should be.
#[test]
fn the_hashes_of_the_models_share_words_and_no_bits() {
    check(|| {
        let filter = filter(Kind::Plain, 1);
        assert!(filter.add_hash(hash(0)));
        assert!(!filter.test_hash(hash(1)));
        let bits: u32 =
            filter.to_bytes(Format::V1).unwrap()[21..85].iter().map(|byte| byte.count_ones()).sum();
        assert_eq!(bits, 3);
        let file = filter.to_bytes(Format::V1).unwrap();
        let words: Vec<_> = file[21..85].chunks(8).map(|word| word != [0; 8]).collect();
        assert_eq!(words, [false, false, true, false, false, true, false, false]);
    });
}

/// (a) "After" by joining the thread.
#[test]
fn a_test_after_a_join_sees_the_key() {
    for kind in SHARED {
        check(move || {
            let filter = filter(kind, 2);
            let adder = {
                let filter = filter.clone();
                thread::spawn(move || filter.add_hash(hash(0)))
            };
            filter.add_hash(hash_in_last_block(1));
            assert!(adder.join().unwrap());
            assert!(filter.test_hash(hash(0)) && filter.test_hash(hash_in_last_block(1)));
            assert_eq!(filter.count(), 2);
        });
    }
}

/// (a) "After" by a flag that is no part of the library, while another thread adds to the same words.
#[test]
fn a_test_after_a_message_sees_the_key() {
    for kind in SHARED {
        check_bounded(3, move || {
            let filter = filter(kind, 1);
            let returned = Arc::new(AtomicBool::new(false));
            let adder = {
                let (filter, returned) = (filter.clone(), returned.clone());
                thread::spawn(move || {
                    filter.add_hash(hash(0));
                    returned.store(true, Release);
                })
            };
            let other = {
                let filter = filter.clone();
                thread::spawn(move || filter.add_hash(hash(1)))
            };
            if returned.load(Acquire) {
                assert!(filter.test_hash(hash(0)));
            }
            adder.join().unwrap();
            other.join().unwrap();
        });
    }
}

/// (b) and (d): adds to the same words lose neither bits nor counts. For a sharded filter this is the proof that
/// owners exclude each other: it adds with plain loads and stores.
#[test]
fn racing_adds_lose_nothing() {
    for kind in SHARED {
        check(move || {
            let filter = filter(kind, 1);
            let adder = {
                let filter = filter.clone();
                thread::spawn(move || assert!(filter.add_hash(hash(0))))
            };
            assert!(filter.add_hash(hash(1)));
            adder.join().unwrap();
            assert!(filter.test_hash(hash(0)) && filter.test_hash(hash(1)));
            assert_eq!(filter.count(), 2);
        });
    }
}

/// (d) With three writers, one may wait for a second that waits for a third. (An atomic filter has no
/// waiting.) One interruption per execution is all that can be had in seconds; giving way is none.
#[test]
fn three_writers_of_a_shard_lose_nothing() {
    check_bounded(1, || {
        let filter = filter(Kind::Sharded, 1);
        let adders = [0, 1].map(|n| {
            let filter = filter.clone();
            thread::spawn(move || assert!(filter.add_hash(hash(n))))
        });
        assert!(filter.add_hash(hash(2)));
        for adder in adders {
            adder.join().unwrap();
        }
        assert!((0..3).all(|n| filter.test_hash(hash(n))));
        assert_eq!(filter.count(), 3);
    });
}

/// (c) Of two racing calls that add one key, at least one is told "new". Both can be (each may set one of the
/// two words first), but never in a sharded filter.
#[test]
fn racing_test_and_adds_of_a_key_find_it_new_at_least_once() {
    for kind in SHARED {
        let (both, one) = (Arc::new(Seen::new(false)), Arc::new(Seen::new(false)));
        let (seen_both, seen_one) = (both.clone(), one.clone());
        check(move || {
            let filter = filter(kind, 1);
            let adder = {
                let filter = filter.clone();
                thread::spawn(move || filter.add_hash(hash(0)))
            };
            let new = [filter.add_hash(hash(0)), adder.join().unwrap()];
            assert!(new != [false, false]);
            (if new == [true, true] { &seen_both } else { &seen_one }).store(true, Relaxed);
            assert_eq!(filter.count(), 2);
        });
        assert!(one.load(Relaxed));
        assert_eq!(both.load(Relaxed), kind == Kind::Atomic);
    }
}

/// (d) Two filters that are merged into each other at once: both merges end, and nothing is lost.
#[test]
fn merges_in_both_directions_at_once_end() {
    for kind in SHARED {
        check_bounded(2, move || {
            let (a, b) = (filter(kind, 1), filter(kind, 1));
            a.add_hash(hash(0));
            b.add_hash(hash(1));
            let merger = {
                let (a, b) = (a.clone(), b.clone());
                thread::spawn(move || a.merge(&b).unwrap())
            };
            b.merge(&a).unwrap();
            merger.join().unwrap();
            for filter in [&a, &b] {
                assert!(filter.test_hash(hash(0)) && filter.test_hash(hash(1)));
                // The later merge may bring back what the earlier one brought.
                assert!((2..=3).contains(&filter.count()));
            }
        });
    }
}

/// (d) A merge into a filter that another thread adds to.
#[test]
fn a_merge_and_an_add_lose_nothing() {
    for kind in SHARED {
        check_bounded(3, move || {
            let (target, source) = (filter(kind, 1), filter(kind, 1));
            source.add_hash(hash(0));
            let adder = {
                let target = target.clone();
                thread::spawn(move || target.add_hash(hash(1)))
            };
            target.merge(&source).unwrap();
            assert!(target.test_hash(hash(0)));
            adder.join().unwrap();
            assert!(target.test_hash(hash(0)) && target.test_hash(hash(1)));
            assert_eq!(target.count(), 2);
        });
    }
}

/// (e) Copies made while another thread adds have every key whose add had returned, and no half-read file.
#[test]
fn copies_have_every_add_that_had_returned() {
    for kind in SHARED {
        for serialized in [false, true] {
            check_bounded(2, move || {
                let filter = filter(kind, 1);
                let returned = Arc::new(AtomicBool::new(false));
                filter.add_hash(hash(0));
                let adder = {
                    let (filter, returned) = (filter.clone(), returned.clone());
                    thread::spawn(move || {
                        filter.add_hash(hash(1));
                        returned.store(true, Release);
                        filter.add_hash(hash(2));
                    })
                };
                let one_returned = returned.load(Acquire);
                let copy = if serialized {
                    let file = filter.to_bytes(Format::V1).unwrap();
                    Filter::from_bytes(&file, &LoadOptions { kind, ..LoadOptions::default() }).unwrap()
                } else {
                    filter.try_clone().unwrap()
                };
                assert!(copy.test_hash(hash(0)));
                assert!(!one_returned || copy.test_hash(hash(1)));
                let returned = 1 + u64::from(one_returned);
                assert!((returned..=3).contains(&copy.count()));
                adder.join().unwrap();
            });
        }
    }
}

/// (f) An add that finds its bits already set, by an add that has not returned, writes nothing. Once it has
/// returned, the key is there for those who know that it has.
#[test]
fn an_add_that_finds_its_bits_set_makes_them_seen() {
    for kind in SHARED {
        let silent = Arc::new(Seen::new(false));
        let seen = silent.clone();
        check_bounded(3, move || {
            let filter = filter(kind, 1);
            let returned = Arc::new(AtomicBool::new(false));
            let first = {
                let filter = filter.clone();
                thread::spawn(move || filter.add_hash(hash(0)))
            };
            let second = {
                let (filter, returned) = (filter.clone(), returned.clone());
                thread::spawn(move || {
                    let new = filter.add_hash(hash(0));
                    returned.store(true, Release);
                    new
                })
            };
            if returned.load(Acquire) {
                assert!(filter.test_hash(hash(0)));
            }
            first.join().unwrap();
            if !second.join().unwrap() {
                seen.store(true, Relaxed);
            }
        });
        assert!(silent.load(Relaxed), "the case that this model is about");
    }
}
