//! Slabs, and first-in-first-out lists through what they hold.

use std::ops::{Index, IndexMut};

use super::NONE;

/// Things with numbers, which are used again.
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
    /// Keeps an item; its number.
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

    /// How many are kept.
    pub fn count(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Whether every number has been given back.
    pub fn is_all_free(&self) -> bool {
        self.count() == 0
    }

    /// All that are kept. Goes through everything.
    pub fn kept(&self) -> impl Iterator<Item = &T> {
        let mut open = vec![true; self.items.len()];
        self.free.iter().for_each(|&number| open[number as usize] = false);
        self.items.iter().zip(open).filter(|&(_, open)| open).map(|(item, _)| item)
    }

    /// Gives a number back.
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

/// What can stand in a [`Queue`].
pub trait Linked {
    /// The one behind it, or [`NONE`].
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
    /// With nothing in it.
    pub const EMPTY: Self = Self { head: NONE, tail: NONE };

    /// Whether nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// Puts an item behind the others.
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

    /// Takes the first item, which there is.
    #[inline]
    pub fn pop<T: Linked>(&mut self, slab: &mut Slab<T>) -> u32 {
        let number = self.head;
        self.head = *slab[number].next();
        number
    }

    /// Takes the item behind `before`, or the first if that is [`NONE`].
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

    /// Puts an item before the first that has to come after it. Most come last, so that is tried first.
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
