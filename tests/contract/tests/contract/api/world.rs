//! A bundled server on a port of its own, and a client of it.

use crate::support::{OWNER, Service, api_at};
use cairn_api::{Api, RetryPolicy};
use cairn_model::{BackOff, DeviceId};
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) struct World {
    pub(crate) api: Api,
    service: Service,
}

impl World {
    pub(crate) async fn start() -> Self {
        let service = Service::in_memory().await;
        Self {
            api: Self::client_at(&service.url, OWNER),
            service,
        }
    }

    /// A client with short waits, so that retries cost little time.
    pub(crate) fn client_at(url: &str, key: &str) -> Api {
        let retry = RetryPolicy {
            back_off: BackOff {
                first: Duration::from_millis(2),
                most: Duration::from_secs(15),
            },
            ..RetryPolicy::default()
        };
        api_at(url, key, DeviceId::from_random_bytes([1; 16])).with_retry(retry)
    }

    pub(crate) fn client(&self, key: &str) -> Api {
        Self::client_at(&self.service.url, key)
    }

    /// Makes requests to a path go wrong.
    pub(crate) async fn fault(&self, path: &str, fault: Value) {
        let mut rule = json!({ "path_pattern": path });
        let fields = rule.as_object_mut().expect("an object");
        fields.extend(fault.as_object().expect("an object").clone());
        self.post("/_dev/faults", rule).await;
    }

    pub(crate) async fn post(&self, path: &str, body: Value) {
        self.service.post(path, body).await;
    }
}
