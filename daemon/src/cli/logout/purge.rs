//! Deletes the state in a home, by the names that Cairn gives: a directory that was chosen with `--home` may have files
//! and folders of a person, too.

use crate::failure::{CommandResult, Context as _};
use crate::logging;
use cairn_model::SpaceId;
use cairn_platform::Home;
use cairn_platform::dirs::is_state_file;
use std::io;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Deletes the state of a home.
pub(super) fn delete(home: &Home) -> CommandResult {
    for path in state_of(home)? {
        let deleted = match path.is_dir() {
            true => std::fs::remove_dir_all(&path),
            false => std::fs::remove_file(&path),
        };
        deleted.context(format_args!("delete {}", path.display()))?;
    }
    for dir in directories(home) {
        match std::fs::remove_dir(&dir) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::debug!(%error, path = %dir.display(), "the directory stays"),
        }
    }
    Ok(())
}

/// Returns the state in a home: the index with its companions, the account, pins, logs, assistants' tasks, and the
/// journals of commands and of assistants' sessions. The configuration is none of it, nor what a person put there.
pub(super) fn state_of(home: &Home) -> CommandResult<Vec<PathBuf>> {
    let [logs, sessions, tasks, spaces] = directories(home);
    let mut found = files_in(home.data_dir(), is_state_file)?;
    found.extend(files_in(&logs, is_log)?);
    found.extend(files_in(&sessions, is_named_by_id)?);
    found.extend(files_in(&tasks, is_named_by_id)?);
    found.extend(entries_in(&spaces, |name| name.parse::<SpaceId>().is_ok())?);
    found.sort();
    Ok(found)
}

fn directories(home: &Home) -> [PathBuf; 4] {
    [
        home.logs_dir(),
        home.sessions_dir(),
        home.tasks_dir(),
        home.spaces_dir(),
    ]
}

fn files_in(dir: &Path, is_own: impl Fn(&str) -> bool) -> CommandResult<Vec<PathBuf>> {
    let mut files = entries_in(dir, is_own)?;
    files.retain(|path| path.is_file());
    Ok(files)
}

/// Returns the entries of a directory that have a name of Cairn's; none of a directory that is not there.
fn entries_in(dir: &Path, is_own: impl Fn(&str) -> bool) -> CommandResult<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).context(format_args!("read {}", dir.display())),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry
            .context(format_args!("read {}", dir.display()))?
            .path();
        if path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(&is_own)
        {
            found.push(path);
        }
    }
    Ok(found)
}

/// Returns whether a file has the name of a log.
fn is_log(name: &str) -> bool {
    let rest = name.strip_prefix(logging::PREFIX);
    rest.is_some_and(|rest| rest.starts_with('.'))
        || [logging::DAEMON_ERRORS, logging::TASK_ERRORS].contains(&name)
}

/// Returns whether a file has the name of a session's journal, or of one of a task.
fn is_named_by_id(name: &str) -> bool {
    name.split_once('.')
        .is_some_and(|(id, _)| id.parse::<Uuid>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::AccountId;

    #[test]
    fn a_purge_leaves_the_configuration_and_what_is_not_cairns() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        let trust = format!("trust-{}", AccountId::from_random_bytes([1; 16]));
        let own = ["account.json", "folders.json", "secrets.json", &*trust];
        let others = [
            "mine.txt",
            "secrets.kdbx",
            "account-2025.pdf",
            "trust-deed.txt",
        ];
        for name in own.iter().chain(&others) {
            std::fs::write(home.data_dir().join(name), "x").unwrap();
        }
        std::fs::write(home.config_file(), "x").unwrap();
        let index = home.index_file();
        std::fs::write(&index, "x").unwrap();
        std::fs::write(index.with_extension("db-wal"), "x").unwrap();
        let journal = home
            .sessions_dir()
            .join("01890a5d-ac96-774b-bcce-b302099a8057.jsonl");
        std::fs::create_dir(home.sessions_dir()).unwrap();
        std::fs::write(&journal, "a name").unwrap();
        let task = home
            .tasks_dir()
            .join("01890a5d-ac96-774b-bcce-b302099a8057.json");
        std::fs::create_dir(home.tasks_dir()).unwrap();
        std::fs::write(&task, "a name").unwrap();
        let changes = home.data_dir().join("changes.jsonl");
        std::fs::write(&changes, "a name").unwrap();
        let space = home
            .spaces_dir()
            .join(SpaceId::from_random_bytes([2; 16]).to_string());
        std::fs::create_dir_all(space.join("x")).unwrap();
        let log = home.logs_dir().join("cairn.2026-01-02.log");
        std::fs::write(&log, "a name").unwrap();
        delete(&home).unwrap();
        assert!(!journal.exists() && !changes.exists() && !log.exists());
        assert!(!home.tasks_dir().exists());
        assert!(!home.spaces_dir().exists() && !home.logs_dir().exists());
        assert!(!index.exists() && !index.with_extension("db-wal").exists());
        let is_left = |name: &&str| home.data_dir().join(name).exists();
        assert!(!own.iter().any(is_left) && others.iter().all(is_left));
        assert!(home.config_file().exists());
    }

    #[test]
    fn a_purge_leaves_what_lies_in_a_persons_own_folders() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        let others = [
            "logs/boat.log",
            "sessions/therapy.jsonl",
            "spaces/flat/plan.pdf",
        ];
        for name in others {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        delete(&home).unwrap();
        let is_left = |name: &str| dir.path().join(name).exists();
        assert!(others.into_iter().all(is_left));
    }
}
