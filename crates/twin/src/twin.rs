//! The state of a run, the event loop, the terminals, and the final results.

use fabriloom_engine::fabric::{Fabric, MOST_PORTS, NONE, arrival};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::kernel::random::{Family, Stream, streams};
use fabriloom_engine::terminal::Packet;
use fabriloom_engine::terminal::program::mark;

use crate::beside::{Beside, Senders};
use crate::congestion::Congestion;
use crate::event::{Agenda, What};
use crate::parts::{Character, Group, Head, Kind, Lane, Link, Place, Register, Worm};
use crate::{Delivery, FlowControl, TakenCode, TwinRun, delivery_key, messages};

/// The state of a run.
pub struct Twin<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) flow_control: FlowControl,
    pub(crate) now: Time,
    pub(crate) agenda: Agenda,
    pub(crate) links: Vec<Link>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) groups: Vec<Group>,
    /// Per switch: heads that wait to be distributed, sorted.
    pub(crate) distributing: Vec<Vec<Head>>,
    /// The groups that each lane belongs to.
    pub(crate) groups_of_lane: Vec<Vec<u32>>,
    pub(crate) worms: Vec<Worm>,
    /// The current routing table.
    pub(crate) table: u32,
    pub(crate) packet_hops: u64,
    /// The codes that switches, then ports, remember.
    pub(crate) registers: Vec<Register>,
    pub(crate) codes: Vec<TakenCode>,
    /// Per switch: how its clock is aligned to the next code.
    pub(crate) clocks: Vec<Stream>,
    pub(crate) senders: Senders,
    pub(crate) congestion: Congestion,
    /// Per switch: most characters at a time in a memory that its ports share.
    pub(crate) memory_most: Vec<u64>,
    /// Ports that request packets, beside programs.
    pub(crate) asking: Vec<u32>,
    /// The latest scheduled turn of the programs.
    turn: Time,
    /// Per terminal: the packet that its source has handed out and that is not dispatched yet.
    pub(crate) given: Vec<Option<Packet>>,
    deliveries: Vec<Delivery>,
    events: u64,
}

impl<'a> Twin<'a> {
    /// Returns an empty fabric at tick 0, when all sources are asked for the first time.
    pub fn new(fabric: &'a Fabric, flow_control: FlowControl) -> Self {
        let groups = streams(fabric.seed, Family::Group, fabric.groups())
            .into_iter()
            .map(|stream| Group { waiting: Vec::new(), last_granted: None, stream })
            .collect();
        let mut groups_of_lane = vec![Vec::new(); fabric.all_lanes()];
        for group in 0..fabric.groups() as u32 {
            for &lane in fabric.group(group) {
                groups_of_lane[lane as usize].push(group);
            }
        }
        let lanes = fabric.lanes as usize;
        let first = |row: usize| (0, fabric.lane_table_chars.get(row).map_or(0, |&chars| chars.into()));
        let link = Link {
            flow_control: vec![0; lanes],
            reserved: vec![0; lanes],
            lane_ticks: vec![0; lanes],
            tables: [first(0), first(fabric.lane_table_high as usize)],
            ..Link::default()
        };
        let mut twin = Self {
            fabric,
            flow_control,
            now: 0,
            agenda: Agenda::default(),
            links: vec![link; fabric.links()],
            lanes: vec![Lane::default(); fabric.all_lanes()],
            groups,
            distributing: vec![Vec::new(); fabric.switches as usize],
            groups_of_lane,
            worms: Vec::new(),
            table: 0,
            packet_hops: 0,
            registers: vec![Register::default(); (fabric.switches + fabric.ports()) as usize],
            codes: Vec::new(),
            clocks: streams(fabric.seed, Family::Clock, fabric.switches as usize),
            senders: Senders::new(fabric),
            congestion: Congestion::new(fabric),
            memory_most: vec![0; fabric.switches as usize],
            asking: Vec::new(),
            turn: -1,
            given: vec![None; fabric.terminals as usize],
            deliveries: Vec::new(),
            events: 0,
        };
        twin.promise_all();
        twin.plan_faults();
        twin.plan_tables();
        twin.plan_codes();
        for terminal in 0..fabric.ports() {
            twin.agenda.add(0, What::Ask { terminal });
        }
        twin
    }

