//! Subscriptions to the state of sync, in both forms that the protocol has had for them.

use crate::resource;
use crate::services::Services;
use crate::sync_tools::watch;
use parking_lot::Mutex;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use std::sync::Arc;
use tokio::task::AbortHandle;

/// The subscription of an older client; newer ones keep a request open.
#[derive(Default)]
pub(super) struct Subscription(Mutex<Option<AbortHandle>>);

impl Subscription {
    /// Begins to notify the client of changes.
    pub(super) fn begin(&self, services: Arc<Services>, peer: Peer<RoleServer>) {
        let task = tokio::spawn(async move {
            let report = || {
                let peer = peer.clone();
                async move {
                    let update = ResourceUpdatedNotificationParam::new(resource::SYNC.uri);
                    peer.notify_resource_updated(update).await.is_ok()
                }
            };
            watch::changes(&services, report).await;
        });
        if let Some(before) = self.0.lock().replace(task.abort_handle()) {
            before.abort();
        }
    }

    /// Ends the notifications.
    pub(super) fn end(&self) {
        if let Some(task) = self.0.lock().take() {
            task.abort();
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns what can be subscribed to: the state of sync.
pub(super) fn sync_filter() -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.resource_subscriptions = Some(vec![resource::SYNC.uri.to_owned()]);
    filter
}

/// Tells a newer client of changes until it ends the subscription.
pub(super) async fn listen(services: &Services, context: SubscriptionContext) {
    let report = || {
        let sink = context.sink().clone();
        async move {
            sink.notify_resource_updated(resource::SYNC.uri)
                .await
                .is_ok()
        }
    };
    tokio::select! {
        () = context.cancelled() => {}
        () = watch::changes(services, report) => {}
    }
}

/// Checks that an address can be subscribed to.
///
/// # Errors
/// Invalid parameters for anything but the state of sync, and for that where it is not offered.
pub(super) fn check(is_offered: bool, uri: &str) -> Result<(), ErrorData> {
    if is_offered && uri == resource::SYNC.uri {
        return Ok(());
    }
    Err(ErrorData::invalid_params(
        "only service://sync can be subscribed to, where there is a sync daemon",
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_state_of_sync_begins_and_ends_a_subscription() {
        assert!(check(true, "service://sync").is_ok());
        assert!(check(false, "service://sync").is_err());
        assert!(check(true, "service://files").is_err());
        assert!(check(true, "").is_err());
    }
}
