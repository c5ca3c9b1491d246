//! Errors in the arrays. They contain ids; Python has the names and turns ids into names.

use thiserror::Error;

/// A description that the engine refuses before it simulates anything.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FabricError {
    /// A column has the wrong number of rows.
    #[error("column {column} has {rows} rows, {expected} expected")]
    Shape {
        /// Column name.
        column: &'static str,
        /// Rows found.
        rows: usize,
        /// Rows expected.
        expected: usize,
    },
    /// A value in a column is out of its range.
    #[error("column {column}, row {row}: {value} is not {expected}")]
    Value {
        /// Column name.
        column: &'static str,
        /// Row number.
        row: usize,
        /// The value found.
        value: String,
        /// What the value should be.
        expected: &'static str,
    },
}
