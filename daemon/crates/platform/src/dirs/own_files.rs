//! The names of an installation's files in the directory of its data. A directory that was chosen with `--home` may
//! have files of a person, too.

use cairn_model::AccountId;

/// The installation's state: the index with what SQLite writes beside it, the account, its secrets, folders, and the
/// journals of what runs over several steps.
pub(super) const STATE: [&str; 10] = [
    "index.db",
    "index.db-wal",
    "index.db-shm",
    "index.db-closed",
    "index.db-journal",
    "account.json",
    "secrets.json",
    "folders.json",
    "rotation.json",
    "changes.jsonl",
];

/// The marks of processes that run, or that change a file.
pub(super) const PROCESSES: [&str; 5] = [
    "daemon.lock",
    "daemon.pid",
    "login.lock",
    "config.lock",
    "secrets.lock",
];

/// Returns whether a file in the directory of the data has a name that Cairn gives to a part of its state: one of the
/// fixed names, an index that could not be read and was set aside, or what an account trusts.
#[must_use]
pub fn is_state_file(name: &str) -> bool {
    let account = name.strip_prefix("trust-").unwrap_or_default();
    let account = account.strip_suffix(".lock").unwrap_or(account);
    STATE.contains(&name)
        || name.starts_with("index.db.unreadable-")
        || account.parse::<AccountId>().is_ok()
}

/// Returns whether a file in the directory of the data has a name that Cairn gives.
pub(super) fn is_own_file(name: &str) -> bool {
    is_state_file(name) || PROCESSES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_begin_like_ours_are_a_persons() {
        let trust = format!("trust-{}", AccountId::from_random_bytes([1; 16]));
        let lock = format!("{trust}.lock");
        for name in ["index.db-wal", "index.db.unreadable-1", &trust, &lock] {
            assert!(is_own_file(name), "{name}");
        }
        for name in [
            "index.db.bak",
            "secrets.kdbx",
            "account-2025.pdf",
            "trust-deed.txt",
            "trust-",
        ] {
            assert!(!is_own_file(name), "{name}");
        }
        assert!(!is_state_file("daemon.lock"));
    }
}
