//! Programs with several streams, as graphs and as lists, with announced messages and barriers, against a plain
//! interpreter: it moves from tick to tick and looks at every operation in each. It shares nothing of the programs with
//! the engine.

use super::*;
use crate::kernel::random::{Family, streams};

/// The wait from a packet of a link to the next one.
const LINK: Time = 10;
/// Streams of a terminal.
const STREAMS: u8 = 3;
/// All that can happen has happened by then.
const LAST_TICK: Time = 3_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    /// Waits for other operations.
    Early,
    /// A receive without its message.
    Posted,
    /// A receive whose message is announced, or a send of a graph that is.
    Called,
    /// In a barrier.
    Waiting,
    /// Can begin.
    Ready,
    /// A send that waits for a slot.
    Slotless,
    /// Under way until this tick.
    Busy(Time),
    Done,
}

/// A message, its announcement, or the answer to that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Data,
    Announcement,
    Answer,
}

/// The only packet of one of these, with the operations of the message that send and receive it.
#[derive(Clone, Copy, Debug)]
struct Parcel {
    kind: Kind,
    source: u32,
    target: u32,
    tag: u32,
    sender: usize,
    receiver: Option<usize>,
}

impl Parcel {
    fn to(&self) -> u32 {
        if self.kind == Kind::Answer { self.source } else { self.target }
    }
}

/// A terminal of the plain interpreter: its operations are those of the fabric.
#[derive(Default)]
struct Plain {
    terminal: u32,
    rows: Vec<Row>,
    stream: Vec<u8>,
    /// Per operation what it waits for, and whether for the beginning only.
    needs: Vec<Vec<(usize, bool)>>,
    list: bool,
    is: Vec<Is>,
    begun: Vec<bool>,
    /// Whether a message was announced.
    announces: Vec<bool>,
    /// The beginnings and ends that the other operations know of.
    told: Vec<(usize, bool)>,
    /// When operations became ready, or receives were posted, counted.
    since: Vec<usize>,
    count: usize,
    slots: Vec<usize>,
    inbox: Vec<Parcel>,
    /// What is handed over.
    out: Vec<Parcel>,
    /// The same, in the order in which it leaves.
    filled: Vec<Parcel>,
    unsent: u32,
    link_free: Time,
    ended: Option<Time>,
}

/// A packet: when it arrives, source, target, and its tag or what it is.
type Flying<What> = (Time, u32, u32, What);

