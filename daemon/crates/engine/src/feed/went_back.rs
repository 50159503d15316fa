//! A service whose history was replaced by another one (somebody has restored a backup, or says so). The
//! seals that this device has seen show whether it went back to an earlier state. The status says so until a person
//! accepts it; a strict device takes nothing of it before.

use super::earlier_epochs;
use super::listing::Listing;
use super::record::is_same;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::health::FolderPart;
use crate::node_rows::{Trust, remote_row};
use cairn_index::{Db, IndexError};
use cairn_model::{Problem, ProblemCause, ProblemValues, Verification};
use cairn_wire::Timestamp;
use cairn_wire::changes::Snapshot;
use cairn_wire::nodes::Node;

/// Key in the index of the id of the history that was listed last.
const HISTORY: &str = "history";
/// Key in the index that marks that a listing belongs to a history that takes the place of the known one.
const RECORDING: &str = "new_history";
/// The value of that mark if all of the history is taken: this device is not strict, or a person has accepted it.
const ALL: &[u8] = b"all";
/// Key in the index of the time when the service was found to have gone back.
const WENT_BACK: &str = "went_back";
/// Key in the index that marks that the new history waits for a person.
const HELD: &str = "history_held";

/// Notes the id of the history that is listed.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn put_history(db: &Db<'_>, id: &str) -> Result<(), IndexError> {
    db.set_meta(HISTORY, id.as_bytes())
}

/// Returns the id of the history that was listed last; `None` in an index from before it was noted.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn history(db: &Db<'_>) -> Result<Option<String>, IndexError> {
    let Some(bytes) = db.meta(HISTORY)? else {
        return Ok(None);
    };
    let id = String::from_utf8(bytes).map_err(|_| IndexError::Corrupt(HISTORY))?;
    Ok(Some(id))
}

/// Begins to record a history that takes the place of the known one, from the first page of its listing. `known_seq` is
/// the highest number of a change that was seen, 0 without one.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn begin_recording(
    engine: &Engine,
    db: &Db<'_>,
    page: &Snapshot,
    known_seq: u64,
    verification: Verification,
) -> Result<(), IndexError> {
    let id = &page.history_id;
    let is_other = db
        .meta(HISTORY)?
        .is_some_and(|known| known != id.as_bytes());
    // Numbers of changes never fall. So a database that was copied back shows that it lost something, though its id is
    // the same.
    if is_other || page.seq.is_some_and(|seq| seq < known_seq) {
        note(engine, db)?;
    }
    let taken = match verification {
        Verification::Warn => ALL,
        Verification::Strict => b"",
    };
    db.set_meta(RECORDING, taken)?;
    db.remove_meta(HELD)?;
    put_history(db, id)
}

/// Returns whether such a history is being recorded.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn is_recording(db: &Db<'_>) -> Result<bool, IndexError> {
    Ok(db.meta(RECORDING)?.is_some())
}

/// Returns whether all that is in the history that is being recorded is taken.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn is_taken(db: &Db<'_>) -> Result<bool, IndexError> {
    Ok(db.meta(RECORDING)?.as_deref() == Some(ALL))
}

/// Returns whether a new history waits for a person.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn is_waiting(db: &Db<'_>) -> Result<bool, IndexError> {
    Ok(db.meta(HELD)?.is_some())
}

/// Notes that the new history is recorded.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn end_recording(db: &Db<'_>) -> Result<(), IndexError> {
    db.remove_meta(RECORDING)
}

/// Notes that the service went back to an earlier state, unless that is noted already.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn note(engine: &Engine, db: &Db<'_>) -> Result<(), IndexError> {
    if db.meta(WENT_BACK)?.is_none() {
        tracing::warn!("the service went back to an earlier state");
        let now = engine.ports.clock.now_ms();
        db.set_meta(WENT_BACK, &now.to_be_bytes())?;
    }
    Ok(())
}

