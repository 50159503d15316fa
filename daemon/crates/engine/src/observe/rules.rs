//! Rules that leave files out of syncing: built in, from the `.cairnignore` of each directory, and the folder's own
//! selection of subfolders.

#[cfg(test)]
mod as_git;
#[cfg(test)]
mod tests;

mod file;
mod origin;
mod pattern;
mod read;
mod tree;

use cairn_index::FolderSettings;
use cairn_model::{RelPath, RuleSource};
use cairn_platform::{Disk, FileKind};
use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use cairn_platform::dirs::HOME_MARK;
use cairn_platform::watch;

use file::Decision;
pub use file::check_pattern;
pub(crate) use file::{RulesFile, UNUSABLE_RULES};
pub use origin::RuleOrigin;
pub(crate) use read::{IGNORE_FILE, read_text, text_of};
use tree::RulesTree;

/// Directory of things that sync removed or replaced on this disk.
pub(crate) const TRASH_DIR: &str = watch::TRASH_DIR;
/// Directory in which downloads grow before they are put in place.
pub(crate) const TEMP_DIR: &str = watch::TEMP_DIR;

/// Never synced, whatever the rules say: our own, and files that only live on the machine that
/// made them (locks and leftovers of editors, desktops and file systems).
const BUILT_IN: &[&str] = &[
    // In any directory: it may have been a folder of its own before, or still be one.
    ".cairn-trash/",
    ".cairn-tmp/",
    // It says of a directory that it is an installation's: that is true on its own machine only.
    HOME_MARK,
    ".DS_Store",
    "._*",
    "Thumbs.db",
    "desktop.ini",
    "~$*",
    ".~lock.*#",
    ".*.sw[a-p]",
    ".nfs[0-9a-f]*",
    ".fuse_hidden*",
    ".Trash-[0-9]*/",
    "/lost+found/",
];

/// The rule that leaves out the places of an installation's own files.
pub const OWN_FILES: &str = "Cairn's own files";

/// The rule that decided about a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleMatch {
    /// No rule: it syncs.
    None,
    /// Ignored, by this pattern.
    Ignored(String),
    /// A `!pattern` brings it back.
    Included(String),
}

/// The rules of one folder.
#[derive(Clone, Debug)]
pub struct Rules {
    built_in: Arc<RulesFile>,
    /// The rules of the files on this disk.
    files: Arc<RulesTree>,
    /// The rules of the service's files while they are not synced here.
    shared: Arc<RulesTree>,
    shared_texts: Arc<BTreeMap<RelPath, String>>,
    exclude: Arc<RulesFile>,
    only: Vec<RelPath>,
    /// The places in the folder that hold Cairn's own files.
    own: Vec<RelPath>,
    /// Lines that are no pattern, with what is wrong with them.
    pub errors: Vec<String>,
}

/// The texts that rules are made from, each by the directory of its file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Texts {
    /// Rules of the files on this disk.
    pub(crate) files: BTreeMap<RelPath, String>,
    /// Rules of the service's files while they are not synced here.
    pub(crate) shared: BTreeMap<RelPath, String>,
    /// The places in the folder that hold Cairn's own files.
    pub(crate) own: Vec<RelPath>,
}

/// The pattern that decided about a path.
struct Found<'a> {
    source: RuleSource,
    /// The number of names above the rules file, for a rule of one.
    depth: usize,
    decision: Decision<'a>,
}

/// Returns those of the places of Cairn's own files that lie in the folder at `root`, relative to it.
pub(crate) fn own_places_in(root: &Path, places: &[PathBuf]) -> Vec<RelPath> {
    let below = |place: &PathBuf| {
        let below = place.strip_prefix(root).ok()?.to_str()?;
        RelPath::parse(&below.replace(MAIN_SEPARATOR, "/")).ok()
    };
    places.iter().filter_map(below).collect()
}

impl Rules {
    /// Reads the rules of the folder at `root`, those of its root only. A rules file that can't be read counts as
    /// empty, and `errors` says so.
    #[must_use]
    pub fn load(disk: &dyn Disk, root: &Path, settings: &FolderSettings) -> Self {
        let mut texts = Texts::default();
        match read_text(disk, root) {
            Ok(file) => {
                texts.files.insert(RelPath::root(), file);
                Self::new(&texts, settings)
            }
            Err(error) => {
                let mut rules = Self::new(&texts, settings);
                rules
                    .errors
                    .push(format!("{IGNORE_FILE} can't be read: {error}"));
                rules
            }
        }
    }