    /// Simulates up to and including tick `until`.
    pub fn run_until(&mut self, until: Time) {
        while let Some((time, what)) = self.agenda.next(until) {
            self.now = time;
            self.events += 1;
            match what {
                What::Up { link } => self.go_up(link),
                What::Down { link, ended } => self.go_down(link, ended),
                What::Table { number } => self.table = number,
                What::End { link } => self.end_early(link),
                What::MakeCode { source } => self.make_code(source),
                What::CodeArrives { link, faults, code } => {
                    if faults == self.links[link as usize].faults {
                        self.code_arrives(link, code);
                    }
                }
                What::CodeReady { link, code } => self.code_ready(link, code),
                What::Arrive { lane, faults }
                | What::Credit { lane, faults }
                | What::PlaceFree { lane, faults }
                | What::Deliver { lane, faults }
                | What::Pause { lane, faults, .. }
                    if faults != self.faults_of(lane) => {}
                What::Arrive { lane, .. } => self.arrive(lane),
                What::Credit { lane, .. } => self.credit(lane),
                What::PlaceFree { lane, .. } => self.place_free(lane),
                What::PlaceBack { lane } => self.place_back(lane),
                What::Release { lane } => self.release(lane),
                What::NextHead { lane, queue } => self.next_head(Place { lane, queue }),
                What::Request { lane, queue } => self.request(Place { lane, queue }),
                What::Deliver { lane, .. } => self.deliver(lane),
                What::Watch { lane, queue } => self.watch(Place { lane, queue }),
                What::Stop { link, until } => self.stop(link, until),
                What::Rate { link, until, ticks } => self.change_rate(link, until, ticks),
                What::Wrong { link, until, again } => self.links[link as usize].wrong = Some((until, again)),
                What::Ask { terminal } => self.ask(terminal),
                What::Ports { terminal } => self.send_by_ports(terminal),
                What::Dispatch { terminal } => self.dispatch(terminal),
                What::Turn => self.let_programs_go_on(),
                What::Arbitrate { group } => self.arbitrate(group),
                What::Distribute { switch } => self.distribute(switch),
                What::Cross { link } => self.cross(link),
                What::Take { link } => self.take(link),
                What::Wire { link } => self.start_on_wire(link),
                What::Pause { lane, pauses, .. } => self.pause(lane, pauses),
                What::Look { lane } => self.look_at_store(lane),
                What::Survey { switch } => self.survey(switch),
            }
        }
    }

    fn ask(&mut self, terminal: u32) {
        if let Some(time) = self.rests_until(terminal) {
            return self.agenda.add(time, What::Ask { terminal });
        }
        if self.senders.programs.is_some() {
            self.asking.push(terminal);
            return self.enter_turn(self.now);
        }
        if let Some(ports) = &mut self.senders.ports {
            ports.ask(terminal, self.now);
            let terminal = ports.terminal(terminal);
            return self.agenda.add(self.now, What::Ports { terminal });
        }
        if self.fabric.has_programs() {
            // They have ended with the run.
            return;
        }
        let packet = self.senders.sources.next(self.fabric, terminal as usize, self.now);
        self.given[terminal as usize] = packet;
        if let Some(packet) = packet {
            assert!(packet.dispatch >= self.now, "a source dispatches in the past");
            self.agenda.add(packet.dispatch, What::Dispatch { terminal });
        }
    }

    /// Returns the traffic class of packets from one port to another: the first that both belong to, or else the last.
    pub(crate) fn traffic_class(&self, from: u32, to: u32) -> usize {
        let last = self.fabric.class_headers.len().saturating_sub(1);
        if !self.fabric.class_between.is_empty() {
            let row = self.fabric.port_class_from[from as usize] as usize;
            let column = self.fabric.port_class_to[to as usize] as usize;
            return self.fabric.class_between[row + column] as usize;
        }
        let is_of = |&class: &usize| {
            let (sends, takes) =
                (self.fabric.port_class_from[from as usize], self.fabric.port_class_to[to as usize]);
            sends >> class & 1 == 1 && takes >> class & 1 == 1
        };
        (0..last).find(is_of).unwrap_or(last)
    }

    /// Returns the traffic class of a packet that starts now, which the present routing table may have of its own.
    pub(crate) fn class_of_new(&self, from: u32, to: u32) -> usize {
        let (pairs, tables) = (self.fabric.class_between.len(), &self.fabric.table_between);
        match self.table {
            table if table > 0 && !tables.is_empty() => {
                let of_table = tables.chunks(pairs).nth(table as usize - 1).expect("classes of each table");
                let row = self.fabric.port_class_from[from as usize] + self.fabric.port_class_to[to as usize];
                usize::from(of_table[row as usize])
            }
            _ => self.traffic_class(from, to),
        }
    }

    /// Checks that a packet leaves by a port of its traffic class.
    pub(crate) fn assert_port(&self, terminal: u32, port: u32, packet: &Packet) {
        if self.fabric.class_port.is_empty() {
            return;
        }
        let class = self.traffic_class(port, packet.target);
        let row = terminal as usize * self.fabric.class_headers.len() + class;
        let place = (port - self.fabric.terminal_ports[terminal as usize]) as u8;
        let places = &self.fabric.class_port[row * MOST_PORTS as usize..(row + 1) * MOST_PORTS as usize];
        assert!(
            places.contains(&place),
            "a packet of class {class} left terminal {terminal} by port {place}"
        );
    }

