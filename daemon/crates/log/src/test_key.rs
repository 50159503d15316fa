//! Keys that sign in the tests of this crate; it has none otherwise.

use crate::associated_data::AssociatedData;
use crate::commit::{Commit, CommitHeader};
use crate::error::LogError;
use cairn_model::SpaceId;
use ed25519_dalek::{Signer as _, SigningKey};

pub(crate) struct TestKey(SigningKey);

impl TestKey {
    pub(crate) fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    pub(crate) fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub(crate) fn sign(&self, message: &AssociatedData) -> [u8; 64] {
        self.0.sign(message.as_bytes()).to_bytes()
    }
}

pub(crate) fn sign_commit(
    space: SpaceId,
    header: CommitHeader,
    statements: Vec<Vec<u8>>,
    key: &TestKey,
) -> Result<Commit, LogError> {
    let mut commit = Commit::unsigned(header, statements)?;
    commit.signature = key.sign(&commit.to_sign(space));
    Ok(commit)
}
