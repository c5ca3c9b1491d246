//! What a run has measured, as named numbers and columns: the one list of them, for everybody who runs the engine.
//!
//! | file | what it does |
//! |---|---|
//! | this one | the list of a run, of any network and with programs or sources |

use crate::kernel::Time;
use crate::measure::{Delays, Delivery, Flows, Hop, Measure, Planes, Spread, Trend, cells};
use crate::ring::{BusCounts, Counts};
use crate::run::{End, RunError, Simulation};
use crate::terminal::Programs;
use crate::terminal::program::{Account, Done, Event, Mark, NOT_YET, Row};

/// A number, a word or a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A word.
    Word(&'static str),
    /// A whole number.
    Number(i128),
    /// A column of bytes.
    U8(Vec<u8>),
    /// A column of ids and counts.
    U32(Vec<u32>),
    /// A column of counts.
    U64(Vec<u64>),
    /// A column of times, of which some are negative.
    I64(Vec<i64>),
}

macro_rules! from {
    ($($type:ty => $made:expr),* $(,)?) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                $made(value)
            }
        })*
    };
}

from! {
    &'static str => Value::Word,
    u32 => |value| Value::Number(i128::from(value)),
    u64 => |value| Value::Number(i128::from(value)),
    i64 => |value| Value::Number(i128::from(value)),
    i128 => Value::Number,
    usize => |value| Value::Number(value as i128),
    Vec<u8> => Value::U8,
    Vec<u32> => Value::U32,
    Vec<u64> => Value::U64,
    Vec<i64> => Value::I64,
}

/// The list, in the order in which it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results(pub Vec<(String, Value)>);

impl Results {
    /// Returns all that a run has measured so far: see the reference of results.
    ///
    /// # Errors
    /// Packets or messages do not balance, which is an error of the engine.
    pub fn of(run: &Simulation) -> Result<Self, RunError> {
        let mut out = Self::default();
        totals(&mut out, run)?;
        latencies(&mut out, &run.run.measure);
        batches(&mut out, &run.run.measure);
        links(&mut out, run);
        congestion(&mut out, run);
        rings(&mut out, run);
        flows(&mut out, "flow", run.run.measure.flows.as_ref());
        watched(&mut out, &run.run.measure.watched.delays);
        carried(&mut out, run);
        planes(&mut out, &run.run.planes);
        signals(&mut out, run);
        run.run.overtaken().into_iter().for_each(|packets| out.set("overtaken", packets));
        trace(&mut out, &run.run.trace.packets);
        hops(&mut out, run);
        programs(&mut out, run.run.programs.as_deref(), run.now());
        out.set("trace_dropped", run.run.trace.dropped);
        Ok(out)
    }

    fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.push((name.into(), value.into()));
    }
}

fn totals(out: &mut Results, run: &Simulation) -> Result<(), RunError> {
    let reason = match run.end() {
        Some(End::Drained) => "drained",
        Some(End::Precision) => "precision",
        Some(End::Saturated) => "saturated",
        Some(End::Deadlocked) => "deadlocked",
        Some(End::Incomplete) => "incomplete",
        Some(End::Livelocked) => "livelocked",
        Some(End::Stopped) => "stopped",
        Some(End::Stalled) => "stalled",
        Some(End::TimeLimit) => "time_limit",
        Some(End::PacketLimit) => "packet_limit",
        None => "interrupted",
    };
    let balance = run.balance()?;
    out.set("end_reason", reason);
    out.set("ended_at_look", u64::from(run.run.ended_at_look));
    let backlog = match run.backlog() {
        Trend::Grows => "grows",
        Trend::Bounded => "bounded",
        Trend::Unknown => "unknown",
    };
    out.set("backlog", backlog);
    out.set("end_time_ticks", run.now());
    out.set("deadlock_links", run.cycle().to_vec());
    let (still, busied) = run.rings().map_or((0, 0), |rings| rings.stood_still());
    out.set("livelock_ticks", still);
    out.set("livelock_busied", busied);
    out.set("measure_start_ticks", run.run.measure.start);
    out.set("offered", balance.offered);
    out.set("delivered", balance.delivered);
    out.set("refused", balance.refused);
    out.set("in_flight", balance.in_flight);
    out.set("scrubbed", balance.scrubbed);
    out.set("lost", balance.lost);
    let measured = run.measured();
    out.set("measured_offered", measured.offered);
    out.set("measured_offered_bytes", measured.offered_bytes);
    out.set("measured_refused", measured.refused);
    out.set("measured_refused_bytes", measured.refused_bytes);
    let delivered = run.run.measure.batches.sum();
    out.set("measured_delivered_bytes", delivered.bytes);
    out.set("measured_packets", delivered.packets);
    let (pause_start, pause) = run.run.measure.pause.longest(run.now());
    out.set("pause_start_ticks", pause_start);
    out.set("pause_ticks", pause);
    out.set("events", run.run.events);
    out.set("packet_hops", run.packet_hops());
    out.set("extensions", run.extensions());
    Ok(())
}

