//! Programs with several streams, as graphs and as lists, against a plain interpreter: it moves from tick to tick and
//! looks at every operation in each. It shares nothing of the programs with the engine.

use super::*;
use crate::kernel::random::{Family, streams};

/// The wait from a packet of a link to the next one.
const LINK: Time = 10;
/// All that can happen has happened by then.
const LAST_TICK: Time = 2_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    /// Waits for other operations.
    Early,
    /// A receive without its message.
    Posted,
    /// Can begin.
    Ready,
    /// A send that waits for a slot.
    Slotless,
    /// Under way until this tick.
    Busy(Time),
    Done,
}

/// A terminal of the plain interpreter: its operations are those of the fabric.
#[derive(Default)]
struct Plain {
    rows: Vec<Row>,
    stream: Vec<u8>,
    /// Per operation what it waits for, and whether for the beginning only.
    needs: Vec<Vec<(usize, bool)>>,
    list: bool,
    is: Vec<Is>,
    begun: Vec<bool>,
    /// The beginnings and ends that the other operations know of.
    told: Vec<(usize, bool)>,
    /// When operations became ready, or receives were posted, counted.
    since: Vec<usize>,
    count: usize,
    slots: Vec<usize>,
    inbox: Vec<(u32, u32)>,
    /// Messages handed over: target and tag.
    out: Vec<(u32, u32)>,
    /// The same, in the order in which their only packets leave.
    filled: Vec<(u32, u32)>,
    unsent: u32,
    link_free: Time,
    ended: Option<Time>,
}

/// A packet: when it arrives, source, target, tag.
type Flying = (Time, u32, u32, u32);

fn fits(row: &Row, (source, tag): (u32, u32)) -> bool {
    (row.1 == ANY || row.1 == source) && (row.3 == ANY || row.3 == tag)
}

impl Plain {
    fn stamp(&mut self, at: usize, is: Is) {
        self.count += 1;
        (self.is[at], self.since[at]) = (is, self.count);
    }

    /// Makes an operation ready, or posts it; returns whether it is a receive.
    fn let_begin(&mut self, at: usize) -> bool {
        if self.rows[at].0 != operation::RECEIVE {
            self.stamp(at, Is::Ready);
            return false;
        }
        self.begun[at] = true;
        self.stamp(at, Is::Posted);
        if let Some(place) = self.inbox.iter().position(|&one| fits(&self.rows[at], one)) {
            self.inbox.remove(place);
            self.is[at] = Is::Ready;
        }
        true
    }

    /// Makes operations of a graph ready, those that `cause` released before those that these release.
    fn release(&mut self, cause: Option<(usize, bool)>) {
        let mut causes = vec![cause];
        while !causes.is_empty() {
            let cause = causes.remove(0);
            self.told.extend(cause);
            let is_free = |at: &usize| {
                self.is[*at] == Is::Early && self.needs[*at].iter().all(|need| self.told.contains(need))
            };
            for at in (0..self.rows.len()).filter(is_free).collect::<Vec<_>>() {
                if self.let_begin(at) {
                    causes.push(Some((at, true)));
                }
            }
        }
    }

    /// Fills packets: the targets take turns.
    fn fill(&mut self) {
        let mut turns: Vec<u32> = Vec::new();
        for &(target, _) in &self.out {
            if !turns.contains(&target) {
                turns.push(target);
            }
        }
        while !self.out.is_empty() {
            for target in &turns {
                if let Some(place) = self.out.iter().position(|one| one.0 == *target) {
                    self.filled.push(self.out.remove(place));
                }
            }
        }
    }

    fn arrive(&mut self, message: (u32, u32)) {
        let posted = (0..self.rows.len()).filter(|&at| self.is[at] == Is::Posted);
        let first = posted.filter(|&at| fits(&self.rows[at], message)).min_by_key(|&at| self.since[at]);
        match first {
            Some(at) => self.stamp(at, Is::Ready),
            None => self.inbox.push(message),
        }
    }

