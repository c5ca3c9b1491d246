//! Time-codes and interrupts that ports received.

use super::Spread;
use crate::fabric::Fabric;
use crate::kernel::Time;

/// A code that was created, or that a port accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A source created it.
    Made {
        /// Its row among the sources.
        source: u32,
    },
    /// A port accepted it.
    Taken {
        /// The row of its source.
        source: u32,
        /// The port that accepted it.
        port: u32,
        /// When it was created.
        made: Time,
        /// When it arrived.
        at: Time,
    },
}

/// Counts of the codes on links, or at switches and ports, since they were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeCounts {
    /// On a link: sent.
    pub sent: u64,
    /// On a link: lost on it, or before it, because it was down.
    pub lost: u64,
    /// Dropped at the end of a link: the number that arrived last, or an interrupt that is held.
    pub duplicates: u64,
    /// Dropped at the end of a link: time-codes that are not the last one plus one.
    pub invalid: u64,
}

/// Delays of codes by source and port.
#[derive(Clone, Debug, Default)]
pub struct Codes {
    start: Time,
    ports: usize,
    /// Per source: number of codes.
    pub made: Vec<u64>,
    /// Per source and port: from the creation to the end received.
    pub delays: Vec<Spread>,
}

impl Codes {
    /// Returns empty delays; only codes created from a tick on are counted.
    pub fn new(fabric: &Fabric, start: Time) -> Self {
        let (sources, ports) = (fabric.code_port.len(), fabric.ports() as usize);
        let delays = vec![Spread::default(); sources * ports];
        Self { start, ports, made: vec![0; sources], delays }
    }

    /// Counts a code.
    pub fn record(&mut self, code: Code) {
        match code {
            Code::Made { source } => self.made[source as usize] += 1,
            Code::Taken { source, port, made, at } if made >= self.start => {
                self.delays[source as usize * self.ports + port as usize].record(at - made);
            }
            Code::Taken { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_before_do_not_count() {
        let fabric = Fabric {
            code_port: vec![0, 1],
            terminals: 3,
            terminal_out_link: vec![0, 1, 2],
            ..Fabric::default()
        };
        let mut codes = Codes::new(&fabric, 10);
        codes.record(Code::Made { source: 1 });
        for made in [9, 10, 12] {
            codes.record(Code::Taken { source: 1, port: 2, made, at: made + made });
        }
        assert_eq!(codes.made, [0, 1]);
        let delays = &codes.delays[3 + 2];
        assert_eq!((delays.count, delays.min, delays.max), (2, 10, 12));
    }
}
