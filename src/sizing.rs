//! From a number of keys and a false-positive rate to a geometry, and back.
//!
//! The model: `n` keys fall into `B` blocks independently, so a block holds `J ~ Poisson(n / B)` keys.
//! A key that is not among them finds its bit of partition i set with probability
//! `1 - (1 - 1/p_i)^J`, and all its bits with the product over i. Two keys of a block that share the
//! whole 32-bit probe value add `n/B * 2^-32`. The usual formula, `n * ln(p) / ln(2)^2` bits, ignores
//! that some blocks are fuller than others and misses the rate by 3x at 1e-4 and 19x at 1e-6
//! (docs/sizing.md).

use crate::error::Error;
use crate::layout::{BLOCK_BITS, BLOCK_BYTES, MAX_K, MIN_K, partitions};

/// The most keys that can be planned for.
const MAX_ITEMS: u64 = 1 << 63;

/// The most blocks whose bytes a `u64` can count.
pub(crate) const MAX_BLOCKS: u64 = u64::MAX / BLOCK_BYTES as u64;

/// The fewest keys a block is planned for. With fewer, two keys that share their 32 probe bits are
/// nearly all the false positives there are, and halving the rate takes twice the memory; one key a
/// block (512 bits a key) is where this layout stops being a sensible one.
const MIN_LOAD: f64 = 1.0;

/// Above this many keys a block every bit is set: `(1 - 1/173)^16384 < 1e-41`.
const MAX_LOAD: f64 = 16384.0;

/// How many probe values there are.
const PROBES: f64 = 4294967296.0;

/// The k that are the cheapest for some rate (`the_other_k_never_win` below checks that).
const SIZING_K: [u32; 9] = [3, 4, 5, 6, 7, 9, 11, 13, 15];

/// What a filter for some keys and some rate will be like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizing {
    /// Blocks of 64 bytes.
    pub num_blocks: u64,
    /// Probes a key.
    pub k: u32,
    /// Bytes of all blocks.
    pub bytes: u64,
    /// The false-positive rate once all expected keys are in; at most the one asked for.
    pub fp_rate: f64,
    /// Bits a key; 0 if no keys are expected.
    pub bits_per_item: f64,
}

/// Finds the smallest filter for `expected_items` distinct keys whose predicted false-positive rate
/// is at most `fp_rate`. Allocates nothing.
///
/// The number of blocks never falls when `expected_items` grows. 0 keys get one block.
///
/// # Errors
/// [`Error::Argument`] unless `expected_items <= 2^63` and `0 < fp_rate < 1`;
/// [`Error::UnreachableRate`] for a rate below the smallest, about 2.3e-10;
/// [`Error::Limit`] if the bytes do not fit 64 bits.
pub fn size_for(expected_items: u64, fp_rate: f64) -> Result<Sizing, Error> {
    if expected_items > MAX_ITEMS {
        return Err(Error::Argument {
            name: "expected_items",
            value: expected_items.into(),
            allowed: "from 0 to 9223372036854775808 (2^63)",
        });
    }
    // Written so that a NaN is refused.
    if !(fp_rate > 0.0 && fp_rate < 1.0) {
        return Err(Error::Argument {
            name: "fp_rate",
            value: fp_rate.into(),
            allowed: "greater than 0 and less than 1",
        });
    }
    let (k, load) = cheapest(fp_rate)?;
    // Division and rounding up are monotone, also in floating point: more keys never get fewer blocks.
    let blocks = (expected_items as f64 / load).ceil().max(1.0);
    // As a floating-point number the most is rounded up, to one block too many.
    if blocks >= MAX_BLOCKS as f64 {
        return Err(Error::Limit { needed: u64::MAX, limit: isize::MAX as u64 });
    }
    Ok(describe(blocks as u64, k, expected_items))
}

/// The sizing of a known geometry.
pub(crate) fn describe(num_blocks: u64, k: u32, items: u64) -> Sizing {
    let bits = num_blocks as f64 * f64::from(BLOCK_BITS);
    Sizing {
        num_blocks,
        k,
        bytes: num_blocks.saturating_mul(BLOCK_BYTES as u64),
        fp_rate: predict_fp_rate(num_blocks, k, items),
        bits_per_item: if items == 0 { 0.0 } else { bits / items as f64 },
    }
}

/// The false-positive rate to expect of `num_blocks` blocks with `k` probes that hold `items`
/// distinct keys. 1.0 for a geometry that does not exist.
pub fn predict_fp_rate(num_blocks: u64, k: u32, items: u64) -> f64 {
    if num_blocks == 0 || !(MIN_K..=MAX_K).contains(&k) {
        return 1.0;
    }
    rate(k, items as f64 / num_blocks as f64)
}

