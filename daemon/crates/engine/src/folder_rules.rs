//! The rules that count in a folder: from the texts of its rules file here and on the service, as far as
//! they can be had.

use crate::engine::Engine;
use crate::observe::rules::{IGNORE_FILE, Rules, Texts, own_places_in, read_text};
use cairn_index::{Db, FolderRow, FolderSettings, IndexError, RemoteRow};
use cairn_model::{Kind, Name, NodeId, Problem, ProblemCode};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The texts of a folder's rules.
struct Loaded {
    texts: Texts,
    /// The rules file can't be read: its last text counts.
    problem: Option<Problem>,
    /// The text of the file is not the one that the index keeps.
    is_new: bool,
    /// The rules file was deleted here, and the service still has it: its last text counts.
    outlives_file: bool,
}

/// The rules of one folder as they count now.
pub(crate) struct FolderRules {
    rules: Arc<Rules>,
    problem: Option<Problem>,
    outlives_file: bool,
}

impl FolderRules {
    /// Loads the rules of a folder. If its file can't be read, the last text counts.
    ///
    /// # Errors
    /// The index's: without it nobody knows what the other devices leave out.
    pub(crate) fn load(engine: &Engine, row: &FolderRow) -> Result<Self, IndexError> {
        let loaded = load(engine, row)?;
        keep(engine, row, &loaded);
        Ok(Self {
            rules: Arc::new(Rules::new(loaded.texts, &row.settings)),
            problem: loaded.problem,
            outlives_file: loaded.outlives_file,
        })
    }

    pub(crate) fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns the problem of the rules file.
    pub(crate) fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// Returns whether their file was deleted here and they counted on, and now the service has dropped it too.
    pub(crate) fn have_ended(&self, engine: &Engine, row: &FolderRow) -> bool {
        self.outlives_file && self.is_outdated(engine, row)
    }

    /// Returns whether they are made from other texts than there are now.
    pub(crate) fn is_outdated(&self, engine: &Engine, row: &FolderRow) -> bool {
        load(engine, row).is_ok_and(|loaded| !self.rules.are_of(&loaded.texts))
    }

    /// Loads the rules again if one of their texts has changed.
    pub(crate) fn refresh(&mut self, engine: &Engine, row: &FolderRow) {
        let loaded = load(engine, row);
        if let Ok(loaded) = &loaded {
            keep(engine, row, loaded);
        }
        self.take(loaded, &row.settings);
    }

