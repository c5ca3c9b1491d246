//! Networks of switches that are simulated character by character.
//!
//! `Fabric::is_by_character` says which these are: links have several lanes, or packets wait for credit for all their
//! characters (only then an input buffer may have a queue per output), or something else happens to packets that cannot
//! be computed far in advance: faults, time-outs, codes, priorities of ports, routes by traffic class, distribution,
//! addresses that become shorter. A link without lanes is a link with one.
//!
//! The model is `docs/background/wormhole-model.md`, from its section on lanes to that on codes; `crates/twin` computes
//! the same. Times that follow from a cause (the arrival of a character, the return of a place or of credit) are recorded
//! with the cause, so for each lane it is known when its next character could start, and for each queue when its next one
//! could cross, as soon as both causes are. When a lane may use a wire that it shares depends, character by character, on
//! the other lanes: every start and every crossing is then decided in its tick, and a character costs two events per link.
//! Links with one lane, and one queue behind it, are computed as far ahead as the causes are known.
//!
//! # Map
//!
//! | equation or rule of the page | here | in the twin |
//! |---|---|---|
//! | `S(m)`: supply, wire, credit | [`wire`]: `start`, `start_of`, `send`; [`middle`]: `start_middle`; [`ahead`]: `start_alone` | `wire.rs`: `start_on_wire`, `start_data`, `is_ready`, `send` |
//! | `A(m)` | [`input`]: `receive` | `wire.rs`: `arrive` |
//! | `F(m)`, credit in quanta | [`input`]: `give_back`; [`buffers`]: `Credit` | `wire.rs`: `take_from_input`, `credit` |
//! | `R(n)`: arrival, crossbar, place | [`input`]: `cross`, `cross_of`, `cross_one`; [`middle`]: `cross_middle`; [`ahead`]: `cross_alone`; [`buffers`]: `Places` | `switch.rs`: `cross`, `can_cross`, `cross_one`; `wire.rs`: `place_free` |
//! | which lane: on the wire, in the crossbar | [`allocate`]: `in_turn`; [`input`]: `nominate`, `take_nominated` | `switch.rs`: `in_turn`, `nominate`, `take` |
//! | at the front, `H`, request | [`input`]: `next_head`, `ask`; [`allocate`]: `request` | `switch.rs`: `next_head`, `look_at_header`, `request` |
//! | group, arbiter, choice, grant | [`allocate`]: `serve`, `choose_head`, `choose_lane`, `grant` | `switch.rs`: `arbitrate`, `choose_head`, `choose_lane`, `grant` |
//! | header deletion | [`allocate`]: `grant`; [`input`]: `cross_one` | `switch.rs`: `delete_header`, `cross_one` |
//! | release | [`input`]: `leave`; [`allocate`]: `release` | `switch.rs`: `leave`, `release` |
//! | queues per output | [`input`]: `queue_for` | `switch.rs`: `sort_in` |
//! | dispatch, delivery | [`wire`]: `dispatch`, `send_to_terminal`, `deliver` | `twin.rs`: `put_on_link`, `deliver` |
//! | packet distribution | [`distribute`]: `wait_for_all`, `kept_for`, `distribute`, `grant_all` | `distribute.rs`: `wait_for_all`, `keeps`, `distribute`, `grant_all` |
//! | down, ended, up | [`fault`]: `go_down`, `end_early`, `go_up` | `fault.rs`: `go_down`, `end_early`, `go_up` |
//! | spilled, no output | [`fault`]: `spill`, `spill_all`, `discard` | `fault.rs`: `spill`, `throw_away`, `discard` |
//! | time-outs | [`timeout`]: `watch_from_grant`, `watch`, `time_out` | `fault.rs`: `moves`, `watch` |
//! | codes: made, arrived, passed on, sent, lost | [`code`]: `make`, `arrive`, `pass_codes`, `send_code`, `lose_codes` | `code.rs`: `make_code`, `code_arrives`, `code_ready`, `start_code` |
//! | order within a tick | `run::network`: `happen`; then [`allocate`]: `decide` | `event.rs`: the order of `What` |
//!
//! # Files
//!
//! All files are methods of [`Network`]. A field is written by the files named here; the others read it.
//!
//! | file | what it does | writes |
//! |---|---|---|
//! | [`state`] | the network; when its links and ports are looked at again | `now`; `due` of links and ports when they are woken |
//! | [`parts`] | lanes, links, queues of input buffers, ports of crossbars, groups | |
//! | [`buffers`] | free places and credit, and when they return | `Places`, `Credit` |
//! | [`packet`], [`event`] | a packet and its headers; the events and their numbers | |
//! | [`wire`] | a link sends a character; dispatch and delivery | `Lane`: `outgoing`, `ready`, `places`, `credit`, `heads`, `ends`; `Link`: `free_at`, `last`, `known`, `amid`, `dispatched`, `counts`; `starts_at`; `rests_at`; `Network::packets`, also with [`distribute`] |
//! | [`input`] | characters arrive, and cross to output buffers | `Queue`: `packets`, `arrivals`, `front_at`, `asked`, `asks_at`, `output`; `Lane`: `receiving`, `ready`, `places`, `credit`, `owed`; `crosses_at`; `Port`; `rests_at` |
//! | [`middle`] | the same for characters in the middle of a packet, which are nearly all | what [`wire`] and [`input`] write for these |
//! | [`ahead`] | links of one lane: how far they are computed, and computing them | `horizon`, `looked_at`; `Port`: `free_at` |
//! | [`allocate`] | requests, grants, releases; the decisions of a tick in their order | `Group`; `Lane`: `holder`, `last_grant`, `outgoing`; `Queue`: `asks_at`, `awaits`, `since`, `strips`, `output`, `delete`; `Port::crossing`; `due` when it is over; the header of a packet |
//! | [`distribute`] | grants of several lanes at once, and the copies | `Network::distributions`; `Queue::copies`, which [`input`] clears |
//! | [`fault`] | links that fail and run again; packets that are cut, discarded and spilled | all of the above, because a cut corrects what is already known; alone `Link`: `down`, `stuck`; `Queue::spills`; `Port::spilling`; `Network::faults` |
//! | [`timeout`] | packets that have an output and do not move | `Queue`: `moved_at`, also with [`input`], and `watched_at`; `Network::watched`; `Lane`: `outgoing`, `ready` of the packet that is ended |
//! | [`code`] | time-codes and interrupts | `Network::codes`; `Link`: `free_at`, `counts` |
//! | [`deadlock`] | who waits for whom: reads only | |
//!
//! # Invariants
//!
//! * The queues of a lane have consecutive numbers, in the order of the groups of its switch. So the order of queues is
//!   the order of lanes, and among the heads of a group the rules of the page may use either.
//! * Of the packets before a wire, only the last can still have characters to come: those in the queue `Lane::holder`,
//!   as long as that has the lane as its `output` or among its `copies`.
//! * The length in `Outgoing` and the characters left in `Incoming` are those that will really pass: a cut corrects
//!   them on all links on which the packet already is.
//! * `starts_at` of a lane is known as soon as the times of its next character and of credit for it are, and `crosses_at`
//!   of a queue that was granted a lane as soon as those of its next character and of a place for it are. Nothing moves
//!   them later but a fault or a time-out; a link with a known one is woken no later than that, or than its wire is free.
//!   `known` has the lanes whose `starts_at` is.
//! * What is computed in advance is before the `horizon`, and so before the next fault, the next move of a code and the
//!   next tick at which the run looks at the state or the counts. A crossing is, besides, before the time-out of its packet.
//! * `due` of a link or port is the earliest tick for which it is scheduled. An event of a later tick finds another
//!   `due` and does nothing, so events need not be removed. The same holds for `asks_at` and `watched_at` of a queue.
//! * A lost packet is counted once, when its first piece is lost, and forgotten with its last piece.

mod ahead;
mod allocate;
mod buffers;
mod code;
mod deadlock;
mod distribute;
mod event;
mod fault;
mod input;
mod middle;
mod packet;
mod parts;
mod state;
mod timeout;
mod wire;

pub use deadlock::deadlock;
pub use event::Event;
pub use fault::Losses;
pub use packet::Packet;
pub use state::Network;
