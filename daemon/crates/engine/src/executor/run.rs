//! Steps that are carried out together, with one request or one pass over the disk.

use super::exchanges::OpenExchanges;
use crate::step::{local_folders, remote, trash_local};
use cairn_plan::Step;
use std::mem::discriminant;

/// Steps that are carried out together.
pub(super) struct Run {
    steps: Vec<Step>,
    open: OpenExchanges,
    most: usize,
}

impl Run {
    /// Begins with a step, of a kind of which usually so many go together.
    pub(super) fn begin(step: &Step, most: usize) -> Self {
        let mut run = Self {
            steps: Vec::new(),
            open: OpenExchanges::default(),
            most,
        };
        run.add(step);
        run
    }

    /// Returns whether the next step of the plan may go with these.
    pub(super) fn takes(&self, next: &Step) -> bool {
        let has_room =
            self.steps.len() < self.most || self.open.take_more(self.steps.len(), self.most);
        let first = self.steps.first();
        has_room && first.is_some_and(|first| are_carried_out_together(first, next))
    }

    pub(super) fn add(&mut self, step: &Step) {
        self.open.add(step);
        self.steps.push(step.clone());
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }
}

/// Returns whether a step may go in the request of another one, or with it to the disk.
fn are_carried_out_together(one: &Step, next: &Step) -> bool {
    let makes_room = |step: &Step| {
        matches!(
            step,
            Step::CreateRemoteFolder { .. } | Step::MoveRemote { .. }
        )
    };
    discriminant(one) == discriminant(next) || (makes_room(one) && makes_room(next))
}

/// Returns the number of steps of this kind that are carried out together, if they are.
pub(super) fn batch_of(step: &Step) -> Option<usize> {
    match step {
        Step::CreateLocalFolder { .. } => Some(local_folders::BATCH),
        Step::TrashLocal { .. } => Some(trash_local::BATCH),
        Step::CreateRemoteFolder { .. } | Step::MoveRemote { .. } | Step::TrashRemote { .. } => {
            Some(remote::BATCH)
        }
        Step::RestoreRemote { .. } => Some(remote::RESTORES),
        Step::Adopt { .. }
        | Step::Forget { .. }
        | Step::Unlink { .. }
        | Step::MoveLocal { .. }
        | Step::SetLocalExecutable { .. }
        | Step::SetRemoteExecutable { .. }
        | Step::Download { .. }
        | Step::Upload { .. } => None,
    }
}
