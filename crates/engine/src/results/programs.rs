//! What programs did, as columns: empty and 0 where sources drive the terminals.

use crate::kernel::Time;
use crate::measure::{Flows, Spread, cells};
use crate::terminal::Programs;
use crate::terminal::program::{Account, Done, Event, Mark, NOT_YET, Row};

use super::{Results, Value};

/// Adds a column, one number per row.
fn column<T, N>(out: &mut Results, name: &str, rows: &[T], of: impl Fn(&T) -> N)
where
    Value: From<Vec<N>>,
{
    out.set(name, rows.iter().map(of).collect::<Vec<N>>());
}

/// Adds messages, events, what terminals did, marks, and which programs wait.
pub fn result(out: &mut Results, programs: Option<&Programs>, now: Time) {
    let account = programs.map(|programs| &programs.account);
    totals(out, account);
    latency(out, account.map_or(&Spread::default(), |account| &account.latency));
    flows(out, "message_flow", account.and_then(|account| account.flows.as_ref()));
    table(out, account.map_or(&[], |account| &account.table));
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
pub fn flows(out: &mut Results, what: &str, flows: Option<&Flows>) {
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

fn totals(out: &mut Results, account: Option<&Account>) {
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

fn latency(out: &mut Results, spread: &Spread) {
    let (values, counts) = cells(&spread.histogram);
    out.set("message_latency_values_ticks", values);
    out.set("message_latency_counts", counts);
    out.set("message_latency_min_ticks", if spread.count > 0 { spread.min } else { 0 });
    out.set("message_latency_max_ticks", spread.max);
    out.set("message_latency_sum_ticks", spread.sum);
}

fn table(out: &mut Results, rows: &[Row]) {
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
