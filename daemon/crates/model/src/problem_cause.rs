//! The causes of problems, each as a word, so that a program can say it in a language of its own.

use crate::ProblemCode;
use crate::words::word_enum;
use serde::{Deserialize, Serialize};

word_enum! {
    /// The cause of a problem; finer than its code. The general cause of each code has the code's text.
    #[derive(Default)]
    ProblemCause("problem cause") {
        /// The server sent something of it that no device has sealed.
        AuthFailed = "auth_failed",
        /// The key of a team is refused.
        TeamKeyRefused = "team_key_refused",
        Changing = "changing",
        DeletionsHeld = "deletions_held",
        /// Another failure of this disk; the detail is the system's word for it.
        Disk = "disk",
        /// Another file system is mounted where it has to be.
        MountedThere = "mounted_there",
        DiskFull = "disk_full",
        /// The disk with Cairn's own files is full.
        OwnDiskFull = "own_disk_full",
        Failed = "failed",
        /// Lines of a rules file that don't count; the detail names them.
        RulesInvalid = "rules_invalid",
        FolderGone = "folder_gone",
        /// A file system that was mounted in the folder is gone, or hidden.
        MountGone = "mount_gone",
        /// The detail says what can't be.
        Impossible = "impossible",
        /// The server put a folder into itself.
        IntoItself = "into_itself",
        Index = "index",
        KeyToAccept = "key_to_accept",
        KeysReplaced = "keys_replaced",
        Name = "name",
        /// The disk doesn't allow one of its characters.
        NameCharacter = "name_character",
        /// Windows keeps the name for a device.
        NameDevice = "name_device",
        /// Windows drops the dot or space at its end.
        NameEnding = "name_ending",
        /// The name is no valid UTF-8.
        NameNotText = "name_not_text",
        NameTooLong = "name_too_long",
        NameClash = "name_clash",
        /// Another beside it reads the same.
        NameReadsSame = "name_reads_same",
        /// A name that is one to this disk with another, which is there.
        NameTakenHere = "name_taken_here",
        /// A symbolic link or the like has its place here.
        SpecialInTheWay = "special_in_the_way",
        Offline = "offline",
        OneWay = "one_way",
        /// Both sides changed a file of a folder that only receives.
        OneWayReceives = "one_way_receives",
        /// Both sides changed a file of a folder that only sends.
        OneWaySends = "one_way_sends",
        OverwritesHeld = "overwrites_held",
        Protocol = "protocol",
        Quota = "quota",
        RemoteGone = "remote_gone",
        RemoteIsFile = "remote_is_file",
        /// The server sent an older state of one file or folder.
        Rollback = "rollback",
        /// The whole service went back; nothing is synced until a person accepts it.
        WentBack = "went_back",
        /// The whole service went back, and both sides were compared.
        WentBackCompared = "went_back_compared",
        /// The account lacks a right.
        Forbidden = "forbidden",
        /// The present key of a team was not granted yet.
        KeyNotGranted = "key_not_granted",
        /// The account doesn't belong to the team any more.
        NotAMember = "not_a_member",
        Server = "server",
        /// The server asks to slow down.
        ServerBusy = "server_busy",
        /// A team for which nobody has made a key yet.
        TeamWithoutKey = "team_without_key",
        Special = "special",
        Symlink = "symlink",
        /// All rules files of a folder together.
        RulesFilesTooLarge = "rules_files_too_large",
        /// The service's rules file.
        RulesTooLarge = "rules_too_large",
        TooLarge = "too_large",
        Unauthorized = "unauthorized",
        RulesUnreadable = "rules_unreadable",
        Unreadable = "unreadable",
        Unverified = "unverified",
        /// The service shows another device other files.
        ViewsDiffer = "views_differ",
        /// The detail says what the watcher lacks.
        Watch = "watch",
        /// One that this version doesn't know, or from one that tells none.
        #[default]
        #[serde(other)]
        Other = "other",
    }
}

impl ProblemCause {
    /// Returns true if it is none that this version knows.
    #[must_use]
    pub fn is_other(&self) -> bool {
        *self == Self::Other
    }

