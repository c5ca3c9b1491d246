//! Self-routing networks: one-way graphs with a single path from each switch to each destination.

use crate::shortest::backward;
use crate::{Groups, NONE, Network, RouteError, Scheme, Toward, Word};

/// The unique path, found by reachability.
#[derive(Clone, Debug, Default)]
pub struct SelfRouting {
    distance: Vec<u32>,
}

impl Scheme for SelfRouting {
    fn toward(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError> {
        backward(net, to, |_| true, &mut self.distance, &mut out.order);
        for &switch in &out.order {
            let reaches = |&&edge: &&u32| self.distance[net.edge_target[edge as usize] as usize] != NONE;
            let mut ways = net.out_edges(switch).iter().filter(reaches);
            let edge = *ways.next().expect("a switch found backward has a way");
            if let Some(&other) = ways.next() {
                let neighbour = |edge: u32| Word::Switch(net.edge_target[edge as usize]);
                return Err(RouteError::of([
                    "not self-routing: from ".into(),
                    Word::Switch(switch),
                    " the way to ".into(),
                    Word::Switch(to),
                    " leads through ".into(),
                    neighbour(edge),
                    " and through ".into(),
                    neighbour(other),
                ]));
            }
            out.group[switch as usize] = groups.edge(net, edge);
        }
        Ok(())
    }
}
