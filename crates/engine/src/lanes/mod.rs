//! Networks of switches that are simulated character by character.
//!
//! `Fabric::has_lanes` says which these are: links have several lanes, or packets wait for credit for all their
//! characters (only then an input buffer may have a queue per output), or something else happens to packets that cannot
//! be computed far in advance: faults, time-outs, codes, priorities of ports, routes by traffic class, distribution,
//! addresses that become shorter. A link without lanes is a link with one.
//!
//! The model is `docs/background/wormhole-model.md`, from its section on lanes to that on codes; `crates/twin` computes
//! the same. When a lane may use its wire depends, character by character, on the other lanes, so nothing is computed
//! in advance here: every start on a wire and every crossing is decided in its tick. Times that follow from a cause
//! (the arrival of a character, the return of a place or of credit) are recorded with the cause and looked up when
//! needed, so a character costs two events per link.
//!
//! # Map
//!
//! | equation or rule of the page | here | in the twin |
//! |---|---|---|
//! | `S(m)`: supply, wire, credit | [`wire`]: `start`, `ready_at`, `send` | `wire.rs`: `start_on_wire`, `start_data`, `is_ready`, `send` |
//! | `A(m)` | [`input`]: `receive` | `wire.rs`: `arrive` |
//! | `F(m)`, credit in quanta | [`input`]: `give_back` | `wire.rs`: `take_from_input`, `credit` |
//! | `R(n)`: arrival, crossbar, place | [`input`]: `cross`, `crosses_at`, `place_at`, `cross_one` | `switch.rs`: `cross`, `can_cross`, `cross_one`; `wire.rs`: `place_free` |
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
//! | [`state`] | the network and its parts: lanes, links, queues of input buffers, groups | `now`; `due` of links and ports when they are woken |
//! | [`packet`], [`event`] | a packet and its headers; the events and their numbers | |
//! | [`wire`] | a link sends a character; dispatch and delivery | `Lane`: `outgoing`, `ready`, `places`, `credit`, `heads`, `ends`; `Link`: `free_at`, `last`, `amid`, `dispatched`, `counts`; `Network::packets`, also with [`distribute`] |
//! | [`input`] | characters arrive, and cross to output buffers | `Queue`: `packets`, `front_at`, `asked`, `asks_at`, `output`; `Lane`: `receiving`, `ready`, `places`, `returns`, `owed`; `Port` |
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
//! * `due` of a link or port is the earliest tick for which it is scheduled. An event of a later tick finds another
//!   `due` and does nothing, so events need not be removed. The same holds for `asks_at` and `watched_at` of a queue.
//! * A lost packet is counted once, when its first piece is lost, and forgotten with its last piece.

mod allocate;
mod code;
mod deadlock;
mod distribute;
mod event;
mod fault;
mod input;
mod packet;
mod state;
mod timeout;
mod wire;

pub use deadlock::deadlock;
pub use event::Event;
pub use fault::Losses;
pub use packet::Packet;
pub use state::Network;
