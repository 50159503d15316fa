//! The journal of what commands on this device changed on the service, from which `cairn undo` takes a command back.
//!
//! One JSON object a line, appended before the next change is made: a command that is interrupted can be
//! undone as far as it came. The newest sessions (runs of a command) are kept.

use crate::failure::{CommandResult, Context as _};
use crate::output::text::{now_ms, shell_word};
use cairn_model::{AccountId, NodeId, PastPlace};
use cairn_platform::{FileMode, Home, write_atomic};
use cairn_space::undo::{NodeChange, OwnVersions, Record};
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use uuid::Uuid;

/// The file's name in the data directory.
const FILE: &str = "changes.jsonl";
/// A longer journal is cut to the newer half.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// A line of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) session: Uuid,
    /// Milliseconds since 1970-01-01 UTC.
    pub(crate) at_ms: i64,
    /// The server's time of the change, in the same unit, in lines of earlier versions; now the record has it.
    #[serde(default, skip_serializing)]
    done_at_ms: i64,
    /// The command, for people.
    pub(crate) command: String,
    /// The account with which it was made; none in lines of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account: Option<AccountId>,
    /// The team's space in which it was; none for one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) team: Option<String>,
    /// The change; `None`: this line records that the session was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<Record>,
    /// The place where the node was before it went to the trash, if it came out of it with another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<Place>,
    /// The session that took this one back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undone_by: Option<Uuid>,
}

/// A folder, or the top of the space, and a name in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Place {
    parent: Option<NodeId>,
    name: String,
}

/// The journal of one installation, for one command.
#[derive(Debug)]
pub(crate) struct Journal {
    path: Option<PathBuf>,
    session: Uuid,
    command: String,
    account: Option<AccountId>,
    team: Option<String>,
    lock: Mutex<()>,
    has_noted: AtomicBool,
}

impl Journal {
    /// Begins a session; nothing is written before the first change.
    pub(crate) fn new(home: &Home, account: AccountId, team: Option<String>) -> Self {
        Self {
            path: Some(home.data_dir().join(FILE)),
            session: Uuid::from_bytes(cairn_space::random_id()),
            command: command(),
            account: Some(account),
            team,
            lock: Mutex::new(()),
            has_noted: AtomicBool::new(false),
        }
    }

    /// A journal that keeps nothing.
    pub(crate) fn none() -> Self {
        Self {
            path: None,
            session: Uuid::nil(),
            command: String::new(),
            account: None,
            team: None,
            lock: Mutex::new(()),
            has_noted: AtomicBool::new(false),
        }
    }

    pub(crate) fn session(&self) -> Uuid {
        self.session
    }

    /// Returns the session if it has changed anything: else there is none that could be taken back.
    pub(crate) fn noted_session(&self) -> Option<Uuid> {
        let has_noted = self.has_noted.load(Ordering::Relaxed);
        has_noted.then_some(self.session)
    }

    /// Notes a change that was made. It is made whether it can be noted or not.
    pub(crate) fn note(&self, record: Record) {
        self.note_change(record, None);
    }

    /// Notes that a node came out of the trash, maybe under another name or in another folder: restoring an earlier
    /// time needs the place that it had.
    pub(crate) fn note_restored(&self, trashed: &Node, restored: &Node) {
        let is_moved = (trashed.parent_id, &trashed.name) != (restored.parent_id, &restored.name);
        let left = is_moved.then(|| Place {
            parent: trashed.parent_id,
            name: trashed.name.clone(),
        });
        let record = Record::new(NodeChange::Restored, Some(trashed), restored);
        self.note_change(record, left);
    }

    fn note_change(&self, record: Record, left: Option<Place>) {
        let entry = Entry {
            change: Some(record),
            left,
            team: self.team.clone(),
            ..self.entry(self.session)
        };
        match self.append(&entry) {
            Ok(()) => self.has_noted.store(true, Ordering::Relaxed),
            Err(failure) => {
                tracing::warn!(%failure, "a change can't be noted, and so not taken back by `cairn undo`");
            }
        }
    }

    /// Returns an entry of a session without a change.
    fn entry(&self, session: Uuid) -> Entry {
        Entry {
            session,
            at_ms: now_ms(),
            done_at_ms: 0,
            command: self.command.clone(),
            account: self.account,
            team: None,
            change: None,
            left: None,
            undone_by: None,
        }
    }

    /// Notes that a session was taken back.
    pub(crate) fn end(&self, session: Uuid) -> CommandResult {
        self.append(&Entry {
            undone_by: Some(self.session),
            ..self.entry(session)
        })
    }

