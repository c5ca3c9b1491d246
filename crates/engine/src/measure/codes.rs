//! Time-codes and interrupts at the ports to which they have come.

use super::Spread;
use crate::fabric::Fabric;
use crate::kernel::Time;

/// A code that was made, or has come to a port that took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// By a source.
    Made {
        /// Its row among the sources.
        source: u32,
    },
    /// And was taken.
    Taken {
        /// The row of its source.
        source: u32,
        /// Where it came to.
        port: u32,
        /// When it was made.
        made: Time,
        /// When it came.
        at: Time,
    },
}

/// What links, or switches and ports, did with codes since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeCounts {
    /// Of a link: sent.
    pub sent: u64,
    /// Of a link: lost on it or in front of it because it was down.
    pub lost: u64,
    /// Come by a link and dropped at its end: the number that was there last, or an interrupt that is held.
    pub duplicates: u64,
    /// Come by a link and dropped at its end: time-codes that are not one more than the one before.
    pub invalid: u64,
}

/// Delays of codes by source and port.
#[derive(Clone, Debug, Default)]
pub struct Codes {
    start: Time,
    ports: usize,
    /// Per source: how many it made.
    pub made: Vec<u64>,
    /// Per source and port: from the creation to the end received.
    pub delays: Vec<Spread>,
}

impl Codes {
    /// Nothing has come of those made from a tick on.
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
