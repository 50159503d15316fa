//! The dispatcher's state of one folder.

use super::schedule::Schedule;
use crate::folder_rules::FolderRules;
use crate::gate::{DeletionFlow, OverwriteFlow};
use crate::key::Key;
use crate::overall_progress::Amount;
use crate::ports::Watched;
use crate::work::Queue;
use cairn_index::{FileIdentity, FolderRow, PlanSizes, Round, SeenMarks};
use cairn_model::{LocalId, NodeId, RunningSteps};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The state of a folder's watcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Watching {
    Works,
    /// Failed: the folder is scanned on a timer.
    Broken,
    /// Begun again, and asked for the hints that it owes: if it answers this question, it works, and also if it does not
    /// fail until the next scan.
    Retried {
        question: u64,
    },
}

/// The dispatcher's state of one folder.
pub(super) struct Folder {
    pub(super) row: Arc<FolderRow>,
    pub(super) rules: FolderRules,
    /// Keeps the watcher running.
    pub(super) watch: Box<dyn Watched>,
    pub(super) watching: Watching,
    /// The watcher was asked for all hints that it owes: the number of the question, and the time at which the folder
    /// is scanned instead.
    pub(super) flush: Option<(u64, Instant)>,
    /// The length of the last whole scan.
    pub(super) scan_took: Duration,
    pub(super) schedule: Schedule,
    /// The remote folder can't be had; tried again whenever the feed is polled.
    pub(super) unattachable: bool,
    /// The root and its mount as they were when its content was last compared with the index; none after
    /// it was missing.
    pub(super) root_checked: Option<(FileIdentity, Option<u64>)>,
    /// Everything that is dirty is to be planned.
    pub(super) plan_due: bool,
    /// News are to be planned: keys that were marked since the last plan.
    pub(super) news_due: bool,
    /// The marks that were compared with what failed.
    pub(super) seen_marks: SeenMarks,
    /// The part of what is dirty that is planned in this round.
    pub(super) round: Round,
    /// Parts of the round are left, with so much to transfer.
    pub(super) is_more: bool,
    pub(super) left: Amount,
    /// Another round follows this one: something is to be planned that this one has behind it.
    pub(super) again: bool,
    /// The time of the last plan: what could be tried again by then was tried.
    pub(super) planned_at: Instant,
    /// While transfers run, no plan is made before this: planning must not crowd them out.
    pub(super) next_plan: Instant,
    /// Plans in a row that could not be made: the next one waits for `next_plan`.
    pub(super) failed_plans: u32,
    pub(super) queue: Queue,
    pub(super) in_flight: u64,
    /// A list of its steps is being carried out; true ends that early.
    pub(super) executing: Option<watch::Sender<bool>>,
    /// The number of steps of each kind in that list.
    pub(super) steps: RunningSteps,
    pub(super) in_flight_bytes: u64,
    /// The first key of each step that waits.
    pub(super) waiting: BTreeSet<Key>,
    pub(super) deletions: DeletionFlow,
    pub(super) overwrites: OverwriteFlow,
    /// The last node whose first bytes were looked at; none: from the first one on.
    pub(super) heads_after: Option<NodeId>,
    /// Interrupts running transfers of this folder when it is paused.
    pub(super) pause: Arc<watch::Sender<bool>>,
    pub(super) totals_due: bool,
    /// While transfers run, no totals are counted before this.
    pub(super) next_totals: Instant,
}

impl Folder {
    pub(super) fn is_paused(&self, now_ms: i64) -> bool {
        let settings = &self.row.settings;
        settings.paused && settings.paused_until.is_none_or(|until| until > now_ms)
    }

    /// Returns whether a plan can be made at all: its root and its remote folder are there.
    pub(super) fn can_be_planned(&self) -> bool {
        self.row.remote_node.is_some() && !self.schedule.is_root_missing() && !self.unattachable
    }

    /// Returns the number of steps that are still to be done, as far as they are planned.
    pub(super) fn pending_steps(&self) -> u64 {
        self.queue.len() + self.in_flight + self.waiting.len() as u64 + self.left.files
    }

    /// Returns whether so few small files are left to begin with that the next part of a round is planned.
    pub(super) fn is_queue_low(&self, sizes: PlanSizes) -> bool {
        self.queue.small_files() <= sizes.part as u64 / 4
    }

    /// Forgets the transfers that have not begun: the next plan is made anew.
    pub(super) fn forget_queue(&mut self) {
        self.queue.clear();
        self.round = Round::default();
        (self.is_more, self.again) = (false, false);
        self.left = Amount::default();
    }

    /// Records that the folder itself waits, and not one of its files.
    pub(super) fn wait_for_rules(&mut self) {
        self.forget_queue();
        if self.waiting.is_empty() {
            self.waiting.insert(Key::Local(LocalId(0)));
        }
    }

    /// Ends the list of steps that is being carried out at the next safe point.
    pub(super) fn end_steps(&self) {
        if let Some(end) = &self.executing {
            end.send_replace(true);
        }
    }

    /// Returns the transfers that are queued or running.
    pub(super) fn transfers_left(&self) -> Amount {
        let mut left = self.queue.amount();
        left.add(self.left);
        left.add(Amount {
            files: self.in_flight,
            bytes: self.in_flight_bytes,
        });
        left
    }

    /// Returns whether something is done now, or will be without a person and without waiting for the
    /// next try of what failed.
    pub(super) fn is_busy(&self) -> bool {
        !self.queue.is_empty()
            || self.in_flight > 0
            || self.executing.is_some()
            || self.plan_due
            || self.news_due
            || self.is_more
            || self.deletions.quiet_at().is_some()
            || self.schedule.is_pending()
    }

    /// Returns whether nothing happens here until something changes. A root that was missing is calm only when it is
    /// not to be looked at again: it may be back.
    pub(super) fn is_calm(&self) -> bool {
        (self.schedule.is_root_missing() && !self.schedule.is_pending())
            || self.unattachable
            || (!self.schedule.is_pending()
                && self.deletions.quiet_at().is_none()
                && !self.plan_due
                && !self.news_due
                && !self.is_more
                && self.flush.is_none()
                && self.queue.is_empty()
                && self.executing.is_none()
                && self.in_flight == 0)
    }
}
