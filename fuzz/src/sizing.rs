//! Sizing on any numbers: it ends, stays within its bounds, and keeps what `docs/sizing.md` promises.

use crate::definition::partitions;
use crate::fault;
use crate::handle::{Handle, call, make};
use gloom::capi::*;
use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// The smallest rate there is: `docs/sizing.md`, "The smallest rate".
const SMALLEST: f64 = 2.32845703388038e-10;

pub fn run(input: &[u8]) {
    let _ = check(&mut Unstructured::new(input));
}

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let (n, p) = (a_number(input)?, a_rate(input)?);
    let sizing = check_size_for(n, p);
    match input.int_in_range(0..=3)? {
        0 => check_order(n, p, sizing, n.saturating_add(a_number(input)?), a_rate(input)?),
        1 => {
            let (num_blocks, k, items) = (a_number(input)?, input.int_in_range(0..=20)?, a_number(input)?);
            check_prediction(num_blocks, k, items, items.saturating_add(a_number(input)?));
            if (3..=7).contains(&k) && num_blocks > 0 {
                check_closed_form(num_blocks, k, items);
            }
        }
        2 => check_create(n, p, sizing, a_number(input)?, a_number(input)?),
        _ => check_struct_size(n, p, sizing, input.int_in_range(0..=5000)?),
    }
    Ok(())
}

/// Of every magnitude, and next to powers of two.
fn a_number(input: &mut Unstructured<'_>) -> Result<u64> {
    let shift: u8 = input.arbitrary()?;
    Ok(match shift % 4 {
        0 => input.arbitrary::<u64>()?,
        1 => input.arbitrary::<u64>()? >> (shift / 4),
        2 => u64::from(input.arbitrary::<u16>()?),
        _ => (1u64 << (shift / 4)).wrapping_add_signed(i64::from(input.arbitrary::<i8>()?)),
    })
}

/// Any number, or a likely one.
fn a_rate(input: &mut Unstructured<'_>) -> Result<f64> {
    let how: u8 = input.arbitrary()?;
    let bits: u64 = input.arbitrary()?;
    let part = bits as f64 / u64::MAX as f64;
    Ok(match how % 5 {
        0 => f64::from_bits(bits),
        1 => 10f64.powf(-11.0 * part),
        2 => part,
        3 => 1.0 - 10f64.powf(-17.0 * part),
        _ => f64::from_bits(SMALLEST.to_bits().wrapping_add_signed((bits >> 8) as i64 >> (how / 5))),
    })
}

/// What `gloom_size_for` says.
fn size_for(n: u64, p: f64) -> std::result::Result<gloom_sizing, gloom_status> {
    // SAFETY: numbers only.
    let mut sizing: gloom_sizing = unsafe { std::mem::zeroed() };
    sizing.struct_size = size_of::<gloom_sizing>();
    // SAFETY: a pointer to what is here.
    match call(|error| unsafe { gloom_size_for(n, p, &mut sizing, error) }) {
        GLOOM_OK => Ok(sizing),
        status => {
            assert_eq!(
                (sizing.num_blocks, sizing.k, sizing.fp_rate),
                (0, 0, 0.0),
                "written by a call that failed"
            );
            Err(status)
        }
    }
}

type Sized = std::result::Result<gloom_sizing, gloom_status>;

fn check_size_for(n: u64, p: f64) -> Sized {
    let sized = size_for(n, p);
    let wrong = n > 1 << 63 || !(p > 0.0 && p < 1.0);
    let unreachable = p < SMALLEST * (1.0 - 1e-13);
    match &sized {
        Err(GLOOM_ERR_INVALID_ARGUMENT) => assert!(wrong, "{n} {p:?} refused"),
        Err(GLOOM_ERR_UNREACHABLE_RATE) => assert!(!wrong && p < SMALLEST * (1.0 + 1e-13), "{n} {p:?}"),
        Err(GLOOM_ERR_LIMIT) => {
            // 2^58 blocks or more, each of which holds a key.
            assert!(!wrong && !unreachable && n > 1 << 57, "{n} {p:?}");
        }
        Err(status) => panic!("{n} {p:?}: status {status}"),
        Ok(sizing) => {
            assert!(!wrong && !unreachable, "{n} {p:?} accepted");
            check_sizing(n, p, sizing);
        }
    }
    sized
}

