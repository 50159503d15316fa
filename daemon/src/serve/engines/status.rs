//! The status of all spaces together, also of those without an engine.

use super::{Engines, Part};
use crate::folders::spaces::BrokenSpace;
use crate::serve::halt::Halt;
use crate::serve::{convert, merge};
use cairn_control::{FolderStatus, Status};
use cairn_engine::EngineHandle;
use cairn_index::IndexError;
use cairn_model::{FolderId, SyncState};

impl Engines {
    /// Returns the status of all spaces, with some problems of each cause.
    pub(in crate::serve) fn status(&self) -> Status {
        self.status_with(|engine| convert::status(&engine.status()))
    }

    /// Returns the status of all spaces, with every problem.
    pub(in crate::serve) fn full_status(&self) -> Status {
        self.status_with(|engine| {
            let mut status = engine.status();
            for folder in &mut status.folders {
                folder.errors = engine.problems(FolderId(folder.id));
            }
            convert::status(&status)
        })
    }

    fn status_with(&self, of: impl Fn(&EngineHandle) -> Status) -> Status {
        let status_of = |part: &Part| match &part.engine {
            Ok(engine) => of(engine),
            Err(halt) => halted_status(part, halt).unwrap_or_else(|error| {
                tracing::warn!(%error, "the folders of a space are missing in the status");
                Status::default()
            }),
        };
        let mut parts = self.parts().into_iter();
        let own = parts.next();
        let mut all = own.as_ref().map(status_of).unwrap_or_default();
        if let Some(Err(halt)) = own.map(|part| part.engine) {
            all = with_halt(all, &halt);
        }
        for part in parts {
            let mut status = status_of(&part);
            for folder in &mut status.folders {
                folder.space.clone_from(&part.space);
            }
            let name = part.space.as_ref().map_or("", |space| &space.name);
            all = merge::add(all, status, name);
        }
        self.broken.lock().iter().fold(all, with_broken)
    }
}

/// Returns the status of a space whose folders are not known, added to that of the others.
fn with_broken(all: Status, broken: &BrokenSpace) -> Status {
    let message = match all.message {
        Some(before) => format!("{before}; {}", broken.message),
        None => broken.message.clone(),
    };
    Status {
        state: all.state.max(SyncState::Error),
        message: Some(message),
        ..all
    }
}

/// Returns the status of the account's own space without an engine, also where no folder is in it.
fn with_halt(own: Status, halt: &Halt) -> Status {
    Status {
        state: own.state.max(halt.state),
        message: halt.problem.as_ref().map(|_| halt.sentence()),
        ..own
    }
}

/// Returns the status of a space whose engine doesn't run: what its index knows, and the reason.
fn halted_status(part: &Part, halt: &Halt) -> Result<Status, IndexError> {
    let folders = part.index.read(|db| {
        let mut folders = Vec::new();
        for row in db.folders()? {
            let (files, bytes) = part.totals.get(&row.id).copied().unwrap_or_default();
            folders.push(FolderStatus {
                local: row.root,
                remote: row.remote_path,
                mode: row.settings.mode,
                state: match row.settings.paused {
                    true => SyncState::Paused,
                    false => halt.state,
                },
                files,
                bytes,
                errors: halt.problem.as_deref().into_iter().cloned().collect(),
                problems: halt.group().into_iter().collect(),
                conflicts: db.conflict_count(row.id)?,
                ..FolderStatus::default()
            });
        }
        Ok(folders)
    })?;
    Ok(Status {
        state: folders
            .iter()
            .map(|folder| folder.state)
            .max()
            .unwrap_or_default(),
        open_conflicts: folders.iter().map(|folder| folder.conflicts).sum(),
        folders,
        ..Status::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::engine_slot::Totals;
    use cairn_index::{FolderSettings, Index};
    use std::sync::Arc;

    #[test]
    fn the_folders_of_a_halted_space_show_the_reason_and_what_is_known() {
        let index = Index::memory().unwrap();
        let id = index
            .write(|db| db.add_folder("/home/a/Crew", "/", &FolderSettings::default()))
            .unwrap();
        let halt = Halt::not_a_member("Crew");
        let part = Part {
            space: None,
            index: Arc::new(index),
            engine: Err(halt.clone()),
            totals: Arc::new(Totals::from([(id, (3, 40))])),
        };
        let status = halted_status(&part, &halt).unwrap();
        assert_eq!(status.state, SyncState::Error);
        let folder = &status.folders[0];
        assert_eq!(folder.errors, [*halt.problem.unwrap()]);
        assert_eq!(folder.problems[0].count, 1);
        assert_eq!((folder.files, folder.bytes), (3, 40));
    }

    #[test]
    fn a_space_that_can_not_be_opened_is_an_error_in_the_status() {
        let broken = BrokenSpace {
            id: None,
            message: "space.json is damaged".into(),
        };
        let alone = with_broken(Status::default(), &broken);
        assert_eq!(alone.state, SyncState::Error);
        assert_eq!(alone.message.as_deref(), Some("space.json is damaged"));
        let offline = Status {
            message: Some("no route".into()),
            ..Status::default()
        };
        let both = with_broken(offline, &broken).message.unwrap();
        assert_eq!(both, "no route; space.json is damaged");
    }
}
