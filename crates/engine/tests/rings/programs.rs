//! Programs on rings, by hand. A write of 64 B from terminal to terminal is ready for the user 87 + 194 + 106 after its
//! dispatch and stored 55 later; a header alone takes 66 from station to station. The other cases derive these numbers.

use crate::build::network;
use fabriloom_engine::fabric::{ANY, Fabric, LAST, acknowledge, operation, transaction};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::{End, Options, Simulation};

const SEND: u8 = operation::SEND;
const RECEIVE: u8 = operation::RECEIVE;
const READ: u8 = operation::READ;
const REPEAT: u8 = operation::REPEAT;
const STOP: u8 = operation::END;
const MARK: u8 = operation::MARK;

/// Time to the user of the other terminal, of the access, and from station to station without data.
const WAY: Time = 87 + 194 + 106;
const ACCESS: Time = 15 + 40;
const HEADER: Time = 9 * 4 + 10 + 20;
/// Time from the end of an access until the user of the other terminal has consumed the response.
const BACK: Time = 82 + HEADER + 106;

/// Kind, peer, bytes or how many times.
type Row = (u8, u32, u32);

/// Makes terminals on one ring run these programs; packets of 64 B, acknowledged by responses.
fn programs(f: &mut Fabric, programs: &[&[Row]]) {
    f.message_packet_bytes = 64;
    f.message_acknowledge = acknowledge::RESPONSE;
    f.program_start.push(0);
    for program in programs {
        for &(kind, peer, number) in *program {
            f.op_kind.push(kind);
            f.op_peer.push(peer);
            f.op_bytes.push(number);
            f.op_tag.push(ANY);
            f.op_ticks.push(u64::from(number));
        }
        f.program_start.push(f.op_kind.len() as u32);
    }
}

fn play(f: &Fabric) -> Simulation {
    let options = Options {
        until: 1 << 40,
        warmup: Some(0),
        batch: 1 << 30,
        trace: 1 << 10,
        messages: 1 << 10,
        ..Options::default()
    };
    let mut simulation = Simulation::new(f.clone(), options).expect("a legal fabric");
    while simulation.advance(1 << 20).expect("routes that lead somewhere").is_none() {}
    simulation.balance().expect("nothing is lost");
    simulation
}

/// Returns when messages were made, sent and received.
fn messages(done: &Simulation) -> Vec<[Time; 3]> {
    let account = &done.run.programs.as_ref().expect("there are programs").account;
    account.table.iter().map(|row| [row.made, row.sent, row.received]).collect()
}

fn stuck(done: &Simulation) -> Vec<[u32; 4]> {
    done.run.programs.as_ref().expect("there are programs").stuck()
}

/// Send 7, fill 11 + 64 x 0.5, bus 13 + 64 x 0.25, the path, the bus again, the access.
#[test]
fn ping_pong_is_the_sum_of_its_parts() {
    let mut f = network(&[&[0, 1]], 0);
    programs(
        &mut f,
        &[&[(SEND, 1, 64), (RECEIVE, 1, 0), (MARK, ANY, 0)], &[(RECEIVE, 0, 0), (SEND, LAST, 64)]],
    );
    (f.message_send_ticks, f.message_receive_ticks, f.message_resume_ticks) = (7, 9, 21);
    (f.message_packet_ticks, f.message_byte_ticks) = (11, 0.5);
    (f.message_bus_packet_ticks, f.message_bus_byte_ticks) = (13, 0.25);
    let (fill, bus) = (11 + 32, 13 + 16);
    let one_way = 7 + fill + bus + WAY + bus + ACCESS;
    let done = play(&f);
    let second = one_way + 9;
    assert_eq!(
        messages(&done),
        [[0, one_way + BACK + 21, one_way], [second, second + one_way + BACK + 21, second + one_way]]
    );
    let programs = done.run.programs.as_ref().expect("there are programs");
    assert_eq!(programs.account.marks[0].time, 2 * (one_way + 9));
    assert_eq!(done.end(), Some(End::Drained));
}

/// A move is acknowledged by its echo; an acknowledgement packet is a transaction of 16 B, 8 of which are its own.
#[test]
fn other_acknowledgements() {
    let mut f = network(&[&[0, 1]], 0);
    programs(&mut f, &[&[(SEND, 1, 64)], &[(RECEIVE, 0, 0)]]);
    f.terminal_transaction = vec![transaction::MOVE; 2];
    // Accepted after 87 + 194; the echo leaves 48 later and takes 5 x 4 + 10 + 20.
    assert_eq!(messages(&play(&f)), [[0, 87 + 194 + 48 + 50, WAY + ACCESS]]);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_bus_packet_ticks = 100;
    let done = play(&f);
    let received = 100 + WAY + 100 + ACCESS;
    // 16 + 16 + 4 B are 18 symbols.
    assert_eq!(messages(&done), [[0, received + 87 + 17 * 4 + 10 + 20 + 106 + ACCESS, received]]);
    let lengths: Vec<u32> = done.run.trace.packets.iter().map(|packet| packet.length).collect();
    assert_eq!(lengths, [64, 8]);
}