/// Adds the packets of each flow of sources since tick 0, by its row.
fn carried(out: &mut Results, run: &Simulation) {
    let rows = run.carried();
    column(out, "carried_made", &rows, |row| row.made);
    column(out, "carried_refused", &rows, |row| row.refused);
    column(out, "carried_delivered", &rows, |row| row.delivered);
    column(out, "carried_lost", run.lost_of_flows(), |&count| count);
    column(out, "carried_first_ticks", &rows, |row| row.first as u64);
    column(out, "carried_last_ticks", &rows, |row| row.last as u64);
    let oldest: Vec<Time> = rows.iter().map(|row| row.oldest.unwrap_or(-1)).collect();
    out.set("carried_oldest_ticks", oldest);
}

fn latencies(out: &mut Results, measure: &Measure) {
    for (name, spread) in [("latency", measure.latency()), ("total", measure.total())] {
        let (values, counts) = cells(&spread.histogram);
        out.set(format!("{name}_values_ticks"), values);
        out.set(format!("{name}_counts"), counts);
        out.set(format!("{name}_min_ticks"), if spread.count > 0 { spread.min } else { 0 });
        out.set(format!("{name}_max_ticks"), spread.max);
        out.set(format!("{name}_sum_ticks"), spread.sum);
    }
}

fn batches(out: &mut Results, measure: &Measure) {
    let batches = &measure.batches;
    let ends: Vec<Time> =
        (1..=batches.done.len() as Time).map(|n| batches.start + n * batches.length).collect();
    out.set("batch_end_ticks", ends);
    column(out, "batch_packets", &batches.done, |b| b.packets as i64);
    column(out, "batch_bytes", &batches.done, |b| b.bytes as i64);
    column(out, "batch_latency_sum_ticks", &batches.done, |b| in_64_bits(b.latency));
    column(out, "batch_total_sum_ticks", &batches.done, |b| in_64_bits(b.total));
    let shares = batches.shares.done();
    column(out, "share_packets", shares, |share| share.0);
    column(out, "share_bytes", shares, |share| share.1);
}

/// Returns a sum of long times, or the most that a column holds.
fn in_64_bits(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(i64::MAX)
}

/// Adds a column, one number per row.
fn column<T, N>(out: &mut Results, name: &str, rows: &[T], of: impl Fn(&T) -> N)
where
    Value: From<Vec<N>>,
{
    out.set(name, rows.iter().map(of).collect::<Vec<N>>());
}

fn links(out: &mut Results, run: &Simulation) {
    let counts = run.link_counts();
    column(out, "link_packets", &counts, |c| c.packets);
    column(out, "link_characters", &counts, |c| c.characters);
    column(out, "link_busy_ticks", &counts, |c| c.busy_ticks);
    column(out, "link_stalled_ticks", &counts, |c| c.stalled_ticks);
    column(out, "link_wait_ticks", &counts, |c| c.wait_ticks);
    column(out, "link_most_stored", &counts, |c| c.most_stored);
    column(out, "lane_busy_ticks", &run.lane_ticks(), |&ticks| ticks);
    let losses = run.losses();
    column(out, "link_cut", &losses, |losses| losses.cut);
    column(out, "link_discarded", &losses, |losses| losses.discarded);
    column(out, "link_timed_out", &losses, |losses| losses.timed_out);
    let memories = run.packets().map_or_else(Vec::new, |packets| packets.memories());
    column(out, "link_memory_most", &memories, |&(most, _)| most);
    column(out, "link_headroom_most", &memories, |&(_, beyond)| beyond);
}

