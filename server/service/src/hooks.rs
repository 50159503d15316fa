//! The one place where a program hooks into the service: routes of its own, and a view of every request.

use crate::state::AppState;
use axum::Router;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use std::pin::Pin;

/// A response that is on its way.
pub type ResponseFuture<'a> = Pin<Box<dyn Future<Output = Response> + Send + 'a>>;

/// Routes and interceptors that a program adds to the service.
pub trait Hooks: Send + Sync + 'static {
    /// Returns the routes to serve beside the API.
    fn routes(&self) -> Router<AppState>;

    /// Returns the beginning of the paths of these routes.
    fn path_family(&self) -> &'static str;

    /// Handles a request in front of the API: `next` runs its handler. A panic here is answered as
    /// one of a handler.
    fn intercept<'a>(
        &'a self,
        state: &'a AppState,
        request: Request,
        next: Next,
    ) -> ResponseFuture<'a>;

    /// Watches a request and its final response; `next` gives the latter.
    fn observe<'a>(
        &'a self,
        state: &'a AppState,
        request: Request,
        next: Next,
    ) -> ResponseFuture<'a>;
}