/// The last packet of 70 B carries 6, and is sent as one of 16 B.
#[test]
fn the_last_packet_is_filled_up() {
    let mut f = network(&[&[0, 1]], 0);
    programs(&mut f, &[&[(SEND, 1, 70)], &[(RECEIVE, 0, 0)]]);
    let done = play(&f);
    let of = |what: fn(&fabriloom_engine::measure::Delivery) -> (u32, Time)| -> Vec<(u32, Time)> {
        done.run.trace.packets.iter().map(what).collect()
    };
    // The second starts when the first has left, after 42 symbols.
    let second = 87 + 42 * 4 + 17 * 4 + 10 + 20 + 106 + ACCESS;
    assert_eq!(of(|packet| (packet.length, packet.delivered)), [(64, WAY + ACCESS), (6, second)]);
}

/// A read is slower than a write by the path of a header, the access, and the host's transfer at the other side.
#[test]
fn a_read_takes_the_way_back_too() {
    for bus in [0, 31] {
        let mut f = network(&[&[0, 1]], 0);
        programs(&mut f, &[&[(READ, 1, 64), (MARK, ANY, 0)], &[]]);
        f.message_bus_packet_ticks = bus;
        let bus = bus as Time;
        let done = play(&f);
        let write = bus + WAY + bus + ACCESS;
        let read = write + HEADER + 106 + bus + ACCESS + 82;
        assert_eq!(messages(&done), [[0, read, read]]);
        assert_eq!(done.run.trace.packets[0].delivered, read);
    }
}

/// Three senders to one host: its bus is never idle, and packets without a place are sent again. The memory, though
/// slow, works while the bus transfers the next packet.
#[test]
fn a_slow_bus_sets_the_pace() {
    let mut f = network(&[&[0, 1, 2, 3]], 0);
    let sender: &[Row] = &[(REPEAT, ANY, 40), (SEND, 0, 64), (STOP, ANY, 0)];
    let receiver: &[Row] = &[(REPEAT, ANY, 120), (RECEIVE, ANY, 0), (STOP, ANY, 0)];
    programs(&mut f, &[receiver, sender, sender, sender]);
    f.station_requests_in[0] = 4;
    f.terminal_access_ticks[0] = 800;
    (f.message_bus_packet_ticks, f.message_bus_byte_ticks) = (360, 10.0);
    f.message_messages_at_once = 2;
    let done = play(&f);
    let mut received: Vec<Time> = messages(&done).iter().map(|times| times[2]).collect();
    received.sort_unstable();
    assert_eq!(received.len(), 120);
    assert!(received.windows(2).all(|two| two[1] - two[0] == 360 + 640), "{received:?}");
    let busied: u64 = done.rings().expect("rings").counts().map(|count| count.busied).sum();
    assert!(busied > 50, "{busied} busied");
    assert_eq!(done.end(), Some(End::Drained));
}

/// No station takes packets for another ring: the message is lost, and the run reports it though no program waits for
/// it.
#[test]
fn a_lost_packet_is_told() {
    for receives in [false, true] {
        let mut f = network(&[&[0, 1], &[2, 3]], 0);
        let receiver: &[Row] = if receives { &[(RECEIVE, ANY, 0)] } else { &[] };
        programs(&mut f, &[&[(SEND, 2, 64), (SEND, 1, 64)], &[], receiver, &[]]);
        let done = play(&f);
        let account = &done.run.programs.as_ref().expect("there are programs").account;
        assert_eq!((account.made, account.sent, account.received, account.lost), (2, 1, 1, 1));
        assert_eq!((done.end(), stuck(&done)), (Some(End::Deadlocked), vec![[0, 2, 64, ANY]]));
    }
}

/// The number is free again and the data are stored, but the sender does not know: the message is never sent.
#[test]
fn a_packet_given_up_is_never_acknowledged() {
    let mut f = network(&[&[0, 1]], 0);
    programs(&mut f, &[&[(SEND, 1, 64)], &[(RECEIVE, ANY, 0)]]);
    f.ring_timeout_ticks = (WAY + ACCESS + BACK) as u64;
    assert_eq!(play(&f).end(), Some(End::Drained), "a response in the same tick comes first");
    f.ring_timeout_ticks -= 1;
    let done = play(&f);
    assert_eq!(messages(&done), [[0, -1, WAY + ACCESS]]);
    assert_eq!((done.end(), stuck(&done)), (Some(End::Incomplete), vec![[0, 1, 64, ANY]]));
    assert_eq!(done.rings().expect("rings").timed_out, 1);
}

/// A host without a bus is equivalent to a bus that takes no time.
#[test]
fn no_time_is_no_bus() {
    let mut f = network(&[&[0, 1]], 0);
    programs(&mut f, &[&[(SEND, 1, 200)], &[(RECEIVE, ANY, 0)]]);
    let plain = play(&f);
    f.message_bus_byte_ticks = 1e-9;
    let with_bus = play(&f);
    assert_eq!((messages(&plain), plain.run.events), (messages(&with_bus), with_bus.run.events));
}
