//! Decisions of people about the deletions that wait for them, in a random run with deletion gates that ask soon.

use crate::device::Device;
use crate::random::Seeded;
use cairn_model::{DeletionDecision, DeletionGate};

/// Three files, if they are a third of the folder's.
pub(crate) const GATE: DeletionGate = DeletionGate {
    percent: 33,
    files: 3,
    most: 1000,
};

/// Lets the person of a device decide, as a line for the log; `None` if nothing waits.
pub(crate) fn decide(device: &Device, random: &Seeded) -> Option<String> {
    let engine = device.engine()?;
    let status = engine.status();
    let folder = status.folders.first()?;
    if folder.waiting_local_deletions + folder.waiting_remote_deletions == 0 {
        return None;
    }
    let decision = match random.one_in(2) {
        true => DeletionDecision::Delete,
        false => DeletionDecision::Keep,
    };
    engine.confirm(device.folder(), decision).ok()?;
    Some(format!("{}: {decision:?} what waits", device.name))
}
