//! `cairn-server webhook-sink`: a receiver of webhooks to develop against.
//!
//! It does what every receiver has to: nothing before the signature fits, nothing twice. Each
//! delivery becomes one line of JSON.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use cairn_service::signature::{NEXT_SIGNATURE, SIGNATURE, is_signed};
use cairn_service::{Error, Result};
use cairn_wire::ErrorBody;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Delivery ids remembered; retries come within 15 hours.
const REMEMBERED: usize = 100_000;

/// Takes the lines.
pub type Print = Box<dyn Fn(&str) + Send + Sync>;

struct Sink {
    /// The key of the signature; without one, nothing is checked.
    secret: Option<String>,
    print: Print,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl Seen {
    /// Returns true if an id is new, and remembers it.
    fn remember_id(&mut self, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

/// Receives webhooks until `stop` is there, and prints a line for each delivery that is new.
///
/// # Errors
/// Accepting connections fails.
pub async fn receive(
    listener: TcpListener,
    secret: Option<String>,
    print: Print,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let sink = Arc::new(Sink {
        secret,
        print,
        seen: Mutex::default(),
    });
    let router = Router::new()
        .route("/", post(take))
        .route("/{*path}", post(take))
        .with_state(sink);
    axum::serve(listener, router)
        .with_graceful_shutdown(stop)
        .await
        .map_err(|source| Error::io("can't accept connections", source))
}

fn refuse(status: StatusCode, message: &str) -> Response {
    let body = ErrorBody {
        code: status.as_u16(),
        message: message.into(),
    };
    (status, Json(body)).into_response()
}

/// Returns true if one of the two signatures fits; there is a second one while a secret is rotated.
fn fits(secret: &str, headers: &HeaderMap, body: &[u8]) -> bool {
    [SIGNATURE, NEXT_SIGNATURE]
        .iter()
        .filter_map(|name| headers.get(*name)?.to_str().ok())
        .any(|value| is_signed(secret, body, value))
}

async fn take(State(sink): State<Arc<Sink>>, headers: HeaderMap, body: Bytes) -> Response {
    let verified = sink
        .secret
        .as_deref()
        .map(|secret| fits(secret, &headers, &body));
    if verified == Some(false) {
        return refuse(
            StatusCode::UNAUTHORIZED,
            "X-Service-Signature does not fit the body and the secret",
        );
    }
    let Ok(payload) = serde_json::from_slice::<Value>(&body) else {
        return refuse(StatusCode::BAD_REQUEST, "the body is not valid JSON");
    };
    let Some(id) = payload["delivery_id"].as_str() else {
        return refuse(StatusCode::BAD_REQUEST, "`delivery_id` is missing");
    };
    let first = sink.seen.lock().remember_id(id);
    if first {
        let line = json!({ "verified": verified.unwrap_or(false), "payload": payload });
        (sink.print)(&line.to_string());
    }
    StatusCode::NO_CONTENT.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_new_once_and_forgotten_in_the_end() {
        let mut seen = Seen::default();
        assert!(seen.remember_id("a"));
        assert!(!seen.remember_id("a"));
        for number in 0..REMEMBERED {
            assert!(seen.remember_id(&number.to_string()));
        }
        assert!(seen.remember_id("a"));
        assert_eq!(seen.ids.len(), REMEMBERED);
    }
}
