//! The rules that count in a folder: from the texts of its rules file here and on the service, as far as
//! they can be had.

use crate::engine::Engine;
use crate::observe::rules::{IGNORE_FILE, Rules, Texts, read_text};
use cairn_index::{FolderRow, FolderSettings, IndexError};
use cairn_model::{Problem, ProblemCode};
use std::path::Path;
use std::sync::Arc;

/// The texts of a folder's rules.
struct Loaded {
    texts: Texts,
    /// The rules file can't be read: its last text counts.
    problem: Option<Problem>,
    /// The text of the file is not the one that the index keeps.
    is_new: bool,
}

/// The rules of one folder as they count now.
pub(crate) struct FolderRules {
    rules: Arc<Rules>,
    problem: Option<Problem>,
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
        })
    }

    pub(crate) fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns the problem of the rules file.
    pub(crate) fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
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
    let (last, shared) = engine
        .index
        .read(|db| Ok((db.rules_text(row.id)?, db.shared_rules(row.id)?)))?;
    let shared = shared.map(|shared| shared.text).unwrap_or_default();
    let last = last.unwrap_or_default();
    Ok(match read_text(&*engine.ports.disk, Path::new(&row.root)) {
        Ok(file) => Loaded {
            is_new: !file.is_empty() && file != last,
            texts: Texts { file, shared },
            problem: None,
        },
        Err(error) => Loaded {
            is_new: false,
            texts: Texts { file: last, shared },
            problem: Some(unreadable_problem(&error)),
        },
    })
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
    use cairn_model::RelPath;

    fn loaded_texts(file: &str, shared: &str) -> Loaded {
        Loaded {
            texts: Texts {
                file: file.into(),
                shared: shared.into(),
            },
            problem: None,
            is_new: false,
        }
    }

    #[test]
    fn an_index_that_can_not_be_read_leaves_the_rules_as_they_are() {
        let settings = FolderSettings::default();
        let mut rules = FolderRules {
            rules: Arc::new(Rules::new(Texts::default(), &settings)),
            problem: None,
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
}
