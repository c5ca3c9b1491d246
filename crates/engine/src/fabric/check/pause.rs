//! Checks of switches that pause their senders or drop packets, and of memories that their ports share.

use super::{Checked, fail, known, refuse};
use crate::fabric::Fabric;

/// Characters of a memory or a part of it, and its largest threshold in billionths of what is free: their product is less
/// than 2^63.
const MOST_CHARS: u32 = 1 << 28;
const MOST_ALPHA: u64 = 16_000_000_000;

/// Refuses thresholds in a wrong order, and pause within packets.
pub(super) fn check(f: &Fabric) -> Checked {
    if f.has_pause() && f.whole_packet_credit == 0 {
        return fail("link_pause_above", 0, f.link_pause_above[0], "empty, unless packets pass whole");
    }
    if f.drops > 0 && (f.drops > 1 || !f.has_pause() || !f.is_by_packet() || f.may_cut()) {
        let expected = "0, or 1 with pause where packets are computed as one and none is cut";
        return fail("drops", 0, f.drops, expected);
    }
    let ends = f.link_pause_above.iter().zip(&f.link_pause_until);
    match ends.enumerate().find(|(_, (above, until))| until > above) {
        Some((link, (_, until))) => fail("link_pause_until", link, *until, "at most link_pause_above"),
        None => pool(f),
    }
}

/// Refuses memories without a rule or of packets that are not computed as one, and what is too large.
fn pool(f: &Fabric) -> Checked {
    let parts = [
        ("pool_reserved_chars", f.pool_reserved_chars),
        ("pool_headroom_chars", f.pool_headroom_chars),
        ("pool_offset_chars", f.pool_offset_chars),
    ];
    known("pool_pauses", &[f.pool_pauses], u8::from(f.has_pool()))?;
    let most = if f.has_pool() { MOST_CHARS } else { 0 };
    let sizes = f.switch_pool_chars.iter().map(|&size| ("switch_pool_chars", size));
    for (row, (column, size)) in sizes.enumerate().chain(parts.map(|part| (0, part))) {
        refuse(size > most, column, row, size, "at most 2^28, or 0 without switch_pool_chars")?;
    }
    if f.has_pool() != (1..=MOST_ALPHA).contains(&f.pool_alpha_billionths) {
        let expected = "from 1 to 16 000 000 000 with switch_pool_chars, else 0";
        return fail("pool_alpha_billionths", 0, f.pool_alpha_billionths, expected);
    }
    if !f.has_pool() {
        return Ok(());
    }
    let pauses = !f.has_pause() || f.link_pause_above.iter().any(|&above| above < u32::MAX);
    if pauses || !f.is_by_packet() || f.may_cut() {
        let expected =
            "empty, unless packets are computed as one, none is cut and link_pause_above pauses nobody";
        return fail("switch_pool_chars", 0, f.switch_pool_chars[0], expected);
    }
    if f.pool_pauses == 0 && f.drops == 0 {
        return fail("pool_pauses", 0, 0, "1, unless packets without a place are dropped");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_has_a_rule_and_packets_that_pass_whole() {
        // Without links nothing delays a character.
        let right = Fabric {
            switches: 1,
            lanes: 1,
            whole_packet_credit: 1,
            link_pause_above: vec![u32::MAX],
            link_pause_until: vec![u32::MAX],
            switch_pool_chars: vec![100],
            pool_alpha_billionths: 1,
            pool_pauses: 1,
            ..Fabric::default()
        };
        let refused = |change: &dyn Fn(&mut Fabric)| {
            let mut wrong = right.clone();
            change(&mut wrong);
            check(&wrong).unwrap_err().to_string()
        };
        assert!(check(&right).is_ok());
        assert!(refused(&|f| f.pool_alpha_billionths = 0).contains("from 1 to 16"));
        assert!(refused(&|f| f.pool_alpha_billionths = MOST_ALPHA + 1).contains("from 1 to 16"));
        assert!(refused(&|f| f.switch_pool_chars[0] = MOST_CHARS + 1).contains("at most 2^28"));
        assert!(refused(&|f| f.pool_headroom_chars = MOST_CHARS + 1).contains("pool_headroom_chars"));
        assert!(refused(&|f| f.pool_pauses = 0).contains("1, unless packets"));
        assert!(refused(&|f| f.link_pause_above[0] = 10).contains("at most link_pause_above"));
        assert!(
            refused(&|f| (f.link_pause_above[0], f.link_pause_until[0]) = (9, 9)).contains("pauses nobody")
        );
        let none = |f: &mut Fabric| f.switch_pool_chars.clear();
        assert!(refused(&none).contains("pool_pauses"));
        assert!(refused(&|f| (none(f), f.pool_pauses = 0).0).contains("else 0"));
    }
}
