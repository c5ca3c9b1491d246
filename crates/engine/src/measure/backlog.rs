//! Whether the backlog of the sources grows without end, from samples of it.
//!
//! `docs/background/statistics.md`, *Saturated*, explains the two tests and says how often they are wrong.

use crate::kernel::Time;

/// With this many steps between samples, every second sample is omitted.
const MOST: usize = 128;

/// Samples are thinned while at least this many steps remain.
const STEPS: usize = 30;

/// Fewer steps say nothing.
const FEWEST: usize = 20;

/// A backlog grows if its growth in the second half of a run exceeds this many standard errors.
const GROWS: f64 = 3.2;

/// A backlog returns to its mean if the t of Dickey and Fuller is below this.
const RETURNS: f64 = -4.2;

/// A backlog is also bounded if its growth plus this many standard errors is less than a margin.
const SURE: f64 = 2.5;

/// The margin at the end of a run, as a share of the offered packets.
pub const MARGIN: f64 = 0.01;

/// The margin to end a run for, which could still show the contrary.
pub const STRICT: f64 = 0.001;

/// What samples of the backlog show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// More is offered than accepted.
    Grows,
    /// It returns to its mean, or grows by less than a margin of what is offered.
    Bounded,
    /// There are too few samples to tell.
    Unknown,
}

/// The packets that wait at open sources or are under way, at equal intervals.
#[derive(Clone, Debug, Default)]
pub struct Backlog {
    start: Time,
    spacing: Time,
    levels: Vec<f64>,
}

impl Backlog {
    /// Returns a series that begins at a tick.
    pub fn new(start: Time, spacing: Time) -> Self {
        Self { start, spacing: spacing.max(1), levels: Vec::new() }
    }

    /// Returns the tick of the next sample.
    pub fn due(&self) -> Time {
        self.start + self.levels.len() as Time * self.spacing
    }

    /// Adds the sample of that tick.
    pub fn add(&mut self, level: f64) {
        self.levels.push(level);
        if self.levels.len() > MOST {
            self.levels = self.levels.iter().copied().step_by(2).collect();
            self.spacing *= 2;
        }
    }

    /// Returns what the samples show if this number of open sources creates `rate` packets a tick; `margin`: share of
    /// them that may pile up. Others wait for the network.
    pub fn trend(&self, sources: usize, rate: f64, margin: f64) -> Trend {
        if sources == 0 {
            return Trend::Bounded;
        }
        let stride = (self.levels.len().saturating_sub(1) / STEPS).max(1);
        let mut levels: Vec<f64> = self.levels.iter().rev().copied().step_by(stride).collect();
        levels.reverse();
        let steps = levels.len().saturating_sub(1);
        if steps < FEWEST {
            return Trend::Unknown;
        }
        let (late, error) = growth(&levels[steps - steps / 2..]);
        if late > sources as f64 / 2.0 && late > GROWS * error {
            return Trend::Grows;
        }
        let (whole, error) = growth(&levels);
        let offered = rate * (steps * stride) as f64 * self.spacing as f64;
        let small = whole + SURE * error < margin * offered;
        if small || returns(&levels) < RETURNS { Trend::Bounded } else { Trend::Unknown }
    }
}

/// Returns by how much levels grow, and the standard error of that if their steps are independent.
fn growth(levels: &[f64]) -> (f64, f64) {
    let steps = (levels.len() - 1) as f64;
    let growth = levels[levels.len() - 1] - levels[0];
    let squares: f64 = levels.windows(2).map(|pair| (pair[1] - pair[0] - growth / steps).powi(2)).sum();
    (growth, (squares / (steps - 1.0) * steps).sqrt())
}

/// Returns the t of D. A. Dickey and W. A. Fuller: the slope of steps over the levels before them in its standard
/// errors. It is far below 0 if levels return to a mean.
fn returns(levels: &[f64]) -> f64 {
    let count = (levels.len() - 1) as f64;
    let mean = levels[..levels.len() - 1].iter().sum::<f64>() / count;
    let step = (levels[levels.len() - 1] - levels[0]) / count;
    let (mut across, mut along, mut squares) = (0.0, 0.0, 0.0);
    for pair in levels.windows(2) {
        let (x, y) = (pair[0] - mean, pair[1] - pair[0] - step);
        across += x * x;
        along += x * y;
        squares += y * y;
    }
    if across <= 0.0 {
        return if squares > 0.0 { 0.0 } else { f64::NEG_INFINITY };
    }
    let slope = along / across;
    let error = ((squares - slope * along).max(0.0) / (count - 2.0) / across).sqrt();
    if slope < 0.0 { slope / error } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(levels: impl Iterator<Item = f64>) -> Trend {
        within(levels, MARGIN)
    }

    fn within(levels: impl Iterator<Item = f64>, margin: f64) -> Trend {
        let mut backlog = Backlog::new(0, 100);
        levels.for_each(|level| backlog.add(level));
        backlog.trend(2, 0.1, margin)
    }

    /// Steps of +1 and -1 that look random.
    fn walk(count: u32) -> impl Iterator<Item = f64> {
        let mut at = 50.0;
        (0..count).map(move |n| {
            at += if n.wrapping_mul(2_654_435_761) >> 31 == 0 { 1.0 } else { -1.0 };
            at
        })
    }

    #[test]
    fn few_samples_say_nothing() {
        assert_eq!(trend((0..20).map(f64::from)), Trend::Unknown);
    }

    #[test]
    fn what_rises_steadily_grows() {
        assert_eq!(trend((0..400).map(f64::from)), Trend::Grows);
        assert_eq!(trend(walk(100).zip(0..).map(|(level, n)| level + 2.0 * f64::from(n))), Trend::Grows);
    }

    #[test]
    fn what_returns_to_its_mean_is_bounded() {
        assert_eq!(trend((0..60_u32).map(|n| f64::from(n * 7919 % 31))), Trend::Bounded);
        assert_eq!(trend((0..60).map(|_| 3.0)), Trend::Bounded);
    }

    /// 2 packets of 600 offered.
    #[test]
    fn a_slow_rise_is_within_the_wide_margin_only() {
        let rise = || (0..60).map(|n| f64::from(n) / 30.0);
        assert_eq!((within(rise(), MARGIN), within(rise(), STRICT)), (Trend::Bounded, Trend::Unknown));
    }

    #[test]
    fn samples_are_thinned_evenly() {
        let mut backlog = Backlog::new(40, 10);
        (0..129).for_each(|n| backlog.add(f64::from(n)));
        assert_eq!((backlog.levels.len(), backlog.spacing, backlog.due()), (65, 20, 1340));
        assert_eq!(backlog.levels[64], 128.0);
    }
}
