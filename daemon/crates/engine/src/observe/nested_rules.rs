//! Rules files in the directories below the root: read when a scan visits their directory.

use crate::error::is_changing;
use crate::observe::rules::{IGNORE_FILE, RulesFile, read_text};
use crate::observe::scan::{Depth, Scan};
use crate::rules_rows::is_file_synced;
use cairn_index::IndexError;
use cairn_model::{Problem, ProblemCause, ProblemValues, RelPath};
use cairn_platform::{Entry, FileKind};
use std::sync::Arc;

/// The most bytes that the rules files of one folder have together.
const MAX_TEXTS: usize = 16 * 1024 * 1024;

impl Scan<'_, '_> {
    /// Reads the rules file of a visited directory, and returns how deep to look: everywhere if the rules have
    /// changed. The root's file is read before each scan.
    pub(crate) fn depth_by_rules<'d>(
        &mut self,
        dir: &RelPath,
        entries: &[Entry],
        depth: Depth<'d>,
    ) -> Result<Depth<'d>, IndexError> {
        if dir.is_root() {
            return Ok(depth);
        }
        let is_file = |entry: &&Entry| entry.name == IGNORE_FILE;
        let found = entries.iter().find(is_file);
        let is_there = found.is_some_and(|entry| match &entry.stat {
            Ok(stat) => stat.kind == FileKind::File,
            Err(_) => true,
        });
        let known = self.rules.file(dir).cloned();
        let file = match (is_there, known.clone()) {
            (true, known) => self.read_nested(dir, known),
            (false, Some(known)) => self.keep_outliving(dir, known)?,
            (false, None) => None,
        };
        let is_same = match (&known, &file) {
            (Some(known), Some(file)) => Arc::ptr_eq(known, file),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if is_same {
            return Ok(depth);
        }
        self.replace_rules(dir, file)?;
        Ok(Depth::All)
    }

    /// Forgets the rules files of directories that are gone: what comes to their paths later has other rules.
    pub(crate) fn forget_rules_of_gone_dirs(&mut self) -> Result<(), IndexError> {
        for dir in self.rules.nested_dirs() {
            let stat = self.disk.stat(&dir.to_path(&self.root));
            let is_gone = match stat {
                Ok(stat) => stat.kind != FileKind::Dir,
                Err(error) => error.kind() == std::io::ErrorKind::NotFound,
            };
            if is_gone
                && let Some(known) = self.rules.file(&dir).cloned()
                && self.keep_outliving(&dir, known)?.is_none()
            {
                self.replace_rules(&dir, None)?;
            }
        }
        Ok(())
    }

    /// Returns the rules of a file that is gone from this disk: what the other devices leave out is not sent
    /// while its deletion is on its way, which may wait for a person.
    fn keep_outliving(
        &mut self,
        dir: &RelPath,
        known: Arc<RulesFile>,
    ) -> Result<Option<Arc<RulesFile>>, IndexError> {
        let outlives = is_file_synced(self.db, self.folder, dir)?;
        if outlives {
            self.found.outliving_rules.insert(dir.clone());
        }
        Ok(outlives.then_some(known))
    }

    fn replace_rules(
        &mut self,
        dir: &RelPath,
        file: Option<Arc<RulesFile>>,
    ) -> Result<(), IndexError> {
        match &file {
            Some(file) => {
                if let Some(text) = file.text() {
                    self.db.set_rules_text(self.folder.id, dir, text)?;
                }
            }
            None => self.db.remove_rules_text(self.folder.id, dir)?,
        }
        self.rules.to_mut().set_file(dir, file);
        self.found.changed = true;
        self.rules_changed = true;
        Ok(())
    }

    /// Returns the rules of a directory's file. If it can't be used, the known ones stay in force; without any,
    /// nothing in the directory is synced.
    fn read_nested(
        &mut self,
        dir: &RelPath,
        known: Option<Arc<RulesFile>>,
    ) -> Option<Arc<RulesFile>> {
        let kept = |known: Option<Arc<RulesFile>>| {
            Some(known.unwrap_or_else(|| Arc::new(RulesFile::without_text())))
        };
        let text = match read_text(self.disk, &dir.to_path(&self.root)) {
            Ok(text) => text,
            Err(error) if is_changing(&error) => {
                self.found.again.insert(dir.clone());
                return kept(known);
            }
            Err(error) => {
                let message = format!("the rules can't be read: {error}");
                let hint = "give this user the right to read it, or remove it; until then the last rules stay in force, and without any nothing in this directory is synced";
                let problem = Problem::new(
                    rules_path(dir),
                    ProblemCause::RulesUnreadable,
                    message,
                    hint,
                );
                let values = ProblemValues::of_detail(error.to_string());
                self.found.problems.push(problem.with(values));
                return kept(known);
            }
        };
        if text.is_empty() {
            return None;
        }
        let is_known = known
            .as_ref()
            .is_some_and(|known| known.text() == Some(&text));
        if !is_known && self.rules.files_len() + text.len() > MAX_TEXTS {
            let message =
                "the rules files of this folder are too large together, so this one is not read";
            let hint = "make it smaller; until then the last rules stay in force, and without any nothing in this directory is synced";
            let cause = ProblemCause::RulesFilesTooLarge;
            let problem = Problem::new(rules_path(dir), cause, message, hint);
            self.found.problems.push(problem);
            return kept(known);
        }
        let file = match known {
            Some(known) if is_known => known,
            Some(_) | None => Arc::new(RulesFile::new(&text)),
        };
        self.found.problems.extend(invalid_lines(dir, &file));
        Some(file)
    }
}

/// Returns the path of the rules file in a directory.
pub(crate) fn rules_path(dir: &RelPath) -> String {
    match dir.is_root() {
        true => IGNORE_FILE.to_owned(),
        false => format!("{dir}/{IGNORE_FILE}"),
    }
}

/// Returns the problem of the lines in a rules file that don't count.
pub(crate) fn invalid_lines(dir: &RelPath, file: &RulesFile) -> Option<Problem> {
    let errors = file.errors();
    (!errors.is_empty()).then(|| {
        let message = errors.join("; ");
        let values = ProblemValues::of_detail(&message);
        Problem::new(
            rules_path(dir),
            ProblemCause::RulesInvalid,
            message,
            "correct the file; until then its other lines count",
        )
        .with(values)
    })
}
