//! Rows of a table that are kept as runs of equal entries while it is made column by column.
//!
//! A torus of 65,536 switches has 4,294,967,296 entries, and a few runs for each switch.

use crate::{NONE, RouteError};

/// The most runs of a table: half a gigabyte.
pub const MOST_RUNS: usize = 1 << 26;

#[derive(Default)]
pub(crate) struct Growing {
    /// Per switch: the entry of the present column, and that of the last run that is complete.
    last: Vec<u32>,
    /// Per switch: its complete runs: the column after each, and its entry.
    runs: Vec<Vec<(u32, u32)>>,
    /// The present column.
    column: u32,
    count: usize,
}

impl Growing {
    pub fn new(switches: usize) -> Self {
        Self { last: vec![NONE; switches], runs: vec![vec![]; switches], column: 0, count: 0 }
    }

    pub fn is_used(&self) -> bool {
        self.column > 0
    }

    /// Sets the entry of a switch from the present column on.
    pub fn put(&mut self, switch: u32, entry: u32) {
        let before = std::mem::replace(&mut self.last[switch as usize], entry);
        if before != entry {
            let runs = &mut self.runs[switch as usize];
            // A column that is set twice ends no run.
            if self.column > runs.last().map_or(0, |run| run.0) {
                runs.push((self.column, before));
                self.count += 1;
            }
        }
    }

    /// Goes on to the next column.
    pub fn next(&mut self) -> Result<(), RouteError> {
        self.column += 1;
        if self.count <= MOST_RUNS {
            return Ok(());
        }
        let (switches, columns) = (self.runs.len(), self.column);
        Err(RouteError::text(format!(
            "the routes of {switches} switches to the first {columns} others are more than {MOST_RUNS} runs of \
             neighbours with the same links; take fewer switches"
        )))
    }

    /// Returns the start of each row, the column after each run, and its entry.
    pub fn finish(self) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let (mut start, mut end, mut route) = (vec![0], vec![], vec![]);
        for (row, last) in self.runs.into_iter().zip(self.last) {
            for (column, entry) in row.into_iter().chain([(self.column, last)]) {
                end.push(column);
                route.push(entry);
            }
            start.push(route.len() as u32);
        }
        (start, end, route)
    }
}
