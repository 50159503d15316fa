//! Decisions of people about the deletions, and the overwriting, that wait for them in a random run, where deletion
//! gates ask soon.

use crate::device::Device;
use crate::oracle::Oracle;
use crate::random::Seeded;
use crate::world::{Tree, tree_of};
use cairn_crypto::content_hash;
use cairn_index::{Db, IndexError};
use cairn_model::{ContentHash, DeletionDecision, DeletionGate, Side};
use std::collections::BTreeSet;

/// One file of a small tree: the trees of random runs have about ten.
pub(crate) const GATE: DeletionGate = DeletionGate {
    percent: 10,
    files: 1,
    most: 1000,
};

/// The people of all devices.
#[derive(Default)]
pub(crate) struct Persons {
    /// Knows what has to be there; what somebody keeps is added.
    pub(crate) oracle: Oracle,
    /// The decision of all of them, if each has the same.
    pub(crate) only: Option<DeletionDecision>,
    /// The number of decisions so far.
    pub(crate) decisions: usize,
    /// A line of the log for each decision that is not in the log yet.
    pub(crate) events: Vec<String>,
}

impl Persons {
    /// Lets the person of one of the devices decide. Returns whether anything waited.
    pub(crate) fn decide(&mut self, devices: &[Device], at: usize, random: &Seeded) -> bool {
        let device = &devices[at];
        let Some(engine) = device.engine() else {
            return false;
        };
        let status = engine.status();
        let Some(folder) = status.folders.first() else {
            return false;
        };
        let deletions = folder.waiting_local_deletions + folder.waiting_remote_deletions;
        if deletions + folder.waiting_overwrites == 0 {
            return false;
        }
        let agreement = match deletions {
            0 => DeletionDecision::Overwrite,
            _ => DeletionDecision::Delete,
        };
        let decision = match (self.only, random.one_in(2)) {
            (Some(DeletionDecision::Keep), _) | (None, false) => DeletionDecision::Keep,
            (Some(_), _) | (None, true) => agreement,
        };
        let kept = match decision {
            DeletionDecision::Keep => kept(devices, at),
            DeletionDecision::Delete | DeletionDecision::Overwrite => BTreeSet::new(),
        };
        if engine.confirm(device.folder(), decision).is_err() {
            return false;
        }
        for (hash, side) in kept {
            self.oracle.keep(hash, &device.name, side);
        }
        self.decisions += 1;
        self.events
            .push(format!("{}: {decision:?} what waits", device.name));
        true
    }
}

/// A file whose deletion waits.
struct Waiting {
    hash: ContentHash,
    /// The side on which it is left.
    side: Side,
    /// The path on that side.
    path: String,
    /// The path that it would have on the disk, if it is not there and its folder is.
    free: Option<String>,
}

/// Returns the contents of the files whose deletion waits, each with the side on which it is left. Those are not among
/// them that a user has moved, changed or replaced meanwhile: what becomes of them does not follow from the decision.
fn kept(devices: &[Device], at: usize) -> BTreeSet<(ContentHash, Side)> {
    let waiting = devices[at].index().read(waiting);
    let trees: Vec<Tree> = devices.iter().map(tree_of).collect();
    let has = |device: usize, file: &Waiting| {
        let bytes = trees[device].get(&file.path).and_then(Option::as_ref);
        bytes.is_some_and(|bytes| content_hash(bytes) == file.hash)
    };
    let others = || (0..devices.len()).filter(|other| *other != at);
    let is_free = |path: &String| !trees[at].contains_key(path);
    let is_kept = |file: &Waiting| match file.side {
        Side::Local => has(at, file),
        Side::Remote => {
            let is_absent = is_free(&file.path) && file.free.as_ref().is_none_or(is_free);
            is_absent && others().all(|other| has(other, file))
        }
    };
    let mut waiting = waiting.expect("the index is read");
    waiting.retain(is_kept);
    waiting.iter().map(|file| (file.hash, file.side)).collect()
}

fn waiting(db: &Db<'_>) -> Result<Vec<Waiting>, IndexError> {
    let mut waiting = Vec::new();
    for folder in db.folders()? {
        for row in db.confirmations(folder.id)? {
            for synced in db.deletions_to_keep(folder.id, row.side)? {
                let path = match row.side {
                    Side::Local => db.local_path(synced.local)?,
                    Side::Remote => db.remote_path_in(&folder, synced.node)?,
                };
                let above = match synced.parent {
                    Some(parent) => db.synced_row(folder.id, parent)?,
                    None => None,
                };
                let above = match above {
                    Some(above) => db.local_path(above.local)?,
                    None => None,
                };
                let free = above.map(|above| above.join(synced.name).to_string());
                waiting.extend(synced.hash.zip(path).map(|(hash, path)| Waiting {
                    hash,
                    side: row.side,
                    path: path.to_string(),
                    free,
                }));
            }
        }
    }
    Ok(waiting)
}
