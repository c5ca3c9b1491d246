//! Groups with more links than bits, and the order in which heads wait.

use super::super::link::Kind;
use super::*;

/// One switch with two groups: links 0 to 69, and links 69 down to 67.
fn ports() -> (Fabric, Ports, Vec<Link>) {
    let fabric = Fabric {
        link_source: vec![0; 70],
        link_target: vec![0; 70],
        link_deletes_header: vec![0; 70],
        group_switch: vec![0, 0],
        group_start: vec![0, 70, 73],
        group_links: (0..70).chain([69, 68, 67]).collect(),
        switch_arbiter: vec![0],
        switch_choice: vec![0],
        ..Fabric::default()
    };
    let (ports, rows) = Ports::new(&fabric);
    let kind = Kind { quantum: 1, ..Kind::default() };
    let rows = rows.into_iter().map(|port| Port { entry: 0, ..port });
    let links = rows.map(|port| Link::new(0, &kind, port)).collect();
    (fabric, ports, links)
}

#[test]
fn links_beyond_the_bits_of_a_group_are_not_lost() {
    let (fabric, mut ports, mut links) = ports();
    for link in (0..62).chain([63, 68]) {
        ports.hold(&mut links[link].port, 5, 0);
    }
    assert_eq!(ports.unheld(&fabric, 0).collect::<Vec<_>>(), [62, 64, 65, 66, 67, 68, 69]);
    assert_eq!(ports.unheld(&fabric, 1).collect::<Vec<_>>(), [69, 67]);
    ports.unhold(&mut links[7].port, 9);
    ports.unhold(&mut links[68].port, 9);
    assert_eq!(ports.unheld(&fabric, 0).collect::<Vec<_>>()[..3], [7, 62, 64]);
    assert_eq!(ports.unheld(&fabric, 1).collect::<Vec<_>>(), [69, 68, 67]);
}

#[test]
fn heads_queue_by_time_and_number() {
    let (_, mut ports, mut links) = ports();
    for (link, now) in [(9, 1), (8, 2), (30, 3), (20, 3), (25, 3), (10, 3), (40, 3), (1, 4)] {
        ports.enqueue(&mut links, link, now);
    }
    assert_eq!(ports.waiting(&links, 0).collect::<Vec<_>>(), [9, 8, 10, 20, 25, 30, 40, 1]);
    assert_eq!([7, 3, 0].map(|place| ports.remove(&mut links, 0, place)), [1, 20, 9]);
    ports.enqueue(&mut links, 2, 5);
    assert_eq!(ports.waiting(&links, 0).collect::<Vec<_>>(), [8, 10, 25, 30, 40, 2]);
}
