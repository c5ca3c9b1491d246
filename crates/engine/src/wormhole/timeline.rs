//! The times of successive characters at one place, kept as straight runs.
//!
//! Between two changes of pace characters follow each other at equal steps, so the times of a whole
//! worm are a handful of runs. A timeline knows the characters `0..known`; runs that nobody will ask for
//! again are dropped when room is needed.

use crate::kernel::Time;

/// Characters from `first` on, `step` ticks apart, the first at `time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Number of the first character.
    pub first: u32,
    /// Ticks between characters.
    pub step: u32,
    /// Tick of the first character.
    pub time: Time,
}

/// A lower bound on times, straight from some character up to (not including) `until`.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The bound for the character asked for.
    pub time: Time,
    /// How much it grows per character.
    pub step: u32,
    /// First character for which it no longer says anything.
    pub until: u32,
}

impl Bound {
    /// No bound at all.
    pub const FREE: Self = Self { time: Time::MIN, step: 0, until: u32::MAX };
}

/// Where the runs of one timeline are kept, and how far it is known.
#[derive(Clone, Copy, Debug)]
pub struct Timeline {
    place: u32,
    len: u16,
    room: u16,
    /// First character whose time is not known yet.
    pub known: u32,
}

/// Storage for the runs of all timelines.
#[derive(Clone, Debug, Default)]
pub struct Runs(Vec<Run>);

/// Runs a new timeline has room for; it gets more when it needs them.
const ROOM: u16 = 4;

impl Runs {
    /// A timeline that knows nothing.
    pub fn timeline(&mut self) -> Timeline {
        let place = self.0.len() as u32;
        self.0.resize(self.0.len() + usize::from(ROOM), Run::default());
        Timeline { place, len: 0, room: ROOM, known: 0 }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Run>()
    }

    fn of(&self, line: &Timeline) -> &[Run] {
        &self.0[line.place as usize..line.place as usize + usize::from(line.len)]
    }

    /// Time of a known character that has not been dropped.
    #[inline]
    pub fn at(&self, line: &Timeline, character: u32) -> Time {
        self.bound(line, character).time
    }

    /// The run through a known character, as a bound on whatever follows it one for one.
    #[inline]
    pub fn bound(&self, line: &Timeline, character: u32) -> Bound {
        debug_assert!(character < line.known);
        let mut until = line.known;
        for run in self.of(line).iter().rev() {
            if run.first <= character {
                let time = run.time + Time::from(character - run.first) * Time::from(run.step);
                return Bound { time, step: run.step, until };
            }
            until = run.first;
        }
        unreachable!("character {character} of a timeline was dropped")
    }

    /// Whether there is no room for another run.
    #[inline]
    pub fn is_full(&self, line: &Timeline) -> bool {
        line.len == line.room
    }

    /// Appends the run of characters `line.known..until`; there must be room.
    #[inline]
    pub fn push(&mut self, line: &mut Timeline, run: Run, until: u32) {
        debug_assert!(run.first == line.known && until > run.first);
        line.known = until;
        let end = line.place as usize + usize::from(line.len);
        if line.len > 0 {
            let last = &mut self.0[end - 1];
            let after = run.first - last.first;
            let goes_on = last.step == run.step || until - run.first == 1;
            if goes_on && last.time + Time::from(after) * Time::from(last.step) == run.time {
                return;
            }
            if after == 1 && run.time - last.time == Time::from(run.step) {
                last.step = run.step;
                return;
            }
        }
        self.0[end] = run;
        line.len += 1;
    }

    /// The first character after `first`, at most `limit`, at which this timeline, `delay` later, is behind
    /// a run that is at `time` for `first` and goes on at `step`. Correct only for timelines whose runs are
    /// not steeper than `step` after the one through `first`; it stops where a steeper one begins.
    #[inline]
    pub fn keeps_up(&self, line: &Timeline, delay: u32, run: Run, limit: u32) -> u32 {
        let mut until = limit;
        for later in self.of(line).iter().rev() {
            if later.first <= run.first {
                break;
            }
            if later.first < until {
                let due = run.time + Time::from(later.first - run.first) * Time::from(run.step);
                if later.time + Time::from(delay) > due || later.step > run.step {
                    until = later.first;
                }
            }
        }
        until
    }

