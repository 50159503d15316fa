//! The state of a simulated disk, and the controls that a test has of it.

use super::faults::Faults;
use super::files::Files;
use cairn_engine::ports::Hint;
use cairn_model::Name;
use cairn_platform::NameRules;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

#[derive(Default)]
pub(super) struct State {
    pub(super) now: Files,
    durable: Files,
    /// The senders of hints, by the directory that is watched.
    pub(super) watchers: BTreeMap<PathBuf, UnboundedSender<Hint>>,
    /// Something was changed without a hint since watching was last begun.
    pub(super) is_hint_missing: bool,
    /// An action of the user, to be done just before a file or folder is renamed to a path that contains
    /// this text.
    before_rename: Option<(String, Action)>,
    /// Files that can't be opened, and directories whose entries stay as they are.
    pub(super) refused: BTreeSet<PathBuf>,
    /// Watching fails from its beginning.
    pub(super) blind: bool,
    /// The disk has the rules of Windows for names, as all of the system have.
    pub(super) windows: bool,
    /// Only this disk of the system has them.
    foreign: bool,
    /// Each spelling of a name has an inode of its own, as on exFAT through FUSE.
    pub(super) numbers_spellings: bool,
    /// The power never goes: nothing has to be remembered for it.
    powered: bool,
    /// Calls that looked at files or changed them.
    calls: u64,
    /// The number of times that something was made durable for the engine.
    flushes: usize,
    /// The number of files that the engine has opened.
    pub(super) reads: usize,
    /// Free bytes; unlimited if none.
    pub(super) room: Option<u64>,
    pub(super) faults: Faults,
    /// Is called before each call of the engine.
    pub(super) interference: Option<Interference>,
}

impl State {
    /// Remembers everything as it is for the time after the power has gone.
    fn flush(&mut self) {
        self.flushes += 1;
        if !self.powered {
            self.durable = self.now.clone();
        }
    }
}

/// Something that a user does.
pub type Action = Box<dyn FnOnce(&mut Files) -> io::Result<()> + Send>;

/// Something that happens between the calls of the engine.
pub(super) type Interference = Box<dyn FnMut() + Send>;

/// A disk; clones share it.
#[derive(Clone, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

impl SimDisk {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn files<T>(&self, f: impl FnOnce(&mut Files) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        state.calls += 1;
        f(&mut state.now)
    }

    /// Something that the user does: it is durable, and the watcher says so (or does not).
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub fn user<T>(
        &self,
        path: &Path,
        noticed: bool,
        f: impl FnOnce(&mut Files) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state();
        let out = f(&mut state.now)?;
        state.flush();
        state.is_hint_missing |= !noticed;
        let watchers = state.watchers.iter();
        for (_, watcher) in watchers.filter(|(root, _)| noticed && path.starts_with(root)) {
            // A watcher without a listener is fine.
            drop(watcher.send(Hint::Path(path.to_owned())));
        }
        Ok(out)
    }

    /// Lets the user do something in the instant before the engine renames anything to a path that
    /// contains `text`.
    pub fn before_rename(&self, text: &str, action: Action) {
        self.state().before_rename = Some((text.to_owned(), action));
    }

    /// Calls `interference` before each call of the engine from now on.
    pub fn interfere(&self, interference: impl FnMut() + Send + 'static) {
        self.state().interference = Some(Box::new(interference));
    }

    /// Ends what [`SimDisk::interfere`] has begun.
    pub fn end_interference(&self) {
        self.state().interference = None;
    }

    /// Lets a file be opened, or something be moved to a directory or out of it, no more, or again.
    pub fn refuse(&self, path: &Path, refuse: bool) {
        let mut state = self.state();
        if refuse {
            state.refused.insert(path.to_owned());
        } else {
            state.refused.remove(path);
        }
    }

