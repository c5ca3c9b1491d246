//! Precision of the means of a run: batch means, and whether batches are still correlated.
//!
//! This is the computation of `results/statistics.py`; `docs/background/statistics.md` explains it.

use super::Batch;

/// Batches are merged while at least this many remain.
const FEWEST: usize = 20;

/// Normal quantile that independent batches exceed once in ten times.
const ONE_IN_TEN: f64 = 1.281_551_565_5;

/// Half-width of a 95 % interval in standard errors, for very many batches.
const Z95: f64 = 1.959_963_984_5;

/// Repeated looks need intervals this much wider: S. J. Pocock's constant for six looks, 2.453, in standard errors.
const WIDENED: f64 = 1.25;

/// The numbers of batches after which a run looks at its precision. Batches double at 128 and are 64 again, so each look
/// is at 1.33 or 1.5 times the time of the one before.
const LOOKS: [usize; 2] = [64, 96];

/// Whether a run looks at its precision after this number of batches.
pub fn is_look(batches: usize) -> bool {
    LOOKS.contains(&batches)
}

/// The precision of one mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Its relative 95 % half-width, widened for repeated looks.
    pub half_width: f64,
    /// Whether neighbouring batches look independent, so that the half-width is valid.
    pub independent: bool,
}

impl Known {
    /// Whether the mean is known to within a fraction.
    pub fn within(&self, precision: f64) -> bool {
        self.independent && self.half_width <= precision
    }
}

/// The three means that are monitored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Accepted throughput.
    pub throughput: Known,
    /// Latency, header on the wire to end received.
    pub latency: Known,
    /// Latency from the creation of the packets.
    pub total: Known,
}

/// Returns the precision after these batches; None for fewer than 16, or without deliveries.
pub fn precision(batches: &[Batch]) -> Option<Precision> {
    if batches.len() < 16 {
        return None;
    }
    let packets: Vec<f64> = batches.iter().map(|batch| batch.packets as f64).collect();
    let of = |value: fn(&Batch) -> f64| batches.iter().map(value).collect::<Vec<f64>>();
    Some(Precision {
        throughput: known(&of(|batch| batch.bytes as f64), &vec![1.0; batches.len()])?,
        latency: known(&of(|batch| batch.latency as f64), &packets)?,
        total: known(&of(|batch| batch.total as f64), &packets)?,
    })
}

/// Estimates the mean Σ `top` / Σ `bottom` by the ratio estimator over merged batches.
fn known(top: &[f64], bottom: &[f64]) -> Option<Known> {
    let (top, bottom) = (merged(top), merged(bottom));
    let (above, below) = (top.iter().sum::<f64>(), bottom.iter().sum::<f64>());
    if above <= 0.0 || below <= 0.0 {
        return None;
    }
    let count = top.len() as f64;
    let mean = above / below;
    let squares: f64 = top.iter().zip(&bottom).map(|(n, d)| (n - mean * d).powi(2)).sum();
    let half_width = WIDENED * student_t95(count - 1.0) * (squares / (count - 1.0) * count).sqrt() / above;
    let ratios: Vec<f64> = top.iter().zip(&bottom).filter(|(_, d)| **d > 0.0).map(|(n, d)| n / d).collect();
    Some(Known { half_width, independent: hang_together(&ratios) <= ONE_IN_TEN })
}

/// Sums neighbours so that 20 to 39 values remain; the remainder is added to the last.
fn merged(values: &[f64]) -> Vec<f64> {
    let together = (values.len() / FEWEST).max(1);
    let count = values.len() / together;
    let end = |n: usize| if n + 1 == count { values.len() } else { (n + 1) * together };
    (0..count).map(|n| values[n * together..end(n)].iter().sum()).collect()
}

/// Returns von Neumann's ratio as a standard normal value: large if neighbours are similar, 0 for equal values.
fn hang_together(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if count < 3.0 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let steps: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    if spread <= 0.0 {
        return 0.0;
    }
    (1.0 - steps / (2.0 * spread)) * ((count * count - 1.0) / (count - 2.0)).sqrt()
}

/// Returns Student's t of a two-sided 95 % interval, accurate to 0.001 from 15 degrees of freedom on (Abramowitz and
/// Stegun 26.7.5).
fn student_t95(freedom: f64) -> f64 {
    let z = Z95;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom * freedom);
    z + (z.powi(3) + z) / (4.0 * freedom) + second
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: impl Iterator<Item = i64>) -> Vec<Batch> {
        values
            .map(|v| Batch { packets: 10, bytes: 640 + v as u64, latency: 100, total: i128::from(10 * v) })
            .collect()
    }

    #[test]
    fn a_mean_of_few_batches_is_not_known() {
        assert_eq!(precision(&series(0..15)), None);
    }

    #[test]
    fn what_never_changes_is_known_exactly() {
        let known = precision(&series(0..40)).unwrap().latency;
        assert_eq!(known, Known { half_width: 0.0, independent: true });
    }

    #[test]
    fn the_waits_at_sources_count() {
        let noisy = precision(&series((0..40).map(|n| 50 + n * 7919 % 31))).unwrap();
        assert!(noisy.latency.within(0.01) && noisy.throughput.within(0.01) && !noisy.total.within(0.01));
    }

    #[test]
    fn a_narrow_interval_of_batches_that_hang_together_is_not_believed() {
        let rising = precision(&series((0..40).map(|n| 1_000_000 + n))).unwrap().total;
        assert!(rising.half_width < 1e-4 && !rising.within(0.01));
        let even = precision(&series((0..40).map(|n| 1_000_000 + n % 2))).unwrap().total;
        assert!(even.within(0.01));
    }
}
