//! The pauses of folders, kept apart from the dispatcher: a pause reaches running steps at once, even while it
//! is busy.

use cairn_index::{Db, FolderSettings, IndexError};
use cairn_model::FolderId;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;

/// In the index, while everything is paused: until when, as decimal milliseconds, or nothing.
const EVERYTHING: &str = "everything_paused";

/// A pause of everything, also of folders that are added during it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PauseOfAll {
    /// Milliseconds since 1970-01-01 UTC; `None`: until it is ended.
    pub until_ms: Option<i64>,
}

impl PauseOfAll {
    /// Returns the pause of everything that is in force.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub fn read(db: &Db<'_>, now_ms: i64) -> Result<Option<Self>, IndexError> {
        let kept = db.meta(EVERYTHING)?;
        Ok(kept
            .map(|until| Self {
                until_ms: std::str::from_utf8(&until)
                    .ok()
                    .and_then(|text| text.parse().ok()),
            })
            .filter(|pause| pause.until_ms.is_none_or(|until| until > now_ms)))
    }

    /// Records it.
    pub(crate) fn begin(self, db: &Db<'_>) -> Result<(), IndexError> {
        let until = self.until_ms.map_or_else(String::new, |ms| ms.to_string());
        db.set_meta(EVERYTHING, until.as_bytes())
    }

    /// Records that not everything is paused any more.
    pub(crate) fn end(db: &Db<'_>) -> Result<(), IndexError> {
        db.remove_meta(EVERYTHING)
    }
}

/// Records a pause, or its end, of one folder or of all. A running engine has to reload its folders.
///
/// # Errors
/// Returns the error of the index.
pub fn record_pause(
    db: &Db<'_>,
    folder: Option<FolderId>,
    paused: bool,
    until_ms: Option<i64>,
) -> Result<(), IndexError> {
    match (paused, folder) {
        (true, None) => PauseOfAll { until_ms }.begin(db)?,
        (true, Some(_)) => {}
        (false, _) => PauseOfAll::end(db)?,
    }
    for row in db.folders()? {
        if folder.is_none_or(|id| id == row.id) {
            let settings = FolderSettings {
                paused,
                paused_until: until_ms,
                ..row.settings
            };
            db.set_folder_settings(row.id, &settings)?;
        }
    }
    Ok(())
}

/// A flag for each folder: true while it is paused.
#[derive(Default)]
pub(crate) struct Pauses(Mutex<BTreeMap<FolderId, Arc<watch::Sender<bool>>>>);

impl Pauses {
    /// Adds a folder that is not paused.
    pub(crate) fn add(&self, folder: FolderId) -> Arc<watch::Sender<bool>> {
        let pause = Arc::new(watch::Sender::new(false));
        self.0.lock().insert(folder, Arc::clone(&pause));
        pause
    }

    /// Drops the flags of all other folders.
    pub(crate) fn keep_only(&self, folders: &BTreeSet<FolderId>) {
        self.0.lock().retain(|id, _| folders.contains(id));
    }

    /// Pauses a folder, or all. The dispatcher clears the flag when the pause is over.
    pub(crate) fn set(&self, folder: Option<FolderId>) {
        for (id, pause) in self.0.lock().iter() {
            if folder.is_none_or(|folder| folder == *id) {
                pause.send_replace(true);
            }
        }
    }
}