    /// Refuses a path in a directory that takes nothing.
    pub(super) fn check_writable(&self, path: &Path) -> io::Result<()> {
        let refused = &self.state().refused;
        match path.parent() {
            Some(dir) if refused.contains(dir) => Err(io::ErrorKind::PermissionDenied.into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Gives the disk the rules of Windows for names.
    pub fn refuse_names_of_windows(&self) {
        self.state().windows = true;
    }

    /// Gives the disk, but not its system, the rules of Windows for names, as a memory stick has them.
    pub fn fail_on_names_of_windows(&self) {
        self.state().foreign = true;
    }

    /// Refuses a new name that the disk can't have.
    pub(super) fn check_possible(&self, path: &Path) -> io::Result<()> {
        let rules = name_rules(self.state().foreign);
        let name = path.file_name().map(|name| name.to_string_lossy());
        let name = name.and_then(|name| Name::new(name).ok());
        match name.map(|name| rules.check_name(&name)) {
            Some(Err(problem)) => Err(io::Error::new(io::ErrorKind::InvalidInput, problem)),
            Some(Ok(())) | None => Ok(()),
        }
    }

    /// Lets new files have no birth time, as on FAT.
    pub fn keep_no_births(&self) {
        self.state().now.keep_no_births();
    }

    /// Lets new files have no executable bit, as on FAT.
    pub fn keep_no_modes(&self) {
        self.state().now.keep_no_modes();
    }

    /// Lets times be steps of two seconds, as on FAT.
    pub fn keep_coarse_times(&self) {
        self.state().now.keep_coarse_times();
    }

    /// Takes `a` and `A` for one name, as FAT and NTFS do.
    pub fn ignore_case(&self) {
        self.state().now.ignore_case();
    }

    pub(crate) fn is_ignoring_case(&self) -> bool {
        self.state().now.is_ignoring_case()
    }

    /// Gives each spelling of a name an inode of its own.
    pub fn number_spellings(&self) {
        self.state().numbers_spellings = true;
    }

    /// Lets the disk say that it has so many bytes free, or as many as anybody wants.
    pub fn set_room(&self, room: Option<u64>) {
        self.state().room = room;
    }

    /// Lets watching fail as soon as it is begun, or work again when it is begun next.
    pub fn blind(&self, blind: bool) {
        let mut state = self.state();
        state.blind = blind;
        if blind {
            state.watchers.clear();
        }
    }

    /// Does what was to be done before a rename to this path.
    pub(super) fn interrupt(&self, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        match state.before_rename.take() {
            Some((text, action)) if to.to_string_lossy().contains(&text) => {
                action(&mut state.now)?;
                state.flush();
                state.is_hint_missing = true;
            }
            other => state.before_rename = other,
        }
        Ok(())
    }

    /// Reads the files.
    pub fn look<T>(&self, f: impl FnOnce(&Files) -> T) -> T {
        f(&self.state().now)
    }

    /// The power goes: what was not flushed was never there.
    ///
    /// # Panics
    /// If the disk was promised never to crash.
    pub fn crash(&self) {
        let mut state = self.state();
        assert!(!state.powered, "nothing was remembered for this");
        state.now = state.durable.clone();
        // Times go on.
        for _ in 0..1000 {
            state.now.tick();
        }
        state.watchers.clear();
    }

    /// Returns how often the engine has waited for the medium.
    #[must_use]
    pub fn flushes(&self) -> usize {
        self.state().flushes
    }

    /// Returns how many files the engine has opened for reading.
    #[must_use]
    pub fn reads(&self) -> usize {
        self.state().reads
    }

    pub(super) fn flush(&self) {
        self.state().flush();
    }

    /// Promises that the power never goes: with many files, remembering what was flushed takes long.
    pub fn never_crashes(&self) {
        self.state().powered = true;
    }

    /// Returns the number of calls of the engine that looked at files or changed them.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state().calls
    }
}

/// Returns the rules for names: those of Windows, or none.
pub(super) fn name_rules(windows: bool) -> NameRules {
    NameRules {
        windows,
        ignores_case: false,
        ignores_normal_form: false,
    }
}
