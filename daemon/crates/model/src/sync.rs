//! The state of synchronization: modes, states, directions, problems.

use crate::words::word_enum;

word_enum! {
    /// The direction in which a folder pair carries changes.
    #[derive(Default)]
    SyncMode("sync mode") {
        #[default]
        TwoWay = "two-way",
        /// The device only sends: nothing is changed locally.
        Upload = "upload",
        /// The device only receives: nothing is changed on the service.
        Download = "download",
    }
}

word_enum! {
    /// The treatment of changes that have no valid seal (MAC) of a device with the keys: the setting `sync.verify`.
    #[derive(Default)]
    Verification("verification mode") {
        /// Uses the change where that can be undone, and shows it as unverified.
        #[default]
        Warn = "warn",
        /// Blocks the change until a person accepts it, and gives it to nobody: no download, no link.
        Strict = "strict",
    }
}

word_enum! {
    /// The state of a folder, or of all of them. A later one outranks an earlier one.
    #[derive(Default)]
    SyncState("sync state") {
        #[default]
        Idle = "idle",
        Syncing = "syncing",
        Paused = "paused",
        Offline = "offline",
        /// A conflict, a question, or a file that can't be synced needs a person; the rest goes on.
        Attention = "attention",
        /// Sync rests until a person acts.
        Error = "error",
    }
}

/// The limits from which the deletions of a plan wait for a person: more than `percent` of the folder's files **and**
/// at least `files` of them; or `most` files, whatever their share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct DeletionGate {
    pub percent: u8,
    pub files: u64,
    /// The number from which on the share doesn't matter.
    #[serde(default = "DeletionGate::usual_most")]
    pub most: u64,
}

impl DeletionGate {
    /// Returns the number from which a person is asked where nobody chose another one.
    #[must_use]
    pub const fn usual_most() -> u64 {
        1000
    }

    /// Returns whether the deletion of so many files waits for a person; `total` counts the files of which they are a
    /// part, where that matters.
    ///
    /// # Errors
    /// Returns the error of counting.
    pub fn stops<E>(&self, files: u64, total: impl FnOnce() -> Result<u64, E>) -> Result<bool, E> {
        if files >= self.most.max(1) {
            return Ok(true);
        }
        // A few are never many: the whole tree need not be counted for each of them.
        if files < self.files.max(1) {
            return Ok(false);
        }
        Ok(files.saturating_mul(100) > total()?.saturating_mul(u64::from(self.percent)))
    }
}

impl Default for DeletionGate {
    fn default() -> Self {
        Self {
            percent: 50,
            files: 50,
            most: Self::usual_most(),
        }
    }
}

/// The list that an ignore rule comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// Never synced anywhere.
    BuiltIn,
    /// The patterns of this device.
    Exclude,
    /// A rules file of the folder.
    File,
    /// The subfolders selected for this device.
    Selection,
    /// A list of another version of Cairn.
    #[serde(other)]
    Other,
}

word_enum! {
    /// One of the two sides that a folder pair joins.
    Side("side") {
        /// The disk of this device.
        Local = "local",
        /// The server.
        Remote = "remote",
    }
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::Local, Self::Remote];

    /// Returns the place of what is on these sides, for messages: "on the other side" if it is on both, or not known.
    pub fn place(sides: impl IntoIterator<Item = Self>) -> &'static str {
        let mut sides = sides.into_iter();
        match sides.next() {
            Some(first) if sides.all(|side| side == first) => match first {
                Self::Local => "on this device",
                Self::Remote => "on the service",
            },
            Some(_) | None => "on the other side",
        }
    }
}

word_enum! {
    /// The direction of a transfer's bytes.
    TransferDirection("transfer direction") {
        Up = "up",
        Down = "down",
    }
}

word_enum! {
    /// A person's decision on deletions, or on overwriting, that waits.
    DeletionDecision("decision") {
        /// The deletions are carried out where the files still are.
        Delete = "delete",
        /// The service's versions are overwritten.
        Overwrite = "overwrite",
        /// Deleted files come back; the service's versions stay.
        Keep = "keep",
    }
}

