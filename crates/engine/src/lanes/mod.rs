//! Networks of switches that are simulated character by character.
//!
//! `Fabric::is_by_character` says which these are: links have several lanes, or packets wait for credit for all their
//! characters (only then an input buffer may have a queue per output), or packets are distributed. Not those of the room
//! `cut_through`, which `Fabric::is_by_packet` selects before. Others begin again here when something happens to packets
//! that cannot be computed far in advance: faults and time-outs. A link without lanes is a link with one.
//!
//! The model is `docs/background/wormhole-model.md`, from its section on lanes to that on codes; `crates/twin` computes
//! the same. Times that follow from a cause (the arrival of a character, the return of a place or of credit) are recorded
//! with the cause, so for each lane it is known when its next character could start, and for each queue when its next one
//! could cross, as soon as both causes are. When a lane may use a wire or a crossbar that it shares depends, character by
//! character, on the other lanes: a start or a crossing is then decided in its tick. What nothing competes with is
//! computed as far ahead as the causes are known, many characters at equal steps at once: wires of one lane and those of
//! terminals, a packet or frame that has the wire until its end, crossbars that take no time, and those that a packet has
//! until its end as long as its characters follow each other. A character that crosses to a wire with nothing else to send
//! starts there in the same step.
//!
//! # Map
//!
//! | equation or rule of the page | here | in the twin |
//! |---|---|---|
//! | `S(m)`: supply, wire, credit | [`parts`]: `start_of`; [`wire`]: `start`, `send`; [`middle`]: `start_middle`, `start_ahead`, `leave_at_once`, `pass`; [`ahead`]: `start_alone` | `wire.rs`: `start_on_wire`, `start_data`, `is_ready`, `send` |
//! | `A(m)` | [`input`]: `receive` | `wire.rs`: `arrive` |
//! | ends of packet that are not filled up, lanes of terminals | [`wire`]: `padding_ticks`, `dispatch` | `wire.rs`: `padding`, `is_ready` |
//! | `F(m)`, credit in quanta | [`agenda`]: `give_back`, `give_back_run`; [`buffers`]: `Credit` | `wire.rs`: `take_from_input`, `credit` |
//! | `R(n)`: arrival, crossbar, place | [`parts`]: `cross_of`; [`input`]: `cross`, `cross_only`, `cross_one`; [`middle`]: `cross_middle`, `cross_ahead`, `pass`; [`ahead`]: `cross_alone`; [`buffers`]: `Places` | `switch.rs`: `cross`, `can_cross`, `cross_one`; `wire.rs`: `place_free` |
//! | which lane: on the wire, in the crossbar | `fabric::words`: `in_turn`; [`input`]: `nominate`, `cross_only`, `choose_nominated`, `take_nominated` | `switch.rs`: `in_turn`, `nominate`, `take` |
//! | frames, priorities, reservations, tables | [`arbiter`]: `start_by_rules`, `next_by_rules`, `choose_by_rules`; `links::arbiter`: `choose`, `charge` | `arbiter.rs`: `start_by_rules`, `whose_turn`, `of_tables`, `occupy` |
//! | at the front, `H`, request | [`input`]: `next_head`, `ask`; [`allocate`]: `request` | `switch.rs`: `next_head`, `look_at_header`, `request` |
//! | group, arbiter, choice, grant | [`allocate`]: `serve`, `choose_head`, `choose_lane`, `grant` | `switch.rs`: `arbitrate`, `choose_head`, `choose_lane`, `grant` |
//! | no gaps | [`allocate`]: `follows_at` | `wire.rs`: `follows_at` |
//! | header deletion | [`allocate`]: `grant`; [`input`]: `cross_one` | `switch.rs`: `delete_header`, `cross_one` |
//! | release | [`input`]: `leave`; [`allocate`]: `release` | `switch.rs`: `leave`, `release` |
//! | queues per output | [`input`]: `queue_for` | `switch.rs`: `sort_in` |
//! | dispatch, delivery | [`wire`]: `dispatch`, `send_to_terminal`, `deliver` | `twin.rs`: `put_on_link`, `deliver` |
//! | congestion: marked, told, rests | [`congestion`]: `join`, `give_up`, `mark`, `rests_until`; [`wire`]: `deliver`; `links::congestion`: `joins`, `grants`, `sends` | `congestion.rs`: `mark`, `notify`, `rests_until` |
//! | the queues that a packet chooses by | [`allocate`]: `occupied`, `waiting` | `by_queue.rs`: `occupied`, `waiting` |
//! | packet distribution | [`distribute`]: `wait_for_all`, `kept_for`, `distribute`, `grant_all` | `switch.rs`: `wait_for_all`, `keeps`, `distribute`, `grant_all` |
//! | pause: stored, said, heard; stopped links | [`pause`]: `will_store`, `look_at_stores`, `hear`, `open` | `wire.rs`: `store`, `look_at_store`, `pause`, `is_ready` |
//! | down, ended, up | [`fault`]: `go_down`, `end_early`, `go_up` | `fault.rs`: `go_down`, `end_early`, `go_up` |
//! | spilled, no output | [`fault`]: `spill`, `spill_all`, `discard` | `fault.rs`: `spill`, `throw_away`, `discard` |
//! | wrong bits, another rate | [`repeat`]: `is_put_off`, `change_rate`; [`link`]: `changes_rate` | `wire.rs`: `is_put_off`; `fault.rs`: `change_rate` |
//! | time-outs | [`timeout`]: `watch_from_grant`, `watch`, `time_out` | `fault.rs`: `moves`, `watch` |
//! | codes: made, arrived, passed on, sent, lost | [`code`]: `pass_codes`, `send_code`, `lose_codes`; `links::codes`: `make`, `arrive`, `pass`, `start`, `lose` | `code.rs`: `make_code`, `code_arrives`, `code_ready`, `start_code` |
//! | order within a tick | `run::network`: `happen`; then [`allocate`]: `decide` | `event.rs`: the order of `What` |
//!
//! # Files
//!
//! All files are methods of [`Network`]. A field is written by the files named here; the others read it.
//!
//! | file | what it does | writes |
//! |---|---|---|
//! | [`state`] | the network | |
//! | [`agenda`] | the tick; when links are looked at again, and when the next characters of lanes and queues are known; credit that returns | `Agenda`; `due` of links and ports when they are woken; `starts_at` and `crosses_at` when they become known; `Lane`: `owed` |
//! | [`parts`] | lanes, queues of input buffers, groups | |
//! | [`link`] | what the lanes of a link share: wire, counts, ports of crossbars | `Link`: `within_from`, `busy_before`, `amid`, `counts` |
//! | [`times`] | rows of times, as runs at equal steps | `Run`, `Times` |
//! | [`buffers`] | free places and credit, and when they return | `Places`, `Credit` |
//! | [`packet`], [`event`] | a packet and its headers; the events and their numbers | |
//! | [`wire`] | a link sends a character; dispatch and delivery | `Lane`: `outgoing`, `ready`, `places`, `credit`, `heads`, `ends`; `Link`: `free_at`, `last`, `known`, `dispatched`, `needed`, `counts`; `starts_at`; `Network::packets`, also with [`distribute`] |
//! | [`arbiter`] | frames, and which lane sends by priorities, reservations and tables | `Network::wires`; `Link`: `free_at`, `counts` |
//! | [`input`] | characters arrive, and cross to output buffers | `Queue`: `packets`, `arrivals`, `front_at`, `asked`, `asks_at`, `output`; `Lane`: `receiving`, `ready`, `places`; `crosses_at`; `Port` |
//! | [`middle`] | the same for characters in the middle of a packet, which are nearly all | what [`wire`] and [`input`] write for these |
//! | [`ahead`] | what nothing competes with: how far it is computed, and computing it | `Agenda::horizon`, `looked_at` |
//! | [`allocate`] | requests, grants, releases; the decisions of a tick in their order | `Group`; `Lane`: `holder`, `last_grant`, `outgoing`; `Link`: `free`; `Queue`: `asks_at`, `awaits`, `since`, `strips`, `output`, `delete`; `Port::crossing`; the header of a packet |
//! | [`distribute`] | grants of several lanes at once, and the copies | `Network::distributions`; `Queue::copies`, which [`input`] clears |
//! | [`fault`] | links that fail and run again; packets that are cut, discarded and spilled | all of the above, because a cut corrects what is already known; alone `Link`: `down`, `stuck`; `Queue::spills`; `Port::spilling`; `Network::faults` |
//! | [`pause`] | switches that pause senders | `Network::pauses`; `Lane`: `credit`, `starts_at` |
//! | [`repeat`] | characters that are sent again, and links that change their rate | `Link`: `repeats_until` |
//! | [`timeout`] | packets that have an output and do not move | `Queue`: `moved_at`, also with [`input`], and `watched`; `Agenda::watches`; `Lane`: `outgoing`, `ready` of the packet that is ended |
//! | [`code`] | time-codes and interrupts | `Network::codes`; `Link`: `free_at`, `counts` |
//! | [`congestion`] | packets that are marked, and ports that rest | `congestion`, also with [`wire`]; `Packet::marked` |
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
//!   `known` has the lanes whose `starts_at` is, and `free` those whose `holder` is none.
//! * The first of the `arrivals` of a queue are those of the packet at its front: what is behind follows its end.
//! * Where characters of a lane cross ahead from several queues, credit may return earlier than some that is known. It is
//!   sorted in, and `starts_at` corrected. This is done only where a packet that has begun has all its credit.
//! * What is computed in advance is before the `horizon`, and so before the next fault, the next move of a code and the
//!   next tick at which the run looks at the state or the counts; nothing is where packets choose their way by queues,
//!   or are marked by what waits. A crossing is, besides, before the time-out of its packet.
//! * Where senders are paused, the first character of a packet starts in its own tick: what is heard until then is known.
//! * A packet that crosses ahead has its input and output of the crossbar until `free_at` and `entered_at`: at every tick
//!   at which it crosses it would be chosen, so what is nominated beside it is refused.
//! * `due` of a link or port is the earliest tick for which it is scheduled. An event of a later tick finds another
//!   `due` and does nothing, so events need not be removed. The same holds for `asks_at` of a queue.
//! * A lost packet is counted once, when its first piece is lost, and forgotten with its last piece.

mod agenda;
mod ahead;
mod allocate;
mod arbiter;
mod buffers;
mod code;
mod congestion;
mod deadlock;
mod distribute;
mod event;
mod fault;
mod input;
mod link;
mod middle;
mod packet;
mod parts;
mod pause;
mod repeat;
mod state;
mod timeout;
mod times;
mod wire;

pub use deadlock::deadlock;
pub use event::Event;
pub use packet::Packet;
pub use state::Network;
