//! Networks of links and switches: wormhole routing with credit flow control.
//!
//! The equations of the model are in `docs/background/wormhole-model.md`; `crates/twin` computes the same, one
//! character at a time. Here the times of many characters are computed at once, as runs at equal intervals, as far as
//! they follow from what is known. A time is unknown only while it depends on a future grant, or is not before the
//! horizon of its wire. A terminal is here one of its ports: only sources, programs and statistics know terminals of several ports.
//! So the only events are requests, contended releases (those of links for which heads wait), dispatches,
//! deliveries, the arrival of a first character if programs need it, and what acts on wires from outside.
//!
//! # Map
//!
//! | equation or rule of the page | here | in the twin |
//! |---|---|---|
//! | `S_o(m)`: supply, wire, credit | [`burst`]: `View::burst`; sent by [`transmit`], long packets also by [`stream`] and [`rounds`] | `wire.rs`: `start_on_wire`, `start_data` |
//! | `A_o(m)` | [`model`]: `Kind::arrival` | `wire.rs`: `arrive` |
//! | `F(m)`, credit in quanta | [`model`]: `Kind::first_returned`; [`credit`]: `take_early`, `keep`, `take_kept`; [`burst`]: `Taken::take` | `wire.rs`: `take_from_input`, `credit` |
//! | `R_l(n)`: arrival, grant and crossbar, place | [`departures`]: `Places`; of stepwise switches [`stepwise`] | `switch.rs`: `cross_one`; `wire.rs`: `place_free` |
//! | at the front, `H`, request | [`packet_path`]: `ask`; [`model`]: `Kind::request` | `switch.rs`: `next_head`, `look_at_header`, `request` |
//! | group, arbiter, choice, grant | [`arbiter`]: `serve`, `request_alone`; [`allocation`]; [`packet_path`]: `grant`; [`whole`]: `grant_whole` | `switch.rs`: `arbitrate`, `choose_head`, `choose_lane`, `grant` |
//! | header deletion | [`packet_path`]: `strip`; [`buffers`]: `InputBuffer::deleted` | `switch.rs`: `delete_header`, `cross_one` |
//! | release, next head | [`packet_path`]: `left`; [`model`]: `Kind::release`, `at_front` | `switch.rs`: `leave`, `release` |
//! | dispatch, delivery | [`packet_path`]: `dispatch`, `sent`, `deliver` | `twin.rs`: `put_on_link`, `deliver` |
//! | order within a tick | `run::network`: `happen`, then `decide` | `event.rs`: the order of `What` |
//! | codes: made, arrived, passed on; sent | `links::codes`: `make`, `arrive`, `pass`; [`horizon`]: `send_code` | `code.rs`: `make_code`, `code_arrives`, `code_ready`, `start_code` |
//! | time-outs | [`watchdog`]: whether there might be one | `fault.rs`: `moves`, `watch` |
//! | down, up; stuck | [`outages`]: `go_down`, `go_up`; [`horizon`]: `stop` | `fault.rs`: `go_down`, `go_up`; `wire.rs`: `stop` |
//! | ended; spilled, discarded | [`cuts`]: `cut`, `end_early`; `spill`, `discard` | `fault.rs`: `end_early`; `spill`, `throw_away`, `discard` |
//! | horizon | [`horizon`]: `Outside::horizon`, `hold`, `look`, `resume`; of codes `Paths::next` | `wire.rs`: `stop` |
//!
//! # Files
//!
//! | file | what it does | who may write its state |
//! |---|---|---|
//! | [`state`] | the network: its links, groups, packets and events; all but the links apart | `work` by [`transmit`] and [`packet_path`], `touched` and `lost` by [`arbiter`], `packets` by [`packet_path`], `has_long` by [`demand`] and [`horizon`], `parts` by [`stream`], `rounds` by [`rounds`], `exits` by [`stepwise`], `outside` and `next_outside` by [`horizon`] |
//! | [`link`] | a link: its parts, each of which changes only by the verbs of its own file, and its constants | |
//! | [`model`] | the equations, one function each | |
//! | [`wire`] | when characters start on a wire, and when it is free | `send` by [`transmit`], [`fast`], [`stream`] and [`rounds`], `send_groups` by [`stream`], `send_unseen` by [`rounds`], `hold_until` by [`departures`], [`early`] and [`horizon`], `set_horizon` by [`horizon`], `put_off`, `put_off_unseen` and `make_room` by [`departures`] |
//! | [`credit`] | how much may be sent, which departures return more, and the credit of departed packets | `spend` by [`transmit`] and [`stream`], `pay` by [`rounds`], `set_waits` by [`transmit`], [`stream`] and [`rounds`], `keep` by [`departures`] and [`rounds`], `take_kept` by [`departures`], `take_early` by [`early`], `renew` by [`packet_path`], `give_back` and `end` by [`cuts`]; all of it anew by [`outages`] |
//! | [`buffers`] | the packets in the two buffers, and the numbers of their characters on either side | `dispatch`, `ask`, `grant`, `leave`, `release` by [`packet_path`]; `crossed` by [`stepwise`]; `keep_entered` by [`departures`], `take_entered` by [`transmit`] |
//! | [`timeline`] | times of characters as straight runs, looked up by number | starts by [`wire`], places by [`departures`], departures by [`stepwise`] |
//! | [`queue`] | the same, taken in order | kept credit by [`credit`], characters in an output buffer by [`buffers`] |
//! | [`burst`] | how far a link can send: reads only | |
//! | [`transmit`] | the one step that sends, and notifies the links that depend on it | |
//! | [`demand`] | long packets on links that nobody looks at: left behind while the end cannot leave its source | |
//! | [`due`] | whether a link sends in the current event, or was left behind | `wake` by [`transmit`], [`packet_path`] and [`whole`]; `set_woken` by [`transmit`]; `leave_behind` by [`demand`] and [`horizon`]; `catch_up` by [`demand`] and [`worm`] |
//! | [`fast`] | limits that are proved not to apply where a packet begins | |
//! | [`stream`] | packets that stream to their terminals: their ends on all links at once | |
//! | [`rounds`] | the same over long cables, where no run is long: character by character in one loop | |
//! | [`whole`] | packets sent to their ends on two links at a grant | by the verbs of [`transmit`], [`packet_path`] and [`fast`] |
//! | [`departures`] | when characters leave input buffers (looked up), and the credit that follows | |
//! | [`stepwise`] | when they leave (stored), at the few switches where it has to be computed in order | |
//! | [`early`] | credit that is in time whatever is sent next, taken at once | |
//! | [`packet_path`] | a packet at its dispatch, request, grant, departure, delivery | |
//! | [`heads`] | the first characters of packets at terminals, for programs | `tell_begun` by [`packet_path`], [`transmit`] and [`whole`] |
//! | [`allocation`], [`arbiter`], [`routes`] | the groups and the heads that wait for them; which link a head gets; the group of each class | `enqueue`, `touch`, `begin`, `take_first`, `serve`, `release` by [`arbiter`]; `close`, `open` by [`outages`]; `look_up`, `draw`, `granted`, `hold`, `unhold` by [`packet_path`]; `announce` by both |
//! | [`horizon`] | what acts on wires from outside; nothing is computed beyond it | `hold` by [`transmit`]; `renew_horizon` by [`packet_path`] and [`stream`]; `stop` and `happens_outside` by `run` |
//! | [`outages`] | links that fail and run again, and whether more than that has happened | `fail` by [`horizon`] |
//! | [`cuts`] | what is lost then: packets that end early, and those that are spilled | `cut`, `discard_waiting` by [`outages`], `discard` by `run`, `piece_gone` by [`packet_path`] |
//! | [`worm`] | the packets on a link, in the order in which they are sent | `append` and `take_head` by [`packet_path`], `has_begun` by [`transmit`] and [`fast`], `sent` by all that send, `bind` by [`departures`] |
//! | [`sent`] | counts of a link for the table of links | `add` by [`worm`], `is_interrupted` by [`horizon`]; cleared by [`state`] |
//! | [`trace`] | which link a packet was on, and how long | `hops` by its own `keep_hop` |
//! | [`deadlock`], [`standstill`], [`watchdog`] | queries of a run: read only | `overstays` by [`packet_path`] |
//!
//! Shortcuts: [`fast`] omits limits where a packet begins. Five others need more than one link or step: [`whole`] two
//! links, [`early`] credit before a packet asks for it, [`demand`] all links of a packet whose end cannot leave its
//! source, [`stream`] and [`rounds`] those of one that streams to its terminal. One is not about times:
//! `arbiter::request_alone`. Each states its equation, its conditions, what happens otherwise and its gain.
//!
//! # Invariants
//!
//! * Characters are numbered consecutively on each link. `OutputBuffer::shift` is the difference to the numbers on the
//!   link on which a packet arrives; it is valid for the packet granted last, the only one that can still be in the
//!   input buffer.
//! * `Wire::starts` holds every start up to `known()` that is still looked up, and is never changed. Computed times
//!   depend only on causes in earlier ticks, because all delays are positive. So the order in which links send does not
//!   matter, and what acts on a wire at its horizon undoes nothing.
//! * A link that could send beyond the horizon of its wire is held: it is looked at when that is reached.
//! * Credit is taken by quanta, in order. `Credit::next_quantum` is the character that has to leave for the next
//!   quantum; the credit of departed packets is stored there too.
//! * Between two events no link can send more, unless it was left behind ([`demand`]) or rests ([`horizon`]). Within an event, a link that can
//!   is in the list `Network::work`, or is the next to send. [`standstill()`] searches for links that violate this.
//! * Supply never waits for a place or for the crossbar at a switch that is not stepwise: there a full buffer takes at
//!   least as long to send as the path to the wire, and the crossbar is no slower than a character. Both only delay
//!   credit and the departure of the end of packet.

mod allocation;
mod arbiter;
mod buffers;
mod burst;
mod credit;
mod cuts;
mod deadlock;
mod demand;
mod departures;
mod due;
mod early;
mod fast;
mod heads;
mod horizon;
mod link;
mod model;
mod outages;
mod packet_path;
pub mod queue;
mod rounds;
mod routes;
mod sent;
mod standstill;
mod state;
mod stepwise;
mod stream;
pub mod timeline;
mod trace;
mod transmit;
mod watchdog;
mod whole;
mod wire;
mod worm;

pub use deadlock::deadlock;
pub(crate) use link::{Kind, kinds};
pub(crate) use routes::Routes;
pub use standstill::{Fault, Standstill, standstill};
pub use state::{Event, Network, PacketState};
