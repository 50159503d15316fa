//! The gate before mass deletions: a person is asked, and until the answer nothing is deleted.

use crate::error::EngineError;
use crate::shared::Shared;
use cairn_index::{Answer, FolderRow, QuestionRow, Side};
use cairn_plan::Plan;

/// What the gate says about one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) local: u64,
    pub(crate) remote: u64,
}

/// Looks at the deletions of a plan. Returns how many files wait for a person on each side; a plan
/// with any has to be made again with those deletions held.
///
/// # Errors
/// The index's.
pub(crate) fn check(
    shared: &Shared,
    folder: &FolderRow,
    plan: &Plan,
) -> Result<Waiting, EngineError> {
    let none = plan.local_deletions == 0 && plan.remote_deletions == 0;
    Ok(shared.index.write(|db| {
        let open = db.questions(folder.id)?;
        if none && open.is_empty() {
            return Ok(Waiting::default());
        }
        let total = db.synced_files(folder.id)?;
        // Where these were made, a person was asked already.
        let unasked = plan
            .local_deletions
            .saturating_sub(db.agreed_deletions(folder.id)?);
        let mut waiting = Waiting::default();
        for (side, files, waits) in [
            (Side::Local, unasked, &mut waiting.local),
            (Side::Remote, plan.remote_deletions, &mut waiting.remote),
        ] {
            let known = open.iter().find(|q| q.side == side);
            let many = folder.settings.gate.is_some_and(|gate| {
                files >= gate.files.max(1)
                    && files.saturating_mul(100) > total.saturating_mul(u64::from(gate.percent))
            });
            match known {
                // The answer holds until these deletions are done.
                Some(q) if q.answer == Answer::Agreed && files > 0 => {}
                // Once asked, it stays asked as long as anything would be deleted: deleting a few
                // back and forth must not slip the rest through.
                Some(q) if files > 0 => {
                    *waits = files;
                    if q.files != files {
                        db.put_question(&QuestionRow { files, ..q.clone() })?;
                    }
                }
                Some(_) => db.end_question(folder.id, side)?,
                None if many => {
                    *waits = files;
                    let at_ms = shared.ports.clock.now_ms();
                    db.put_question(&QuestionRow {
                        folder: folder.id,
                        side,
                        files,
                        at_ms,
                        answer: Answer::Asked,
                    })?;
                }
                None => {}
            }
        }
        Ok(waiting)
    })?)
}
