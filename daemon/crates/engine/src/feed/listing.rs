//! Reading a full listing of the service page by page, within the bounds of what a space can hold: a service that
//! lies could go on for ever, and fill the disk.

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_wire::changes::Snapshot;

/// Maximum number of nodes in a page.
const PAGE: usize = 1_000;
/// Maximum number of nodes in a space.
const NODES: u64 = 10_000_000;

/// A listing that is being read.
#[derive(Default)]
pub(super) struct Listing {
    after: Option<String>,
    nodes: u64,
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
        self.advance(page.nodes.len(), page.next.as_deref())?;
        Ok(Some(page))
    }

    /// Notes a page with this many nodes, and the place of the next one.
    fn advance(&mut self, nodes: usize, next: Option<&str>) -> Result<(), EngineError> {
        self.nodes = self.nodes.saturating_add(nodes as u64);
        if nodes > PAGE || self.nodes > NODES {
            return Err(EngineError::Protocol(format!(
                "a list of more than {PAGE} files and folders in a page, or {NODES} in all"
            )));
        }
        let Some(next) = next else {
            self.is_complete = true;
            return Ok(());
        };
        if nodes == 0 || self.after.as_deref() == Some(next) {
            return Err(EngineError::Protocol("the list does not move on".into()));
        }
        self.after = Some(next.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_never_ends_ends() {
        let mut listing = Listing::default();
        let pages = (0..).take_while(|page: &u64| {
            let next = page.to_string();
            listing.advance(PAGE, Some(&next)).is_ok()
        });
        assert_eq!(pages.count() as u64, NODES / PAGE as u64);
    }

    #[test]
    fn pages_that_can_not_be_are_refused() {
        for (nodes, next) in [(PAGE + 1, None), (0, Some("b")), (1, Some("a"))] {
            let mut listing = Listing::default();
            listing.advance(1, Some("a")).unwrap();
            let refused = listing.advance(nodes, next);
            assert!(refused.is_err(), "{nodes} nodes, then {next:?}");
        }
    }

    #[test]
    fn an_honest_list_is_read_to_its_end() {
        let mut listing = Listing::default();
        listing.advance(PAGE, Some("a")).unwrap();
        listing.advance(PAGE, Some("b")).unwrap();
        listing.advance(0, None).unwrap();
        assert!(listing.is_complete);
    }
}