/// Adds what congestion control has done to links and ports; empty without it.
fn congestion(out: &mut Results, run: &Simulation) {
    let Some((congestion, fabric)) = run.congestion() else { return };
    let ports = congestion.throttled(fabric, run.now());
    column(out, "link_marked", congestion.marked(), |&count| count);
    column(out, "port_notified", &ports, |port| port.notified);
    column(out, "port_ccti_highest", &ports, |port| u64::from(port.highest));
    column(out, "port_rest_ticks", &ports, |port| port.rest_ticks);
}

/// Adds the counts of rings and buses; empty and 0 for other networks.
fn rings(out: &mut Results, run: &Simulation) {
    let rings = run.rings();
    let links: Vec<Counts> = rings.into_iter().flat_map(|rings| rings.counts()).collect();
    let buses: Vec<BusCounts> = rings.into_iter().flat_map(|rings| rings.bus_counts()).collect();
    let (timed_out, longest_delay) = rings.map_or((0, 0), |rings| (rings.timed_out, rings.longest_delay));
    column(out, "link_retried", &links, |c| c.retried);
    column(out, "link_retry_ticks", &links, |c| c.retry_ticks);
    column(out, "link_echo_ticks", &links, |c| c.echo_ticks);
    column(out, "link_busied", &links, |c| c.busied);
    column(out, "link_bypass_most", &links, |c| c.bypass_most);
    column(out, "bus_transfers", &buses, |c| c.transfers);
    column(out, "bus_busy_ticks", &buses, |c| c.busy_ticks);
    column(out, "bus_wait_ticks", &buses, |c| c.wait_ticks);
    out.set("retry_delay_ticks_max", longest_delay);
    out.set("ring_symbol_bytes", rings.map_or(0, |rings| rings.fabric().ring_symbol_bytes));
    out.set("timed_out", timed_out);
}

/// Adds the cells of distributions, one after the other, and the start of each.
fn histograms<'a>(out: &mut Results, name: &str, spreads: impl Iterator<Item = &'a Spread>) {
    let (mut values, mut counts, mut start) = (Vec::new(), Vec::new(), vec![0]);
    for spread in spreads {
        let (some, many) = cells(&spread.histogram);
        values.extend(some);
        counts.extend(many);
        start.push(values.len() as u64);
    }
    column(out, &format!("{name}_start"), &start, |&at| at);
    column(out, &format!("{name}_values_ticks"), &values, |&value| value);
    column(out, &format!("{name}_counts"), &counts, |&count| count);
}

/// Adds the delays of the watched flows, one after the other.
fn watched(out: &mut Results, delays: &[Delays]) {
    histograms(out, "watched", delays.iter().map(|one| &one.total));
    column(out, "watched_packets", delays, |one| one.total.count);
    column(out, "watched_total_min_ticks", delays, |one| one.total.min.max(0) as u64);
    column(out, "watched_total_max_ticks", delays, |one| one.total.max as u64);
    column(out, "watched_latency_max_ticks", delays, |one| one.latency_max as u64);
}

/// Adds time-codes and interrupts: the number per source, arrivals per source and port, and counts of links.
fn signals(out: &mut Results, run: &Simulation) {
    let codes = &run.run.codes;
    histograms(out, "code", codes.delays.iter());
    column(out, "code_made", &codes.made, |&count| count);
    column(out, "code_taken", &codes.delays, |delays| delays.count);
    column(out, "code_sum_ticks", &codes.delays, |delays| delays.sum as u64);
    column(
        out,
        "code_min_ticks",
        &codes.delays,
        |delays| if delays.count > 0 { delays.min as u64 } else { 0 },
    );
    column(out, "code_max_ticks", &codes.delays, |delays| delays.max as u64);
    let links = run.code_counts();
    column(out, "link_codes_sent", links, |counts| counts.sent);
    column(out, "link_codes_lost", links, |counts| counts.lost);
    column(out, "link_codes_duplicate", links, |counts| counts.duplicates);
    column(out, "link_codes_invalid", links, |counts| counts.invalid);
}

