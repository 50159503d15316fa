//! The state of a reader, who has everything in memory and follows the log from a root that it trusts.

use super::{LogResult, SpaceState};
use crate::element::ElementName;
use crate::entry::ServerEntry;
use crate::records::InMemory;
use crate::rules::Refusal;
use crate::short_form;
use crate::statement::NodeStatement;
use crate::tree::verify_consistency;
use cairn_model::{NodeId, SpaceId};

impl SpaceState {
    /// Makes the state of a log without leaves, in memory.
    #[must_use]
    pub fn new(space: SpaceId, history: [u8; 16]) -> Self {
        Self::with_records(space, history, InMemory::default())
    }

    /// Returns the newest statement about a node.
    #[must_use]
    pub fn statement(&self, node: NodeId) -> Option<&NodeStatement> {
        let (statement, _) = self.records.nodes.get(&node)?.signed.as_ref()?;
        Some(statement)
    }

    /// Returns the entry that stands on a node's newest statement.
    #[must_use]
    pub fn entry(&self, node: NodeId) -> Option<&ServerEntry> {
        let (entry, _) = self.records.nodes.get(&node)?.entry.as_ref()?;
        Some(entry)
    }

    /// Returns the short hash of a node's newest statement: the next one's `prev`.
    #[must_use]
    pub fn node_prev(&self, node: NodeId) -> [u8; 16] {
        let signed = self
            .records
            .nodes
            .get(&node)
            .and_then(|n| n.signed.as_ref());
        signed.map_or([0; 16], |(_, hash)| short_form(hash))
    }

    /// Returns the short hash of a chain's newest statement: the next one's `prev`.
    #[must_use]
    pub fn chain_prev(&self, chain: &ElementName) -> [u8; 16] {
        self.records.chains.get(chain).map_or([0; 16], short_form)
    }

    /// Remembers an older root that a proof connects with the present one.
    ///
    /// # Errors
    /// [`Refusal::Root`] if it doesn't.
    pub fn admit_root(&mut self, size: u64, root: [u8; 32], proof: &[[u8; 32]]) -> LogResult<()> {
        let (now, own) = self.head();
        verify_consistency((size, &root), (now, &own), proof).map_err(|_| Refusal::Root)?;
        self.records.remember_root(size, root);
        Ok(())
    }
}
