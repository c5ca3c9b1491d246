//! The engine for browsers: the arrays of a scenario in, the results of a run out, as bytes of one form.
//!
//! A page calls these functions, with numbers only: it writes into and reads from the memory itself. Nothing here is unsafe but the names, which must not be changed by the compiler, and must be those of no other library.

#![expect(unsafe_code, reason = "an exported name counts as unsafe")]

mod wire;

use std::cell::RefCell;

use fabriloom_engine::fabric::Fabric;
use fabriloom_engine::measure::Rows;
use fabriloom_engine::results::Results;
use fabriloom_engine::run::{Options, Simulation};
use wire::{Columns, bytes_of};

thread_local! {
    /// A page has no place of its own to keep a value of Rust. One instance of the module is one run.
    static WEB: RefCell<Web> = RefCell::default();
}

const GOES_ON: i32 = 0;
const ENDED: i32 = 1;
const FAILED: i32 = -1;

/// Returns the number for an outcome; the text of an error becomes the output.
fn told(what: impl FnOnce(&mut Web) -> Result<bool, String>) -> i32 {
    WEB.with_borrow_mut(|web| match what(web) {
        Ok(ended) => [GOES_ON, ENDED][usize::from(ended)],
        Err(error) => {
            web.output = error.into_bytes();
            FAILED
        }
    })
}

/// Returns the place for this number of input bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fabriloom_room(bytes: usize) -> *mut u8 {
    WEB.with_borrow_mut(|web| {
        web.input = vec![0; bytes];
        web.input.as_mut_ptr()
    })
}

/// Begins a run of the input: 0, or -1 with an error.
#[unsafe(no_mangle)]
pub extern "C" fn fabriloom_begin() -> i32 {
    told(|web| web.begin().map(|()| false))
}

/// Handles at least this number of further events: 0 if the run goes on, 1 if it has ended, -1 with an error.
#[unsafe(no_mangle)]
pub extern "C" fn fabriloom_advance(events: u32) -> i32 {
    told(|web| web.advance(u64::from(events)))
}

/// Returns the packet-hops so far.
#[unsafe(no_mangle)]
pub extern "C" fn fabriloom_packet_hops() -> f64 {
    WEB.with_borrow(|web| web.packet_hops() as f64)
}

/// Makes the results the output: 0, or -1 with an error.
#[unsafe(no_mangle)]
pub extern "C" fn fabriloom_finish() -> i32 {
    told(|web| web.finish().map(|()| false))
}

/// Returns the place of the output.
#[unsafe(no_mangle)]
pub extern "C" fn fabriloom_output() -> *const u8 {
    WEB.with_borrow(|web| web.output.as_ptr())
}

/// Returns the number of its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fabriloom_output_bytes() -> usize {
    WEB.with_borrow(|web| web.output.len())
}

/// What a page has given, the run, and what the page gets.
#[derive(Default)]
struct Web {
    /// The arrays of a fabric and the options of a run.
    input: Vec<u8>,
    /// Results, or the text of an error.
    output: Vec<u8>,
    run: Option<Simulation>,
}

impl Web {
    /// Begins a run of what has been given.
    ///
    /// # Errors
    /// The bytes are no arrays, or the arrays describe no network.
    fn begin(&mut self) -> Result<(), String> {
        let mut columns = Columns::of(&self.input)?;
        let (fabric, options) = (fabric(&mut columns)?, options(&mut columns)?);
        columns.all_taken()?;
        self.run = Some(Simulation::new(fabric, options).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Handles at least this number of further events; returns whether the run has ended.
    ///
    /// # Errors
    /// There is no run, or it cannot go on.
    fn advance(&mut self, events: u64) -> Result<bool, String> {
        let run = self.run.as_mut().ok_or("no run has begun")?;
        run.advance(events).map(|end| end.is_some()).map_err(|error| error.to_string())
    }

    /// Returns the packet-hops so far; 0 without a run.
    fn packet_hops(&self) -> u64 {
        self.run.as_ref().map_or(0, Simulation::packet_hops)
    }

    /// Puts all that has been measured so far into the output.
    ///
    /// # Errors
    /// There is no run, or its packets do not balance.
    fn finish(&mut self) -> Result<(), String> {
        let run = self.run.as_ref().ok_or("no run has begun")?;
        self.output = bytes_of(&Results::of(run).map_err(|error| error.to_string())?)?;
        Ok(())
    }
}

/// Takes the arrays; scalars that are not there are 0, and columns empty.
fn fabric(columns: &mut Columns<'_>) -> Result<Fabric, String> {
    let mut fabric = Fabric::default();
    macro_rules! scalar {
        ($name:ident: $type:ty) => {
            fabric.$name = columns.number(stringify!($name))?.unwrap_or_default();
        };
    }
    fabriloom_engine::for_each_scalar!(scalar);
    macro_rules! column {
        ($name:ident: $type:ty) => {
            fabric.$name = columns.column(stringify!($name))?;
        };
    }
    fabriloom_engine::for_each_column!(column);
    Ok(fabric)
}

/// Takes the options: whole numbers under the names that the Python face gives them, behind `run.`.
fn options(columns: &mut Columns<'_>) -> Result<Options, String> {
    let mut number = |name: &str| columns.number::<u64>(&format!("run.{name}"));
    let mut count = |name: &str| number(name).map(Option::unwrap_or_default);
    let options = Options {
        until: count("until")? as i64,
        latencies: count("latencies")? > 0,
        packets: count("packets")?,
        batch: count("batch")? as i64,
        drain: count("drain")? > 0,
        flows: count("flows")? as usize,
        trace: count("trace")? as usize,
        hops: count("hops")? as usize,
        hops_since: count("hops_since")? as i64,
        messages: count("keep_messages")? as usize,
        warmup: number("warmup")?.map(|ticks| ticks as i64),
        precision: columns.number("run.precision")?.unwrap_or_default(),
        watched: columns.column("run.watched")?,
        rows: rows(columns)?,
    };
    Ok(options)
}

/// Takes the pairs, or else the sources, whose throughput is kept over time.
fn rows(columns: &mut Columns<'_>) -> Result<Rows, String> {
    let (pairs, sources) = (columns.column::<u32>("run.pairs")?, columns.column("run.sources")?);
    let pairs: Vec<_> = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    Ok(if pairs.is_empty() { Rows::Sources(sources) } else { Rows::Pairs(pairs) })
}
