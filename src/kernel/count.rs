//! Counting the bits of many blocks. The same for all instruction sets, but compiled for each: counting the bits of a word
//! takes one instruction where there is `popcnt`, and a dozen elsewhere.

use super::read_block;
use crate::layout::BLOCK_WORDS;
use crate::memory::Block;

/// The bits that are set.
#[inline(always)]
pub(super) fn ones(blocks: &[Block]) -> u64 {
    blocks
        .iter()
        .map(|block| read_block(block).iter().map(|word| u64::from(word.count_ones())).sum::<u64>())
        .sum()
}

/// The bits that are set, and the sum over all blocks of the chance that a random probe hits: that each partition, of
/// these sizes, has the bit.
#[inline(always)]
pub(super) fn ones_and_hits(blocks: &[Block], partitions: &[u32]) -> (u64, f64) {
    let all_probes: f64 = partitions.iter().copied().map(f64::from).product();
    let mut ones = 0;
    let mut hits = 0.0;
    for block in blocks {
        let words = read_block(block);
        if words == [0; BLOCK_WORDS] {
            continue;
        }
        let ranks = Ranks::new(&words);
        let mut hitting_probes = 1.0;
        let (mut end, mut before) = (0, 0);
        for size in partitions {
            end += size;
            let upto = ranks.below(end);
            hitting_probes *= f64::from(upto - before);
            before = upto;
        }
        hits += hitting_probes / all_probes;
        ones += u64::from(before);
    }
    (ones, hits)
}

/// How many bits of a block are set below a position.
struct Ranks<'a> {
    words: &'a [u64; BLOCK_WORDS],
    before: [u32; BLOCK_WORDS + 1],
}

impl Ranks<'_> {
    #[inline(always)]
    fn new(words: &[u64; BLOCK_WORDS]) -> Ranks<'_> {
        let mut before = [0; BLOCK_WORDS + 1];
        for (i, word) in words.iter().enumerate() {
            before[i + 1] = before[i] + word.count_ones();
        }
        Ranks { words, before }
    }

    #[inline(always)]
    fn below(&self, bit: u32) -> u32 {
        let word = (bit / 64) as usize;
        let partial = match self.words.get(word) {
            Some(word) => (word & ((1 << (bit % 64)) - 1)).count_ones(),
            None => 0,
        };
        self.before[word] + partial
    }
}
