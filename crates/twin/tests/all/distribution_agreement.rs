//! The engine and the twin deliver the same copies at the same ticks if packets go to several ports at once.

use crate::scenarios::agree::Agreed;
use crate::scenarios::codes::{with_codes, with_priorities};
use crate::scenarios::distributions::with_distributions;
use crate::scenarios::networks::random_network;
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::seeds::seeds;

#[test]
fn random_fabrics_with_distributions_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with distributions", 0..60) {
        let Some(fabric) = with_distributions(&random_fabric(seed), seed) else { continue };
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &fabric, until);
    }
    assert!(agreed.runs > 25 && agreed.delivered > 60 * agreed.runs, "{agreed:?}");
}

#[test]
fn distributions_beside_codes_and_priorities_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("distributions with codes", 0..20) {
        let Some(fabric) = with_distributions(&random_fabric(seed), seed) else { continue };
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_priorities(&with_codes(&fabric, seed, until), seed), until);
    }
    assert!(agreed.runs > 5, "{agreed:?}");
}

#[test]
fn networks_with_distributions_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("networks with distributions", 0..12) {
        let (fabric, until) = random_network(seed);
        let Some(fabric) = with_distributions(&fabric, seed) else { continue };
        agreed.compare(seed, &fabric, until);
    }
    assert!(agreed.runs > 5, "{agreed:?}");
}