/// Adds the deliveries by plane; no rows if each terminal has one port.
fn planes(out: &mut Results, planes: &Planes) {
    column(out, "plane_packets", &planes.sums, |sum| sum.packets);
    column(out, "plane_bytes", &planes.sums, |sum| sum.bytes);
    column(out, "plane_latency_sum_ticks", &planes.sums, |sum| sum.latency_sum as u64);
    column(out, "plane_latency_max_ticks", &planes.sums, |sum| sum.latency_max as u64);
}

/// Adds delivered packets.
pub fn trace(out: &mut Results, packets: &[Delivery]) {
    column(out, "trace_source", packets, |p| p.source);
    column(out, "trace_target", packets, |p| p.target);
    column(out, "trace_length", packets, |p| p.length);
    column(out, "trace_created_ticks", packets, |p| p.created);
    column(out, "trace_started_ticks", packets, |p| p.started);
    column(out, "trace_delivered_ticks", packets, |p| p.delivered);
}

/// Adds when packets were on which links; worms still on a link have end -1.
fn hops(out: &mut Results, run: &Simulation) {
    let (done, standing) = run.hops();
    let rows = || done.rows.iter().chain(&standing);
    let ids = |of: fn(&Hop) -> u32| rows().map(of).collect::<Vec<u32>>();
    let times = |of: fn(&Hop) -> Time| rows().map(of).collect::<Vec<Time>>();
    out.set("hop_source", ids(|hop| hop.source));
    out.set("hop_target", ids(|hop| hop.target));
    out.set("hop_link", ids(|hop| hop.link));
    out.set("hop_created_ticks", times(|hop| hop.created));
    out.set("hop_started_ticks", times(|hop| hop.started));
    out.set("hop_begin_ticks", times(|hop| hop.begin));
    out.set("hop_end_ticks", times(|hop| hop.end));
    out.set("hop_kind", rows().map(|hop| hop.kind).collect::<Vec<u8>>());
    let waiting = run.waiting();
    let (terminals, created): (Vec<u32>, Vec<Time>) = waiting.into_iter().unzip();
    out.set("wait_terminal", terminals);
    out.set("wait_created_ticks", created);
    out.set("hops_dropped", done.dropped);
}

/// Adds messages, events, what terminals did, marks, and which programs wait.
fn programs(out: &mut Results, programs: Option<&Programs>, now: Time) {
    let account = programs.map(|programs| &programs.account);
    message_totals(out, account);
    message_latency(out, account.map_or(&Spread::default(), |account| &account.latency));
    flows(out, "message_flow", account.and_then(|account| account.flows.as_ref()));
    messages(out, account.map_or(&[], |account| &account.table));
    events(out, account.map_or(&[], |account| &account.events));
    terminals(out, account.map_or(&[], |account| &account.terminals), now);
    marks(out, account.map_or(&[], |account| &account.marks));
    let waiting = programs.map_or_else(Vec::new, Programs::waiting);
    column(out, "waiting_terminal", &waiting, |one| one.0);
    column(out, "waiting_operation", &waiting, |one| one.1);
    let full = programs.map_or_else(Vec::new, Programs::full);
    column(out, "full_terminal", &full, |one| one.0);
    column(out, "full_messages", &full, |one| one.1);
    let stuck = programs.map_or_else(Vec::new, Programs::stuck);
    column(out, "stuck_source", &stuck, |one| one[0]);
    column(out, "stuck_target", &stuck, |one| one[1]);
    column(out, "stuck_bytes", &stuck, |one| one[2]);
    column(out, "stuck_tag", &stuck, |one| one[3]);
}

