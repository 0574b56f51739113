//! Records in the order of their creation: bounded, and visited again when they change or are due.

use std::collections::{BTreeSet, HashMap, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Records that are kept; the oldest is removed for the next one.
const CAPACITY: usize = 10_000;

/// The newest records of one kind. A record's number is its place in the order, counted from 1.
#[derive(Debug)]
pub(crate) struct BoundedStore<T> {
    count: u64,
    /// Each with its id, and the latest time at which time alone changes it.
    records: VecDeque<(String, Timestamp, T)>,
    numbers: HashMap<String, u64>,
    changed: BTreeSet<u64>,
    due: BTreeSet<(Timestamp, u64)>,
}

impl<T> Default for BoundedStore<T> {
    fn default() -> Self {
        Self {
            count: 0,
            records: VecDeque::new(),
            numbers: HashMap::new(),
            changed: BTreeSet::new(),
            due: BTreeSet::new(),
        }
    }
}

impl<T> BoundedStore<T> {
    pub(crate) fn next_number(&self) -> u64 {
        self.count + 1
    }

    /// Adds a record that time changes at `due`.
    pub(crate) fn insert(&mut self, id: String, record: T, due: Timestamp) -> &T {
        if self.records.len() == CAPACITY
            && let Some((id, due, _)) = self.records.pop_front()
            && let Some(number) = self.numbers.remove(&id)
        {
            self.due.remove(&(due, number));
        }
        self.count += 1;
        self.numbers.insert(id.clone(), self.count);
        self.due.insert((due, self.count));
        self.records.push_back((id, due, record));
        &self.records.back().expect("one was added").2
    }

    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        let index = self.index(*self.numbers.get(id)?)?;
        self.records.get(index).map(|(_, _, record)| record)
    }

    /// The record, which [`Self::visit_changed`] visits next.
    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        let number = *self.numbers.get(id)?;
        let index = self.index(number)?;
        self.changed.insert(number);
        self.records.get_mut(index).map(|(_, _, record)| record)
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &T> {
        self.records.iter().rev().map(|(_, _, record)| record)
    }

    /// Calls `change` for every record; it returns `true` for those that it changed.
    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&mut T) -> bool) {
        let first = self.count - number(self.records.len());
        for (index, (_, _, record)) in self.records.iter_mut().enumerate() {
            if change(record) {
                self.changed.insert(first + 1 + number(index));
            }
        }
    }

    /// Visits every record that changed or became due since the last visit, oldest first.
    pub(crate) fn visit_changed<U>(
        &mut self,
        now: Timestamp,
        mut visit: impl FnMut(&mut T) -> Option<U>,
    ) -> Vec<U> {
        while let Some((due, number)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            self.due.remove(&(due, number));
            self.changed.insert(number);
        }
        let mut results = Vec::new();
        for number in core::mem::take(&mut self.changed) {
            let index = self.index(number);
            if let Some((_, _, record)) = index.and_then(|index| self.records.get_mut(index)) {
                results.extend(visit(record));
            }
        }
        results
    }

    fn index(&self, of: u64) -> Option<usize> {
        let first = self.count - number(self.records.len());
        usize::try_from(of.checked_sub(first + 1)?).ok()
    }
}

/// The number of removed records, and those that are left.
impl<T: Serialize> Serialize for BoundedStore<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let removed = self.count - number(self.records.len());
        (removed, &self.records).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for BoundedStore<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (removed, dated) = <(u64, Vec<(String, Timestamp, T)>)>::deserialize(deserializer)?;
        let mut store = Self {
            count: removed,
            ..Self::default()
        };
        for (id, due, record) in dated {
            store.insert(id, record, due);
        }
        Ok(store)
    }
}

fn number(length: usize) -> u64 {
    u64::try_from(length).expect("a length in memory fits 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn store(records: u32) -> BoundedStore<u32> {
        let mut store = BoundedStore::default();
        for record in 1..=records {
            store.insert(record.to_string(), record, at(i64::from(record)));
        }
        store
    }

    #[test]
    fn the_oldest_records_make_room() {
        let store = store(10_002);
        assert_eq!(store.get("2"), None);
        assert_eq!(store.get("3"), Some(&3));
        assert_eq!(store.get("10002"), Some(&10_002));
        assert_eq!(store.newest_first().count(), CAPACITY);
        assert_eq!(store.next_number(), 10_003);
        assert_eq!((store.numbers.len(), store.due.len()), (CAPACITY, CAPACITY));
    }

    #[test]
    fn a_record_is_visited_once_when_it_is_due_and_again_when_it_changes() {
        let mut store = store(5);
        let visit = |store: &mut BoundedStore<u32>, second| {
            store.visit_changed(at(second), |record| Some(*record))
        };
        assert_eq!(visit(&mut store, 2), [1, 2]);
        assert_eq!(visit(&mut store, 2), [0; 0]);
        assert_eq!(visit(&mut store, 9), [3, 4, 5]);
        store.get_mut("4");
        store.change_all(|record| *record == 2);
        assert_eq!(visit(&mut store, 9), [2, 4]);
    }
}