/// The k that reaches `fp_rate` with the most keys a block, and that number of keys.
fn cheapest(fp_rate: f64) -> Result<(u32, f64), Error> {
    let mut best = (0, MIN_LOAD);
    for k in SIZING_K {
        // One evaluation tells whether this k beats the best so far.
        if rate(k, best.1) <= fp_rate {
            best = (k, largest_load(k, best.1, fp_rate));
        }
    }
    if best.0 == 0 {
        let smallest = SIZING_K.map(|k| rate(k, MIN_LOAD)).into_iter().fold(1.0, f64::min);
        return Err(Error::UnreachableRate { fp_rate, smallest });
    }
    Ok(best)
}

/// The most keys a block, at least `reachable`, with which `k` probes stay within `fp_rate`.
///
/// By the Illinois method (Dowell and Jarratt, 1971) on the logarithms, which are nearly proportional:
/// some ten evaluations instead of the fifty of a bisection.
fn largest_load(k: u32, reachable: f64, fp_rate: f64) -> f64 {
    let excess = |load: f64| (rate(k, load) / fp_rate).ln();
    let (mut low, mut high) = (reachable.ln(), reachable.ln());
    let (mut at_low, mut at_high) = (excess(reachable), 0.0);
    while at_high <= 0.0 && high < MAX_LOAD.ln() {
        high += std::f64::consts::LN_2;
        at_high = excess(high.exp());
    }
    for _ in 0..100 {
        let middle = low + (high - low) * at_low / (at_low - at_high);
        let at_middle = excess(middle.exp());
        if at_middle <= 0.0 {
            (low, at_low) = (middle, at_middle);
            if at_middle > -1e-11 {
                break;
            }
            at_high /= 2.0;
        } else {
            (high, at_high) = (middle, at_middle);
            at_low /= 2.0;
        }
        if high - low < 1e-12 {
            break;
        }
    }
    // Room for the rounding of what is computed from it, so that the predicted rate is really met.
    (low.exp() * (1.0 - 1e-9)).max(reachable)
}

/// The model: the expected rate of a filter with `load` keys a block on average.
fn rate(k: u32, load: f64) -> f64 {
    if load > MAX_LOAD {
        return 1.0;
    }
    let sizes = partitions(k);
    let probes = sizes.len();
    // Probabilities relative to the most likely number of keys, so that none underflows; they are
    // normalised at the end.
    let mode = load.floor();
    let mut unset_at_mode = [0.0f64; MAX_K as usize];
    for (unset, &size) in unset_at_mode.iter_mut().zip(sizes) {
        *unset = (mode * (-1.0 / f64::from(size)).ln_1p()).exp();
    }
    let hit =
        |unset: &[f64; MAX_K as usize]| unset[..probes].iter().map(|unset| 1.0 - unset).product::<f64>();

    let mut all = 1.0;
    let mut hits = hit(&unset_at_mode);

    // Upwards from the mode, until even a certain hit would no longer count.
    let (mut keys, mut likelihood, mut unset) = (mode, 1.0, unset_at_mode);
    while likelihood > 1e-17 * hits {
        keys += 1.0;
        likelihood *= load / keys;
        for (unset, &size) in unset.iter_mut().zip(sizes) {
            *unset *= 1.0 - 1.0 / f64::from(size);
        }
        all += likelihood;
        hits += likelihood * hit(&unset);
    }
    // Downwards; there the hits become fewer, so the likelihood alone decides.
    let (mut keys, mut likelihood, mut unset) = (mode, 1.0, unset_at_mode);
    while keys > 0.0 && likelihood > 1e-17 * all {
        likelihood *= keys / load;
        keys -= 1.0;
        for (unset, &size) in unset.iter_mut().zip(sizes) {
            *unset /= 1.0 - 1.0 / f64::from(size);
        }
        all += likelihood;
        hits += likelihood * hit(&unset);
    }
    (hits / all + load / PROBES).min(1.0)
}

/// What the same-probe term adds to a rate measured from bits.
pub(crate) fn shared_probe_rate(num_blocks: u64, items: u64) -> f64 {
    items as f64 / num_blocks as f64 / PROBES
}

