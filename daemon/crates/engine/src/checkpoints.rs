//! Comparing views with the other devices of the space: each leaves a sealed checkpoint on the service, which says what it
//! has seen. A service that shows devices different files, or hides changes from one, has to keep their checkpoints from
//! one another as well.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::feed;
use crate::feed::view::{View, view};
use crate::health::FolderPart;
use cairn_crypto::Checkpoint;
use cairn_index::{Db, IndexError, OtherView};
use cairn_model::{DeviceId, Problem, ProblemCause, ProblemValues};
use cairn_wire::checkpoints::Checkpoints;
use parking_lot::Mutex;
use std::sync::Arc;

/// The time after which a checkpoint that says nothing new is replaced all the same, so that it shows that the device
/// still sees the same.
const REPEAT_MS: i64 = 6 * 3_600_000;

/// The checkpoint that this device has left last, and when.
#[derive(Clone, Default)]
pub(crate) struct OwnCheckpoint(Arc<Mutex<Option<(View, i64)>>>);

impl OwnCheckpoint {
    fn is_due(&self, view: &View, now_ms: i64) -> bool {
        let last = self.0.lock();
        !last
            .as_ref()
            .is_some_and(|(known, at)| known == view && now_ms - at < REPEAT_MS)
    }
}

/// The result of comparing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compared {
    /// Something that the service has shown is not recorded here, so that others have another view.
    Partial,
    /// The service has news for this device, which come first.
    Behind,
    /// The others have this device's checkpoint already.
    Unchanged,
    /// The device has left a new checkpoint.
    Left,
}

/// Compares this device's view with the checkpoints of the others, and leaves one.
///
/// # Errors
/// Errors of the network or the index, or a service that breaks the protocol.
pub(crate) async fn compare(
    engine: &Arc<Engine>,
    own: &OwnCheckpoint,
) -> Result<Compared, EngineError> {
    let index = Arc::clone(&engine.index);
    let read = move || index.read(|db| Ok::<_, IndexError>((feed::read_cursor(db)?, view(db)?)));
    let (Some(cursor), Some(seen)) = engine.ports.run_blocking(read).await? else {
        return Ok(Compared::Partial);
    };
    // Before the feed is asked: an honest service then has every change that one of these has seen.
    let others = engine.api.checkpoints().await?;
    let page = engine.api.changes(Some(&cursor)).await?;
    let is_all = page.changes.is_empty() && !page.has_more;
    if !is_all || page.history_id != seen.history {
        return Ok(Compared::Behind);
    }
    engine.index.write(|db| {
        db.put_own_view(seen.seq, &seen.digest)?;
        judge_all(engine, db, &seen, &others)
    })?;
    engine.index.read(|db| report(engine, db))?;
    let now_ms = engine.ports.clock.now_ms();
    if !own.is_due(&seen, now_ms) {
        return Ok(Compared::Unchanged);
    }
    let checkpoint = Checkpoint {
        history: seen.history.clone(),
        seq: seen.seq,
        digest: seen.digest,
        at_ms: now_ms,
        device_name: engine.device_name.clone(),
    };
    let sealed = {
        let mut random = engine.ports.random.lock();
        checkpoint.seal(&engine.keys, engine.api.device(), &mut *random)
    };
    let sealed =
        sealed.map_err(|_| EngineError::Protocol("the history's id is too long".to_owned()))?;
    engine.api.put_checkpoint(sealed).await?;
    *own.0.lock() = Some((seen, now_ms));
    Ok(Compared::Left)
}

fn judge_all(
    engine: &Engine,
    db: &Db<'_>,
    seen: &View,
    others: &Checkpoints,
) -> Result<(), IndexError> {
    let known = db.other_views()?;
    let now_ms = engine.ports.clock.now_ms();
    for one in &others.checkpoints {
        let device = one.device_id;
        if device == engine.api.device() {
            continue;
        }
        // A device that has other keys, or a service that makes something up: nothing can be compared.
        let Ok(other) = Checkpoint::open(&engine.keys, device, &one.sealed.0) else {
            continue;
        };
        engine.devices.add([(device, other.device_name.clone())]);
        let known = known.iter().find(|view| view.device == device);
        let same = match judge(db, seen, &other)? {
            None => continue,
            Some(same) => same,
        };
        if let Some(next) = note(known, device, other, same, now_ms) {
            db.put_other_view(&next)?;
        }
    }
    Ok(())
}