/// Returns whether a new history has to wait for a person: something in it is older than this device has seen, or
/// was changed without keys.
///
/// # Errors
/// Errors of the network or the index, or a service that breaks the protocol.
pub(super) async fn is_held(engine: &Engine) -> Result<bool, EngineError> {
    if engine.index.read(is_waiting)? {
        return Ok(true);
    }
    let mut listing = Listing::default();
    while let Some(page) = listing.next(engine).await? {
        for node in &page.nodes {
            if engine.index.read(|db| is_earlier(engine, db, node))? {
                engine.index.write(|db| {
                    note(engine, db)?;
                    db.set_meta(HELD, b"")
                })?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn is_earlier(engine: &Engine, db: &Db<'_>, node: &Node) -> Result<bool, IndexError> {
    let Ok((mut row, trust)) = remote_row(&engine.keys, node) else {
        return Ok(false);
    };
    let is_stripped = earlier_epochs::strip_seal(engine, db, &mut row)?;
    if trust == Trust::Verified && !is_stripped {
        return db.is_past(&row);
    }
    let known = db.remote_row(row.node)?;
    Ok(known.is_some_and(|known| known.seen > 0 && !is_same(&known, &row)))
}

/// Ends the waiting of a new history: the service has the former one again.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn end_waiting(engine: &Engine, db: &Db<'_>) -> Result<(), IndexError> {
    if is_waiting(db)? {
        db.remove_meta(HELD)?;
        dismiss(engine, db)?;
    }
    Ok(())
}

/// Forgets that the service went back. Returns whether it did.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn dismiss(engine: &Engine, db: &Db<'_>) -> Result<bool, IndexError> {
    let was_noted = db.meta(WENT_BACK)?.is_some();
    db.remove_meta(WENT_BACK)?;
    for folder in db.folders()? {
        engine
            .health()
            .set_folder_problem(folder.id, FolderPart::History, None);
    }
    Ok(was_noted)
}

/// Puts it among the problems of every folder that the service went back, if it did.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn report(engine: &Engine, db: &Db<'_>) -> Result<(), IndexError> {
    let Some(bytes) = db.meta(WENT_BACK)? else {
        return Ok(());
    };
    let at = <[u8; 8]>::try_from(bytes).map_err(|_| IndexError::Corrupt(WENT_BACK))?;
    let day = day(i64::from_be_bytes(at));
    let is_held = is_waiting(db)?;
    for folder in db.folders()? {
        let problem = Some(problem(&day, is_held));
        engine
            .health()
            .set_folder_problem(folder.id, FolderPart::History, problem);
    }
    Ok(())
}

/// Returns the day (RFC 3339) of a time in milliseconds since 1970-01-01 UTC.
pub(crate) fn day(at_ms: i64) -> String {
    let text = Timestamp(at_ms).to_string();
    text.chars().take_while(|char| *char != 'T').collect()
}

fn problem(day: &str, is_held: bool) -> Problem {
    let (cause, hint) = match is_held {
        true => (
            ProblemCause::WentBack,
            EngineError::WentBack.problem(String::new()).hint,
        ),
        false => (
            ProblemCause::WentBackCompared,
            "nothing was deleted here, and both versions of what differs were kept; if no backup was restored, ask the operator of the server; `cairn accept` ends this message".to_owned(),
        ),
    };
    let message =
        format!("the service went back to an earlier state, as this device found on {day}");
    Problem::new("", cause, message, hint).with(ProblemValues {
        at: Some(day.to_owned()),
        ..ProblemValues::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_model::Cursor;

    /// Returns whether a listing of the known history shows that the service went back, after a change of number 7.
    fn goes_back(seq: Option<u64>) -> bool {
        let (engine, _dir) = TestEngine::new().into_engine();
        let page = Snapshot {
            nodes: Vec::new(),
            next: None,
            cursor: Cursor("a".into()),
            history_id: "known".into(),
            seq,
        };
        let noted = engine.index.write(|db| {
            put_history(db, "known")?;
            begin_recording(&engine, db, &page, 7, Verification::Warn)?;
            db.meta(WENT_BACK)
        });
        noted.unwrap().is_some()
    }

    #[test]
    fn a_service_with_lower_numbers_than_were_seen_went_back() {
        let found = [Some(6), Some(7), Some(8), None].map(goes_back);
        assert_eq!(found, [true, false, false, false]);
    }
}