fn check_sizing(n: u64, p: f64, sizing: &gloom_sizing) {
    let &gloom_sizing { struct_size, num_blocks, bytes, fp_rate, bits_per_item, k, reserved } = sizing;
    let context = || format!("{n} {p:?}: {num_blocks} blocks, k {k}, rate {fp_rate:?}");
    assert_eq!((struct_size, reserved), (size_of::<gloom_sizing>(), 0));
    assert!(num_blocks >= 1 && (3..=15).contains(&k), "{}", context());
    assert_eq!(num_blocks.checked_mul(64), Some(bytes), "{}", context());
    assert_eq!(gloom_predict_fp_rate(num_blocks, k, n).to_bits(), fp_rate.to_bits(), "{}", context());
    let asked = if fault::wanted("sizing-model") { p * 0.99 } else { p };
    assert!(fp_rate <= asked, "{}", context());
    if n == 0 {
        assert_eq!((num_blocks, fp_rate, bits_per_item), (1, 0.0, 0.0), "{}", context());
        return;
    }
    assert_eq!(bits_per_item, num_blocks as f64 * 512.0 / n as f64, "{}", context());
    // Never more than a block a key; and no k does with fewer, beyond what rounding may cost. (Near 1 the rate hardly
    // depends on the size.)
    assert!(num_blocks as f64 <= n as f64 * (1.0 + 1e-8), "{}", context());
    let fewer = (num_blocks as f64 * (1.0 - 1e-7)) as u64;
    if p < 0.9 && fewer > 1 {
        for k in 3..=17 {
            let rate = gloom_predict_fp_rate(fewer - 1, k, n);
            assert!(rate > p, "{}: {} blocks and k {k} have rate {rate:?}", context(), fewer - 1);
        }
    }
}

/// More keys never get fewer blocks; nor does a smaller rate.
fn check_order(n: u64, p: f64, sizing: Sized, more: u64, larger: f64) {
    match (sizing, size_for(more, p)) {
        (Ok(sizing), Ok(of_more)) => {
            assert!(
                of_more.num_blocks >= sizing.num_blocks,
                "{p:?}: {n} {} {more} {}",
                sizing.num_blocks,
                of_more.num_blocks
            );
            assert_eq!(of_more.k, sizing.k, "k depends on the rate only");
        }
        (Ok(_), Err(status)) => {
            assert!(status == GLOOM_ERR_LIMIT || more > 1 << 63, "{n} {more} {p:?}: {status}")
        }
        (Err(status), of_more) => {
            assert_eq!(of_more.err(), Some(if more > 1 << 63 { GLOOM_ERR_INVALID_ARGUMENT } else { status }))
        }
    }
    if let (Ok(sizing), Ok(of_larger)) = (sizing, size_for(n, larger))
        && larger >= p * (1.0 + 1e-9)
        && larger < 0.9
    {
        let most = sizing.num_blocks as f64 * (1.0 + 1e-7) + 1.0;
        let context = || format!("{n}: {p:?} {} {larger:?} {}", sizing.num_blocks, of_larger.num_blocks);
        assert!(of_larger.num_blocks as f64 <= most, "{}", context());
    }
}

fn check_prediction(num_blocks: u64, k: u32, items: u64, more: u64) {
    let rate = gloom_predict_fp_rate(num_blocks, k, items);
    assert!((0.0..=1.0).contains(&rate), "{num_blocks} {k} {items}: {rate}");
    if num_blocks == 0 || !(3..=17).contains(&k) {
        assert_eq!(rate, 1.0, "{num_blocks} {k} {items}");
        return;
    }
    assert_eq!(rate == 0.0, items == 0, "{num_blocks} {k} {items}: {rate}");
    // Up to rounding.
    let of_more = gloom_predict_fp_rate(num_blocks, k, more);
    assert!(of_more >= rate * (1.0 - 1e-9), "{num_blocks} {k}: {items} {rate:?} {more} {of_more:?}");
    let wider = gloom_predict_fp_rate(num_blocks.saturating_add(more), k, items);
    assert!(wider <= rate * (1.0 + 1e-9), "{k} {items}: {num_blocks} {rate:?} +{more} {wider:?}");
}

