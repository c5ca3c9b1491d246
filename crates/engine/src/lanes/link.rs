//! What the lanes of a link share: its wire, its counts, and the input and output of the crossbars at its ends.

use super::state::UNKNOWN;
use crate::fabric::{Fabric, NONE, sharing};
use crate::kernel::Time;
use crate::measure::LinkCounts;

/// What the lanes of a link share: its wire, and its ends.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub number: u32,
    /// When the wire is free.
    pub free_at: Time,
    /// Tick of the next check.
    pub due: Time,
    /// Lane of the last character, or [`NONE`].
    pub last: u32,
    /// Lanes that no packet holds, as bits.
    pub free: u32,
    /// Lanes whose next character starts at a known time, as bits.
    pub known: u32,
    /// Number of lanes that are inside a packet.
    pub amid: u32,
    /// Since when it is inside packets without a pause, and the time for characters before that.
    within_from: Time,
    busy_before: u64,
    /// By how much it was busy for longer than if its characters and ends had always taken as long as now.
    busy_besides: i64,
    /// A packet of a terminal that has not started, or [`NONE`].
    pub dispatched: u32,
    /// For how many characters that needs credit.
    pub needed: u32,
    /// Whether packets wait for credit for all their characters.
    pub whole: bool,
    /// Whether a fault keeps it from running.
    pub down: bool,
    /// Whether its receiver is stuck.
    pub stuck: bool,
    /// Until when a character that starts is wrong, and whether it is sent again.
    pub wrong_until: Time,
    pub repeats: bool,
    /// Until when it repeats what was wrong.
    pub repeats_until: Time,
    pub from_terminal: bool,
    pub to_terminal: bool,
    /// Whether characters spend credit: it leads to a switch, which does not pause its sender.
    pub spends: bool,
    pub quantum: u32,
    pub input_buffer: u32,
    pub character: Time,
    pub end: Time,
    pub arrival: Time,
    /// Ticks that the beginning and the end of a frame occupy the wire.
    pub frame_start: Time,
    pub frame_end: Time,
    /// Ticks of a word on each of its physical lanes.
    column: Time,
    pub credit: Time,
    pub counts: LinkCounts,
    pub port: Port,
}

impl Link {
    /// Returns the ticks for which it has been busy.
    fn busy(&self) -> u64 {
        let LinkCounts { packets, characters, busy_ticks, .. } = self.counts;
        let busy = busy_ticks + (characters - packets) * self.character as u64 + packets * self.end as u64;
        (busy as i64 + self.busy_besides) as u64
    }

    /// Gives all its characters other times on the wire.
    pub fn changes_rate(&mut self, ticks: Time) {
        let busy = self.busy();
        (self.character, self.end) = (ticks, ticks);
        self.busy_besides += busy as i64 - self.busy() as i64;
    }

    /// Returns the characters that may be in its input buffer of a lane or on their way there: whole quanta.
    pub fn promised(&self) -> u32 {
        self.input_buffer / self.quantum * self.quantum
    }

    /// Returns for how long the end of a frame with this many characters occupies it: they fill whole columns.
    pub fn closes_in(&self, characters: u32) -> Time {
        self.frame_end + (-(Time::from(characters) * self.character)).rem_euclid(self.column)
    }

    /// Returns its counts. Those of the row have the time for codes and frames alone as busy, and stalled ticks up to `within_from`.
    pub fn counts(&self) -> LinkCounts {
        let busy_ticks = self.busy();
        let mut counts = LinkCounts { busy_ticks, ..self.counts };
        if self.amid > 0 {
            let within = self.free_at - self.within_from;
            counts.stalled_ticks += (within - (busy_ticks - self.busy_before) as Time).max(0) as u64;
        }
        counts
    }

    /// Counts an end of packet that occupies it for less than others do.
    pub fn ends_earlier(&mut self, ticks: Time) {
        self.busy_besides -= ticks;
    }

    /// Notes that a packet begins.
    pub fn enters_packet(&mut self, time: Time) {
        if self.amid == 0 {
            (self.within_from, self.busy_before) = (time, self.busy());
        }
        self.amid += 1;
    }

    /// Notes that packets have ended, and how many others are left.
    pub fn leaves_packet(&mut self, amid: u32) {
        self.counts.stalled_ticks = self.counts().stalled_ticks;
        (self.within_from, self.busy_before) = (self.free_at, self.busy());
        self.amid = amid;
    }

    /// Resets its counts at a tick.
    pub fn clear_counts(&mut self, start: Time) {
        self.counts = LinkCounts::default();
        self.busy_besides = 0;
        (self.within_from, self.busy_before) = (start.max(self.free_at), 0);
    }

