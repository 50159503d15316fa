//! A bundled server on a port of its own, and a client of it.

use cairn_api::{Api, ApiKey, HttpTransport, Method, Request, RetryPolicy, Transport as _};
use cairn_model::DeviceId;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub(crate) struct World {
    pub(crate) api: Api,
    url: String,
    server: JoinHandle<()>,
}

impl World {
    pub(crate) async fn start() -> Self {
        let options = cairn_server::Options {
            ..cairn_server::Options::ephemeral()
        };
        let app = cairn_server::build_dev(options).expect("a server in memory can be built");
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let server = tokio::spawn(async move {
            cairn_server::serve(&app, listener, std::future::pending())
                .await
                .expect("the server serves");
        });
        Self {
            api: Self::client_at(&url, "ck_dev_owner"),
            url,
            server,
        }
    }

    /// A client with short waits, so that retries cost little time.
    pub(crate) fn client_at(url: &str, key: &str) -> Api {
        let transport = Arc::new(HttpTransport::new().expect("TLS is available"));
        let device = DeviceId::from_random_bytes([1; 16]);
        let retry = RetryPolicy {
            base: Duration::from_millis(2),
            ..RetryPolicy::default()
        };
        Api::new(transport, url, None, Arc::new(ApiKey::new(key)), device)
            .expect("an address")
            .with_retry(retry)
    }

    pub(crate) fn client(&self, key: &str) -> Api {
        Self::client_at(&self.url, key)
    }

    /// Makes requests to a path go wrong.
    pub(crate) async fn fault(&self, path: &str, fault: Value) {
        let mut rule = json!({ "path_pattern": path });
        let fields = rule.as_object_mut().expect("an object");
        fields.extend(fault.as_object().expect("an object").clone());
        self.post("/_dev/faults", rule).await;
    }

    pub(crate) async fn post(&self, path: &str, body: Value) {
        let transport = HttpTransport::new().expect("TLS is available");
        let mut headers = cairn_api::HeaderMap::new();
        headers.insert(
            "content-type",
            cairn_api::HeaderValue::from_static("application/json"),
        );
        let request = Request {
            method: Method::POST,
            base: self.url.clone(),
            path: path.to_owned(),
            headers,
            body: body.to_string().into(),
        };
        let answer = transport.send(request).await.expect("the server answers");
        assert!(answer.status.is_success(), "{path}: {}", answer.status);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.server.abort();
    }
}
