//! The engine for browsers: the arrays of a scenario in, the results of a run out, as bytes of one form.
//!
//! A page calls these functions, with numbers only: it writes into and reads from the memory itself. Nothing here is unsafe but the names, which must not be changed by the compiler, and must be those of no other library.

#![expect(unsafe_code, reason = "an exported name counts as unsafe")]

mod run;
mod wire;

use std::cell::RefCell;

use run::Web;

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
