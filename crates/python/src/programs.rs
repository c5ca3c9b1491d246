//! What programs did, as columns: empty and 0 where sources drive the terminals.

use fabriloom_engine::kernel::Time;
use fabriloom_engine::measure::{Flows, Spread, cells};
use fabriloom_engine::terminal::Programs;
use fabriloom_engine::terminal::program::{Account, Done, Event, Mark, NOT_YET, Row};
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A column, one number per row.
fn column<T, N: Element>(
    out: &Bound<'_, PyDict>,
    name: &str,
    rows: &[T],
    of: impl Fn(&T) -> N,
) -> PyResult<()> {
    out.set_item(name, rows.iter().map(of).collect::<Vec<N>>().into_pyarray(out.py()))
}

/// Adds messages, events, what terminals did, marks, and which programs wait.
pub fn result(out: &Bound<'_, PyDict>, programs: Option<&Programs>, now: Time) -> PyResult<()> {
    let account = programs.map(|programs| &programs.account);
    totals(out, account)?;
    latency(out, account.map_or(&Spread::default(), |account| &account.latency))?;
    flows(out, "message_flow", account.and_then(|account| account.flows.as_ref()))?;
    table(out, account.map_or(&[], |account| &account.table))?;
    events(out, account.map_or(&[], |account| &account.events))?;
    terminals(out, account.map_or(&[], |account| &account.terminals), now)?;
    marks(out, account.map_or(&[], |account| &account.marks))?;
    let waiting = programs.map_or_else(Vec::new, Programs::waiting);
    column(out, "waiting_terminal", &waiting, |one| one.0)?;
    column(out, "waiting_operation", &waiting, |one| one.1)?;
    let stuck = programs.map_or_else(Vec::new, Programs::stuck);
    column(out, "stuck_source", &stuck, |one| one[0])?;
    column(out, "stuck_target", &stuck, |one| one[1])?;
    column(out, "stuck_bytes", &stuck, |one| one[2])?;
    column(out, "stuck_tag", &stuck, |one| one[3])
}

/// Sums by pair under names that begin with `what`.
pub fn flows(out: &Bound<'_, PyDict>, what: &str, flows: Option<&Flows>) -> PyResult<()> {
    let rows = flows.map_or_else(Vec::new, Flows::sorted);
    let name = |end: &str| format!("{what}_{end}");
    column(out, &name("source"), &rows, |row| row.0)?;
    column(out, &name("target"), &rows, |row| row.1)?;
    column(out, &name("packets"), &rows, |row| row.2.packets)?;
    column(out, &name("bytes"), &rows, |row| row.2.bytes)?;
    column(out, &name("latency_sum_ticks"), &rows, |row| row.2.latency_sum)?;
    column(out, &name("latency_max_ticks"), &rows, |row| row.2.latency_max)?;
    out.set_item(format!("{what}s_dropped"), flows.map_or(0, |flows| flows.dropped))
}

fn totals(out: &Bound<'_, PyDict>, account: Option<&Account>) -> PyResult<()> {
    let of = |count: fn(&Account) -> u64| account.map_or(0, count);
    out.set_item("messages_made", of(|a| a.made))?;
    out.set_item("messages_sent", of(|a| a.sent))?;
    out.set_item("messages_received", of(|a| a.received))?;
    out.set_item("messages_lost", of(|a| a.lost))?;
    let order = account.and_then(|account| account.order.as_ref());
    out.set_item("messages_overtaken", order.map_or(0, |order| order.overtaken))?;
    let order = account.and_then(|account| account.packet_order.as_ref());
    out.set_item("message_packets_overtaken", order.map_or(0, |order| order.overtaken))?;
    out.set_item("messages_repeated", of(|a| a.repeated))?;
    out.set_item("messages_resent", of(|a| a.resent))?;
    out.set_item("messages_duplicates", of(|a| a.duplicates))?;
    out.set_item("messages_given_up", of(|a| a.given_up))?;
    out.set_item("measured_messages", of(|a| a.measured))?;
    out.set_item("measured_message_bytes", of(|a| a.measured_bytes))?;
    out.set_item("messages_dropped", of(|a| if a.keep > 0 { a.dropped } else { 0 }))?;
    out.set_item("marks_dropped", of(|a| a.marks_dropped))
}

fn latency(out: &Bound<'_, PyDict>, spread: &Spread) -> PyResult<()> {
    let (values, counts) = cells(&spread.histogram);
    out.set_item("message_latency_values_ticks", values.into_pyarray(out.py()))?;
    out.set_item("message_latency_counts", counts.into_pyarray(out.py()))?;
    out.set_item("message_latency_min_ticks", if spread.count > 0 { spread.min } else { 0 })?;
    out.set_item("message_latency_max_ticks", spread.max)?;
    out.set_item("message_latency_sum_ticks", spread.sum)
}

fn table(out: &Bound<'_, PyDict>, rows: &[Row]) -> PyResult<()> {
    column(out, "message_source", rows, |row| row.source)?;
    column(out, "message_target", rows, |row| row.target)?;
    column(out, "message_bytes", rows, |row| row.bytes)?;
    column(out, "message_tag", rows, |row| row.tag)?;
    column(out, "message_made_ticks", rows, |row| row.made)?;
    column(out, "message_sent_ticks", rows, |row| row.sent)?;
    column(out, "message_received_ticks", rows, |row| row.received)
}

fn events(out: &Bound<'_, PyDict>, events: &[Event]) -> PyResult<()> {
    column(out, "event_received", events, |event| event.received)?;
    column(out, "event_begun_ticks", events, |event| event.begun)?;
    column(out, "event_first_ticks", events, |event| event.first)?;
    column(out, "event_complete_ticks", events, |event| event.complete)
}

fn terminals(out: &Bound<'_, PyDict>, terminals: &[Done], now: Time) -> PyResult<()> {
    column(out, "terminal_blocked_ticks", terminals, |one| one.blocked.ticks(now))?;
    column(out, "terminal_receiving_ticks", terminals, |one| one.receiving.ticks(now))?;
    column(out, "terminal_ended_ticks", terminals, |one| one.ended.unwrap_or(NOT_YET))?;
    column(out, "terminal_bytes_sent", terminals, |one| one.bytes_sent)?;
    column(out, "terminal_bytes_received", terminals, |one| one.bytes_received)
}

fn marks(out: &Bound<'_, PyDict>, marks: &[Mark]) -> PyResult<()> {
    column(out, "mark_terminal", marks, |mark| mark.terminal)?;
    column(out, "mark_tag", marks, |mark| mark.tag)?;
    column(out, "mark_ticks", marks, |mark| mark.time)
}