    /// Returns the code that programs decide by.
    #[must_use]
    pub fn code(self) -> ProblemCode {
        match self {
            Self::AuthFailed | Self::TeamKeyRefused => ProblemCode::AuthFailed,
            Self::Changing => ProblemCode::Changing,
            Self::DeletionsHeld => ProblemCode::DeletionsHeld,
            Self::Disk | Self::MountedThere => ProblemCode::Disk,
            Self::DiskFull | Self::OwnDiskFull => ProblemCode::DiskFull,
            Self::Failed | Self::RulesInvalid => ProblemCode::Failed,
            Self::FolderGone | Self::MountGone => ProblemCode::FolderGone,
            Self::Impossible | Self::IntoItself => ProblemCode::Impossible,
            Self::Index => ProblemCode::Index,
            Self::KeyToAccept => ProblemCode::KeyToAccept,
            Self::KeysReplaced => ProblemCode::KeysReplaced,
            Self::Name
            | Self::NameCharacter
            | Self::NameDevice
            | Self::NameEnding
            | Self::NameNotText
            | Self::NameTooLong => ProblemCode::Name,
            Self::NameClash | Self::NameReadsSame | Self::NameTakenHere | Self::SpecialInTheWay => {
                ProblemCode::NameClash
            }
            Self::Offline => ProblemCode::Offline,
            Self::OneWay | Self::OneWayReceives | Self::OneWaySends => ProblemCode::OneWay,
            Self::OverwritesHeld => ProblemCode::OverwritesHeld,
            Self::Protocol => ProblemCode::Protocol,
            Self::Quota => ProblemCode::Quota,
            Self::RemoteGone => ProblemCode::RemoteGone,
            Self::RemoteIsFile => ProblemCode::RemoteIsFile,
            Self::Rollback | Self::ViewsDiffer | Self::WentBack | Self::WentBackCompared => {
                ProblemCode::Rollback
            }
            Self::Forbidden
            | Self::KeyNotGranted
            | Self::NotAMember
            | Self::Server
            | Self::ServerBusy
            | Self::TeamWithoutKey => ProblemCode::Server,
            Self::Special => ProblemCode::Special,
            Self::Symlink => ProblemCode::Symlink,
            Self::RulesFilesTooLarge | Self::RulesTooLarge | Self::TooLarge => {
                ProblemCode::TooLarge
            }
            Self::Unauthorized => ProblemCode::Unauthorized,
            Self::RulesUnreadable | Self::Unreadable => ProblemCode::Unreadable,
            Self::Unverified => ProblemCode::Unverified,
            Self::Watch => ProblemCode::Watch,
            Self::Other => ProblemCode::Other,
        }
    }
}

/// The values in the text of a problem.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts-rs", derive(ts_rs::TS))]
#[serde(default)]
pub struct ProblemValues {
    /// The name of another file, or a character of its own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts-rs", ts(optional))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts-rs", ts(optional))]
    pub team: Option<String>,
    /// The person or device that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts-rs", ts(optional))]
    pub who: Option<String>,
    /// The fingerprint of that person's public keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts-rs", ts(optional))]
    pub fingerprint: Option<String>,
    /// RFC 3339, or a day of it: the time when it was done or found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts-rs", ts(optional))]
    pub at: Option<String>,
    /// The command that helps, as it can be typed into a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts-rs", ts(optional))]
    pub command: Option<String>,
    /// Bytes that are free on the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts-rs", ts(optional))]
    pub free: Option<u64>,
    /// The words of the system, the server or a library, in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts-rs", ts(optional))]
    pub detail: Option<String>,
}

impl ProblemValues {
    /// Returns values with nothing but what a system, a server or a library said.
    #[must_use]
    pub fn of_detail(detail: impl Into<String>) -> Self {
        Self {
            detail: Some(detail.into()),
            ..Self::default()
        }
    }

    /// Returns values with nothing but a name.
    #[must_use]
    pub fn of_name(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..Self::default()
        }
    }

    /// Returns true if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_general_cause_of_its_text() {
        for code in ProblemCode::ALL {
            let cause: ProblemCause = code.as_str().parse().unwrap();
            assert_eq!(cause.code(), *code);
        }
    }

    #[test]
    fn a_cause_of_another_version_is_no_error() {
        for cause in ProblemCause::ALL {
            let text = format!("\"{cause}\"");
            assert_eq!(serde_json::from_str::<ProblemCause>(&text).unwrap(), *cause);
        }
        let newer: ProblemCause = serde_json::from_str("\"from_the_future\"").unwrap();
        assert_eq!(newer, ProblemCause::Other);
    }
}