    pub fn new(fabric: &Fabric, link: usize) -> Self {
        let frame = |ticks: &[u32]| ticks.get(link).copied().unwrap_or(0).into();
        Self {
            number: link as u32,
            free_at: 0,
            due: UNKNOWN,
            last: NONE,
            free: u32::MAX,
            known: 0,
            amid: 0,
            within_from: 0,
            busy_before: 0,
            busy_besides: 0,
            dispatched: NONE,
            needed: 1,
            whole: fabric.whole_packet_credit == 1,
            down: false,
            stuck: false,
            wrong_until: 0,
            repeats: false,
            repeats_until: 0,
            from_terminal: fabric.is_terminal(fabric.link_source[link]),
            to_terminal: fabric.is_terminal(fabric.link_target[link]),
            spends: !fabric.is_terminal(fabric.link_target[link]) && !fabric.has_pause(),
            quantum: fabric.link_quantum[link],
            input_buffer: fabric.link_input_buffer[link],
            character: fabric.link_character_ticks[link].into(),
            end: fabric.link_end_ticks[link].into(),
            arrival: fabric.link_arrival_ticks[link].into(),
            frame_start: frame(&fabric.link_frame_start_ticks),
            frame_end: frame(&fabric.link_frame_end_ticks),
            column: frame(&fabric.link_column_ticks).max(1),
            credit: fabric.link_credit_ticks[link].into(),
            counts: LinkCounts::default(),
            port: Port::new(fabric, link),
        }
    }
}

/// What the lanes of a link share at its ends: the input of the crossbar after it, and the output of the one before it.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// When a character may cross.
    pub free_at: Time,
    /// Tick of the next check.
    pub due: Time,
    /// Ticks of a character in the crossbar after it, and from there to the next wire; 0 at terminals.
    pub pace: Time,
    pub forward: Time,
    /// Whether characters compete for that crossbar.
    pub competes: bool,
    /// Whether characters of one lane may cross from several queues.
    pub sorts: bool,
    /// Whether characters cross as far ahead as they are known: nothing competes with them, or they follow each other and
    /// go first until their packet ends; and their credit does not depend on others that cross meanwhile.
    pub ahead: bool,
    /// Whether nothing competes with them and no time-out ends their packet: the times at which they cross are certain.
    pub is_certain: bool,
    /// After how many ticks without a crossing a packet is ended there.
    pub timeout: Time,
    /// When the first of the characters that are not nominated can cross, if there are any.
    pub others: Time,
    /// Queues whose packet has a granted lane, in ascending order.
    pub crossing: Vec<u32>,
    /// Queue of the last character, or [`NONE`].
    pub last: u32,
    /// The lane of the last character that crossed to this link, or [`NONE`].
    pub entered: u32,
    /// When that character crosses: of those that cross ahead the last.
    pub entered_at: Time,
    /// Its lanes to which characters are nominated, as bits.
    pub nominated: u32,
    /// The queue of one of these.
    pub nominee: u32,
    /// Whether the last character was not an end of packet.
    pub amid: bool,
    /// Whether the last one that crossed to this link was not an end of packet.
    pub enters_amid: bool,
    /// Queues whose packet is spilled.
    pub spilling: Vec<u32>,
}

impl Port {
    /// Notes when a character crosses from here.
    #[inline(always)]
    pub fn passes(&mut self, time: Time) {
        if self.pace > 0 {
            self.free_at = time + self.pace;
        }
    }

    /// Returns when the next character may cross from here, if the next one of a queue does at a given time.
    #[inline(always)]
    pub fn next_after(&self, next: Time) -> Time {
        next.min(self.others).max(self.free_at)
    }

    pub fn new(fabric: &Fabric, link: usize) -> Self {
        let switch = fabric.link_target[link] as usize;
        let ticks = |column: &[u32]| column.get(switch).copied().unwrap_or(0).into();
        let (pace, sorts) = (ticks(&fabric.switch_crossbar_ticks), fabric.output_queues == 1);
        let competes = pace > 0 && (fabric.lanes > 1 || sorts);
        // Characters of one lane that cross from several queues complete a quantum in the order of their times; and a
        // packet that has begun must not need it.
        let in_order = !sorts || fabric.whole_packet_credit == 1 && fabric.link_quantum[link] == 1;
        let ahead = (!competes || fabric.lane_sharing == sharing::PACKET) && in_order;
        let timeout = timeout_of(fabric, fabric.link_target[link]);
        Self {
            free_at: 0,
            due: UNKNOWN,
            pace,
            forward: ticks(&fabric.switch_forward_ticks),
            competes,
            sorts,
            ahead,
            is_certain: ahead && !competes && timeout == UNKNOWN,
            timeout,
            others: UNKNOWN,
            crossing: Vec::new(),
            last: NONE,
            entered: NONE,
            entered_at: 0,
            nominated: 0,
            nominee: NONE,
            amid: false,
            enters_amid: false,
            spilling: Vec::new(),
        }
    }
}

/// Returns the time-out of a switch; [`UNKNOWN`] if it has none, or at a terminal.
fn timeout_of(fabric: &Fabric, vertex: u32) -> Time {
    if fabric.is_terminal(vertex) {
        return UNKNOWN;
    }
    match fabric.timeout_of(vertex) {
        0 => UNKNOWN,
        ticks => ticks,
    }
}