    /// Does what a stream can do in this tick; returns whether that was something.
    fn go_on(&mut self, stream: u8, now: Time, f: &Fabric) -> bool {
        let mine: Vec<usize> = (0..self.rows.len()).filter(|&at| self.stream[at] == stream).collect();
        if let Some(&at) = mine.iter().find(|&&at| matches!(self.is[at], Is::Busy(_))) {
            if self.is[at] != Is::Busy(now) {
                return false;
            }
            self.is[at] = Is::Done;
            self.release(Some((at, false)));
            return true;
        }
        // A list begins an operation when its stream comes to it.
        let idle = mine.iter().all(|&at| matches!(self.is[at], Is::Early | Is::Done));
        if let Some(&at) = mine.iter().find(|&&at| self.list && idle && self.is[at] == Is::Early) {
            self.let_begin(at);
        }
        let waits = mine.iter().find(|&&at| self.is[at] == Is::Slotless).copied();
        let first = mine.into_iter().filter(|&at| self.is[at] == Is::Ready).min_by_key(|&at| self.since[at]);
        let Some(at) = waits.or(first) else { return false };
        let row = self.rows[at];
        if !std::mem::replace(&mut self.begun[at], true) {
            self.release(Some((at, true)));
        }
        let takes = match row.0 {
            operation::SEND => {
                let first = self.slots.first().is_none_or(|&one| one == at);
                if !first || f.message_messages_at_once > 0 && self.unsent >= f.message_messages_at_once {
                    if !self.slots.contains(&at) {
                        self.slots.push(at);
                        self.is[at] = Is::Slotless;
                        return true;
                    }
                    return false;
                }
                self.slots.retain(|&one| one != at);
                self.unsent += 1;
                f.message_send_ticks
            }
            operation::RECEIVE => f.message_receive_ticks,
            _ => row.4,
        };
        self.is[at] = Is::Busy(now + takes as Time);
        if row.0 == operation::SEND && takes == 0 {
            self.out.push((row.1, row.3));
        }
        true
    }
}

/// Runs the programs of a fabric; returns when each has ended, and all arrivals.
fn plain(f: &Fabric) -> (Vec<Option<Time>>, Vec<Flying>) {
    let mut all: Vec<Plain> = (0..f.terminals as usize).map(|at| terminal(f, at)).collect();
    let (mut flying, mut arrived): (Vec<Flying>, Vec<Flying>) = (Vec::new(), Vec::new());
    all.iter_mut().for_each(|one| one.release(None));
    for now in 0..LAST_TICK {
        deliver(&mut flying, now, |one| {
            arrived.push(one);
            all[one.2 as usize].arrive((one.1, one.3));
        });
        // What the host has spent its time on is handed over, stream after stream.
        for one in &mut all {
            for at in by_stream(one) {
                if one.is[at] == Is::Busy(now) && one.rows[at].0 == operation::SEND {
                    one.out.push((one.rows[at].1, one.rows[at].3));
                }
            }
        }
        while (0..all.len()).any(|at| {
            let one = &mut all[at];
            let last = one.stream.iter().max().copied().unwrap_or(0);
            let mut some = false;
            for stream in 0..=last {
                while one.go_on(stream, now, f) {
                    some = true;
                }
            }
            one.fill();
            if !one.filled.is_empty() && one.link_free <= now {
                let (target, tag) = one.filled.remove(0);
                flying.push((now + WAY, at as u32, target, tag));
                (one.link_free, one.unsent, some) = (now + LINK, one.unsent - 1, true);
            }
            some
        }) {}
        for one in &mut all {
            if one.ended.is_none() && one.is.iter().all(|&is| is == Is::Done) {
                one.ended = Some(now);
            }
        }
    }
    (all.iter().map(|one| one.ended).collect(), arrived)
}

fn by_stream(one: &Plain) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..one.rows.len()).collect();
    rows.sort_by_key(|&at| one.stream[at]);
    rows
}

/// Delivers what arrives now: to each terminal one packet a tick, from the source with the lowest number.
fn deliver(flying: &mut Vec<Flying>, now: Time, mut to: impl FnMut(Flying)) {
    flying.sort_by_key(|&(_, source, target, _)| (target, source));
    let mut last = None;
    flying.retain_mut(|one| {
        if one.0 != now {
            return true;
        }
        if last == Some(one.2) {
            one.0 += 1;
            return true;
        }
        last = Some(one.2);
        to(*one);
        false
    });
}

fn terminal(f: &Fabric, at: usize) -> Plain {
    let rows = f.program_start[at] as usize..f.program_start[at + 1] as usize;
    let needs = |row: usize| match f.op_needs_start.get(row..row + 2) {
        Some(&[from, to]) => {
            let of = &f.op_needs[from as usize..to as usize];
            of.iter().map(|&one| (one as usize >> 1, one & 1 == 1)).collect()
        }
        // In a list it waits for itself, which nothing but its stream ends.
        _ => vec![(row - rows.start, false)],
    };
    Plain {
        rows: rows
            .clone()
            .map(|row| (f.op_kind[row], f.op_peer[row], f.op_bytes[row], f.op_tag[row], f.op_ticks[row]))
            .collect(),
        stream: f.op_stream[rows.clone()].to_vec(),
        needs: rows.clone().map(needs).collect(),
        list: f.op_needs_start.is_empty(),
        is: vec![Is::Early; rows.len()],
        begun: vec![false; rows.len()],
        since: vec![0; rows.len()],
        ..Plain::default()
    }
}