fn fits(row: &Row, what: &Parcel) -> bool {
    (row.1 == ANY || row.1 == what.source) && (row.3 == ANY || row.3 == what.tag)
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
        if let Some(place) = self.inbox.iter().position(|one| fits(&self.rows[at], one)) {
            let one = self.inbox.remove(place);
            self.take(at, one);
        }
        true
    }

    /// Lets a receive have a message, which comes first if it is announced.
    fn take(&mut self, at: usize, what: Parcel) {
        if what.kind == Kind::Data {
            return self.stamp(at, Is::Ready);
        }
        self.is[at] = Is::Called;
        self.out.push(Parcel { kind: Kind::Answer, receiver: Some(at), ..what });
    }

    /// Hands a message over, or its announcement.
    fn hand_over(&mut self, at: usize, f: &Fabric) {
        let (_, target, bytes, tag, _) = self.rows[at];
        let announced = f.message_eager_bytes > 0 && bytes > f.message_eager_bytes;
        let kind = if announced { Kind::Announcement } else { Kind::Data };
        self.announces[at] = announced;
        self.out.push(Parcel { kind, source: self.terminal, target, tag, sender: at, receiver: None });
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
        for one in &self.out {
            if !turns.contains(&one.to()) {
                turns.push(one.to());
            }
        }
        while !self.out.is_empty() {
            for target in &turns {
                if let Some(place) = self.out.iter().position(|one| one.to() == *target) {
                    self.filled.push(self.out.remove(place));
                }
            }
        }
    }

    fn arrive(&mut self, what: Parcel) {
        if what.kind == Kind::Answer {
            return self.out.push(Parcel { kind: Kind::Data, ..what });
        }
        if let Some(at) = what.receiver {
            if at < self.rows.len() {
                self.stamp(at, Is::Ready);
            }
            return;
        }
        if self.ended.is_some() || self.rows.iter().all(|row| row.0 != operation::RECEIVE) {
            return self.discard(what);
        }
        let posted = (0..self.rows.len()).filter(|&at| self.is[at] == Is::Posted);
        let first = posted.filter(|&at| fits(&self.rows[at], &what)).min_by_key(|&at| self.since[at]);
        match first {
            Some(at) => self.take(at, what),
            None => self.inbox.push(what),
        }
    }

    /// Lets a message come for which there is no receive.
    fn discard(&mut self, what: Parcel) {
        if what.kind == Kind::Announcement {
            self.out.push(Parcel { kind: Kind::Answer, receiver: Some(usize::MAX), ..what });
        }
    }

    /// Ends the program when all of it is done.
    fn end(&mut self, now: Time) {
        if self.ended.is_none() && self.is.iter().all(|&is| is == Is::Done) {
            self.ended = Some(now);
            std::mem::take(&mut self.inbox).into_iter().for_each(|one| self.discard(one));
        }
    }

    /// Whether a stream has a barrier before it, or is in one.
    fn has_barrier(&self, stream: u8) -> bool {
        let is_open = |at: usize| self.stream[at] == stream && self.is[at] != Is::Done;
        (0..self.rows.len()).any(|at| is_open(at) && self.rows[at].0 == operation::BARRIER)
    }

    /// Does what a stream can do in this tick; returns whether that was something.
    fn go_on(&mut self, stream: u8, now: Time, f: &Fabric) -> bool {
        let mine: Vec<usize> = (0..self.rows.len()).filter(|&at| self.stream[at] == stream).collect();
        if let Some(&at) = mine.iter().find(|&&at| matches!(self.is[at], Is::Busy(_))) {
            if self.is[at] != Is::Busy(now) {
                return false;
            }
            if self.announces[at] && !self.list {
                self.is[at] = Is::Called;
                return true;
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
            operation::BARRIER => {
                self.is[at] = Is::Waiting;
                return true;
            }
            _ => row.4,
        };
        self.is[at] = Is::Busy(now + takes as Time);
        if row.0 == operation::SEND && takes == 0 {
            self.hand_over(at, f);
        }
        true
    }

    /// Sends the next packet if there is one and the link is free; returns it.
    fn send(&mut self, now: Time) -> Option<Parcel> {
        if self.filled.is_empty() || self.link_free > now {
            return None;
        }
        let one = self.filled.remove(0);
        self.link_free = now + LINK;
        if one.kind == Kind::Data {
            self.unsent -= 1;
            if self.is[one.sender] == Is::Called {
                self.is[one.sender] = Is::Done;
                self.release(Some((one.sender, false)));
            }
        }
        Some(one)
    }
}

/// Ends a barrier that every stream with a barrier left has reached. The last one goes on at once, the others when it is
/// their turn again.
fn end_barrier(all: &mut [Plain]) {
    let waits = |one: &Plain, stream| {
        (0..one.rows.len()).any(|at| one.stream[at] == stream && one.is[at] == Is::Waiting)
    };
    let mut open = all.iter().flat_map(|one| (0..STREAMS).map(move |stream| (one, stream)));
    if open.all(|(one, stream)| !one.has_barrier(stream) || waits(one, stream)) {
        let waiting = all.iter_mut().flat_map(|one| &mut one.is).filter(|is| **is == Is::Waiting);
        waiting.for_each(|is| *is = Is::Done);
    }
}

