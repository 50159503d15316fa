//! Exchanges of names on the service: one of the nodes gets a temporary name first. All moves of an exchange are to go
//! in one request: what sees the temporary name alone, such as another device, takes it for somebody's choice.

use cairn_model::NodeId;
use cairn_plan::{MoveReason, Step};
use std::collections::BTreeSet;

/// The exchanges of a plan.
pub(super) struct Exchanges<'a> {
    steps: &'a [Step],
    /// The last step of an exchange that waits.
    held_until: Option<usize>,
}

impl<'a> Exchanges<'a> {
    pub(super) fn of(steps: &'a [Step]) -> Self {
        Self {
            steps,
            held_until: None,
        }
    }

    /// Returns whether a step, by its position, waits because another one of its exchange does. Steps are asked about in
    /// their order.
    pub(super) fn holds(&mut self, at: usize, waits: impl Fn(&Step) -> bool) -> bool {
        let Some(step) = self.steps.get(at).filter(|step| is_structure(step)) else {
            return false;
        };
        if self.held_until.is_some_and(|end| at <= end) {
            return true;
        }
        let Some(end) = self.end(at, step) else {
            return false;
        };
        let parts = self.steps[at..=end].iter();
        let is_held = parts.filter(|step| is_structure(step)).any(waits);
        if is_held {
            self.held_until = Some(end);
        }
        is_held
    }

    /// Returns the position of the step with which an exchange is over that begins here.
    fn end(&self, at: usize, step: &Step) -> Option<usize> {
        let node = leaves_its_name(step)?;
        let later = self.steps.iter().enumerate().skip(at + 1);
        let mut moves = later.filter(|(_, later)| takes_its_name(later) == Some(node));
        moves.next().map(|(end, _)| end)
    }
}

/// The exchanges that a request has begun.
#[derive(Default)]
pub(super) struct OpenExchanges(BTreeSet<NodeId>);

impl OpenExchanges {
    pub(super) fn add(&mut self, step: &Step) {
        self.0.extend(leaves_its_name(step));
        if let Some(node) = takes_its_name(step) {
            self.0.remove(&node);
        }
    }

    /// Returns whether a request of so many operations takes more than usual, up to twice as many, because an exchange is
    /// not over.
    pub(super) fn take_more(&self, operations: usize, usual: usize) -> bool {
        !self.0.is_empty() && operations < 2 * usual
    }
}

/// Returns the node to which a step gives a temporary name on the service.
fn leaves_its_name(step: &Step) -> Option<NodeId> {
    move_of(step).and_then(|(node, is_temporary)| is_temporary.then_some(node))
}

/// Returns the node to which a step gives the name that it is to have on the service.
fn takes_its_name(step: &Step) -> Option<NodeId> {
    move_of(step).and_then(|(node, is_temporary)| (!is_temporary).then_some(node))
}

fn move_of(step: &Step) -> Option<(NodeId, bool)> {
    let Step::MoveRemote { node, reason, .. } = step else {
        return None;
    };
    Some((*node, *reason == MoveReason::Temporary))
}

fn is_structure(step: &Step) -> bool {
    matches!(
        step,
        Step::CreateRemoteFolder { .. } | Step::MoveRemote { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::Name;
    use cairn_plan::{Parent, ParentAndName};

    fn node(id: u8) -> NodeId {
        NodeId::from_random_bytes([id; 16])
    }

    fn step(id: u8, name: &str, reason: MoveReason) -> Step {
        Step::MoveRemote {
            node: node(id),
            to: ParentAndName {
                parent: Parent::Root,
                name: Name::new(name).unwrap(),
            },
            reason,
        }
    }

    /// Two nodes exchange their names, between two moves of others.
    fn plan() -> Vec<Step> {
        vec![
            step(1, "before", MoveReason::Follow),
            step(2, "for now", MoveReason::Temporary),
            Step::Forget { node: node(9) },
            step(3, "two", MoveReason::Follow),
            step(2, "three", MoveReason::Follow),
            step(4, "after", MoveReason::Follow),
        ]
    }

    fn held(waiting: u8) -> Vec<usize> {
        let steps = plan();
        let mut exchanges = Exchanges::of(&steps);
        let waits = |step: &Step| move_of(step).is_some_and(|(id, _)| id == node(waiting));
        (0..steps.len())
            .filter(|at| exchanges.holds(*at, waits))
            .collect()
    }

    #[test]
    fn an_exchange_waits_as_a_whole() {
        assert_eq!(held(3), [1, 3, 4]);
        assert_eq!(held(2), [1, 3, 4]);
        assert_eq!(held(1), [0; 0]);
        assert_eq!(held(9), [0; 0]);
    }

    #[test]
    fn a_request_takes_more_until_an_exchange_is_over() {
        let mut open = OpenExchanges::default();
        let mut more = Vec::new();
        for step in plan() {
            open.add(&step);
            more.push((open.take_more(5, 5), open.take_more(10, 5)));
        }
        assert_eq!(
            more.iter().map(|m| m.0).collect::<Vec<_>>(),
            [false, true, true, true, false, false]
        );
        assert!(more.iter().all(|m| !m.1));
    }
}
