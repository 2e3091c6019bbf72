//! Which bits a key sets, by the definition in `docs/layout.md`.

use gloom::KeyHash;
use twox_hash::XxHash3_128;

/// The 512 bits of a block.
pub type Bits = [u64; 8];

const PARTITIONS: [&[u32]; 15] = [
    &[167, 173, 172],
    &[109, 127, 137, 139],
    &[97, 101, 103, 109, 102],
    &[61, 79, 83, 89, 97, 103],
    &[61, 67, 71, 79, 83, 89, 62],
    &[37, 47, 53, 61, 67, 71, 79, 97],
    &[41, 43, 47, 53, 59, 67, 71, 73, 58],
    &[31, 37, 41, 43, 47, 53, 59, 61, 67, 73],
    &[29, 31, 37, 41, 43, 44, 47, 53, 59, 61, 67],
    &[17, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 71],
    &[17, 19, 23, 29, 31, 37, 41, 43, 47, 52, 53, 59, 61],
    &[11, 13, 17, 19, 23, 29, 31, 37, 41, 47, 53, 59, 61, 71],
    &[11, 13, 17, 19, 23, 28, 29, 31, 37, 41, 43, 47, 53, 59, 61],
    &[5, 7, 11, 13, 17, 19, 23, 27, 29, 31, 37, 41, 43, 47, 53, 109],
    &[3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 32, 37, 41, 43, 47, 53, 101],
];

/// Partition sizes of `k`, which is from 3 to 17.
pub fn partitions(k: u32) -> &'static [u32] {
    PARTITIONS[k as usize - 3]
}

/// The hash of a key: by XXH3-128 (1) with a seed, of which 0 is none, or by SipHash-1-3 (2).
pub fn hash(key: &[u8], kind: u32, seed: u64) -> KeyHash {
    if kind == 2 {
        return siphash(key, seed);
    }
    let hash = XxHash3_128::oneshot_with_seed(seed, key);
    KeyHash { lo: hash as u64, hi: (hash >> 64) as u64 }
}

/// SipHash-1-3 with 128 bits, after the paper.
fn siphash(key: &[u8], seed: u64) -> KeyHash {
    let mut v = [
        seed ^ 0x736f_6d65_7073_6575,
        u64::from_le_bytes(*b"gloomsip") ^ 0x646f_7261_6e64_6f6d ^ 0xee,
        seed ^ 0x6c79_6765_6e65_7261,
        u64::from_le_bytes(*b"gloomsip") ^ 0x7465_6462_7974_6573,
    ];
    let mut padded = key.to_vec();
    padded.resize(key.len() / 8 * 8 + 7, 0);
    padded.push(key.len() as u8);
    for word in padded.chunks(8) {
        let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
        v[3] ^= word;
        sip_round(&mut v);
        v[0] ^= word;
    }
    let mut finish = |word: usize, with: u64| {
        v[word] ^= with;
        (0..3).for_each(|_| sip_round(&mut v));
        v[0] ^ v[1] ^ v[2] ^ v[3]
    };
    KeyHash { lo: finish(2, 0xee), hi: finish(1, 0xdd) }
}

fn sip_round(v: &mut [u64; 4]) {
    for (a, b, rotated, c, d, shifted) in [(0, 1, 13, 2, 3, 16), (2, 1, 17, 0, 3, 21)] {
        v[a] = v[a].wrapping_add(v[b]);
        v[c] = v[c].wrapping_add(v[d]);
        v[b] = v[b].rotate_left(rotated) ^ v[a];
        v[d] = v[d].rotate_left(shifted) ^ v[c];
        v[a] = v[a].rotate_left(32);
    }
}

/// The block of a key.
pub fn block(hash: KeyHash, num_blocks: u64) -> usize {
    ((u128::from(hash.hi) * u128::from(num_blocks)) >> 64) as usize
}

/// The bits of a key in its block.
pub fn mask(hash: KeyHash, k: u32) -> Bits {
    let probe = hash.lo as u32 ^ (hash.lo >> 32) as u32;
    let mut mask = [0; 8];
    let mut offset = 0;
    for size in partitions(k) {
        let bit = offset + probe % size;
        mask[bit as usize / 64] |= 1 << (bit % 64);
        offset += size;
    }
    mask
}

/// Are all bits of the key set?
pub fn test(blocks: &[Bits], k: u32, hash: KeyHash) -> bool {
    let block = &blocks[block(hash, blocks.len() as u64)];
    block.iter().zip(mask(hash, k)).all(|(word, mask)| word & mask == mask)
}

/// Sets the bits of the key; true if one was clear.
pub fn add(blocks: &mut [Bits], k: u32, hash: KeyHash) -> bool {
    let is_new = !test(blocks, k, hash);
    let at = block(hash, blocks.len() as u64);
    blocks[at].iter_mut().zip(mask(hash, k)).for_each(|(word, mask)| *word |= mask);
    is_new
}

/// The chance that all bits of a random probe are set in a block.
pub fn hit_chance(block: &Bits, k: u32) -> f64 {
    let mut bits = (0..512).map(|bit| block[bit / 64] >> (bit % 64) & 1);
    partitions(k)
        .iter()
        .map(|&size| bits.by_ref().take(size as usize).sum::<u64>() as f64 / f64::from(size))
        .product()
}

/// `len` bytes that look random, the same for the same number.
pub fn noise(number: u64, len: usize) -> Vec<u8> {
    // SplitMix64 (Steele, Lea, Flood 2014).
    let mut state = number;
    let mut word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(&word().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}
