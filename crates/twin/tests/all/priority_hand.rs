//! Two priorities in the twin, and so in the engine, compared with orders computed by hand.

use crate::scenarios::agree::counted;
use crate::scenarios::build::{C104, DS_LINK, add_cable, empty, send_list, set_route};
use fabriloom_engine::fabric::Fabric;

/// Three terminals at one switch, and two at a second one: all packets use one cable.
fn funnel(high: &[u8], third: &[(u32, u32, u64)]) -> Vec<(u32, u32)> {
    let mut f = empty(&[C104; 2], 5, 5);
    for terminal in 0..5 {
        let home = u32::from(terminal > 2);
        let (out, _) = add_cable(&mut f, home, 2 + terminal, DS_LINK);
        set_route(&mut f, home, terminal, &[out], false);
    }
    let (over, back) = add_cable(&mut f, 0, 1, DS_LINK);
    for terminal in 0..5 {
        let home = u32::from(terminal > 2);
        set_route(&mut f, 1 - home, terminal, &[if home == 1 { over } else { back }], false);
    }
    // Three heads request in one tick, and a second packet of terminal 0 follows.
    send_list(&mut f, &[&[(3, 50, 0), (3, 20, 0)], &[(3, 50, 0)], third, &[], &[]]);
    f.port_priority = high.to_vec();
    in_order(&f)
}

fn in_order(f: &Fabric) -> Vec<(u32, u32)> {
    let mut taken = counted(f).deliveries;
    taken.sort_by_key(|delivery| delivery.delivered);
    taken.iter().map(|delivery| (delivery.source, delivery.target)).collect()
}

const ONE: &[(u32, u32, u64)] = &[(4, 50, 0)];

#[test]
fn without_priorities_the_longest_waiting_head_is_first() {
    assert_eq!(funnel(&[], ONE), [(0, 3), (1, 3), (2, 4), (0, 3)]);
}

#[test]
fn heads_of_high_priority_go_before_others() {
    assert_eq!(funnel(&[0, 0, 0, 0, 1], ONE), [(2, 4), (0, 3), (1, 3), (0, 3)]);
}

/// After a short packet to a terminal of the same switch it arrives when terminal 0 has the cable, which keeps it.
/// Terminal 1 has waited longer, and goes later.
#[test]
fn a_packet_that_has_a_link_keeps_it() {
    let late = &[(0, 5, 0), (4, 50, 0)];
    assert_eq!(funnel(&[0, 0, 0, 0, 1], late), [(2, 0), (0, 3), (2, 4), (1, 3), (0, 3)]);
    assert_eq!(funnel(&[], late), [(2, 0), (0, 3), (1, 3), (2, 4), (0, 3)]);
}

#[test]
fn among_equals_the_order_is_as_before() {
    assert_eq!(funnel(&[0, 0, 0, 1, 1], ONE), funnel(&[], ONE));
    assert_eq!(funnel(&[1, 1, 1, 0, 0], ONE), funnel(&[], ONE));
}
