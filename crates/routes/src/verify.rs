//! Checks that all packets arrive.

use crate::walk::{Starts, Walk, ends};
use crate::{Network, RouteError, View};

/// Follows every class from every switch where its packets can start, through every link they may take.
///
/// The error names the destination and the switches on the path to the loop, dead end or wrong terminal.
pub fn verify(net: &Network, view: View<'_>) -> Result<(), RouteError> {
    view.check(net)?;
    let targets = view.targets(net);
    let starts = Starts::new(net, view);
    let mut walk = Walk::new(net, view, &targets);
    for (class, end) in ends(view) {
        if !walk.repeats(class, end) {
            walk.run(class, end, starts.of(net, end))?;
        }
    }
    Ok(())
}