    /// Makes rules from texts.
    pub(crate) fn new(texts: &Texts, settings: &FolderSettings) -> Self {
        let built_in = RulesFile::new(&BUILT_IN.join("\n"));
        let exclude = RulesFile::new(&settings.exclude.join("\n"));
        let files = RulesTree::new(&texts.files);
        let root = files.get(&RelPath::root());
        let errors = root.map(|root| root.errors()).into_iter().flatten();
        let only = settings.only.iter();
        Self {
            errors: errors.chain(exclude.errors()).collect(),
            built_in: Arc::new(built_in),
            files: Arc::new(files),
            shared: Arc::new(RulesTree::new(&texts.shared)),
            shared_texts: Arc::new(texts.shared.clone()),
            exclude: Arc::new(exclude),
            only: only
                .filter_map(|path| RelPath::parse(path.trim_matches('/')).ok())
                .collect(),
            own: texts.own.clone(),
        }
    }

    /// Reads the rules files of the directories above a path, but for the root's. One that can't be read lets
    /// nothing in its directory through.
    pub fn read_above(&mut self, disk: &dyn Disk, root: &Path, path: &RelPath) {
        let names = path.names();
        for n in 1..names.len() {
            let dir: RelPath = names[..n].iter().cloned().collect();
            let place = dir.to_path(root);
            let stat = disk.stat(&place.join(IGNORE_FILE));
            let is_there = stat.is_ok_and(|stat| stat.kind == FileKind::File);
            let file = match read_text(disk, &place) {
                _ if !is_there => None,
                Ok(text) if text.is_empty() => None,
                Ok(text) => Some(RulesFile::new(&text)),
                Err(_) => Some(RulesFile::without_text()),
            };
            self.set_file(&dir, file.map(Arc::new));
        }
    }

    /// Returns the same rules for the folder at `root`, which also leave out the places of Cairn's own files.
    #[must_use]
    pub fn with_own_places(mut self, root: &Path, places: &[PathBuf]) -> Self {
        self.own = own_places_in(root, places);
        self
    }

    /// Returns the rules file on this disk in a directory.
    pub(crate) fn file(&self, dir: &RelPath) -> Option<&Arc<RulesFile>> {
        self.files.get(dir)
    }

    /// Replaces the rules file on this disk in a directory, or removes it.
    pub(crate) fn set_file(&mut self, dir: &RelPath, file: Option<Arc<RulesFile>>) {
        if file.is_some() || self.files.get(dir).is_some() {
            Arc::make_mut(&mut self.files).set(dir, file);
        }
    }

    /// Returns the directories below the root that have a rules file on this disk.
    pub(crate) fn nested_dirs(&self) -> Vec<RelPath> {
        self.files.nested_dirs()
    }

    /// Returns the length of all texts of the rules files on this disk.
    pub(crate) fn files_len(&self) -> usize {
        self.files.texts_len()
    }

    /// Takes over the rules files of this disk that others have.
    pub(crate) fn with_files_of(&self, other: &Self) -> Self {
        Self {
            files: Arc::clone(&other.files),
            ..self.clone()
        }
    }

    /// Returns whether the service's rules that count here are of these texts, and the own places are these.
    pub(crate) fn are_shared_of(
        &self,
        shared: &BTreeMap<RelPath, String>,
        own: &[RelPath],
    ) -> bool {
        *self.shared_texts == *shared && self.own == own
    }

    /// Replaces the service's rules that count here, and the own places.
    pub(crate) fn set_shared(&mut self, shared: BTreeMap<RelPath, String>, own: Vec<RelPath>) {
        self.shared = Arc::new(RulesTree::new(&shared));
        self.shared_texts = Arc::new(shared);
        self.own = own;
    }

    /// Returns whether a path is, or lies in, a place of Cairn's own files.
    pub(crate) fn is_own(&self, path: &RelPath) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    /// Returns the same rules, but with only what lies at, above or below these paths selected.
    pub(crate) fn with_choice(&self, only: Vec<RelPath>) -> Self {
        Self {
            only,
            ..self.clone()
        }
    }