/// `E[prod(1 - q_i^J)]` by inclusion and exclusion: the sum over all sets of partitions of
/// `(-1)^size * exp(-load * (1 - the product of their q))`.
fn check_closed_form(num_blocks: u64, k: u32, items: u64) {
    let load = items as f64 / num_blocks as f64;
    let sizes = partitions(k);
    let mut exact = 0.0;
    for set in 0u32..1 << k {
        let unset: f64 = sizes
            .iter()
            .enumerate()
            .filter(|(i, _)| set >> i & 1 == 1)
            .map(|(_, &size)| 1.0 - 1.0 / f64::from(size))
            .product();
        let term = (-load * (1.0 - unset)).exp();
        exact += if set.count_ones() % 2 == 0 { term } else { -term };
    }
    let exact = (exact + load / 4_294_967_296.0).min(1.0);
    let rate = gloom_predict_fp_rate(num_blocks, k, items);
    assert!((rate - exact).abs() < 1e-9, "{num_blocks} {k} {items}: {rate:?} instead of {exact:?}");
}

/// What is created is what was told, if it may be so large.
fn check_create(n: u64, p: f64, sizing: Sized, max_bytes: u64, multiple: u64) {
    // Without a limit of its own the test would take all memory.
    let max_bytes = max_bytes.clamp(1, 1 << 18);
    // SAFETY: numbers only.
    let mut options: gloom_options = unsafe { std::mem::zeroed() };
    options.struct_size = size_of::<gloom_options>();
    (options.expected_items, options.fp_rate) = (n, p);
    (options.max_bytes, options.block_multiple) = (max_bytes, multiple);
    // SAFETY: pointers to what is here.
    let (status, filter) = make(|out, error| unsafe { gloom_create(&options, out, error) });
    let wanted = sizing.and_then(|sizing| {
        let blocks = sizing.num_blocks.checked_next_multiple_of(multiple.max(1));
        let fits = blocks.filter(|blocks| blocks.checked_mul(64).is_some_and(|bytes| bytes <= max_bytes));
        fits.map(|blocks| (blocks, sizing.k)).ok_or(GLOOM_ERR_LIMIT)
    });
    assert_eq!(status, wanted.err().unwrap_or(GLOOM_OK), "{n} {p:?} {max_bytes} {multiple}");
    if let (Some(filter), Ok((num_blocks, k))) = (filter, wanted) {
        check_filter(&filter, num_blocks, k, n, p);
        if multiple <= 1 {
            let filters = [
                gloom_new(n, p),
                gloom_new_atomic(n, p),
                gloom_new_sharded(n, p, (multiple + max_bytes) as u32 % 100),
            ];
            filters.into_iter().for_each(|filter| check_filter(&Handle::new(filter), num_blocks, k, n, p));
        }
    }
}

fn check_filter(filter: &Handle, num_blocks: u64, k: u32, n: u64, p: f64) {
    let filter = filter.get();
    // SAFETY: a live handle.
    unsafe {
        assert_eq!((gloom_num_blocks(filter), gloom_k(filter)), (num_blocks, k));
        assert_eq!((gloom_expected_items(filter), gloom_fp_rate(filter)), (n, p));
        assert_eq!((gloom_bit_capacity(filter), gloom_count(filter)), (num_blocks * 512, 0));
        assert_eq!(
            (gloom_fill_ratio(filter), gloom_estimate_items(filter), gloom_current_fp_rate(filter)),
            (0.0, 0, 0.0)
        );
    }
}

/// Structs of other sizes: of later releases, or garbage.
fn check_struct_size(n: u64, p: f64, sizing: Sized, size: usize) {
    let mut bytes = vec![0x5au8; size.max(8)];
    bytes[..8].copy_from_slice(&size.to_le_bytes());
    let before = bytes.clone();
    // SAFETY: as many bytes as the size says, if it is one.
    let status = call(|error| unsafe { gloom_size_for(n, p, bytes.as_mut_ptr().cast(), error) });
    let known = size_of::<gloom_sizing>();
    match sizing {
        Err(refused) => assert_eq!(status, refused),
        Ok(_) if !(known..=4096).contains(&size) => assert_eq!(status, GLOOM_ERR_INVALID_ARGUMENT),
        Ok(sizing) => {
            assert_eq!(status, GLOOM_OK);
            assert_eq!(bytes[..16], [size.to_le_bytes(), sizing.num_blocks.to_le_bytes()].concat());
            assert!(bytes[known..].iter().all(|&byte| byte == 0), "what it does not know is 0");
            return;
        }
    }
    assert!(bytes == before, "written by a call that failed");
}