    /// Sends the packets of a terminal after all its ports have requested in this tick.
    fn send_by_ports(&mut self, terminal: u32) {
        let Some(mut ports) = self.senders.ports.take() else { return };
        while let Some((port, packet)) = ports
            .next(self.fabric, &mut self.senders.sources, terminal, self.now)
            .expect("every terminal has a plane in common with every other one it sends to")
        {
            self.assert_port(terminal, port, &packet);
            self.put_on_link(port, packet);
            ports.took(port, false);
        }
        if let Some((port, time)) = ports.wake(self.fabric, &self.senders.sources, terminal, self.now) {
            self.agenda.add(time, What::Ask { terminal: port });
        }
        self.senders.ports = Some(ports);
    }

    fn dispatch(&mut self, terminal: u32) {
        let now = self.now;
        if let Some(packet) = self.given[terminal as usize].take_if(|packet| packet.dispatch <= now) {
            self.put_on_link(terminal, packet);
        }
    }

    /// Schedules a turn of the programs.
    pub(crate) fn enter_turn(&mut self, time: Time) {
        if self.turn != time {
            self.turn = time;
            self.agenda.add(time, What::Turn);
        }
    }

    /// Reports arrivals to the programs, and sends their packets.
    fn let_programs_go_on(&mut self) {
        let mut asking = std::mem::take(&mut self.asking);
        asking.sort_unstable();
        self.divide_requests(&mut asking);
        let Some(mut programs) = self.senders.programs.take() else { return };
        asking.into_iter().for_each(|port| programs.link_free(port));
        programs.turn(self.now, &mut |port, packet| {
            self.program_sent(port, false);
            self.put_on_link(port, *packet);
            false
        });
        let next = programs.next();
        self.senders.programs = Some(programs);
        self.sources_use_the_rest();
        if let Some(next) = next.into_iter().chain(self.next_beside()).min() {
            self.enter_turn(next);
        }
    }

    /// Handles the arrival of a packet's first character at its terminal.
    pub(crate) fn head_comes(&mut self, packet: usize) {
        let worm = &mut self.worms[packet];
        if std::mem::replace(&mut worm.has_come, true) || self.fabric.message_ack_at_head == 0 {
            return;
        }
        let packet = worm.packet;
        if let Some(programs) = &mut self.senders.programs {
            if mark::kind(packet.mark) != mark::SOURCE {
                programs.head_came(self.senders.ways.terminal(packet.target), packet.mark);
            }
            self.enter_turn(self.now);
        }
    }

    pub(crate) fn put_on_link(&mut self, terminal: u32, packet: Packet) {
        let packet = Packet { via: self.chosen_via(terminal, &packet), ..packet };
        let link = self.fabric.terminal_out_link[terminal as usize];
        let number = self.worms.len();
        let has_via = packet.via != NONE;
        let via_chars = if has_via { self.fabric.via_header_chars } else { 0 };
        let address = self.fabric.address_chars(terminal, packet.target);
        let parts = [
            (Kind::Address, address),
            (Kind::Via, via_chars),
            (Kind::Header, self.fabric.header_chars),
            (Kind::Payload, self.fabric.payload_chars(packet.length)),
            (Kind::End, 1),
        ];
        let standing = &mut self.links[link as usize].dispatched;
        assert!(standing.is_empty(), "a terminal sends one packet at a time");
        for (kind, count) in parts {
            for _ in 0..count {
                standing.push_back(Character { packet: number, kind });
            }
        }
        self.worms.push(Worm {
            source: terminal,
            packet,
            class: self.class_of_new(terminal, packet.target),
            started: None,
            address,
            has_via,
            has_header: true,
            table: 0,
            arrived: 0,
            has_come: false,
            received: 0,
            delivered: false,
            wrong_on: None,
            lost: false,
            marked: false,
        });
        self.agenda.add(self.now, What::Wire { link });
    }

