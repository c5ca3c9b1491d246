//! Networks of rings, of register insertion or of slots, joined by buses.
//!
//! The model and its notation are in `docs/background/ring-model.md`. A unit moves as a whole: all its symbols follow
//! from the tick at which it starts on a link. Waiting units are in intrusive lists over slabs, so that a running
//! simulation does not allocate per event.
//!
//! On rings a terminal is one of its ports: a station with a user. Only sources and statistics know terminals of
//! several ports.
//!
//! # Map
//!
//! | section of the page | here | in the twin |
//! |---|---|---|
//! | units on a link | `station.rs`: `forward`, `pass` | `input.rs`: `take_from_wire`, `leave_decoder`, `enter_bypass` |
//! | what a station puts on its link | `output.rs`: `start_next`, `start_own`; `choice.rs`: `choose` | `output.rs`: `start_unit`, `own_unit`, `may_start` |
//! | accept, busy, retry | `station.rs`: `plan_decision`, `strip`, `answered`, `delay` | `input.rs`: `decide`, `answer`, `delay` |
//! | phases | `phases.rs`: `accepts`, `goes_behind` | `accept.rs`: `judge`, `phase` |
//! | bandwidth allocation | `allocation.rs`: `judge_idles`, `heed`, `say` | `output.rs`: `say_go_or_stop`, `heed`, `say` |
//! | terminals | `user.rs`: `dispatch`, `serve`, `time_out` | `user.rs`: `dispatch`, `start_service`, `time_out` |
//! | buses | `bus.rs`: `arbitrate`, `transfer` | `bus.rs`: `start_transfers`, `start_transfer` |
//! | the scrubber | `station.rs`: `forward`, `scrub` | `input.rs`: `scrub` |
//! | other rings | `state.rs`: `on_link`, `offsets`; `output.rs`: `begins_slot`, `put_unanswered`; `station.rs`: `passes_when_full` | `rings.rs`: `on_link`; `output.rs`: `until_slot`; `input.rs`: `answer_gone` |
//! | tokens | `token.rs`: `start_by_token`, `bring`, `release` | `token.rs`: `visit`, `may_by_token`, `pass_token` |
//! | faults | `fault.rs`: `loses`, `forget_lost`; `closed.rs` | `fault.rs`: `lose`, `forget_lost`; `user.rs`: `may_close` |
//! | order within a tick | `tick.rs`: `happen`, then `start` | `rings.rs`: `tick` |
//! | livelock | `livelock.rs`: `is_livelocked` | |
//!
//! # Files
//!
//! All files are methods of [`Rings`]. Where several files write a field, each takes or returns places of its own.
//!
//! | file | what it does | writes |
//! |---|---|---|
//! | `state.rs` | the network and its counts; the verbs that several files need | `Station::out_free`, `Link::leaving` and `Switch::full` (a place is taken); `Rings::taken_up`; `Transaction::uses` |
//! | `parts.rs` | what is under way: units, packets, transactions, changes of idle symbols | |
//! | `links.rs` | the part of a station that passing units need: its link | |
//! | `stations.rs` | a station, with its link; switches, their buses and ports | |
//! | `tick.rs` | the events of a tick in their order, then its starts | the lists of what may start |
//! | `station.rs` | a unit that has started: what happens to it at the next station | `Link::bypass` (units enter); `Station::in_free` (taken), `out_free` and `may_send` (returned by echoes), `echoes_due`, `undecided`; `Rare::again`, `echoes` (those that wait) |
//! | `output.rs` | the next unit on a free link | `Link::bypass` (units leave), `free_at`, `leaving`; `Station::fresh`, `out_free` (returned), `may_send` (taken); counts of a link; `Rings::sent` |
//! | `choice.rs` | which packet of a station may start, and is first | `Station::blocked` |
//! | `phases.rs` | the places that a receive queue reserves for busied packets | `Rings::reserved` |
//! | `allocation.rs` | go bits of idle symbols | `Link`: what is heard, kept and said |
//! | `token.rs` | which station has the token of a ring | `Rings::tokens`; `Link::free_at` (while a token is taken) |
//! | `user.rs` | dispatch, service and time-outs at terminals | transactions; at terminals `Station::coming`, `held`, `at_work`, `in_free` (returned) |
//! | `host.rs` | terminals that run programs: the host's bus, and what programs learn | `Rings::hosts` |
//! | `bus.rs` | transfers between the ports of a switch | switches and ports; at ports `Station::held`, `at_work`, `in_free` (returned) |
//! | `fault.rs`, `closed.rs` | lost units and stopped stations; routes that time-outs close | `Rings::faults`, `Station::may_send` (returned by what is forgotten); `Rings::closed` |
//! | `deadlock.rs`, `livelock.rs` | searches for a cycle, and for the absence of progress | `Rings::still` |
//! | `prefetch.rs` | reads the rows of the next events early: no effect on results | |
//!
//! # Invariants
//!
//! * A unit that starts on a link is sent as a whole. `Link::free_at` is the end of the last one; none starts before it.
//! * The events of a tick are handled in the order of their numbers: first by the kinds of `tick.rs`, then by place. The
//!   starts follow, and none of them enables another one in the same tick.
//! * A packet has one row of `Rings::entries` and is in one queue. Only if its sender must remember it until its echo
//!   arrives is there a second row.
//! * A transaction keeps its row as long as `Transaction::uses` counts something that refers to it.
//! * `Rings::in_flight` counts the transactions dispatched that are not delivered, not scrubbed and not lost.

mod allocation;
mod bus;
mod choice;
mod closed;
mod deadlock;
mod fault;
mod host;
mod links;
mod livelock;
mod output;
mod parts;
mod phases;
mod prefetch;
mod state;
mod station;
mod stations;
mod tick;
mod token;
mod user;

pub use deadlock::deadlock;
pub use host::Asking;
pub use state::Rings;
pub use stations::{BusCounts, Counts};
