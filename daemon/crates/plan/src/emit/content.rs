//! The steps for the content of one file: a change of its executable bit, a transfer, or the record that both
//! sides are equal.

use super::{Decisions, adopt, is_unrecorded};
use crate::Step;
use crate::content::Content;
use crate::entity::{Entity, EntityId, Side};
use crate::tree::{LocalNode, RemoteNode};
use cairn_model::SyncMode;

/// A transfer with what it is sorted by.
pub(super) struct Transfer {
    pub(super) id: EntityId,
    /// In bytes.
    pub(super) size: u64,
    pub(super) step: Step,
}

/// The content steps of all files, by kind.
#[derive(Default)]
pub(super) struct ContentSteps {
    pub(super) executable_bits: Vec<Step>,
    pub(super) adoptions: Vec<Step>,
    pub(super) transfers: Vec<Transfer>,
}

impl<'a> Decisions<'_, 'a> {
    fn sends(&self) -> bool {
        self.mode != SyncMode::Download
    }

    fn receives(&self) -> bool {
        self.mode != SyncMode::Upload
    }

    /// Adds the content steps of one entity; a folder has none.
    pub(super) fn content_steps(&self, id: EntityId, out: &mut ContentSteps) {
        let e = self.entity(id);
        if !e.is_file() || self.constraints.held[id] {
            return;
        }
        match (e.local, e.remote) {
            (Some(l), None) if self.sends() => out.transfers.extend(self.upload(id, l, None)),
            (None, Some(r)) if self.receives() => out.transfers.extend(self.download(id, r, None)),
            (Some(l), Some(r)) => self.pair_steps(id, l, r, out),
            (Some(_), None) | (None, Some(_)) | (None, None) => {}
        }
    }

    fn pair_steps(
        &self,
        id: EntityId,
        l: &'a LocalNode,
        r: &'a RemoteNode,
        out: &mut ContentSteps,
    ) {
        let e = self.entity(id);
        let pulls = self.receives() && e.content == Content::Pull;
        let pushes = self.sends() && e.content == Content::Push;
        // Bits go first, so that the transfer carries the right one.
        let executable = merged_executable(e, l, r);
        if l.executable != executable && self.receives() && !pulls {
            out.executable_bits.push(Step::SetLocalExecutable {
                node: r.id,
                local: l.id,
                executable,
            });
        }
        if r.executable != executable && self.sends() && !pushes {
            out.executable_bits.push(Step::SetRemoteExecutable {
                node: r.id,
                local: l.id,
                executable,
            });
        }
        if pulls {
            out.transfers.extend(self.download(id, r, Some(l)));
        } else if pushes {
            out.transfers.extend(self.upload(id, l, Some(r)));
        } else if matches!(e.content, Content::Same | Content::Unrecorded) {
            let wanted = e.content == Content::Unrecorded || is_unrecorded(e);
            out.adoptions.extend(adopt(e, wanted));
        }
    }

    fn upload(&self, id: EntityId, l: &LocalNode, over: Option<&RemoteNode>) -> Option<Transfer> {
        let step = Step::Upload {
            local: l.id,
            over: over.map(|r| r.id),
            to: self.place(id, Side::Remote)?,
        };
        Some(Transfer {
            id,
            size: l.size,
            step,
        })
    }

    fn download(&self, id: EntityId, r: &RemoteNode, over: Option<&LocalNode>) -> Option<Transfer> {
        let step = Step::Download {
            node: r.id,
            over: over.map(|l| l.id),
            to: self.place(id, Side::Local)?,
        };
        Some(Transfer {
            id,
            size: r.size,
            step,
        })
    }
}

/// Merges the executable bit three-way; where there is no base, the service wins if a seal vouches for its bit.
fn merged_executable(e: &Entity<'_>, l: &LocalNode, r: &RemoteNode) -> bool {
    match e.base {
        Some(base) if r.executable == base.executable => l.executable,
        None if !r.is_executable_sealed => l.executable,
        Some(_) | None => r.executable,
    }
}