/// Returns whether another device had the same view; `None` where this one has none of that time.
fn judge(db: &Db<'_>, seen: &View, other: &Checkpoint) -> Result<Option<bool>, IndexError> {
    if other.history != seen.history {
        return Ok(None);
    }
    // The other has seen a change that the service, asked later, does not have for this device.
    if other.seq > seen.seq {
        return Ok(Some(false));
    }
    let own = db.own_view(other.seq)?;
    Ok(own.map(|digest| digest == other.digest))
}

/// Returns what is to be noted of another device; `None` if all of it is known.
fn note(
    known: Option<&OtherView>,
    device: DeviceId,
    other: Checkpoint,
    is_same: bool,
    now_ms: i64,
) -> Option<OtherView> {
    let same_ms = known.and_then(|view| view.same_ms);
    let differs_ms = known.and_then(|view| view.differs_ms);
    let is_known = known.is_some_and(|view| view.seq == other.seq && view.digest == other.digest);
    let next = OtherView {
        device,
        name: other.device_name,
        seq: other.seq,
        digest: other.digest,
        same_ms: if is_same { Some(other.at_ms) } else { same_ms },
        differs_ms: match is_same || is_known {
            // What a person has dismissed is not reported again, and what was reported stays until then.
            true => differs_ms,
            false => differs_ms.or(Some(now_ms)),
        },
    };
    (known != Some(&next)).then_some(next)
}

/// Puts it among the problems of every folder that another device has another view, if one has.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn report(engine: &Engine, db: &Db<'_>) -> Result<(), IndexError> {
    let others = db.other_views()?;
    let found = others
        .iter()
        .filter_map(|view| Some((view, view.differs_ms?)))
        .min_by_key(|(_, at)| *at);
    let problem = found.map(|(view, at_ms)| problem(&view.name, at_ms));
    for folder in db.folders()? {
        engine
            .health()
            .set_folder_problem(folder.id, FolderPart::Views, problem.clone());
    }
    Ok(())
}

/// Forgets that other devices have other views. Returns whether one had.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn dismiss(engine: &Engine) -> Result<bool, IndexError> {
    let had = engine.index.write(|db| db.dismiss_other_views())?;
    engine.index.read(|db| report(engine, db))?;
    Ok(had)
}

fn problem(device: &str, at_ms: i64) -> Problem {
    let day = feed::day(at_ms);
    let message = format!(
        "the service shows the device {device} other files than this one, as was found on {day}"
    );
    let hint = "run `cairn compare` on both, and read the words to one another; if they differ while both are in sync, \
                keep copies, and ask the operator of the server; `cairn accept` ends this message";
    Problem::new("", ProblemCause::ViewsDiffer, message, hint.to_owned()).with(ProblemValues {
        who: Some(device.to_owned()),
        at: Some(day),
        ..ProblemValues::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::Index;

    #[test]
    fn a_device_that_was_away_is_compared_with_what_was_then() {
        let seen = View {
            history: "h".to_owned(),
            seq: 9,
            digest: [2; 32],
        };
        let index = Index::memory().unwrap();
        index
            .write(|db| {
                db.put_own_view(5, &[1; 32])?;
                db.put_own_view(seen.seq, &seen.digest)
            })
            .unwrap();
        let judged = |history: &str, seq, digest| {
            let other = Checkpoint {
                history: history.to_owned(),
                seq,
                digest: [digest; 32],
                at_ms: 0,
                device_name: String::new(),
            };
            index.read(|db| judge(db, &seen, &other)).unwrap()
        };
        assert_eq!(judged("h", 5, 1), Some(true));
        assert_eq!(judged("h", 5, 3), Some(false));
        assert_eq!(judged("h", 6, 1), None, "not quiet then");
        assert_eq!(judged("h", 9, 2), Some(true));
        assert_eq!(judged("h", 10, 2), Some(false), "hidden from this one");
        assert_eq!(judged("other", 5, 3), None);
    }
}