    fn append(&self, entry: &Entry) -> CommandResult {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let _held = self.lock.lock();
        let what = || format!("write to {}", path.display());
        let mut line = serde_json::to_string(entry)
            .map_err(std::io::Error::from)
            .context(what())?;
        line.push('\n');
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true).read(true);
        let mut file = options.open(path).context(what())?;
        // A full disk may have cut the last line short; the next must not be glued to it.
        if ends_torn(&mut file).context(what())? {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes()).context(what())?;
        if file.metadata().is_ok_and(|meta| meta.len() > MAX_BYTES) {
            drop(file);
            let text = std::fs::read_to_string(path).context(what())?;
            let half = text.len() / 2;
            let cut = text.as_bytes()[half..]
                .iter()
                .position(|byte| *byte == b'\n');
            let rest = cut.map_or("", |at| &text[half + at + 1..]);
            write_atomic(path, rest.as_bytes(), FileMode::Private).context(what())?;
        }
        Ok(())
    }

    /// Reads the sessions of an account that were not taken back, oldest first, each with its changes in their order.
    pub(crate) fn sessions(home: &Home, account: AccountId) -> CommandResult<Vec<Vec<Entry>>> {
        let own = entries(home)?
            .into_iter()
            .filter(|entry| entry.is_of(account));
        Ok(sessions_of(own))
    }

    /// Adds an account to the lines of earlier versions, which name none: they are of the one that was logged in
    /// here so far.
    pub(crate) fn assign_unnamed(home: &Home, account: AccountId) -> CommandResult {
        let mut all = entries(home)?;
        if all.iter().all(|entry| entry.account.is_some()) {
            return Ok(());
        }
        let mut text = String::new();
        for entry in &mut all {
            entry.account.get_or_insert(account);
            let line = serde_json::to_string(entry).map_err(std::io::Error::from);
            text.push_str(&line.context("write what commands have changed")?);
            text.push('\n');
        }
        let path = home.data_dir().join(FILE);
        let written = write_atomic(&path, text.as_bytes(), FileMode::Private);
        written.context(format_args!("write {}", path.display()))
    }

    /// Reads the versions in which a session has left the nodes that it changed. Changes of later commands that
    /// were undone count as the session's own.
    pub(crate) fn own_versions(home: &Home, session: Uuid) -> CommandResult<OwnVersions> {
        Ok(own_versions_of(&entries(home)?, session))
    }

    /// Reads the places that commands on this device have moved nodes away from, in the space of a team or
    /// in one's own; moves that were taken back, too.
    pub(crate) fn past_places(home: &Home, team: Option<&str>) -> CommandResult<Vec<PastPlace>> {
        let left = entries(home)?
            .into_iter()
            .filter(|entry| entry.team.as_deref() == team)
            .filter_map(|entry| {
                let record = entry.change?;
                let place = match record.change {
                    NodeChange::Moved { parent, name, .. } => Place { parent, name },
                    NodeChange::Restored => entry.left?,
                    NodeChange::Made
                    | NodeChange::Copied
                    | NodeChange::Trashed
                    | NodeChange::Content { .. } => return None,
                };
                Some(PastPlace {
                    node: record.node,
                    parent: place.parent,
                    name: place.name,
                    // The service's time, as all others: this machine's clock may be wrong.
                    until_ms: match record.at {
                        Timestamp(0) => entry.at_ms,
                        Timestamp(at_ms) => at_ms,
                    },
                })
            });
        Ok(left.collect())
    }

    pub(crate) fn team(&self) -> Option<&str> {
        self.team.as_deref()
    }
}

impl Entry {
    /// Returns whether an account may see it. An entry without an account was made before any other could log in here:
    /// a login with another one gives it the name of the earlier one.
    fn is_of(&self, account: AccountId) -> bool {
        self.account.is_none_or(|own| own == account)
    }
}

/// Returns whether a journal's last line has no end.
fn ends_torn(file: &mut std::fs::File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Reads all entries. A torn last line belongs to a change that was not noted.
fn entries(home: &Home) -> CommandResult<Vec<Entry>> {
    let path = home.data_dir().join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e).context(format_args!("read {}", path.display())),
    };
    let read = text.lines().filter_map(|line| {
        let mut entry: Entry = serde_json::from_str(line).ok()?;
        if let Some(record) = &mut entry.change
            && record.at == Timestamp::default()
        {
            record.at = Timestamp(entry.done_at_ms);
        }
        Some(entry)
    });
    Ok(read.collect())
}

fn own_versions_of(entries: &[Entry], session: Uuid) -> OwnVersions {
    let cancelled = cancelled_sessions(entries);
    let mut own = OwnVersions::default();
    for entry in entries {
        let Some(record) = &entry.change else {
            continue;
        };
        let is_cancelled = cancelled.contains(&entry.session) && own.contains(record.node);
        if entry.session == session || is_cancelled {
            own.note(record);
        }
    }
    own
}

/// Returns the sessions that were taken back, and those that took them back.
fn cancelled_sessions(entries: &[Entry]) -> HashSet<Uuid> {
    let mut cancelled = HashSet::new();
    // Newest first: a session whose undo was itself undone is in effect.
    for entry in entries.iter().rev() {
        if let Some(by) = entry.undone_by
            && !cancelled.contains(&by)
        {
            cancelled.extend([entry.session, by]);
        }
    }
    cancelled
}

fn sessions_of(entries: impl Iterator<Item = Entry>) -> Vec<Vec<Entry>> {
    let mut sessions: Vec<Vec<Entry>> = Vec::new();
    for entry in entries {
        let at = sessions
            .iter()
            .rposition(|session| session.first().is_some_and(|e| e.session == entry.session));
        match (at, &entry.change) {
            (Some(at), None) => drop(sessions.remove(at)),
            (None, None) => {}
            (Some(at), Some(_)) => sessions[at].push(entry),
            (None, Some(_)) => sessions.push(vec![entry]),
        }
    }
    sessions
}

/// The command line of this process, without its global options' values.
fn command() -> String {
    let words = std::env::args_os().skip(1);
    command_of(words.map(|word| word.to_string_lossy().into_owned()))
}

/// Returns a command as a shell would take it, without global options and their values.
fn command_of(words: impl Iterator<Item = String>) -> String {
    let mut skip = false;
    let shown = words.filter(|word| {
        let value = std::mem::replace(&mut skip, matches!(word.as_str(), "--home" | "--log"));
        !value && !skip && !matches!(word.as_str(), "--json" | "--no-start" | "--yes")
    });
    let shown: Vec<_> = shown.map(|word| shell_word(&word)).collect();
    shown.join(" ")
}

#[cfg(test)]
mod tests;
