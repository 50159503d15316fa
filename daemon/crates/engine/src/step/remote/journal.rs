//! Places (parent folder and name) that are about to be sent to the service: they are recorded before, because the
//! response may be lost.

use super::{Prepared, Then};
use crate::error::EngineError;
use crate::step::Ctx;
use cairn_api::{ApiError, ErrorClass};
use cairn_index::{IndexError, SentPlace};

/// Records the places that are about to be sent.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn put<'a>(
    ctx: &Ctx,
    prepared: impl Iterator<Item = &'a Prepared>,
) -> Result<(), IndexError> {
    let mut places = prepared
        .filter_map(|prepared| prepared.then.place())
        .peekable();
    if places.peek().is_none() {
        return Ok(());
    }
    ctx.engine
        .index
        .write(|db| places.try_for_each(|place| db.put_sent_place(place)))
}

/// Forgets a place that the service has refused: the feed will not show it.
pub(super) fn end_refused(ctx: &Ctx, then: &Then, error: &EngineError) {
    let Some(place) = then.place().filter(|_| is_refusal(error)) else {
        return;
    };
    if let Err(error) = ctx.engine.index.write(|db| db.end_sent_place(place)) {
        tracing::warn!(%error, "a refused place stays recorded as sent");
    }
}

/// Returns whether the service has certainly not done what it was asked for.
pub(super) fn is_refusal(error: &EngineError) -> bool {
    let EngineError::Api(error) = error else {
        return false;
    };
    // Another version may be the one that an earlier try has made; the feed tells.
    if matches!(error, ApiError::PreconditionFailed { .. }) {
        return false;
    }
    match error.class() {
        ErrorClass::Stale
        | ErrorClass::Missing
        | ErrorClass::Limit
        | ErrorClass::Refused
        | ErrorClass::Auth => true,
        ErrorClass::Transient | ErrorClass::Offline | ErrorClass::Protocol => false,
    }
}

impl Then {
    fn place(&self) -> Option<&SentPlace> {
        match self {
            Self::Made { place } => Some(place),
            Self::Moved { place, .. } => place.as_ref(),
            Self::Trashed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_service_has_certainly_not_done_counts_as_refused() {
        let refused = |status| is_refusal(&ApiError::from_status(status, String::new()).into());
        for status in [400, 401, 403, 404, 409, 413, 507] {
            assert!(refused(status), "{status}");
        }
        for status in [408, 412, 429, 500, 503] {
            assert!(!refused(status), "{status}");
        }
        assert!(!is_refusal(&EngineError::Protocol("cut".into())));
    }
}