/// Sums by pair under names that begin with `what`.
fn flows(out: &mut Results, what: &str, flows: Option<&Flows>) {
    let rows = flows.map_or_else(Vec::new, Flows::sorted);
    let name = |end: &str| format!("{what}_{end}");
    column(out, &name("source"), &rows, |row| row.0);
    column(out, &name("target"), &rows, |row| row.1);
    column(out, &name("packets"), &rows, |row| row.2.packets);
    column(out, &name("bytes"), &rows, |row| row.2.bytes);
    column(out, &name("latency_sum_ticks"), &rows, |row| row.2.latency_sum);
    column(out, &name("latency_max_ticks"), &rows, |row| row.2.latency_max);
    out.set(format!("{what}s_dropped"), flows.map_or(0, |flows| flows.dropped));
}

fn message_totals(out: &mut Results, account: Option<&Account>) {
    let of = |count: fn(&Account) -> u64| account.map_or(0, count);
    out.set("messages_made", of(|a| a.made));
    out.set("messages_announced", of(|a| a.announced));
    out.set("messages_sent", of(|a| a.sent));
    out.set("messages_received", of(|a| a.received));
    out.set("messages_lost", of(|a| a.lost));
    let order = account.and_then(|account| account.order.as_ref());
    out.set("messages_overtaken", order.map_or(0, |order| order.overtaken));
    let order = account.and_then(|account| account.packet_order.as_ref());
    out.set("message_packets_overtaken", order.map_or(0, |order| order.overtaken));
    out.set("messages_repeated", of(|a| a.repeated));
    out.set("messages_resent", of(|a| a.resent));
    out.set("messages_duplicates", of(|a| a.duplicates));
    out.set("messages_given_up", of(|a| a.given_up));
    out.set("measured_messages", of(|a| a.measured));
    out.set("measured_message_bytes", of(|a| a.measured_bytes));
    out.set("messages_dropped", of(|a| if a.keep > 0 { a.dropped } else { 0 }));
    out.set("marks_dropped", of(|a| a.marks_dropped));
}

fn message_latency(out: &mut Results, spread: &Spread) {
    let (values, counts) = cells(&spread.histogram);
    out.set("message_latency_values_ticks", values);
    out.set("message_latency_counts", counts);
    out.set("message_latency_min_ticks", if spread.count > 0 { spread.min } else { 0 });
    out.set("message_latency_max_ticks", spread.max);
    out.set("message_latency_sum_ticks", spread.sum);
}

fn messages(out: &mut Results, rows: &[Row]) {
    column(out, "message_source", rows, |row| row.source);
    column(out, "message_target", rows, |row| row.target);
    column(out, "message_bytes", rows, |row| row.bytes);
    column(out, "message_tag", rows, |row| row.tag);
    column(out, "message_made_ticks", rows, |row| row.made);
    column(out, "message_sent_ticks", rows, |row| row.sent);
    column(out, "message_received_ticks", rows, |row| row.received);
}

fn events(out: &mut Results, events: &[Event]) {
    column(out, "event_received", events, |event| event.received);
    column(out, "event_begun_ticks", events, |event| event.begun);
    column(out, "event_first_ticks", events, |event| event.first);
    column(out, "event_complete_ticks", events, |event| event.complete);
}

fn terminals(out: &mut Results, terminals: &[Done], now: Time) {
    column(out, "terminal_blocked_ticks", terminals, |one| one.blocked.ticks(now));
    column(out, "terminal_receiving_ticks", terminals, |one| one.receiving.ticks(now));
    column(out, "terminal_ended_ticks", terminals, |one| one.ended.unwrap_or(NOT_YET));
    column(out, "terminal_unexpected_most_bytes", terminals, |one| one.unexpected_most);
    column(out, "terminal_bytes_sent", terminals, |one| one.bytes_sent);
    column(out, "terminal_bytes_received", terminals, |one| one.bytes_received);
}

fn marks(out: &mut Results, marks: &[Mark]) {
    column(out, "mark_terminal", marks, |mark| mark.terminal);
    column(out, "mark_tag", marks, |mark| mark.tag);
    column(out, "mark_ticks", marks, |mark| mark.time);
}
