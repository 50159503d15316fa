//! Reading a full listing of the service page by page, within the bounds of what a space can hold: a service that
//! lies could go on for ever, and fill the disk.

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_api::Paging;
use cairn_wire::changes::Snapshot;

/// A listing that is being read.
#[derive(Default)]
pub(super) struct Listing {
    after: Option<String>,
    paging: Paging,
    is_complete: bool,
}

impl Listing {
    /// Returns the next page, or `None` after the last one.
    ///
    /// # Errors
    /// Errors of the network, or a service that breaks the protocol.
    pub(super) async fn next(&mut self, engine: &Engine) -> Result<Option<Snapshot>, EngineError> {
        if self.is_complete {
            return Ok(None);
        }
        let page = engine.api.snapshot(self.after.as_deref()).await?;
        self.paging
            .advance(page.nodes.len(), page.next.as_deref())?;
        self.after.clone_from(&page.next);
        self.is_complete = page.next.is_none();
        Ok(Some(page))
    }
}
