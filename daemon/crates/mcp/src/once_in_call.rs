//! The caller's teams and the keys of their spaces, which a call of a tool asks the service for once, however often it
//! needs them. Both may be others in the next call.

use crate::error::ToolResult;
use crate::services::Services;
use cairn_api::ApiError;
use cairn_crypto::SpaceKeys;
use cairn_model::SpaceId;
use cairn_wire::teams::Team;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

tokio::task_local! {
    static KNOWN: Arc<Known>;
}

/// The teams and keys that a call has got.
#[derive(Default)]
struct Known {
    teams: OnceCell<Vec<Team>>,
    keys: Mutex<HashMap<SpaceId, Arc<SpaceKeys>>>,
}

/// Runs a call. Work outside of it asks the service each time.
pub(crate) async fn scope<T>(call: impl Future<Output = T>) -> T {
    KNOWN.scope(Arc::default(), call).await
}

impl Services {
    /// Returns the caller's teams.
    ///
    /// # Errors
    /// [`ApiError`] if the service can't be asked.
    pub(crate) async fn teams(&self) -> Result<Vec<Team>, ApiError> {
        let Ok(known) = KNOWN.try_with(Arc::clone) else {
            return self.reads.teams().await;
        };
        let asked = known.teams.get_or_try_init(|| self.reads.teams());
        asked.await.cloned()
    }

    /// Returns the keys of a team's space.
    ///
    /// # Errors
    /// As [`Services::open_team_keys`].
    pub(crate) async fn team_keys(&self, team: &Team) -> ToolResult<Arc<SpaceKeys>> {
        let known = KNOWN.try_with(Arc::clone).ok();
        let space = team.space_id;
        let found = known
            .as_ref()
            .and_then(|known| known.keys.lock().get(&space).cloned());
        if let Some(keys) = found {
            return Ok(keys);
        }
        let keys = Arc::new(self.open_team_keys(team).await?);
        if let Some(known) = known {
            known.keys.lock().insert(space, keys.clone());
        }
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_services::stub_services;
    use serde_json::json;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn the_teams_are_asked_for_once_in_a_call_and_again_in_the_next() {
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = requests.clone();
        let services = stub_services(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            let page = json!({ "content": [], "totalPages": 1, "totalElements": 0, "page": 1, "pageSize": 100 });
            (200, page)
        });
        let twice = async || {
            services.teams().await.unwrap();
            services.teams().await.unwrap();
        };
        for call in 1..=2 {
            scope(twice()).await;
            assert_eq!(requests.load(Ordering::Relaxed), call);
        }
        twice().await;
        assert_eq!(requests.load(Ordering::Relaxed), 4, "outside of calls");
    }
}
