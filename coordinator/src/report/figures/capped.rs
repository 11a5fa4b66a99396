//! A table whose keys come from outside.

use std::collections::BTreeMap;

/// Rows by key, up to a number of them; what would need a further row is counted.
#[derive(Clone, Debug)]
pub struct Capped<K, V> {
    rows: BTreeMap<K, V>,
    most: usize,
    left_out: u64,
}

impl<K: Ord, V> Capped<K, V> {
    /// An empty table of at most `most` rows.
    pub fn new(most: usize) -> Self {
        Self {
            rows: BTreeMap::new(),
            most,
            left_out: 0,
        }
    }

    /// The row of that key, a new one where there is still room; otherwise the loss is counted.
    pub fn row(&mut self, key: K, new: impl FnOnce() -> V) -> Option<&mut V> {
        if self.rows.len() >= self.most && !self.rows.contains_key(&key) {
            self.left_out += 1;
            return None;
        }
        Some(self.rows.entry(key).or_insert_with(new))
    }

    /// The rows, by key.
    pub fn rows(&self) -> impl Iterator<Item = (&K, &V)> {
        self.rows.iter()
    }

    /// The row of that key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key)
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How often a further row would have been needed.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_still_counts_what_it_knows_and_says_what_it_left_out() {
        let mut table = Capped::new(2);
        for key in ["a", "b", "c", "a", "d"] {
            if let Some(count) = table.row(key, || 0) {
                *count += 1;
            }
        }
        assert_eq!(table.rows().collect::<Vec<_>>(), [(&"a", &2), (&"b", &1)]);
        assert_eq!(table.left_out(), 2);
    }
}
