//! Networks in which routers delete bytes of addresses: any other network, with links that do so.

use fabriloom_engine::fabric::{Fabric, NONE, check};

use super::random::draw_for;

/// Makes all links out of switches delete a character (path addresses), or those between regions; None for networks in
/// which paths to a terminal would then delete different numbers.
pub fn with_addresses(fabric: &Fabric, seed: u64) -> Option<Fabric> {
    let draw = &mut draw_for(seed ^ 0xadd_7e55);
    let mut f = fabric.clone();
    if !f.via_switch.is_empty() || f.switches == 0 || f.whole_packet_credit != 0 {
        return None;
    }
    f.link_deletes_header.fill(0);
    for entry in f.route.iter_mut().filter(|entry| **entry != NONE) {
        *entry &= !1;
    }
    let regions: Vec<u32> = (0..f.switches).map(|_| draw.between(0, 2)).collect();
    let by_path = draw.chance(60);
    let deletes = |link: usize| {
        let (from, to) = (f.link_source[link], f.link_target[link]);
        let crosses = || !f.is_terminal(to) && regions[from as usize] != regions[to as usize];
        !f.is_terminal(from) && (by_path || crosses())
    };
    f.link_deletes_address = (0..f.links()).map(|link| u8::from(deletes(link))).collect();
    check(&f).is_ok().then_some(f)
}