/// Runs the engine on the same network.
fn engine(f: &Fabric) -> (Vec<Option<Time>>, Vec<Flying>) {
    let mut programs = Programs::new(f, usize::MAX);
    let (mut flying, mut arrived): (Vec<Flying>, Vec<Flying>) = (Vec::new(), Vec::new());
    let mut free = vec![0; f.terminals as usize];
    for now in 0..LAST_TICK {
        deliver(&mut flying, now, |one| {
            let tag = programs.messages[mark::message(one.3)].tag;
            arrived.push((one.0, one.1, one.2, tag));
            programs.delivered(one.1, one.2, one.3);
        });
        (0..f.terminals).filter(|&at| free[at as usize] <= now).for_each(|at| programs.link_free(at));
        programs.turn(now, &mut |source, packet| {
            flying.push((now + WAY, source, packet.target, packet.mark));
            free[source as usize] = now + LINK;
            false
        });
    }
    (programs.account.terminals.iter().map(|one| one.ended).collect(), arrived)
}

/// Random programs of terminals with a few streams: graphs, or lists.
fn random(seed: u64) -> Fabric {
    let stream = &mut streams(seed, Family::Program, 1)[0];
    let mut draw = |most: u32| (stream.unit() * f64::from(most + 1)) as u32;
    let (terminals, graph) = (2 + draw(2), draw(2) > 0);
    let mut programs: Vec<Vec<(u8, Row)>> = vec![Vec::new(); terminals as usize];
    for _ in 0..2 + draw(12) {
        let (source, tag) = (draw(terminals - 1), draw(2));
        let target = (source + 1 + draw(terminals - 2)) % terminals;
        let one = (draw(2) as u8, (operation::SEND, target, 1 + draw(9), tag, 0));
        let place = draw(programs[source as usize].len() as u32) as usize;
        programs[source as usize].insert(place, one);
        let from = if draw(2) == 0 { ANY } else { source };
        let tag = if draw(2) == 0 { ANY } else { tag };
        let place = draw(programs[target as usize].len() as u32) as usize;
        programs[target as usize].insert(place, (draw(2) as u8, (operation::RECEIVE, from, 0, tag, 0)));
        let (at, ticks) = (draw(terminals - 1) as usize, [0, 1, 7, 30, 200][draw(4) as usize]);
        programs[at].push((draw(2) as u8, wait(ticks)));
    }
    if !graph {
        programs.iter_mut().for_each(|rows| rows.sort_by_key(|one| one.0));
    }
    let rows: Vec<Vec<Row>> = programs.iter().map(|rows| rows.iter().map(|one| one.1).collect()).collect();
    let mut f = fabric(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    f.op_stream = programs.iter().flatten().map(|one| one.0).collect();
    f.message_send_ticks = [0, 5, 40][draw(2) as usize];
    f.message_receive_ticks = [0, 5, 40][draw(2) as usize];
    f.message_messages_at_once = draw(3);
    if graph {
        f.op_needs_start.push(0);
        for rows in &programs {
            for at in 0..rows.len() as u32 {
                for before in 0..at {
                    if draw(at.max(2)) == 0 {
                        f.op_needs.push(before << 1 | u32::from(draw(3) == 0));
                    }
                }
                f.op_needs_start.push(f.op_needs.len() as u32);
            }
        }
    }
    f
}

#[test]
fn streams_do_what_a_plain_interpreter_does() {
    let (mut ended, mut stuck, mut arrived) = (0, 0, 0);
    for seed in 0..120 {
        let f = random(seed);
        let found = engine(&f);
        assert_eq!(found, plain(&f), "seed {seed}: {:?}", (&f.op_stream, &f.op_kind, &f.op_peer));
        arrived += found.1.len();
        let of = |is: bool| found.0.iter().filter(|one| one.is_some() == is).count();
        (ended, stuck) = (ended + of(true), stuck + of(false));
    }
    assert!(ended > 60 && stuck > 20 && arrived > 600, "{ended}, {stuck}, {arrived}");
}
