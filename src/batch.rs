//! Keys in bulk: hash a group, fetch its blocks, and meanwhile probe the group before.
//!
//! A lookup in a filter larger than the caches waits for memory; a group of lookups waits once.

use crate::error::Error;
use crate::filter::Filter;
use crate::kernel::{GROUP, Keys, Located};

impl Filter {
    /// Tests many keys. `results` get 1 (probably in the set) or 0 (certainly not) for each key.
    /// Returns the number of hits.
    ///
    /// # Errors
    /// [`Error::Argument`] unless `results`, if given, has one byte for each key.
    pub fn test_batch(&self, keys: Keys<'_>, results: Option<&mut [u8]>) -> Result<usize, Error> {
        match results {
            None => Ok(self.count_hits(keys)),
            Some(results) if results.len() == keys.len() => {
                Ok(self.test_each(keys, |number, hit| results[number] = hit))
            }
            Some(results) => {
                let allowed = "as many as there are keys";
                Err(Error::Argument { name: "the number of results", value: results.len().into(), allowed })
            }
        }
    }

    /// The hits alone.
    pub(crate) fn count_hits(&self, keys: Keys<'_>) -> usize {
        if keys.are_all_empty() {
            return if self.test(b"") { keys.len() } else { 0 };
        }
        self.test_each(keys, |_, _| ())
    }

    /// Calls `report` with the number of each key, in any order, and with 1 for a hit and 0 for a miss.
    /// Returns the hits.
    #[inline]
    pub(crate) fn test_each(&self, keys: Keys<'_>, mut report: impl FnMut(usize, u8)) -> usize {
        let mut hits = 0;
        self.for_each_group(keys, |first, group, ahead| {
            let mut results = [0; GROUP];
            let results = &mut results[..group.len()];
            hits += self.kernel().test_many(
                self.blocks(),
                group.indices(),
                group.probes(),
                ahead.indices(),
                results,
            );
            for (&number, &hit) in group.order().iter().zip(results.iter()) {
                report(first + number as usize, hit);
            }
        });
        hits
    }

    /// Calls `probe` with the number of the first key of each group, the group, hashed, and the group after it,
    /// whose blocks `probe` fetches meanwhile. At first with an empty group before all others.
    pub(crate) fn for_each_group(&self, keys: Keys<'_>, mut probe: impl FnMut(usize, &Located, &Located)) {
        let mut groups = [Located::new(), Located::new()];
        let [mut ready, mut next] = groups.each_mut();
        for first in (0..keys.len()).step_by(GROUP) {
            self.hash_group(keys, first, next);
            probe(first.saturating_sub(GROUP), ready, next);
            std::mem::swap(&mut ready, &mut next);
        }
        next.clear();
        probe(keys.len().saturating_sub(1) / GROUP * GROUP, ready, next);
    }

    /// Hashes the group of keys that begins with number `first`.
    pub(crate) fn hash_group(&self, keys: Keys<'_>, first: usize, located: &mut Located) {
        self.kernel().hash(&keys, first, self.seed(), self.num_blocks(), located);
    }
}
