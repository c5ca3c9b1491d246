//! The input buffer of a lane whose sender is paused, as both engines count it.

/// What it holds, up to some tick.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// Thresholds, in characters.
    above: i64,
    until: i64,
    /// Characters of complete packets.
    holds: i64,
    /// The most that it has held.
    pub most: i64,
    /// Whether the last thing that its switch said was to pause.
    pub pauses: bool,
}

impl Level {
    /// Returns that of an empty buffer.
    pub fn new(above: u32, until: u32) -> Self {
        Self { above: above.into(), until: until.into(), holds: 0, most: 0, pauses: false }
    }

    /// Takes what arrives and leaves in one tick.
    pub fn change(&mut self, by: i64) {
        self.holds += by;
        self.most = self.most.max(self.holds);
        self.pauses = self.holds > if self.pauses { self.until } else { self.above };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_goes_on_only_below_the_lower_threshold() {
        let mut level = Level::new(100, 40);
        let said = [60, 60, -30, -50, 10].map(|change| {
            level.change(change);
            level.pauses
        });
        assert_eq!(said, [false, true, true, false, false]);
        assert_eq!(level.most, 120);
    }
}
