//! Damage of what the server stores: its disk loses objects, or returns other bytes.

use crate::world::World;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use tower::ServiceExt as _;

/// Damages one of the stored objects, as a line for the log; `None` if there are none.
///
/// # Panics
/// If the server does not answer as it should.
pub(crate) async fn work(world: &World) -> Option<String> {
    let damage = if world.random.one_in(2) {
        "lost"
    } else {
        "flipped"
    };
    let number = world.random.below(1_000);
    let body = format!(r#"{{"number":{number},"damage":"{damage}"}}"#);
    let request = Request::post("/_dev/damage")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Body::from(body))
        .expect("a request");
    let response = match world.server.router().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    match response.status() {
        StatusCode::OK => Some(format!("service: an object is {damage}")),
        StatusCode::NOT_FOUND => None,
        other => panic!("the server answers {other} to /_dev/damage"),
    }
}