word_enum! {
    /// The kind of change that a person is asked about.
    #[derive(Default)]
    ConfirmationKind("kind of confirmation") {
        /// Many files would be deleted.
        #[default]
        Deletion = "deletion",
        /// Many contents that look encrypted would take the place of the service's.
        Overwriting = "overwriting",
    }
}

word_enum! {
    /// The kind of something that doesn't sync. In alphabetical order, which is that of a listing.
    #[derive(Default)]
    ProblemCode("problem code") {
        /// Something opened with a key turned out altered or foreign.
        AuthFailed = "auth_failed",
        /// The file is being written.
        Changing = "changing",
        /// Deletions wait for a person.
        DeletionsHeld = "deletions_held",
        /// Another failure of this disk.
        Disk = "disk",
        DiskFull = "disk_full",
        Failed = "failed",
        /// The folder's root is missing or another directory.
        FolderGone = "folder_gone",
        /// The server sent a state that no tree can have.
        Impossible = "impossible",
        Index = "index",
        /// A key of a team that nobody has accepted on this device.
        KeyToAccept = "key_to_accept",
        /// The account's keys were replaced on another device.
        KeysReplaced = "keys_replaced",
        /// A name that is no valid UTF-8.
        Name = "name",
        /// Two names that read the same.
        NameClash = "name_clash",
        Offline = "offline",
        /// Both sides changed a file of a one-way folder.
        OneWay = "one_way",
        /// Overwriting waits for a person.
        OverwritesHeld = "overwrites_held",
        Protocol = "protocol",
        Quota = "quota",
        RemoteGone = "remote_gone",
        RemoteIsFile = "remote_is_file",
        /// The server sent an older state as the present one.
        Rollback = "rollback",
        Server = "server",
        /// Neither a file nor a folder nor a symbolic link.
        Special = "special",
        Symlink = "symlink",
        TooLarge = "too_large",
        Unauthorized = "unauthorized",
        Unreadable = "unreadable",
        /// A change without a seal of the account's devices.
        Unverified = "unverified",
        /// The watcher lacks something.
        Watch = "watch",
        /// A code of another version of Cairn.
        #[default]
        #[serde(other)]
        Other = "other",
    }
}

word_enum! {
    /// The sync state of one path.
    #[derive(Default)]
    PathState("path state") {
        /// Equal on both sides.
        #[default]
        Synced = "synced",
        /// A change of it is to be done, or under way.
        Waiting = "waiting",
        /// One of two versions that were both kept.
        Conflict = "conflict",
        /// A rule leaves it out on every device.
        Ignored = "ignored",
        /// Stays on the service only, because of what was selected for this device.
        Unselected = "unselected",
        /// The pair syncs the other way only.
        OneWay = "one_way",
        /// The name isn't possible on the other side.
        Name = "name",
        /// A symbolic link, a socket or a device.
        Special = "special",
        /// Failed, and waits for a retry or for a person.
        Parked = "parked",
        /// Lies on a file system that is not mounted.
        Unmounted = "unmounted",
        /// Has no valid seal of a device with the keys, and is blocked.
        Unverified = "unverified",
        /// There is nothing of that name.
        Missing = "missing",
        /// Lies in no folder pair.
        Unpaired = "unpaired",
        /// A state of another version of Cairn.
        #[serde(other)]
        Other = "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_reads_back_as_its_value() {
        for code in ProblemCode::ALL {
            let json = serde_json::to_string(code).unwrap();
            assert_eq!(json, format!("\"{code}\""));
            assert_eq!(serde_json::from_str::<ProblemCode>(&json).unwrap(), *code);
            assert_eq!(code.as_str().parse::<ProblemCode>().unwrap(), *code);
        }
    }

    #[test]
    fn codes_sort_as_their_texts() {
        let known = &ProblemCode::ALL[..ProblemCode::ALL.len() - 1];
        assert!(known.iter().map(|code| code.as_str()).is_sorted());
    }

    #[test]
    fn a_code_of_another_version_is_no_error() {
        let code: ProblemCode = serde_json::from_str("\"from_the_future\"").unwrap();
        assert_eq!(code, ProblemCode::Other);
        let error = "sideways".parse::<SyncMode>().unwrap_err();
        assert_eq!(error.to_string(), "`sideways` is not a sync mode");
    }
}
