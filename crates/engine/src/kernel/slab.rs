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
        let mut open = vec![true; self.items.len()];
        self.free.iter().for_each(|&number| open[number as usize] = false);
        self.items.iter().zip(open).filter(|&(_, open)| open).map(|(item, _)| item)
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