    /// Updates the selection when a selected folder, or a folder above one, moves. Returns whether the moved folder
    /// is one of these.
    pub(crate) fn follow(&mut self, from: &RelPath, to: &RelPath) -> bool {
        let mut followed = false;
        for entry in &mut self.only {
            if entry.starts_with(from) {
                let below = entry.names().iter().skip(from.names().len());
                *entry = to.names().iter().chain(below).cloned().collect();
                followed = true;
            }
        }
        followed
    }

    /// Returns whether a path is not synced for no other reason than that it was not selected.
    pub(crate) fn is_unchosen(&self, path: &RelPath, is_dir: bool) -> bool {
        !self.is_chosen(path) && matches!(self.by_pattern(path, is_dir), RuleMatch::None)
    }

    /// Returns whether this device has patterns of its own.
    pub(crate) fn has_excludes(&self) -> bool {
        !self.exclude.is_empty()
    }

    /// Returns whether a pattern of this device leaves out the path itself, not only a folder above it.
    pub(crate) fn excludes(&self, path: &RelPath, is_dir: bool) -> bool {
        let found = self.exclude.decide(&path.to_string(), is_dir);
        found.is_some_and(|decision| decision.is_ignored)
    }

    /// Returns the rule for a path that has no ignored folder above it.
    #[must_use]
    pub fn check(&self, path: &RelPath, is_dir: bool) -> RuleMatch {
        let found = self.by_pattern(path, is_dir);
        if found == RuleMatch::None && !self.is_chosen(path) {
            return RuleMatch::Ignored("not among the chosen subfolders".to_owned());
        }
        found
    }

    fn by_pattern(&self, path: &RelPath, is_dir: bool) -> RuleMatch {
        match self.find(path, is_dir).map(|found| found.decision) {
            None => RuleMatch::None,
            Some(decision) if decision.is_ignored => {
                RuleMatch::Ignored(decision.pattern.to_owned())
            }
            Some(decision) => RuleMatch::Included(decision.pattern.to_owned()),
        }
    }

    /// Returns the pattern that decides about a path that has no ignored folder above it.
    fn find(&self, path: &RelPath, is_dir: bool) -> Option<Found<'_>> {
        let found = |source, (depth, decision)| Found {
            source,
            depth,
            decision,
        };
        if self.is_own(path) {
            let decision = Decision {
                is_ignored: true,
                pattern: OWN_FILES,
                line: None,
            };
            return Some(found(RuleSource::BuiltIn, (0, decision)));
        }
        let text = path.to_string();
        let built_in = self.built_in.decide(&text, is_dir);
        if let Some(decision) = built_in.filter(|decision| decision.is_ignored) {
            return Some(found(RuleSource::BuiltIn, (0, decision)));
        }
        // What is brought back here may be forbidden on the other devices.
        let shared = self.shared.decide(path, &text, is_dir);
        if let Some(shared) = shared.filter(|(_, decision)| decision.is_ignored) {
            return Some(found(RuleSource::File, shared));
        }
        if let Some(decision) = self.exclude.decide(&text, is_dir) {
            return Some(found(RuleSource::Exclude, (0, decision)));
        }
        let file = self.files.decide(path, &text, is_dir)?;
        Some(found(RuleSource::File, file))
    }

    fn is_chosen(&self, path: &RelPath) -> bool {
        self.only.is_empty()
            || self
                .only
                .iter()
                .any(|o| path.starts_with(o) || o.starts_with(path))
    }

    /// Returns whether a name in a directory is a leftover of some program that only its machine needs.
    #[must_use]
    pub fn is_leftover(&self, dir: &RelPath, name: &str) -> bool {
        let text = match dir.is_root() {
            true => name.to_owned(),
            false => format!("{dir}/{name}"),
        };
        let found = self.built_in.decide(&text, false);
        found.is_some_and(|decision| decision.is_ignored)
    }

    /// Returns whether a path is not synced, by its own rules or by those of a folder above it.
    #[must_use]
    pub fn ignores(&self, path: &RelPath, is_dir: bool) -> bool {
        let names = path.names();
        (1..=names.len()).any(|n| {
            let part: RelPath = names[..n].iter().cloned().collect();
            matches!(
                self.check(&part, is_dir || n < names.len()),
                RuleMatch::Ignored(_)
            )
        })
    }
}