    /// Takes over what was loaded. If the index could not be read, the rules stay as they are: without
    /// those of the service, files would be sent that the other devices leave out.
    fn take(&mut self, loaded: Result<Loaded, IndexError>, settings: &FolderSettings) {
        match loaded {
            Ok(loaded) => {
                self.problem = loaded.problem;
                self.outlives_file = loaded.outlives_file;
                if !self.rules.are_of(&loaded.texts) {
                    self.rules = Arc::new(Rules::new(loaded.texts, settings));
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the rules can't be read from the index; the last ones stay in force");
            }
        }
    }
}

/// Returns the rules of a folder, for a look at them.
///
/// # Errors
/// As for [`FolderRules::load`].
pub(crate) fn present_rules(engine: &Engine, row: &FolderRow) -> Result<Rules, IndexError> {
    Ok(Rules::new(load(engine, row)?.texts, &row.settings))
}

fn load(engine: &Engine, row: &FolderRow) -> Result<Loaded, IndexError> {
    let (last, shared, is_synced) = engine.index.read(|db| {
        let last = db.rules_text(row.id)?;
        Ok((last, db.shared_rules(row.id)?, is_file_synced(db, row)?))
    })?;
    let shared = shared.map(|shared| shared.text).unwrap_or_default();
    let disk = &*engine.ports.disk;
    let root = Path::new(&row.root);
    let is_gone = || {
        let stat = disk.stat(&root.join(IGNORE_FILE));
        stat.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    let (file, problem) = match read_text(disk, root) {
        Ok(file) => (Some(file), None),
        Err(error) => (None, Some(unreadable_problem(&error))),
    };
    // What the other devices leave out is not sent while a deletion of the rules is on its way, which may wait
    // for a person.
    let outlives_file = is_synced && file.as_ref().is_some_and(String::is_empty) && is_gone();
    let file = file.filter(|_| !outlives_file);
    Ok(Loaded {
        is_new: file
            .as_ref()
            .is_some_and(|file| !file.is_empty() && Some(file) != last.as_ref()),
        texts: Texts {
            file: file.or(last).unwrap_or_default(),
            shared,
            own: own_places_in(root, &engine.own_places),
        },
        problem,
        outlives_file,
    })
}

/// Returns whether the service has the rules file of a folder, and this device has had it.
fn is_file_synced(db: &Db<'_>, row: &FolderRow) -> Result<bool, IndexError> {
    let Some(base) = row.remote_node else {
        return Ok(false);
    };
    match remote_file(db, base)? {
        Some(file) => Ok(db.synced_row(row.id, file.node)?.is_some()),
        None => Ok(false),
    }
}

/// Returns the rules file in a folder of the service.
///
/// # Errors
/// The index's.
pub(crate) fn remote_file(
    db: &Db<'_>,
    base: Option<NodeId>,
) -> Result<Option<RemoteRow>, IndexError> {
    let Ok(name) = Name::new(IGNORE_FILE.to_owned()) else {
        return Ok(None);
    };
    let is_file =
        |row: &RemoteRow| row.name == name && row.kind == Kind::File && row.revision.is_some();
    Ok(db
        .remote_children_by_key(base, &name)?
        .into_iter()
        .find(is_file))
}

/// Keeps the text of the rules file for the time in which it can't be read.
fn keep(engine: &Engine, row: &FolderRow, loaded: &Loaded) {
    if loaded.is_new {
        let text = &loaded.texts.file;
        let kept = engine.index.write(|db| db.set_rules_text(row.id, text));
        if let Err(error) = kept {
            tracing::warn!(%error, "the rules can't be kept in the index");
        }
    }
}

fn unreadable_problem(error: &std::io::Error) -> Problem {
    Problem {
        path: IGNORE_FILE.into(),
        code: ProblemCode::Unreadable,
        message: format!("the rules can't be read, so the last ones stay in force: {error}"),
        hint: "give this user the right to read it, or remove it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_index::SyncedRow;
    use cairn_model::{LocalId, RelPath, RevisionId};

    fn loaded_texts(file: &str, shared: &str) -> Loaded {
        Loaded {
            texts: Texts {
                file: file.into(),
                shared: shared.into(),
                own: Vec::new(),
            },
            problem: None,
            is_new: false,
            outlives_file: false,
        }
    }

    #[test]
    fn an_index_that_can_not_be_read_leaves_the_rules_as_they_are() {
        let settings = FolderSettings::default();
        let mut rules = FolderRules {
            rules: Arc::new(Rules::new(Texts::default(), &settings)),
            problem: None,
            outlives_file: false,
        };
        let ignores = |rules: &FolderRules| {
            let key = RelPath::parse("id.key").unwrap();
            rules.rules().ignores(&key, false)
        };
        rules.take(Ok(loaded_texts("", "*.key\n")), &settings);
        assert!(ignores(&rules));
        rules.take(Err(IndexError::DiskFull), &settings);
        assert!(
            ignores(&rules),
            "what the service forbids is still forbidden"
        );
        rules.take(Ok(loaded_texts("", "")), &settings);
        assert!(!ignores(&rules));
    }

    #[test]
    fn rules_that_were_deleted_here_count_until_the_service_has_dropped_them() {
        let test = TestEngine::new();
        let row = test.folder.clone();
        let (engine, dir) = test.into_engine();
        let file = dir.path().join(IGNORE_FILE);
        std::fs::write(&file, "*.key\n").unwrap();
        let mut rules = FolderRules::load(&engine, &row).unwrap();
        let key = RelPath::parse("id.key").unwrap();
        let node = NodeId::from_random_bytes([1; 16]);
        let name = Name::new(IGNORE_FILE.to_owned()).unwrap();
        let revision = Some(RevisionId::from_random_bytes([2; 16]));
        let remote = RemoteRow {
            kind: Kind::File,
            revision,
            ..RemoteRow::folder(node, None, name.clone())
        };
        let synced = SyncedRow {
            folder: row.id,
            node,
            local: LocalId(7),
            parent: None,
            name,
            kind: Kind::File,
            revision,
            hash: None,
            size: 6,
            executable: false,
        };
        let put = |db: &Db<'_>| {
            db.put_remote(&[], &remote)?;
            db.put_synced(&synced)
        };
        engine.index.write(put).unwrap();

        std::fs::remove_file(&file).unwrap();
        rules.refresh(&engine, &row);
        assert!(
            rules.rules().ignores(&key, false),
            "the others leave it out"
        );
        let again = FolderRules::load(&engine, &row).unwrap();
        assert!(again.rules().ignores(&key, false), "also after a start");
        assert!(!rules.have_ended(&engine, &row));

        engine.index.write(|db| db.remove_remote(node)).unwrap();
        assert!(rules.have_ended(&engine, &row));
        rules.refresh(&engine, &row);
        assert!(!rules.rules().ignores(&key, false));
        assert!(!rules.have_ended(&engine, &row));
    }
}
