//! The simulated network, a `Line` from each device to the server: requests go straight into the server's router,
//! unless a fault is in the way.

use crate::random::Seeded;
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::Method;
use bytes::Bytes;
use cairn_api::{Request, Response, StatusCode, Transport, TransportError};
use futures_util::StreamExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tower::ServiceExt as _;

/// Turns an honest response to a request's path into what a hostile server would say.
pub type Lie = Box<dyn Fn(&str, StatusCode, Bytes) -> (StatusCode, Bytes) + Send + Sync>;

/// The server's address.
pub const SERVER: &str = "http://sim";

/// One device's line to the server.
pub struct Line {
    router: Router,
    random: Seeded,
    /// One request in so many meets a fault; 0: none does.
    faults: AtomicUsize,
    lie: Mutex<Option<Lie>>,
    /// Requests that fail before they reach the server: how many, and of which method.
    failing: Mutex<(usize, Method)>,
}

impl Line {
    #[must_use]
    pub fn new(router: Router, random: Seeded) -> Self {
        Self {
            router,
            random,
            faults: AtomicUsize::new(0),
            lie: Mutex::new(None),
            failing: Mutex::default(),
        }
    }

    /// One request in `n` meets a fault from now on; 0: none does.
    pub fn fault_one_in(&self, n: usize) {
        self.faults.store(n, Ordering::Relaxed);
    }

    /// Every answer passes through this from now on; `None`: the server is honest again.
    pub fn lie(&self, lie: Option<Lie>) {
        *self.lie.lock().unwrap_or_else(PoisonError::into_inner) = lie;
    }

    /// The next requests of a method are answered with an error 500, and don't reach the server.
    pub fn fail_next(&self, count: usize, method: Method) {
        *self.failing.lock().unwrap_or_else(PoisonError::into_inner) = (count, method);
    }

    fn fails(&self, request: &Request) -> bool {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let fails = failing.0 > 0 && failing.1 == request.method;
        failing.0 -= usize::from(fails);
        fails
    }

    fn fault(&self) -> Option<usize> {
        let n = self.faults.load(Ordering::Relaxed);
        (n > 0 && self.random.one_in(n)).then(|| self.random.below(9))
    }

    async fn serve(&self, request: &Request) -> Result<Response, TransportError> {
        let path = path_of(request);
        let request = received(request)?;
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX)
            .await
            .map_err(|e| TransportError::Interrupted(e.to_string()))?;
        let (status, body) = match &*self.lie.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(lie) => lie(&path, parts.status, body),
            None => (parts.status, body),
        };
        Ok(Response {
            status,
            headers: parts.headers,
            body: futures_util::stream::once(async move { Ok(body) }).boxed(),
        })
    }
}

fn path_of(request: &Request) -> String {
    let prefix = request.base.strip_prefix(SERVER).unwrap_or_default();
    format!("{prefix}{}", request.path)
}

/// Returns a request as the server receives it.
fn received(request: &Request) -> Result<axum::http::Request<Body>, TransportError> {
    let mut builder = axum::http::Request::builder()
        .method(request.method.clone())
        .uri(in_small_pages(&path_of(request)));
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    builder
        .header("host", "sim")
        .body(Body::from(request.body.to_bytes()))
        .map_err(|e| TransportError::Invalid(e.to_string()))
}

/// Asks for the feed in pages of three, so that most states are spread over several.
fn in_small_pages(path: &str) -> String {
    let feed = path.starts_with("/api/v1/changes") && !path.starts_with("/api/v1/changes/stream");
    match (feed, path.contains('?')) {
        (false, _) => path.to_owned(),
        (true, true) => format!("{path}&limit=3"),
        (true, false) => format!("{path}?limit=3"),
    }
}

fn response(status: StatusCode, retry_after: bool) -> Response {
    let text = format!("{{\"code\":{},\"message\":\"simulated\"}}", status.as_u16());
    let mut headers = cairn_api::HeaderMap::new();
    if retry_after {
        headers.insert("retry-after", cairn_api::HeaderValue::from_static("2"));
    }
    let body = futures_util::stream::once(async move { Ok(Bytes::from(text)) }).boxed();
    Response {
        status,
        headers,
        body,
    }
}

#[async_trait]
impl Transport for Line {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        // Every request takes time, so that others come in between.
        tokio::time::sleep(Duration::from_millis(1 + self.random.below(20) as u64)).await;
        if self.fails(&request) {
            return Ok(response(StatusCode::INTERNAL_SERVER_ERROR, false));
        }
        let fault = self.fault();
        let response = self.send_with(fault, &request).await;
        // So does every response: the news of what happened after it may arrive first.
        tokio::time::sleep(Duration::from_millis(self.random.below(20) as u64)).await;
        response
    }
}

impl Line {
    async fn send_with(
        &self,
        fault: Option<usize>,
        request: &Request,
    ) -> Result<Response, TransportError> {
        match fault {
            None => self.serve(request).await,
            Some(0) => Err(TransportError::Connect("simulated: no connection".into())),
            Some(1) => Ok(response(StatusCode::INTERNAL_SERVER_ERROR, false)),
            Some(2) => Ok(response(StatusCode::TOO_MANY_REQUESTS, true)),
            Some(3) => {
                // It is done, but the response is lost.
                drop(self.serve(request).await?);
                Err(interrupted("simulated: the answer was lost"))
            }
            Some(4) => {
                // It arrives twice.
                drop(self.serve(request).await?);
                self.serve(request).await
            }
            Some(5) => {
                tokio::time::sleep(Duration::from_secs(3)).await;
                self.serve(request).await
            }
            Some(6) => {
                let response = self.serve(request).await;
                tokio::time::sleep(Duration::from_secs(3)).await;
                response
            }
            Some(7) => {
                // It arrives when nobody waits for the response any more.
                let (router, late) = (self.router.clone(), received(request)?);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(5)).await;
                    drop(router.oneshot(late).await);
                });
                Err(interrupted("simulated: the line is gone"))
            }
            Some(_) => {
                // The body of the response is cut.
                let whole = self.serve(request).await?;
                let cut = whole.body.take(0).chain(futures_util::stream::once(async {
                    Err(interrupted("simulated: cut in the body"))
                }));
                Ok(Response {
                    body: cut.boxed(),
                    ..whole
                })
            }
        }
    }
}

fn interrupted(text: &str) -> TransportError {
    TransportError::Interrupted(text.into())
}
