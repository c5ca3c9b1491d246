//! The engine for browsers: the arrays of a scenario in, the results of a run out, as bytes of one form.

mod exports;
mod run;
mod wire;
