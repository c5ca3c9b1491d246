//! The engine and the twin agree when routers delete bytes of addresses.

use fabriloom_engine::fabric::check;

use crate::scenarios::agree::{Agreed, counted};
use crate::scenarios::build::{C104, DS_LINK, add_cable, empty, send_list, set_route};
use crate::scenarios::faults::with_timeouts;
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::seeds::seeds;
use crate::scenarios::spacewire::with_addresses;
use crate::scenarios::spacewire::{with_codes, with_priorities};

#[test]
fn random_fabrics_with_addresses_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with addresses", 0..60) {
        let Some(fabric) = with_addresses(&random_fabric(seed), seed) else { continue };
        let until = time_for(&fabric, 15);
        let fabric = if seed % 2 == 0 { with_codes(&fabric, seed, until) } else { fabric };
        let fabric = if seed % 3 == 0 { with_timeouts(&fabric, seed, until) } else { fabric };
        let fabric = if seed % 5 == 0 { with_priorities(&fabric, seed) } else { fabric };
        agreed.compare(seed, &fabric, until);
    }
    assert!(agreed.runs > 20 && agreed.delivered > 20 * agreed.runs && agreed.cut > 0, "{agreed:?}");
}

/// Three switches in a row: a packet of 10 characters starts with a byte for each of them, and an end of packet.
#[test]
fn a_path_address_is_a_character_shorter_on_each_link() {
    let mut f = empty(&[C104; 3], 2, 2);
    f.header_chars = 0;
    let (first, back) = add_cable(&mut f, 0, 3, DS_LINK);
    let (last, _) = add_cable(&mut f, 2, 4, DS_LINK);
    let (one, one_back) = add_cable(&mut f, 0, 1, DS_LINK);
    let (two, two_back) = add_cable(&mut f, 1, 2, DS_LINK);
    for (switch, away, home) in [(0, one, first), (1, two, one_back), (2, last, two_back)] {
        set_route(&mut f, switch, 1, &[away], false);
        set_route(&mut f, switch, 0, &[home], false);
    }
    f.link_deletes_address = (0..f.links()).map(|link| u8::from(f.link_source[link] < 3)).collect();
    send_list(&mut f, &[&[(1, 10, 0)], &[]]);
    let run = counted(&f);
    assert_eq!(run.deliveries.len(), 1);
    let characters = [back, one, two, last].map(|link| run.links[link as usize].characters);
    assert_eq!(characters, [14, 13, 12, 11]);
}

/// Two terminals send to a third; the packets of the second are of a traffic class whose routes have a switch more.
#[test]
fn packets_of_another_traffic_class_have_the_address_of_its_path() {
    let mut f = empty(&[C104; 3], 3, 6);
    f.header_chars = 0;
    let ends =
        [(0, 3), (0, 4), (1, 5)].map(|(switch, terminal)| add_cable(&mut f, switch, terminal, DS_LINK).0);
    let (direct, _) = add_cable(&mut f, 0, 1, DS_LINK);
    let (away, _) = add_cable(&mut f, 0, 2, DS_LINK);
    let (on, _) = add_cable(&mut f, 2, 1, DS_LINK);
    for (switch, class, link) in [(0, 2, direct), (1, 2, ends[2]), (0, 5, away), (2, 5, on), (1, 5, ends[2])]
    {
        set_route(&mut f, switch, class, &[link], false);
    }
    (f.port_class_from, f.port_class_to, f.class_headers) = (vec![1, 0, 1], vec![1; 3], vec![0, 3]);
    f.link_deletes_address = (0..f.links()).map(|link| u8::from(f.link_source[link] < 3)).collect();
    send_list(&mut f, &[&[(2, 10, 0)], &[(2, 10, 0)], &[]]);
    let run = counted(&f);
    assert_eq!(run.deliveries.len(), 2);
    let characters = [f.terminal_out_link[0], direct, f.terminal_out_link[1], away, on, ends[2]]
        .map(|link| run.links[link as usize].characters);
    // 10 characters, an end of packet, and an address of two or three.
    assert_eq!(characters, [13, 12, 14, 13, 12, 22]);
}

/// Where an address is left in front of the header, the switch would delete a byte of that instead.
#[test]
fn a_route_that_deletes_headers_is_refused_beside_addresses() {
    let mut f = empty(&[C104; 2], 2, 2);
    let (first, _) = add_cable(&mut f, 0, 2, DS_LINK);
    let (last, _) = add_cable(&mut f, 1, 3, DS_LINK);
    let (across, back) = add_cable(&mut f, 0, 1, DS_LINK);
    for (switch, away, home) in [(0, across, first), (1, last, back)] {
        set_route(&mut f, switch, 1, &[away], switch == 0);
        set_route(&mut f, switch, 0, &[home], false);
    }
    send_list(&mut f, &[&[(1, 10, 0)], &[]]);
    check(&f).expect("without addresses it is legal");
    f.link_deletes_address = (0..f.links()).map(|link| u8::from(link == last as usize)).collect();
    let error = check(&f).expect_err("the route deletes a header").to_string();
    assert!(error.contains("nothing beside link_deletes_address"), "{error}");
}
