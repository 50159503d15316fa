//! Rules that leave files out of syncing: built in, from `.cairnignore`, and the folder's own selection.

#[cfg(test)]
mod tests;

mod origin;

use crate::error::Changing;
use cairn_index::FolderSettings;
use cairn_model::RelPath;
use cairn_platform::Disk;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::io::{self, Read as _};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use cairn_platform::dirs::HOME_MARK;
use cairn_platform::watch;

pub use origin::RuleOrigin;

/// The name of the rules file at the root of a folder; it syncs like any other file.
pub(crate) const IGNORE_FILE: &str = ".cairnignore";
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

/// The largest rules file that is read; a longer one is cut off there.
const MAX_RULES: u64 = MAX_RULES_LEN as u64;
const MAX_RULES_LEN: usize = 1024 * 1024;

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
    built_in: Gitignore,
    file: Gitignore,
    /// Those of the service's rules file while that is not synced here.
    shared: Gitignore,
    exclude: Gitignore,
    only: Vec<RelPath>,
    texts: Texts,
    /// Lines that are no pattern, with what is wrong with them.
    pub errors: Vec<String>,
}

/// The texts that rules are made from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Texts {
    /// Rules of the file on this disk.
    pub(crate) file: String,
    /// Rules of the service's file while it is not synced here.
    pub(crate) shared: String,
    /// The places in the folder that hold Cairn's own files.
    pub(crate) own: Vec<RelPath>,
}

/// Returns those of the places of Cairn's own files that lie in the folder at `root`, relative to it.
pub(crate) fn own_places_in(root: &Path, places: &[PathBuf]) -> Vec<RelPath> {
    let below = |place: &PathBuf| {
        let below = place.strip_prefix(root).ok()?.to_str()?;
        RelPath::parse(&below.replace(MAIN_SEPARATOR, "/")).ok()
    };
    places.iter().filter_map(below).collect()
}

/// Reads the text of the rules file of the folder at `root`; without one it is empty.
///
/// # Errors
/// The disk's, also for a file that is written meanwhile: half of it would let through what the rest
/// forbids.
pub(crate) fn read_text(disk: &dyn Disk, root: &Path) -> io::Result<String> {
    let mut file = match disk.open(&root.join(IGNORE_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        other => other?,
    };
    let before = file.stat()?;
    let mut bytes = Vec::new();
    (&mut file).take(MAX_RULES).read_to_end(&mut bytes)?;
    if file.stat()?.key() != before.key() || (bytes.len() as u64) < before.size.min(MAX_RULES) {
        return Err(io::Error::other(Changing));
    }
    Ok(text_of(&bytes))
}

/// Returns the text of a rules file's bytes.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let length = bytes.len().min(MAX_RULES_LEN);
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

impl Rules {
    /// Reads the rules of the folder at `root`. A rules file that can't be read counts as empty, and
    /// `errors` says so.
    #[must_use]
    pub fn load(disk: &dyn Disk, root: &Path, settings: &FolderSettings) -> Self {
        match read_text(disk, root) {
            Ok(file) => Self::new(
                Texts {
                    file,
                    ..Texts::default()
                },
                settings,
            ),
            Err(error) => {
                let mut rules = Self::new(Texts::default(), settings);
                rules
                    .errors
                    .push(format!("{IGNORE_FILE} can't be read: {error}"));
                rules
            }
        }
    }

    /// Makes rules from texts.
    pub(crate) fn new(texts: Texts, settings: &FolderSettings) -> Self {
        let mut errors = Vec::new();
        let built_in = build(BUILT_IN.iter().copied(), &mut errors);
        let file = build(texts.file.lines(), &mut errors);
        let shared = build(texts.shared.lines(), &mut errors);
        let exclude = build(settings.exclude.iter().map(String::as_str), &mut errors);
        let only = settings
            .only
            .iter()
            .filter_map(|path| RelPath::parse(path.trim_matches('/')).ok())
            .collect();
        Self {
            built_in,
            file,
            shared,
            exclude,
            only,
            texts,
            errors,
        }
    }

    /// Returns the same rules for the folder at `root`, which also leave out the places of Cairn's own files.
    #[must_use]
    pub fn with_own_places(mut self, root: &Path, places: &[PathBuf]) -> Self {
        self.texts.own = own_places_in(root, places);
        self
    }

    /// Returns whether a path is, or lies in, a place of Cairn's own files.
    pub(crate) fn is_own(&self, path: &RelPath) -> bool {
        self.texts.own.iter().any(|own| path.starts_with(own))
    }

    /// Returns the same rules, but only what lies at, above or below these paths is chosen.
    pub(crate) fn with_choice(&self, only: Vec<RelPath>) -> Self {
        Self {
            only,
            ..self.clone()
        }
    }

    /// Takes the choice along when a folder that is chosen, or on the way to one that is, moves. Returns
    /// whether it is one.
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

    /// Returns whether a path takes no part for no other reason than that it was not selected.
    pub(crate) fn is_unchosen(&self, path: &RelPath, is_dir: bool) -> bool {
        !self.is_chosen(path) && matches!(self.by_pattern(path, is_dir), RuleMatch::None)
    }

    /// Returns whether this device has patterns of its own.
    pub(crate) fn has_excludes(&self) -> bool {
        !self.exclude.is_empty()
    }

    /// Returns whether a pattern of this device leaves out the path itself, not only a folder above it.
    pub(crate) fn excludes(&self, path: &RelPath, is_dir: bool) -> bool {
        let text = Path::new("").join(path.to_string());
        self.exclude.matched(text, is_dir).is_ignore()
    }

    /// Returns whether they were made from these texts.
    pub(crate) fn are_of(&self, texts: &Texts) -> bool {
        self.texts == *texts
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
        if self.is_own(path) {
            return RuleMatch::Ignored(OWN_FILES.to_owned());
        }
        let text = Path::new("").join(path.to_string());
        for (rules, whitelist_counts) in [
            (&self.built_in, false),
            // What is brought back here may be forbidden on the other devices.
            (&self.shared, false),
            (&self.exclude, true),
            (&self.file, true),
        ] {
            match rules.matched(&text, is_dir) {
                Match::Ignore(glob) => return RuleMatch::Ignored(glob.original().to_owned()),
                Match::Whitelist(glob) if whitelist_counts => {
                    return RuleMatch::Included(glob.original().to_owned());
                }
                Match::None | Match::Whitelist(_) => {}
            }
        }
        RuleMatch::None
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
        let text = Path::new("").join(dir.to_string()).join(name);
        self.built_in.matched(&text, false).is_ignore()
    }

    /// Returns whether a path takes no part, by its own rules or by those of a folder above it.
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

fn build<'a>(lines: impl Iterator<Item = &'a str>, errors: &mut Vec<String>) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in lines {
        if let Err(error) = builder.add_line(None, line) {
            errors.push(format!("`{line}` is not a valid pattern: {error}"));
        }
    }
    builder.build().unwrap_or_else(|error| {
        errors.push(error.to_string());
        Gitignore::empty()
    })
}
