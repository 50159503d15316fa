//! The reasons for the sync state of a path, each as a word, so that a program can say it in a language of its own.

use crate::words::word_enum;

word_enum! {
    /// The reason for the sync state of one path; finer than the state.
    #[derive(Default)]
    PathReason("path reason") {
        Synced = "synced",
        /// In sync, but last changed without the account's keys.
        SyncedUnverified = "synced_unverified",
        /// In no synced folder.
        Unpaired = "unpaired",
        /// The name isn't one that can be synced.
        BadName = "bad_name",
        /// The whole folder doesn't sync.
        FolderProblem = "folder_problem",
        /// Files of Cairn itself.
        OwnFiles = "own_files",
        BuiltInRule = "built_in_rule",
        /// A pattern of this device leaves it out.
        Excluded = "excluded",
        /// Such a pattern left it out when it came.
        ExcludedBefore = "excluded_before",
        /// A rule of a rules file.
        Rule = "rule",
        /// The rules file can't be read, so that all it may concern is left out.
        RulesUnusable = "rules_unusable",
        /// Outside the selected subfolders.
        NotSelected = "not_selected",
        Ignored = "ignored",
        /// A symbolic link, a socket or a device.
        Special = "special",
        /// A name that isn't possible on the other side, or that reads the same as another.
        NameTaken = "name_taken",
        /// Deleted on the service; it stays here for what is in it and doesn't sync.
        DeletedThere = "deleted_there",
        Unreadable = "unreadable",
        MountGone = "mount_gone",
        /// The version that kept the name of two that were both kept.
        Conflict = "conflict",
        /// The copy of such two; who made it is not known.
        ConflictCopy = "conflict_copy",
        ConflictCopyOurs = "conflict_copy_ours",
        ConflictCopyTheirs = "conflict_copy_theirs",
        /// A try failed, or a person has to do something first; the message says what.
        Failed = "failed",
        Uploading = "uploading",
        Downloading = "downloading",
        /// There is nothing of that name.
        Missing = "missing",
        /// Changed here, in a folder that only receives.
        ReceivesOnly = "receives_only",
        /// Deleted here, in a folder that only receives.
        ReceivesOnlyDeleted = "receives_only_deleted",
        /// On the service only, in a folder that only sends.
        SendsOnly = "sends_only",
        /// Changed on the service, in a folder that only sends.
        SendsOnlyChanged = "sends_only_changed",
        /// Deleted on the service, in a folder that only sends.
        SendsOnlyDeleted = "sends_only_deleted",
        Paused = "paused",
        Offline = "offline",
        /// The deletion waits for a person.
        DeletionHeld = "deletion_held",
        /// Looks encrypted, and waits for a person.
        OverwriteHeld = "overwrite_held",
        /// A change here was not read yet.
        Unread = "unread",
        /// A deletion here was not read yet.
        UnreadDeletion = "unread_deletion",
        /// The two sides differ.
        Differs = "differs",
        /// Here only so far.
        OnlyHere = "only_here",
        /// On the service only so far.
        OnlyThere = "only_there",
        /// The space is being opened.
        Starting = "starting",
        /// One that this version doesn't know, or from one that tells none.
        #[default]
        #[serde(other)]
        Other = "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_another_version_is_no_error() {
        for reason in PathReason::ALL {
            let text = format!("\"{reason}\"");
            assert_eq!(serde_json::from_str::<PathReason>(&text).unwrap(), *reason);
        }
        let newer: PathReason = serde_json::from_str("\"from_the_future\"").unwrap();
        assert_eq!(newer, PathReason::Other);
    }
}