/// The number of distinct keys that most likely set `ones` bits. `u64::MAX` if all bits are set.
///
/// A bit of partition i stays clear after `n` keys with probability `(1 - 1/(B p_i))^n`, so the bits
/// set are `B * sum_i p_i (1 - (1 - 1/(B p_i))^n)`; this is solved for n. (The method of Swamidass and
/// Baldi, 2007, applied to partitions.)
pub(crate) fn estimate_items(num_blocks: u64, k: u32, ones: u64) -> u64 {
    let blocks = num_blocks as f64;
    let target = ones as f64 / blocks;
    if ones == 0 {
        return 0;
    }
    if ones as f64 >= blocks * f64::from(BLOCK_BITS) {
        return u64::MAX;
    }
    // The sum is concave and below k * n, so Newton's method climbs from there without overshooting.
    let mut items = ones as f64 / f64::from(k);
    for _ in 0..200 {
        let (mut set, mut slope) = (0.0, 0.0);
        for &size in partitions(k) {
            let size = f64::from(size);
            let decay = (-1.0 / (blocks * size)).ln_1p();
            let unset = (items * decay).exp();
            set += -size * (items * decay).exp_m1();
            slope += -size * decay * unset;
        }
        let step = (target - set) / slope;
        items += step;
        if step.abs() <= 1e-10 * items {
            break;
        }
    }
    items.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_per_key_are_the_reference_minima() {
        for (fp_rate, bits) in
            [(0.1, 4.84), (1e-2, 10.02), (1e-3, 15.83), (1e-4, 22.73), (1e-5, 31.57), (1e-6, 42.75)]
        {
            let sizing = size_for(1_000_000, fp_rate).unwrap();
            assert!((sizing.bits_per_item / bits - 1.0).abs() < 0.005, "{fp_rate}: {sizing:?}");
            assert!(sizing.fp_rate <= fp_rate && sizing.fp_rate > 0.999 * fp_rate, "{fp_rate}: {sizing:?}");
        }
    }

    /// The list of k that sizing tries is complete: the others never need fewer blocks.
    #[test]
    fn the_other_k_never_win() {
        let mut winners = std::collections::BTreeSet::new();
        for step in 0..=960 {
            let fp_rate = 0.999 * 10f64.powf(f64::from(step) / -100.0);
            let reached = |k| {
                if rate(k, MIN_LOAD) <= fp_rate { largest_load(k, MIN_LOAD, fp_rate) } else { 0.0 }
            };
            let (k, load) =
                (MIN_K..=MAX_K).map(|k| (k, reached(k))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            winners.insert(k);
            let (chosen, chosen_load) = cheapest(fp_rate).unwrap();
            assert!(chosen_load >= load * (1.0 - 1e-8), "{fp_rate}: {chosen} {chosen_load}, {k} {load}");
        }
        assert_eq!(winners.into_iter().collect::<Vec<_>>(), SIZING_K);
    }

    /// The sum over a Poisson distribution, against the closed form that inclusion and exclusion give:
    /// `E[prod(1 - q_i^J)] = sum over subsets S of (-1)^|S| exp(-load (1 - prod_S q_i))`.
    #[test]
    fn the_model_agrees_with_its_closed_form() {
        for (k, load) in
            [(3, 0.5), (3, 60.0), (3, 100.0), (4, 150.0), (7, 51.1), (7, 200.0), (7, 1000.0), (11, 100.0)]
        {
            let sizes = partitions(k);
            let mut exact = 0.0;
            for subset in 0u32..1 << k {
                let unset: f64 = (0..sizes.len())
                    .filter(|i| subset >> i & 1 == 1)
                    .map(|i| 1.0 - 1.0 / f64::from(sizes[i]))
                    .product();
                let sign = if subset.count_ones() % 2 == 0 { 1.0 } else { -1.0 };
                exact += sign * (-load * (1.0 - unset)).exp();
            }
            let modelled = rate(k, load) - load / PROBES;
            assert!((modelled - exact.min(1.0)).abs() < 1e-9, "{k} {load}: {modelled} {exact}");
        }
    }

    /// Faults seen elsewhere: sizes that fall when n grows, overflow to a tiny or negative size
    /// (jvirkki/libbloom 14 and 20, google/guava 892 and 1656, DCSO/bloom 4).
    #[test]
    fn size_is_monotone_up_to_two_to_the_63_or_refused() {
        for fp_rate in [0.5, 0.1, 1e-2, 1e-3, 1e-6, 1e-9] {
            let mut last = 0;
            let mut refused = false;
            for n in (0..64)
                .flat_map(|e| [(1u64 << e) - 1, 1 << e, (1 << e) + (1 << e >> 1)])
                .filter(|&n| n <= 1 << 63)
            {
                match size_for(n, fp_rate) {
                    Ok(sizing) => {
                        assert!(!refused, "{n} fits although fewer keys did not");
                        assert!(sizing.num_blocks >= last);
                        assert!(sizing.fp_rate <= fp_rate);
                        assert_eq!(sizing.bytes, sizing.num_blocks.checked_mul(64).unwrap());
                        last = sizing.num_blocks;
                    }
                    Err(Error::Limit { .. }) => refused = true,
                    Err(other) => panic!("{n} {fp_rate}: {other}"),
                }
            }
            assert!(last > 1 << 50);
        }
    }

    /// One key a block is the most blocks that a number of keys can get: here, one more than bytes can be counted.
    #[test]
    fn sizes_whose_bytes_just_do_not_fit_are_refused() {
        let Err(Error::UnreachableRate { smallest, .. }) = size_for(1, 1e-10) else { panic!("accepted") };
        let largest = size_for((1 << 58) - 32, smallest).unwrap();
        assert_eq!((largest.num_blocks, largest.bytes), ((1 << 58) - 32, u64::MAX - 2047));
        for n in [1 << 58, (1 << 58) + 1, 1 << 59] {
            assert!(matches!(size_for(n, smallest), Err(Error::Limit { .. })), "{n}");
        }
    }

    #[test]
    fn blocks_grow_by_whole_blocks_between_neighbouring_n() {
        let mut last = 0;
        for n in 0..20_000 {
            let blocks = size_for(n, 0.01).unwrap().num_blocks;
            assert!(blocks == last || blocks == last + 1, "{n}: {last} then {blocks}");
            last = blocks;
        }
    }

    /// Faults seen elsewhere: p or n out of range gave silent defaults or crashes (bits-and-blooms
    /// 32/34, fastbloom 17, RedisBloom 641), an unreachable p was noticed late (scylladb 11524).
    #[test]
    fn senseless_rates_are_refused_by_name() {
        for fp_rate in
            [0.0, -0.0, 1.0, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 2.0]
        {
            let error = size_for(1000, fp_rate).unwrap_err();
            assert!(matches!(error, Error::Argument { name: "fp_rate", .. }), "{error}");
            assert_eq!(
                error.to_string(),
                format!("fp_rate = {fp_rate:?}: must be greater than 0 and less than 1")
            );
        }
        for fp_rate in [5e-324, f64::MIN_POSITIVE, 1e-12, 2.3e-10] {
            let Err(Error::UnreachableRate { smallest, .. }) = size_for(1000, fp_rate) else {
                panic!("{fp_rate} accepted");
            };
            // The smallest that is named can really be had.
            assert!(size_for(1000, smallest).is_ok());
            assert!((2.3e-10..2.4e-10).contains(&smallest));
        }
        let error = size_for((1 << 63) + 1, 0.01).unwrap_err();
        assert!(
            error.to_string().starts_with("expected_items = 9223372036854775809: must be from 0"),
            "{error}"
        );
    }

    #[test]
    fn no_keys_get_a_block() {
        let sizing = size_for(0, 0.01).unwrap();
        assert_eq!(
            (sizing.num_blocks, sizing.bytes, sizing.fp_rate, sizing.bits_per_item),
            (1, 64, 0.0, 0.0)
        );
    }

    #[test]
    fn rates_stay_within_bounds_whatever_the_load() {
        assert_eq!(predict_fp_rate(0, 7, 1), 1.0);
        assert_eq!(predict_fp_rate(1, 2, 1), 1.0);
        assert_eq!(predict_fp_rate(1, 18, 1), 1.0);
        assert_eq!(predict_fp_rate(u64::MAX, 7, 0), 0.0);
        for k in MIN_K..=MAX_K {
            let mut last = 0.0;
            for exponent in 0..64 {
                let rate = predict_fp_rate(1, k, 1 << exponent);
                assert!(rate >= last && rate <= 1.0, "{k} 2^{exponent}: {rate}");
                last = rate;
            }
            assert_eq!(last, 1.0);
            assert_eq!(predict_fp_rate(1, k, u64::MAX), 1.0);
        }
    }

    #[test]
    fn estimates_invert_the_expectation() {
        for k in MIN_K..=MAX_K {
            for (blocks, items) in [(1u64, 1u64), (1, 40), (3, 100), (1000, 50_000), (1 << 40, 1 << 45)] {
                let expected: f64 = partitions(k)
                    .iter()
                    .map(|&size| {
                        let size = f64::from(size);
                        -size * (items as f64 * (-1.0 / (blocks as f64 * size)).ln_1p()).exp_m1()
                    })
                    .sum::<f64>()
                    * blocks as f64;
                let estimate = estimate_items(blocks, k, expected.round() as u64) as f64;
                // Rounding the bits to a whole number moves the estimate by less than a key and a bit.
                assert!(
                    (estimate - items as f64).abs() <= 1.0 + items as f64 * 0.04,
                    "{k} {blocks} {items} {estimate}"
                );
            }
            assert_eq!(estimate_items(5, k, 0), 0);
            assert_eq!(estimate_items(5, k, 5 * 512), u64::MAX);
            assert!(estimate_items(5, k, 5 * 512 - 1) < 100_000);
        }
    }
}
