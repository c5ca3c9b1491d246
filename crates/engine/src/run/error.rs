//! Errors of a run.

use crate::terminal::NoPlane;

/// Errors of a run.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum RunError {
    /// A packet reached a switch that has no route for it.
    #[error("switch {switch} has no route for class {class}")]
    NoRoute {
        /// Switch number.
        switch: u32,
        /// Class number.
        class: u32,
    },
    /// The ports of a ring network route packets in a cycle.
    #[error("packets for terminal {terminal} loop from port to port")]
    RouteCircle {
        /// Terminal number.
        terminal: u32,
    },
    /// A packet is for a terminal that has no plane in common with its source.
    #[error("terminal {from} has no port in a plane of terminal {to}")]
    NoPlane {
        /// The source terminal.
        from: u32,
        /// The destination terminal.
        to: u32,
    },
    /// An operation takes a terminal's number from a message, and no other terminal has that number.
    #[error(
        "terminal {terminal}, operation {operation}: the message received last leads to no other terminal"
    )]
    NoPeer {
        /// Terminal number.
        terminal: u32,
        /// Index of the operation in its program, from 0.
        operation: u32,
    },
    /// Messages are not conserved; this is an error of the engine.
    #[error("messages do not balance: {made} made, {received} received, {in_flight} in flight, {lost} lost")]
    MessagesNotConserved {
        /// Messages created.
        made: u64,
        /// Messages received.
        received: u64,
        /// Messages under way.
        in_flight: u64,
        /// Messages of which a part was lost.
        lost: u64,
    },
    /// Packets are not conserved; this is an error of the engine.
    #[error(
        "packets do not balance: {offered} offered, {delivered} delivered, {refused} refused, {in_flight} in flight, \
         {scrubbed} scrubbed, {lost} lost"
    )]
    NotConserved {
        /// Packets offered.
        offered: u64,
        /// Packets delivered.
        delivered: u64,
        /// Packets refused.
        refused: u64,
        /// Packets waiting or under way.
        in_flight: u64,
        /// Packets removed by scrubbers.
        scrubbed: u64,
        /// Packets lost by faults.
        lost: u64,
    },
}

impl From<NoPlane> for RunError {
    fn from(NoPlane { from, to }: NoPlane) -> Self {
        Self::NoPlane { from, to }
    }
}

impl RunError {
    /// Returns a mistake that the user can correct: its kind and two numbers, of a terminal and an operation or of two
    /// terminals. The kind of other errors is empty.
    pub fn mistake(&self) -> (&'static str, u32, u32) {
        match *self {
            RunError::NoPeer { terminal, operation } => ("no-peer", terminal, operation),
            RunError::NoPlane { from, to } => ("no-plane", from, to),
            _ => ("", 0, 0),
        }
    }
}