/// Runs the programs of a fabric; returns when each has ended, and all arrivals.
fn plain(f: &Fabric) -> (Vec<Option<Time>>, Vec<Flying<u32>>) {
    let mut all: Vec<Plain> = (0..f.terminals as usize).map(|at| terminal(f, at)).collect();
    let (mut flying, mut arrived) = (Vec::new(), Vec::new());
    all.iter_mut().for_each(|one| one.release(None));
    for now in 0..LAST_TICK {
        deliver(&mut flying, now, |(time, source, target, what): Flying<Parcel>| {
            let tag = if what.kind == Kind::Data { what.tag } else { NO };
            arrived.push((time, source, target, tag));
            all[target as usize].arrive(what);
        });
        // What the host has spent its time on is handed over, stream after stream.
        for one in &mut all {
            for at in by_stream(one) {
                if one.is[at] == Is::Busy(now) && one.rows[at].0 == operation::SEND {
                    one.hand_over(at, f);
                }
            }
        }
        while (0..all.len()).any(|at| {
            let mut some = false;
            for stream in 0..STREAMS {
                while all[at].go_on(stream, now, f) {
                    some = true;
                    end_barrier(&mut all);
                }
            }
            let one = &mut all[at];
            one.end(now);
            one.fill();
            if let Some(what) = one.send(now) {
                flying.push((now + WAY, at as u32, what.to(), what));
                some = true;
            }
            some
        }) {}
    }
    (all.iter().map(|one| one.ended).collect(), arrived)
}

fn by_stream(one: &Plain) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..one.rows.len()).collect();
    rows.sort_by_key(|&at| one.stream[at]);
    rows
}

/// Delivers what arrives now: to each terminal one packet a tick, from the source with the lowest number.
fn deliver<What: Copy>(flying: &mut Vec<Flying<What>>, now: Time, mut to: impl FnMut(Flying<What>)) {
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
        terminal: at as u32,
        announces: vec![false; rows.len()],
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
fn engine(f: &Fabric) -> (Vec<Option<Time>>, Vec<Flying<u32>>) {
    let mut programs = Programs::new(f, usize::MAX);
    let (mut flying, mut arrived) = (Vec::new(), Vec::new());
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
        for _ in 0..draw(1) * draw(6) {
            let at = draw(terminals - 1) as usize;
            let place = draw(programs[at].len() as u32) as usize;
            programs[at].insert(place, (draw(2) as u8, BARRIER));
        }
        programs.iter_mut().for_each(|rows| rows.sort_by_key(|one| one.0));
    }
    let rows: Vec<Vec<Row>> = programs.iter().map(|rows| rows.iter().map(|one| one.1).collect()).collect();
    let mut f = fabric(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    f.op_stream = programs.iter().flatten().map(|one| one.0).collect();
    f.message_send_ticks = [0, 5, 40][draw(2) as usize];
    f.message_receive_ticks = [0, 5, 40][draw(2) as usize];
    f.message_messages_at_once = draw(3);
    (f.message_eager_bytes, f.message_announcement_bytes) = ([0, 0, 5][draw(2) as usize], 4);
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
    let (mut ended, mut stuck, mut arrived, mut announced, mut barriers) = (0, 0, 0, 0, 0);
    for seed in 0..120 {
        let f = random(seed);
        let found = engine(&f);
        assert_eq!(found, plain(&f), "seed {seed}: {:?}", (&f.op_stream, &f.op_kind, &f.op_peer));
        arrived += found.1.len();
        announced += found.1.iter().filter(|one| one.3 == NO).count();
        let of = |is: bool| found.0.iter().filter(|one| one.is_some() == is).count();
        (ended, stuck) = (ended + of(true), stuck + of(false));
        let over = (0..found.0.len()).filter(|&at| found.0[at].is_some());
        let rows = over.flat_map(|at| f.program_start[at] as usize..f.program_start[at + 1] as usize);
        barriers += rows.filter(|&row| f.op_kind[row] == operation::BARRIER).count();
    }
    assert!(ended > 60 && stuck > 20 && arrived > 600, "{ended}, {stuck}, {arrived}");
    assert!(announced > 100 && barriers > 20, "{announced}, {barriers}");
}
