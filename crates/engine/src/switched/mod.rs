//! Networks of links and switches: wormhole routing with credit flow control.
//!
//! The model is given in equations in `docs/background/wormhole-model.md`; `crates/twin` computes the same, a character at a
//! time. Here the times of characters are computed as far as they follow from what is known, many at once, as runs at
//! equal steps. A time is unknown only while it depends on a grant that has not been made or on a
//! horizon that has not come, so only requests, contended releases, dispatches, deliveries and horizons are events.
//!
//! # Map
//!
//! | equation or rule of the page | here | in the twin |
//! |---|---|---|
//! | `S_o(m)`: supply, wire, credit | [`burst`]: `View::burst`; written by [`transmit`] | `wire.rs`: `start_on_wire`, `start_data` |
//! | `A_o(m)` | [`model`]: `Kind::arrival` | `wire.rs`: `arrive` |
//! | `F(m)`, credit in quanta | [`model`]: `Kind::first_returned`; [`credit`]: `Credit::keep`, `take_kept` | `wire.rs`: `take_from_input`, `credit` |
//! | `R_l(n)`: arrival, grant and crossbar, place | [`departures`]: `Places`; of tight switches [`stepwise`] | `switch.rs`: `cross_one`; `wire.rs`: `place_free` |
//! | at the front, `H`, request | [`packet_path`]: `ask`; [`model`]: `Kind::request` | `switch.rs`: `next_head`, `look_at_header`, `request` |
//! | group, arbiter, choice, grant | [`arbiter`]: `serve`; [`allocation`]; [`packet_path`]: `grant` | `switch.rs`: `arbitrate`, `choose_head`, `choose_link`, `grant` |
//! | header deletion | [`packet_path`]: `strip`; [`buffers`]: `InputBuffer::deleted` | `switch.rs`: `grant`, `cross_one` |
//! | release, next head | [`packet_path`]: `left`; [`model`]: `Kind::release`, `at_front` | `switch.rs`: `leave`, `release` |
//! | dispatch, delivery | [`packet_path`]: `dispatch`, `sent`, `deliver` | `twin.rs`: `put_on_link`, `deliver` |
//! | order within a tick | `run::network`: `happen`, then `decide` | `event.rs`: `What::phase` |
//! | horizon | [`horizon`]: `Horizon` | `wire.rs`: `stop` |
//!
//! # What goes where
//!
//! | file | what it does | who may write its state |
//! |---|---|---|
//! | [`link`] | a link: the rows of state, each with private fields, and what never changes on it | |
//! | [`wire`] | when characters start on a wire, and when it is free | `send` by [`transmit`] and [`demand`], `hold_until` by [`departures`] |
//! | [`credit`] | what may be sent, what has to leave for more, what packets left behind | `spend` by [`transmit`], `pay` by [`demand`], `keep` and `take_kept` by [`departures`] |
//! | [`buffers`] | whose packet is in the two buffers, and how its characters are numbered on either side | `dispatch`, `ask`, `grant`, `leave`, `release` by [`packet_path`]; `crossed` by [`stepwise`] |
//! | [`timeline`], [`queue`] | times of characters as straight runs: looked up by number, or taken in order | [`transmit`] (starts), [`departures`] (places, kept credit), [`stepwise`] (departures) |
//! | [`burst`] | how far a link can send: reads only | |
//! | [`transmit`] | the one step that sends, and tells the links that depend on it | |
//! | [`demand`] | what long packets do where nobody looks: left behind, and caught up with in one go | |
//! | [`due`] | whether a link is to send in the present event, or was left behind | `wake`, `set_woken` by [`transmit`], [`fast`] and [`packet_path`]; `leave_behind` by [`demand`] |
//! | [`fast`] | what is proved beforehand and so not asked for, each with its equation and its fall-back | |
//! | [`departures`] | when characters leave input buffers, looked up, and the credit that follows | |
//! | [`stepwise`] | the same written down, for the few switches where it has to be computed in order | |
//! | [`packet_path`] | a packet at its dispatch, request, grant, departure, delivery | |
//! | [`allocation`], [`arbiter`], [`routes`] | which link a head gets | `hold`, `unhold`, `enqueue`, `take_first`, `serve` |
//! | [`horizon`] | what may happen to a link from outside, and that nothing is computed past it | |
//! | [`worm`] | the packets on a link, in the order in which they are sent | `append` and `take_head` by [`packet_path`], `sent` by all that send |
//! | [`sent`] | what a link has sent completely, for the table of links | `add` by [`worm`] |
//! | [`deadlock`], [`standstill`], [`trace`] | what a run looks up: read only | |
//!
//! # Invariants
//!
//! * Characters are numbered consecutively on each link. `OutputBuffer::shift` is the difference to the numbers on the link by
//!   which a packet comes; it holds for the packet granted last, the only one that can still be in the input buffer.
//! * `Wire::starts` holds every start up to `known()` that is looked up, and is never changed. What is computed only needs
//!   causes of earlier ticks, for all delays are positive: so the order in which links send does not matter, and a test may
//!   stop a link at a horizon without anything having to be taken back.
//! * Credit is taken a quantum at a time, in order. `Credit::next_quantum` is the character that has to leave for the next one;
//!   what packets that have left returned is kept there.
//! * Between two events no link can go on, unless it was left behind ([`demand`]): who could is on the list
//!   `Network::work`, or the present link tells it. [`standstill()`] looks for links of which this is not true.
//! * Supply never waits for a place or for the crossbar at a switch that is not stepwise: there a bufferful takes at least as
//!   long as the way to the wire, and the crossbar is no slower than a character. Both only delay credit and the end.

mod allocation;
mod arbiter;
mod buffers;
mod burst;
mod credit;
mod deadlock;
mod demand;
mod departures;
mod due;
mod fast;
mod horizon;
mod link;
mod model;
mod packet_path;
pub mod queue;
mod routes;
mod sent;
mod standstill;
mod state;
mod stepwise;
pub mod timeline;
mod trace;
mod transmit;
mod wire;
mod worm;

pub use deadlock::deadlock;
pub use standstill::{Fault, Standstill, standstill};
pub use state::{Event, Network, PacketState};
