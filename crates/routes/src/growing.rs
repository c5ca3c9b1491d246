//! Rows of a table that are kept as runs of equal entries while it is made column by column.
//!
//! A torus of 65,536 switches has 4,294,967,296 entries, and a few runs for each switch.

use crate::runs::FEW;
use crate::{NONE, RouteError};

/// The most runs of a table: half a gigabyte.
pub const MOST_RUNS: usize = 1 << 26;

/// The start of each row; the column after each run, its entry and its layer.
pub(crate) type Rows = (Vec<u32>, Vec<u32>, Vec<u32>, Vec<u8>);

#[derive(Default)]
pub(crate) struct Growing {
    /// Per switch: entry and layer of the present column.
    last: Vec<(u32, u8)>,
    /// Per switch: its complete runs: the column after each, its entry and its layer.
    runs: Vec<Vec<(u32, u32, u8)>>,
    /// The present column.
    column: u32,
    count: usize,
    /// Whether layers are kept.
    pub is_layered: bool,
}

impl Growing {
    pub fn new(switches: usize) -> Self {
        Self { last: vec![(NONE, 0); switches], runs: vec![vec![]; switches], ..Self::default() }
    }

    pub fn is_used(&self) -> bool {
        self.column > 0
    }

    /// Sets entry and layer of a switch from the present column on.
    pub fn put(&mut self, switch: u32, entry: u32, layer: u8) {
        let before = std::mem::replace(&mut self.last[switch as usize], (entry, layer));
        if before != (entry, layer) {
            let runs = &mut self.runs[switch as usize];
            // A column that is set twice ends no run.
            if self.column > runs.last().map_or(0, |run| run.0) {
                runs.push((self.column, before.0, before.1));
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

    /// Whether the runs so far save memory and time.
    pub fn is_few(&self) -> bool {
        self.count <= FEW.max(self.runs.len() * self.column as usize / 4)
    }

    pub fn finish(self) -> Rows {
        let mut found: Rows = (vec![0], vec![], vec![], vec![]);
        let (start, end, route, layers) = (&mut found.0, &mut found.1, &mut found.2, &mut found.3);
        for (row, last) in self.runs.into_iter().zip(self.last) {
            for (column, entry, layer) in row.into_iter().chain([(self.column, last.0, last.1)]) {
                end.push(column);
                route.push(entry);
                layers.extend(self.is_layered.then_some(layer));
            }
            start.push(route.len() as u32);
        }
        found
    }
}
