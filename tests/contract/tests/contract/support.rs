//! The bundled server in this process, on a port of its own, with clients of it, and bytes to send.

use async_trait::async_trait;
use bytes::Bytes;
use cairn_api::{
    Api, ApiKey, HeaderMap, HeaderValue, HttpTransport, Method, Request, Response, Transport,
    TransportError,
};
use cairn_crypto::SpaceKeys;
use cairn_model::DeviceId;
use cairn_server::Options;
use cairn_transfer::Transfer;
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::Value;
use std::future::pending;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The API key of the account that the server in memory begins with.
pub(crate) const OWNER: &str = "ck_dev_owner";

/// A running server; it ends when this is dropped.
pub(crate) struct Service {
    pub(crate) url: String,
    task: JoinHandle<()>,
}

impl Service {
    /// Starts the server in memory, with everything that `/_dev` offers.
    pub(crate) async fn in_memory() -> Self {
        let options = Options::ephemeral();
        Self::serve(cairn_server::build_dev(options).expect("a server in memory can be built"))
            .await
    }

    async fn serve(server: cairn_server::Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let task = tokio::spawn(async move {
            cairn_server::serve(&server, listener, pending())
                .await
                .expect("the server serves");
        });
        Self { url, task }
    }

    /// A client of the service.
    pub(crate) fn api(&self, key: &str, device: DeviceId) -> Api {
        api_at(&self.url, key, device)
    }

    /// Tells the server how to behave.
    pub(crate) async fn post(&self, path: &str, body: Value) {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let response = self
            .send(Method::POST, path, headers, body.to_string())
            .await;
        assert!(response.status.is_success(), "{path}: {}", response.status);
    }

    pub(crate) async fn delete(&self, path: &str) {
        let response = self
            .send(Method::DELETE, path, HeaderMap::new(), String::new())
            .await;
        assert!(response.status.is_success(), "{path}: {}", response.status);
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.send(Method::GET, path, HeaderMap::new(), String::new())
            .await
    }

    /// Returns method, path and query of the requests that the service has received, without those of `/_dev`.
    pub(crate) async fn requests(&self) -> Vec<String> {
        let response = self.get("/_dev/requests").await;
        let bytes: Vec<_> = response
            .body
            .try_collect()
            .await
            .expect("the body is whole");
        let recorded: Value = serde_json::from_slice(&bytes.concat()).expect("it is JSON");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        recorded["requests"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|request| {
                let query = request["query"].as_str();
                let query = query.map_or_else(String::new, |query| format!("?{query}"));
                format!(
                    "{} {}{query}",
                    text(&request["method"]),
                    text(&request["path"])
                )
            })
            .collect()
    }

    async fn send(&self, method: Method, path: &str, headers: HeaderMap, body: String) -> Response {
        let transport = HttpTransport::default();
        let request = Request {
            method,
            base: self.url.clone(),
            path: path.to_owned(),
            headers,
            body: body.into(),
        };
        transport.send(request).await.expect("the server answers")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A client of the service at an address, where perhaps nobody listens.
pub(crate) fn api_at(url: &str, key: &str, device: DeviceId) -> Api {
    let transport = Arc::new(HttpTransport::default());
    Api::new(transport, url, None, Arc::new(ApiKey::new(key)), device).expect("an address")
}

/// A person with keys, alone on a server that keeps its data on disk.
pub(crate) struct KeyHolder {
    pub(crate) api: Arc<Api>,
    /// The client of another device of the same person.
    pub(crate) other_device: Api,
    pub(crate) keys: Arc<SpaceKeys>,
    key: String,
    data: TempDir,
    service: Service,
}

impl KeyHolder {
    pub(crate) async fn new() -> Self {
        let data = tempfile::tempdir().expect("a directory can be made");
        let server = cairn_server::build(Options {
            data: data.path().to_owned(),
            ..Options::default()
        })
        .expect("a server on disk can be built");
        let person = "ada@example.com";
        server.add_user(person, "a long password").expect("added");
        let key = server.create_api_key(person).expect("an API key");
        let service = Service::serve(server).await;
        let device = DeviceId::from_random_bytes([3; 16]);
        let api = Arc::new(service.api(&key, device));
        let other_device = service.api(&key, DeviceId::from_random_bytes([4; 16]));
        let space = api.account().await.expect("the account").space_id;
        let keys = SpaceKeys::from_raw(space, 1, &[7; 32]).expect("keys");
        Self {
            api,
            other_device,
            keys: Arc::new(keys),
            key,
            data,
            service,
        }
    }

    /// Transfers of this person, with the limits of every device.
    pub(crate) fn transfer(&self) -> Transfer {
        let options = cairn_transfer::Options::default();
        let device = self.api.device();
        Transfer::new(self.api.clone(), self.keys.clone(), device, options)
    }

    /// Returns this person's client of a service that alters what it answers.
    pub(crate) fn api_over(&self, liar: Arc<Liar>) -> Arc<Api> {
        let auth = Arc::new(ApiKey::new(&self.key));
        let device = self.api.device();
        Arc::new(Api::new(liar, &self.service.url, None, auth, device).expect("an address"))
    }

    /// The directory in which the server keeps its data.
    pub(crate) fn server_data(&self) -> &Path {
        self.data.path()
    }
}

/// Alters what is answered to a request of this method and path, without `/api/v1`.
pub(crate) type Lie = Box<dyn Fn(&str, &mut Value) + Send>;

/// A connection to a server that falsifies JSON responses, and a list of what it was asked.
pub(crate) struct Liar {
    honest: HttpTransport,
    lie: Mutex<Option<Lie>>,
    asked: Mutex<Vec<String>>,
}

impl Liar {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            honest: HttpTransport::default(),
            lie: Mutex::default(),
            asked: Mutex::default(),
        })
    }

    /// Falsifies responses in this way from now on, and forgets what it was asked.
    pub(crate) fn tell(&self, lie: impl Fn(&str, &mut Value) + Send + 'static) {
        *self.lie.lock().unwrap() = Some(Box::new(lie));
        self.asked.lock().unwrap().clear();
    }

    /// Method and path of each request since responses are falsified in the present way.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Transport for Liar {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let path = request.path.trim_start_matches("/api/v1");
        let asked = format!("{} {path}", request.method);
        self.asked.lock().unwrap().push(asked.clone());
        let response = self.honest.send(request).await?;
        let body: Vec<_> = response.body.try_collect().await?;
        let mut body = body.concat();
        if let (Some(lie), Ok(mut value)) =
            (&*self.lie.lock().unwrap(), serde_json::from_slice(&body))
        {
            lie(&asked, &mut value);
            body = value.to_string().into_bytes();
        }
        let mut headers = response.headers;
        headers.remove("content-length");
        Ok(Response {
            status: response.status,
            headers,
            body: futures_util::stream::iter([Ok(Bytes::from(body))]).boxed(),
        })
    }
}

/// Bytes that no compression and no repetition makes small, always the same.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    (0..length)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        })
        .collect()
}
