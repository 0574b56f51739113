//! Things by their id in the order in which they came, of which the oldest go when there are too many; and which of
//! them must be looked at again.

use std::collections::{BTreeSet, HashMap, VecDeque};

use jiff::Timestamp;

/// Things that are kept; whoever runs ten thousand invoices against a sandbox has long forgotten the first.
const CAPACITY: usize = 10_000;

/// What is kept of one kind. A thing's number is its place in the order, counted from 1.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    count: u64,
    things: VecDeque<T>,
    numbers: HashMap<String, u64>,
    /// Each thing's id, and when time changes it at the latest.
    ids: VecDeque<(String, Timestamp)>,
    touched: BTreeSet<u64>,
    due: BTreeSet<(Timestamp, u64)>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            count: 0,
            things: VecDeque::new(),
            numbers: HashMap::new(),
            ids: VecDeque::new(),
            touched: BTreeSet::new(),
            due: BTreeSet::new(),
        }
    }
}

impl<T> Shelf<T> {
    /// The number that the next thing will have.
    pub(crate) fn next_number(&self) -> u64 {
        self.count + 1
    }

    /// Adds a thing that time will change at `due` at the latest.
    pub(crate) fn add(&mut self, id: String, thing: T, due: Timestamp) -> &T {
        if self.things.len() == CAPACITY {
            self.things.pop_front();
            if let Some((id, due)) = self.ids.pop_front()
                && let Some(number) = self.numbers.remove(&id)
            {
                // Time may stand still: what is gone must not wait for it.
                self.due.remove(&(due, number));
            }
        }
        self.count += 1;
        self.numbers.insert(id.clone(), self.count);
        self.ids.push_back((id, due));
        self.due.insert((due, self.count));
        self.things.push_back(thing);
        self.things.back().expect("one was added")
    }

    pub(crate) fn find(&self, id: &str) -> Option<&T> {
        self.things.get(self.place(*self.numbers.get(id)?)?)
    }

    /// The thing, which will be looked at again.
    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut T> {
        let number = *self.numbers.get(id)?;
        let place = self.place(number)?;
        self.touched.insert(number);
        self.things.get_mut(place)
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &T> {
        self.things.iter().rev()
    }

    /// Changes all that `change` says it changed; those will be looked at again.
    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&mut T) -> bool) {
        let first = self.count - number(self.things.len());
        for (place, thing) in self.things.iter_mut().enumerate() {
            if change(thing) {
                self.touched.insert(first + 1 + number(place));
            }
        }
    }

    /// Looks at all that was touched or whose time has come, in the order in which they came.
    pub(crate) fn look<U>(
        &mut self,
        now: Timestamp,
        mut look: impl FnMut(&mut T) -> Option<U>,
    ) -> Vec<U> {
        while let Some((due, number)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            self.due.remove(&(due, number));
            self.touched.insert(number);
        }
        let mut seen = Vec::new();
        for number in core::mem::take(&mut self.touched) {
            if let Some(thing) = self
                .place(number)
                .and_then(|place| self.things.get_mut(place))
            {
                seen.extend(look(thing));
            }
        }
        seen
    }

    fn place(&self, of: u64) -> Option<usize> {
        let first = self.count - number(self.things.len());
        usize::try_from(of.checked_sub(first + 1)?).ok()
    }
}

fn number(length: usize) -> u64 {
    u64::try_from(length).expect("what fits the memory fits 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn shelf(things: u32) -> Shelf<u32> {
        let mut shelf = Shelf::default();
        for thing in 1..=things {
            shelf.add(thing.to_string(), thing, at(i64::from(thing)));
        }
        shelf
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many() {
        let shelf = shelf(10_002);
        assert_eq!(shelf.find("2"), None);
        assert_eq!(shelf.find("3"), Some(&3));
        assert_eq!(shelf.find("10002"), Some(&10_002));
        assert_eq!(shelf.newest_first().count(), CAPACITY);
        assert_eq!(shelf.next_number(), 10_003);
        assert_eq!((shelf.numbers.len(), shelf.ids.len()), (CAPACITY, CAPACITY));
        assert_eq!(shelf.due.len(), CAPACITY);
    }

    #[test]
    fn a_thing_is_seen_when_its_time_has_come_and_once() {
        let mut shelf = shelf(5);
        assert_eq!(shelf.look(at(2), |thing| Some(*thing)), [1, 2]);
        assert_eq!(shelf.look(at(2), |thing| Some(*thing)), Vec::<u32>::new());
        assert_eq!(shelf.look(at(9), |thing| Some(*thing)), [3, 4, 5]);
    }

    #[test]
    fn what_was_touched_is_seen_again() {
        let mut shelf = shelf(5);
        shelf.look(at(9), |_| None::<()>);
        shelf.find_mut("4");
        shelf.change_all(|thing| *thing == 2);
        assert_eq!(shelf.look(at(9), |thing| Some(*thing)), [2, 4]);
    }

    #[test]
    fn a_thing_that_is_gone_is_not_seen() {
        let mut shelf = shelf(10_001);
        shelf.look(at(0), |_| None::<()>);
        assert_eq!(shelf.look(at(2), |thing| Some(*thing)), [2]);
    }
}
