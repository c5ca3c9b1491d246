//! Traffic classes for random networks.

use fabriloom_engine::fabric::{Fabric, MOST_PORTS, NO_PORT, check};

use super::random::{Draw, draw_for};

/// Draws the traffic classes of packets by sender and target; all classes have the same routes.
pub fn draw_classes(f: &mut Fabric, draw: &mut Draw) {
    let classes = draw.between(1, 4);
    let mut per_port = |likely: u32| -> Vec<u32> {
        let mut bits = || (0..classes).map(|class| u32::from(draw.chance(likely)) << class).sum();
        (0..f.terminals).flat_map(|terminal| vec![bits(); f.ports_of(terminal).len()]).collect()
    };
    (f.port_class_from, f.port_class_to) = (per_port(60), per_port(70));
    f.class_headers = vec![0; classes as usize + 1];
}

/// Gives each traffic class some ports of every terminal, in some order and at least one in the plane of all terminals.
/// Draws the classes if the network has none.
pub fn with_class_ports(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x00c1_a55e);
    let mut f = fabric.clone();
    if f.class_headers.is_empty() {
        draw_classes(&mut f, draw);
    }
    f.class_port.clear();
    for terminal in 0..f.terminals {
        let ports = f.ports_of(terminal);
        let everywhere: Vec<u8> = (0..)
            .zip(ports.clone())
            .filter(|&(_, port)| f.port_plane[port as usize] == 0)
            .map(|(at, _)| at)
            .collect();
        for _ in 0..f.class_headers.len() {
            let needed = draw.pick(&everywhere);
            let mut places: Vec<u8> =
                (0..ports.len() as u8).filter(|&place| place == needed || draw.chance(40)).collect();
            if draw.chance(50) {
                places.reverse();
            }
            places.resize(MOST_PORTS as usize, NO_PORT);
            f.class_port.extend(places);
        }
    }
    check(&f).expect("the generator makes legal classes");
    f
}
