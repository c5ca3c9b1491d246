//! Networks of switches whose packets pass whole: virtual cut-through with credit for whole packets.
//!
//! A packet starts on a link only with credit for all its characters, and its link sends nothing else until its end. Then
//! nothing that happens later delays a character: if the first one starts at S, character j starts at S + j c, where c is the
//! time of a character. So all that is computed is one start for each packet and link, and all that is stored; when
//! characters arrive, cross and leave places is looked up where credit, a release or the next packet of a queue needs it.
//!
//! # Conditions
//!
//! `Fabric::is_by_packet` checks them. Of the terms of S for a character that is not the first, *credit* never binds with
//! credit for whole packets, and *wire* is S(m-1) + c if no other lane sends within a packet. *Supply* does not bind if
//!
//! * characters arrive as fast as they are sent: a packet that goes on faster waits until they do;
//! * the crossbar is no slower, and nothing competes for it: links have one lane and one queue, or it takes no time;
//! * the output buffer covers the way to the wire: it takes no longer than all places but one;
//! * an end of packet takes as long as a character.
//!
//! Behind a deleted header of h characters the packet is h shorter, and the first one that remains crosses no earlier than
//! the last one deleted has left.
//!
//! With `grant_with_room` a lane is granted no earlier than its release and the credit for the longest packet: both are
//! looked up in the same way, and one event looks at its groups again. With `link_ring` it is granted by places, and not
//! every head that waits can take a lane that another one can.
//!
//! A packet that is cut has a new end: an error end, which may come at any time: at `Stay::end`, and as a row of its own
//! among what a lane has sent. It is looked up in the same way, and is known on all links on which the packet is.
//!
//! Time-outs, codes and packet distribution end or delay packets in other ways: with these, and without these conditions,
//! the room `lanes` computes the network, character by character; and so it does with wrong bits, other rates, links that
//! stop within a packet or for ever, and packets that are cut where switches pause.
//!
//! # Map
//!
//! | equation or rule of the page | here | in the twin |
//! |---|---|---|
//! | `S(m)`: supply, wire, credit | [`wire`]: `ready_at`, `start`, `send` | `wire.rs`: `start_on_wire`, `start_data`, `is_ready`, `send` |
//! | `A(m)`, `F(m)`, `H`, release, at the front, delivery | `switched/model.rs`: `arrival`, `must_have_left`, `request`, `release`, `at_front`, `delivery` | `wire.rs`: `arrive` |
//! | credit for whole packets | [`departures`]: `credit_at` | `wire.rs`: `is_ready`, `credit` |
//! | down, ended, up; stuck | [`outages`]: `go_down`, `cut`, `correct`, `go_up`, `stop` | `fault.rs`: `go_down`, `end_early`, `go_up`; `wire.rs`: `stop` |
//! | spilled, no output, tables | [`outages`]: `spill`, `finds_route`; [`departures`]: `departure`; [`input`]: `entry` | `fault.rs`: `spill`, `throw_away`, `discard`; `switch.rs`: `routed` |
//! | pause | [`pause`]: `goes_on_at`, `catch_up` | `wire.rs`: `store`, `is_ready` |
//! | memory that ports share | [`memory`]: `take_in`, `take`, `give_back`, `tells`, `look_at_memory` | `memory.rs`: `takes_places`, `gives_places_back`, `survey` |
//! | a full buffer | [`pause`]: `admit`, `discard` | `wire.rs`: `is_dropped`; `fault.rs`: `lose` |
//! | `R(n)`: arrival, grant and crossbar, place | [`departures`]: `departure`, `left_by`, `place_at` | `switch.rs`: `cross`, `can_cross`, `cross_one`; `wire.rs`: `place_free` |
//! | which lane sends | [`wire`]: `turn`; `links::arbiter`: `choose`, `charge` | `switch.rs`: `in_turn`; `arbiter.rs`: `whose_turn`, `of_tables`, `occupy` |
//! | at the front, request | [`input`]: `ask`; [`allocate`]: `request` | `switch.rs`: `next_head`, `look_at_header`, `request` |
//! | group, arbiter, choice, grant | [`allocate`]: `serve`, `choose_head`, `choose_lane`, `grant` | `switch.rs`: `arbitrate`, `choose_head`, `choose_lane`, `grant` |
//! | no gaps | [`allocate`]: `shorten` | `wire.rs`: `follows_at` |
//! | header deletion | [`allocate`]: `shorten`; [`departures`]: `departure` | `switch.rs`: `delete_header`, `cross_one` |
//! | release | [`input`]: `leave`; [`allocate`]: `release` | `switch.rs`: `leave`, `release` |
//! | room behind a lane that is granted | [`departures`]: `has_room`, `room_at`; [`allocate`]: `announce` | `wire.rs`: `has_room`, `credit` |
//! | places in a ring | [`rings`]: `has_places`, `able_at`; [`allocate`]: `choose_able` | `wire.rs`: `has_places`, `place_back` |
//! | queues per output | [`input`]: `queue_for` | `switch.rs`: `sort_in` |
//! | dispatch, delivery | [`wire`]: `dispatch`, `deliver` | `twin.rs`: `put_on_link`, `deliver` |
//! | congestion: marked, told, rests | [`congestion`]: `join`, `give_up`, `mark`, `notify`, `rests_until`; `links::congestion`: `joins`, `grants`, `sends` | `congestion.rs`: `mark`, `notify`, `rests_until` |
//! | the queues that a packet chooses by | [`departures`]: `occupied`; [`allocate`]: `waiting` | `by_queue.rs`: `occupied`, `waiting` |
//! | order within a tick | `run::network`: `happen`; then [`allocate`]: `decide` | `event.rs`: the order of `What` |
//!
//! # Files
//!
//! All files are methods of [`Network`]. A field is written by the files named here; the others read it.
//!
//! | file | what it does | writes |
//! |---|---|---|
//! | [`state`] | the network, and its counts | `looked_at`, `hops`; `counted`, `late`, `stalled_ticks` when counts are cleared |
//! | [`parts`] | stays of packets, queues, lanes, links; the events and their numbers | `Lane::charged` |
//! | [`wire`] | dispatch, starts, delivery | `Link`; `Lane`: `sent`, `started`, `first`; `Stay`: `start`, `end`; `packets`; `wires` |
//! | [`departures`] | when characters leave, looked up; credit | `Lane`: `departed`, `crossing` |
//! | [`input`] | packets arrive, request and leave | `Queue`; `Stay`: `entry`, `queue`, `left`, `from`; `Lane`: `free_at`, `coming` when it is released |
//! | [`allocate`] | requests, grants, releases; the decisions of a tick in their order | `Groups`; `Stay::out`; `Link`: `waiting`, `wait_ticks`; `Lane`: `granted`, `last`, `coming`, `free_at`, `last_grant`, `release_due`, `crossing`; `Packet::headers` |
//! | [`rings`] | places behind lanes, and who may come into a ring: reads only | |
//! | [`pause`] | switches that pause senders, and packets without room | `stores`, `lost` |
//! | [`memory`] | memories that the ports of a switch share, and whom they pause | `memory` |
//! | [`congestion`] | packets that are marked, and ports that rest | `congestion`, also with [`wire`] and [`outages`]; `Packet::marked` |
//! | [`outages`] | links that fail and run again, what that cuts, spills and discards, and whether more has happened | `outages`, `void`, `lost`, `remains`; `Packet::pieces`; `Stay::spills`; all of the above for packets that are cut, because a cut corrects what is already known |
//! | [`deadlock`] | who waits for whom: reads only | |
//!
//! # Invariants
//!
//! * Packets start on a lane in the order of their grants. Of those granted a lane only the last one, `coming`, can be one
//!   whose end is not known to leave the buffer before: the lane is granted again only after its release. So a packet that
//!   is cut is the `last` one on each lane behind the cut.
//! * What is known changes when a packet starts, and when one is granted a lane. Then `follow` looks at the packet that
//!   still comes, and `look_again` at the wire before the buffer that it leaves: credit can only become earlier.
//! * `due` of a link is the earliest tick for which it is scheduled. An event of a later tick finds another one and does
//!   nothing. A lane that waits alone can start then, unless it is paused: after a cut, `correct` looks again.
//! * `sent` of a lane has every packet of which a character may be looked up at a tick less than `keep` ago.
//! * Where cuts are possible a packet requests only if `Out::grant` is the tick of the event, and is at its terminal only
//!   when its end has come: what was scheduled before a cut need not be removed.
//! * A lost packet is counted once, when its first piece is lost, and forgotten with its last piece.
//! * A stay is forgotten when its credit has been counted, or its packet delivered. What is looked up of the next link of
//!   its packet is in `Stay::out`, because that stay may be forgotten earlier.

mod allocate;
mod congestion;
mod deadlock;
mod departures;
mod input;
mod memory;
mod outages;
mod parts;
mod pause;
mod rings;
mod state;
mod wire;

pub use deadlock::deadlock;
pub use parts::Event;
pub use state::{Network, Packet};