    #[cold]
    fn grow(&mut self, line: &mut Timeline) {
        let (old, new) = (line.place as usize, self.0.len());
        let len = usize::from(line.len);
        line.room = line.room.checked_mul(2).expect("a timeline of more than 65535 runs");
        self.0.resize(new + usize::from(line.room), Run::default());
        self.0.copy_within(old..old + len, new);
        line.place = u32::try_from(new).expect("more than 2^32 runs");
    }

    /// Makes room for another run by dropping those wholly before the character `needed`, or else by growing.
    pub fn make_room(&mut self, line: &mut Timeline, needed: u32) {
        let place = line.place as usize;
        let runs = self.of(line);
        let dropped = runs.iter().skip(1).take_while(|run| run.first <= needed).count();
        if dropped == 0 {
            return self.grow(line);
        }
        self.0.copy_within(place + dropped..place + usize::from(line.len), place);
        line.len -= dropped as u16;
    }
}

/// The longest straight run from `first` that starts no earlier than `own` (and goes on at `step`) and
/// all bounds, and the character after it. Never goes past `limit`.
#[inline]
pub fn follow<const N: usize>(first: u32, limit: u32, own: Time, step: u32, bounds: [Bound; N]) -> (Run, u32) {
    let (mut time, mut pace, mut until) = (own, step, limit);
    for bound in &bounds {
        until = until.min(bound.until);
        if bound.time > time {
            time = bound.time;
            pace = step.max(bound.step);
        } else if bound.time == time {
            pace = pace.max(bound.step);
        }
    }
    for bound in &bounds {
        // A steeper bound may overtake this run further on: stop where it does.
        let length = Time::from(until - 1 - first);
        if bound.step > pace && bound.time + length * Time::from(bound.step) > time + length * Time::from(pace) {
            let (behind, gain) = (time - bound.time, bound.step - pace);
            let overtakes = match u32::try_from(behind) {
                Ok(behind) => Time::from(behind / gain),
                Err(_) => behind / Time::from(gain),
            };
            until = first + overtakes as u32 + 1;
        }
    }
    (Run { first, step: pace, time }, until)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A timeline gives back the times that were pushed, from the last needed one on.
        #[test]
        fn keeps_what_is_needed(runs in prop::collection::vec((1u32..5, 0u32..4, 0i64..9), 1..60), lag in 0u32..40) {
            let mut store = Runs::default();
            let mut line = store.timeline();
            let mut plain: Vec<Time> = Vec::new();
            for (count, step, gap) in runs {
                let time = plain.last().map_or(0, |last| last + gap);
                let first = plain.len() as u32;
                plain.extend((0..i64::from(count)).map(|k| time + k * i64::from(step)));
                if store.is_full(&line) {
                    store.make_room(&mut line, first.saturating_sub(lag));
                }
                store.push(&mut line, Run { first, step, time }, first + count);
                for character in first.saturating_sub(lag)..line.known {
                    prop_assert_eq!(store.at(&line, character), plain[character as usize]);
                }
            }
        }

        /// Following bounds run by run gives the same times as taking the maximum character by character.
        #[test]
        fn follows_the_maximum(
            own in 0i64..50, step in 0u32..4, floor in 0i64..60,
            a in (0i64..60, 0u32..5, 1u32..30), b in (0i64..60, 0u32..5, 1u32..30),
        ) {
            let limit = a.2.min(b.2);
            let value = |bound: (i64, u32, u32), n: u32| bound.0 + i64::from(bound.1) * i64::from(n);
            let mut plain = Vec::new();
            for n in 0..limit {
                let own = plain.last().map_or(own, |last| last + i64::from(step));
                plain.push(own.max(floor).max(value(a, n)).max(value(b, n)));
            }
            let (mut first, mut last) = (0, own - i64::from(step));
            while first < limit {
                let bounds = [a, b].map(|x| Bound { time: value(x, first), step: x.1, until: x.2 });
                let own = (last + i64::from(step)).max(floor);
                let (run, until) = follow(first, limit, own, step, bounds);
                for n in first..until {
                    last = run.time + i64::from(n - first) * i64::from(run.step);
                    prop_assert_eq!(last, plain[n as usize]);
                }
                prop_assert!(until > first);
                first = until;
            }
        }
    }
}
