//! Work items for the pool of transfers: small files in batches, each big one alone.

mod pack;
mod queue;

pub(crate) use pack::pack;
pub(crate) use queue::{Queue, Room};

use crate::executor::path_of;
use crate::key::Key;
use crate::overall_progress::Amount;
use crate::step::batch::StepResult;
use crate::step::{Ctx, download, upload};
use std::collections::BTreeSet;

/// A work item: one big file, or a batch of small ones.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Upload(upload::Task),
    Uploads(Vec<upload::Task>),
    Download(download::Task),
    Downloads(Vec<download::Task>),
}

/// The result of one file of a work item.
pub(crate) struct TransferResult {
    /// The keys that the task held; the first is the one that is parked if it fails.
    pub(crate) keys: Vec<Key>,
    /// The bytes of the file.
    pub(crate) size: u64,
    /// The path of the file if it failed; else empty.
    pub(crate) path: String,
    pub(crate) result: StepResult,
}

impl TransferResult {
    fn new(ctx: &Ctx, keys: Vec<Key>, size: u64, result: StepResult) -> Self {
        let path = match (&result, keys.first()) {
            (Err(_), Some(main)) => path_of(ctx, *main),
            _ => String::new(),
        };
        Self {
            keys,
            size,
            path,
            result,
        }
    }
}

impl Work {
    pub(crate) fn keys(&self) -> Vec<Key> {
        match self {
            Self::Upload(task) => upload::keys(task),
            Self::Uploads(tasks) => tasks.iter().flat_map(upload::keys).collect(),
            Self::Download(task) => download::keys(task),
            Self::Downloads(tasks) => tasks.iter().flat_map(download::keys).collect(),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Upload(_) | Self::Download(_) => 1,
            Self::Uploads(tasks) => tasks.len() as u64,
            Self::Downloads(tasks) => tasks.len() as u64,
        }
    }

    /// Returns it without the files that use one of some keys; none if no file is left.
    fn without(self, keys: &BTreeSet<Key>) -> Option<Self> {
        let uses_none = |of: Vec<Key>| !of.iter().any(|key| keys.contains(key));
        let rest = match self {
            Self::Upload(task) => {
                return uses_none(upload::keys(&task)).then_some(Self::Upload(task));
            }
            Self::Download(task) => {
                return uses_none(download::keys(&task)).then_some(Self::Download(task));
            }
            Self::Uploads(mut tasks) => {
                tasks.retain(|task| uses_none(upload::keys(task)));
                Self::Uploads(tasks)
            }
            Self::Downloads(mut tasks) => {
                tasks.retain(|task| uses_none(download::keys(task)));
                Self::Downloads(tasks)
            }
        };
        (rest.len() > 0).then_some(rest)
    }

    /// Returns the files and bytes of it.
    pub(crate) fn amount(&self) -> Amount {
        let bytes = match self {
            Self::Upload(task) => task.size,
            Self::Download(task) => task.size,
            Self::Uploads(tasks) => tasks.iter().map(|task| task.size).sum(),
            Self::Downloads(tasks) => tasks.iter().map(|task| task.size).sum(),
        };
        Amount {
            files: self.len(),
            bytes,
        }
    }

    pub(crate) fn is_small(&self) -> bool {
        matches!(self, Self::Uploads(_) | Self::Downloads(_))
    }

    /// Does the work.
    pub(crate) async fn run(self, ctx: Ctx) -> Vec<TransferResult> {
        let up = |(task, result): (upload::Task, StepResult)| {
            TransferResult::new(&ctx, upload::keys(&task), task.size, result)
        };
        let down = |(task, result): (download::Task, StepResult)| {
            TransferResult::new(&ctx, download::keys(&task), task.size, result)
        };
        match self {
            Self::Upload(task) => {
                let result = upload::one(&ctx, &task).await;
                vec![up((task, result))]
            }
            Self::Download(task) => {
                let result = download::one(&ctx, &task).await;
                vec![down((task, result))]
            }
            Self::Uploads(tasks) => {
                let results = upload::many(&ctx, tasks).await;
                results.into_iter().map(up).collect()
            }
            Self::Downloads(tasks) => {
                let results = download::many(&ctx, tasks).await;
                results.into_iter().map(down).collect()
            }
        }
    }
}
