//! Looking for what the service has lost, now and then.

use super::Dispatcher;
use crate::healing;
use cairn_model::FolderId;
use std::time::Duration;
use tokio::time::Instant;

/// The time between two questions to the service.
const EVERY: Duration = Duration::from_secs(3600);

/// The time after which it is tried again while something else is going on.
const LATER: Duration = Duration::from_secs(60);

impl Dispatcher {
    /// Begins to send again what the service has lost, if that is due and nothing else is transferred.
    pub(super) fn heal_if_due(&mut self) {
        while self.healing.try_join_next().is_some() {}
        let now = Instant::now();
        if self.next_healing > now {
            return;
        }
        if !self.is_reachable() || !self.transfers.is_empty() || !self.healing.is_empty() {
            self.next_healing = now + LATER;
            return;
        }
        self.next_healing = now + EVERY;
        let now_ms = self.engine.ports.clock.now_ms();
        let usable: Vec<FolderId> = self
            .folders
            .iter()
            .filter(|(_, folder)| !folder.schedule.is_root_missing() && !folder.is_paused(now_ms))
            .map(|(id, _)| *id)
            .collect();
        let folders: Vec<_> = usable.into_iter().filter_map(|id| self.ctx(id)).collect();
        let unhealable = self.unhealable.clone();
        self.healing.spawn(async move {
            if let Err(error) = healing::heal(folders, unhealable).await {
                tracing::debug!(%error, "what the service has lost can't be looked for now");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatcher::FIRST_HEALING;
    use crate::testing::TestEngine;

    #[tokio::test(start_paused = true)]
    async fn the_service_is_asked_a_minute_after_the_start_and_then_every_hour() {
        let (mut dispatcher, _, _dir) = TestEngine::new().into_dispatcher();
        for wait in [FIRST_HEALING, EVERY, EVERY] {
            tokio::time::advance(wait - Duration::from_secs(1)).await;
            dispatcher.heal_if_due();
            assert!(dispatcher.healing.is_empty(), "too early");
            tokio::time::advance(Duration::from_secs(1)).await;
            dispatcher.heal_if_due();
            assert_eq!(dispatcher.healing.len(), 1, "{wait:?}");
            dispatcher.healing.shutdown().await;
        }
        dispatcher.feed_incomplete = true;
        tokio::time::advance(EVERY).await;
        dispatcher.heal_if_due();
        assert!(
            dispatcher.healing.is_empty(),
            "the service can't be reached"
        );
        assert_eq!(dispatcher.next_healing, Instant::now() + LATER);
    }
}