    fn deliver(&mut self, lane: u32) {
        let link = self.fabric.link_of(lane);
        let end = self.lanes[lane as usize].wire.pop_front().expect("the end of packet is on its way");
        assert_eq!(end.kind, Kind::End);
        if let Some(link) = self.worms[end.packet].wrong_on {
            self.lose(end.packet, |link| &mut link.cut, link);
        }
        if self.worms[end.packet].lost {
            // The rest of it was lost: this is an error end.
            return self.take_from_terminal(lane);
        }
        let worm = &mut self.worms[end.packet];
        let terminal = self.fabric.link_target[link as usize] - self.fabric.switches;
        let is_for = self.fabric.distributed_to(worm.packet.target);
        let is_right = worm.packet.target == terminal || is_for.contains(&terminal);
        assert!(is_right, "a packet came to the wrong terminal");
        let carried = self.fabric.payload_chars(worm.packet.length);
        assert_eq!(worm.received, carried, "a packet lost characters");
        assert_eq!(worm.address, 0, "a packet came with a part of its address");
        assert!(!worm.delivered, "a packet came twice");
        worm.delivered = true;
        let (source, target) =
            (self.senders.ways.terminal(worm.source), self.senders.ways.terminal(terminal));
        let delivery = Delivery {
            source,
            target,
            created: worm.packet.created,
            started: worm.started.expect("it was sent"),
            delivered: self.now,
            length: worm.packet.length,
        };
        let mark = worm.packet.mark;
        self.notify(end.packet);
        self.deliveries.push(delivery);
        if let Some(programs) = &mut self.senders.programs {
            if mark::kind(mark) != mark::SOURCE {
                programs.delivered(source, target, mark);
            }
            self.enter_turn(self.now);
        }
        self.take_from_terminal(lane);
    }

    /// Returns the results of the run, and finds out whether it was deadlocked by letting it drain.
    pub fn finish(mut self, until: Time) -> TwinRun {
        let end_time = if self.agenda.is_empty() { self.now } else { until };
        let mut deliveries = std::mem::take(&mut self.deliveries);
        deliveries.sort_by_key(delivery_key);
        let given: Vec<Packet> = self.given.iter().flatten().copied().collect();
        let totals = self.senders.totals(self.fabric, until, &given);
        // They may have handed on messages without end; only what is in the fabric moves on.
        let messages = self.senders.programs.take().as_ref().map(messages);
        let delivered = deliveries.len() as u64;
        let in_fabric = self.packets_in_fabric();
        let lost = self.worms.iter().filter(|worm| worm.lost).count() as u64;
        assert_eq!(
            self.worms.len() as u64,
            delivered + lost + in_fabric,
            "packets were lost without a cause"
        );
        let losses = self.links.iter().map(|link| (link.cut, link.discarded, link.timed_out)).collect();
        let in_flight =
            totals.offered.checked_sub(delivered + totals.refused + lost).expect("more came than was sent");
        assert!(in_flight >= in_fabric, "the fabric holds packets that no source made");
        let (events, packet_hops) = (self.events, self.packet_hops);
        let codes = self.codes.clone();
        let code_counts = self.links.iter().map(|link| link.code_counts).collect();
        self.senders.stop_after(self.fabric, until);
        self.drop_later(until);
        self.run_until(Time::MAX);
        let stopped = self.links.iter().any(|link| link.stopped_until == Time::MAX);
        let deadlocked = !stopped && self.is_anything_stuck();
        assert!(
            stopped || deadlocked || self.lanes.iter().all(Lane::is_free),
            "a lane is held or full, and nothing is stuck"
        );
        TwinRun {
            deliveries,
            offered: totals.offered,
            refused: totals.refused,
            in_flight,
            lost,
            losses,
            codes,
            code_counts,
            events,
            packet_hops,
            end_time,
            deadlocked,
            links: self.links.iter().map(|link| link.counts).collect(),
            lane_ticks: self.links.iter().flat_map(|link| &link.lane_ticks).copied().collect(),
            congestion: self.throttled(),
            memories: self.memories(),
            messages,
        }
    }

    /// Discards packets that sources have handed out but would create after this tick.
    fn drop_later(&mut self, until: Time) {
        for terminal in 0..self.given.len() {
            if self.given[terminal].take_if(|packet| packet.created > until).is_none() {
                continue;
            }
            // A packet of another flow may have been made before, and wait for its tokens.
            let waits = !self.fabric.flow_cost_grains.is_empty();
            if waits && self.fabric.source_arrival[terminal] == arrival::FLOWS {
                self.ask(terminal as u32);
            }
        }
    }

    /// Returns the packets in the fabric, found by their ends; lost packets do not count.
    fn packets_in_fabric(&self) -> u64 {
        let dispatched = self.links.iter().filter(|link| !link.dispatched.is_empty()).count();
        let ends = self.lanes.iter().flat_map(|lane| lane.ends());
        // Copies whose end has not arrived where they separate.
        let queues = self.lanes.iter().flat_map(|lane| lane.queues.values());
        let parting = queues.map(|queue| queue.copies.len() as u64).sum::<u64>();
        dispatched as u64 + parting + ends.filter(|&packet| !self.worms[packet].lost).count() as u64
    }

    /// Whether anything is stuck, except at terminals that wait for links that never run again.
    fn is_anything_stuck(&self) -> bool {
        self.links.iter().any(|link| !link.dispatched.is_empty() && !link.down)
            || self.lanes.iter().any(|lane| lane.ends().next().is_some())
    }
}
