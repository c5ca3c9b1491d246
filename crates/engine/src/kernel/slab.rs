//! Slabs, and first-in-first-out lists of their items.

use std::ops::{Index, IndexMut};

use super::NONE;

/// Items with numbers that are reused. They are plain data, so that a number can be free without a change of its row.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Stores an item and returns its number.
    #[inline]
    pub fn add(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.items[number as usize] = item;
                number
            }
            None => {
                self.items.push(item);
                self.items.len() as u32 - 1
            }
        }
    }

    /// Returns the number of stored items.
    pub fn count(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Whether all numbers are free.
    pub fn is_all_free(&self) -> bool {
        self.count() == 0
    }

    /// Iterates over all stored items. Visits every row.
    pub fn kept(&self) -> impl Iterator<Item = &T> {
        self.numbers().map(|number| &self.items[number as usize])
    }

    /// Iterates over their numbers.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<T> {
        let mut open = vec![true; self.items.len()];
        self.free.iter().for_each(|&number| open[number as usize] = false);
        (0..).zip(open).filter(|&(_, open)| open).map(|(number, _)| number)
    }

    /// Removes an item and frees its number. Its row is not changed, because that would be one more write for every packet
    /// that leaves: so the item can still be read until another one is added.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        self.free.push(number);
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.items[number as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.items[number as usize]
    }
}

/// An item that a [`Queue`] can contain.
pub trait Linked {
    /// The item after it, or [`NONE`].
    fn next(&mut self) -> &mut u32;
}

/// A list through a slab.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// The first, or [`NONE`].
    pub head: u32,
    tail: u32,
}

impl Queue {
    /// The empty queue.
    pub const EMPTY: Self = Self { head: NONE, tail: NONE };

    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// Returns the last item, if any.
    #[inline]
    pub fn last(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.tail)
    }

    /// Appends an item.
    #[inline]
    pub fn push<T: Linked>(&mut self, slab: &mut Slab<T>, number: u32) {
        *slab[number].next() = NONE;
        if self.head == NONE {
            self.head = number;
        } else {
            *slab[self.tail].next() = number;
        }
        self.tail = number;
    }

    /// Takes the first item of a queue that is not empty.
    #[inline]
    pub fn pop<T: Linked>(&mut self, slab: &mut Slab<T>) -> u32 {
        let number = self.head;
        self.head = *slab[number].next();
        number
    }

    /// Takes the item after `before`, or the first if that is [`NONE`].
    pub fn take<T: Linked>(&mut self, slab: &mut Slab<T>, before: u32, number: u32) {
        let next = *slab[number].next();
        if before == NONE {
            self.head = next;
        } else {
            *slab[before].next() = next;
        }
        if self.tail == number {
            self.tail = before;
        }
    }

    /// Inserts an item before the first one that has to follow it. Tries the end first, because most items belong
    /// there.
    pub fn insert<T: Linked>(&mut self, slab: &mut Slab<T>, number: u32, after: impl Fn(&T, &T) -> bool) {
        if self.head == NONE || !after(&slab[self.tail], &slab[number]) {
            self.push(slab, number);
            return;
        }
        let (mut before, mut at) = (NONE, self.head);
        while at != NONE && !after(&slab[at], &slab[number]) {
            (before, at) = (at, *slab[at].next());
        }
        *slab[number].next() = at;
        if before == NONE {
            self.head = number;
        } else {
            *slab[before].next() = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Item {
        value: u32,
        next: u32,
    }

    impl Linked for Item {
        fn next(&mut self) -> &mut u32 {
            &mut self.next
        }
    }

    #[derive(Clone)]
    struct Lists {
        slab: Slab<Item>,
        queues: [Queue; 2],
        /// What these are to contain.
        values: [Vec<u32>; 2],
        made: u32,
    }

    impl Lists {
        fn numbers(&mut self, which: usize) -> Vec<u32> {
            let mut found = vec![];
            let mut at = self.queues[which].head;
            while at != NONE {
                found.push(at);
                at = *self.slab[at].next();
            }
            found
        }

        /// Does one of some things to one of two queues; false if there is nothing to do it with.
        fn act(&mut self, which: usize, what: usize) -> bool {
            let numbers = self.numbers(which);
            let Self { slab, queues, values, made } = self;
            let (queue, values) = (&mut queues[which], &mut values[which]);
            match what {
                0 | 1 => {
                    // In the order of values, or at the end.
                    *made += 1;
                    let value = if what == 0 { *made } else { *made % 3 };
                    let number = slab.add(Item { value, next: 7 });
                    if what == 0 {
                        queue.push(slab, number);
                        values.push(value);
                    } else {
                        queue.insert(slab, number, |one, other| one.value > other.value);
                        let later = values.iter().position(|&one| one > value);
                        let is_last = values.last().is_none_or(|&last| last <= value);
                        let place = later.filter(|_| !is_last).unwrap_or(values.len());
                        values.insert(place, value);
                    }
                }
                2 if !numbers.is_empty() => {
                    let number = queue.pop(slab);
                    assert_eq!(slab[number].value, values.remove(0));
                    slab.remove(number);
                }
                place if place >= 3 && place - 3 < numbers.len() => {
                    let place = place - 3;
                    let before = if place == 0 { NONE } else { numbers[place - 1] };
                    queue.take(slab, before, numbers[place]);
                    slab.remove(numbers[place]);
                    values.remove(place);
                }
                _ => return false,
            }
            true
        }

        fn check(&mut self) {
            let mut all: Vec<u32> = vec![];
            for which in 0..2 {
                let numbers = self.numbers(which);
                let values: Vec<u32> = numbers.iter().map(|&number| self.slab[number].value).collect();
                assert_eq!(values, self.values[which]);
                assert_eq!(self.queues[which].is_empty(), numbers.is_empty());
                assert_eq!(self.queues[which].last(), numbers.last().copied());
                all.extend(numbers);
            }
            assert_eq!((self.slab.count(), self.slab.kept().count()), (all.len(), all.len()));
            all.sort_unstable();
            all.dedup();
            assert_eq!(self.slab.count(), all.len(), "no number stands for two");
        }
    }

    /// Everything that six steps can do to two queues in one slab.
    #[test]
    fn no_number_stands_for_two_items() {
        fn go(lists: &Lists, steps: usize) {
            for (which, what) in (0..2).flat_map(|which| (0..6).map(move |what| (which, what))) {
                let mut next = lists.clone();
                if next.act(which, what) {
                    next.check();
                    if steps > 1 {
                        go(&next, steps - 1);
                    }
                }
            }
        }
        let queues = [Queue::EMPTY; 2];
        go(&Lists { slab: Slab::default(), queues, values: [vec![], vec![]], made: 0 }, 6);
    }
}
