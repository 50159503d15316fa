//! Words about an account: what happened to its keys, what its programs may do, and the packs of tokens that it can buy.

use crate::words::word_enum;

word_enum! {
    /// Something that happened to the account's keys.
    KeyEvent("event of keys") {
        Created = "keys_created",
        Rotated = "key_rotated",
        PassphraseChanged = "passphrase_changed",
        RecoveryKeySetUp = "recovery_key_set_up",
        RecoveryKeyUsed = "recovery_key_used",
        RecoveryKeyRemoved = "recovery_key_removed",
    }
}

word_enum! {
    /// The scope of a service account: what the programs that use it may do.
    ServiceScope("scope of a service account") {
        /// Everything that the account may do.
        Files = "files",
        /// Everything that only looks.
        FilesRead = "files.read",
    }
}

word_enum! {
    /// The id of a pack of AI tokens.
    TokenPackId("pack of tokens") {
        Starter = "starter",
        Standard = "standard",
        Professional = "professional",
        /// A pack that this version doesn't know, and no server of it sells.
        #[serde(other)]
        Other = "other",
    }
}
