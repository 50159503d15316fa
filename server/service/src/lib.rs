//! The REST API, identity provider, share page and webhooks, as a library.
//!
//! [`build`] makes a [`Server`] of [`Options`]; its router serves over TCP ([`serve`]) or in-process. It
//! depends on no crate that could decrypt what clients encrypted. A program adds to it through [`Hooks`].

mod admin;
mod assistant;
mod auth;
mod background;
mod backup;
mod bounds;
mod compaction;
mod error;
mod hooks;
mod http;
mod identity;
mod leased;
mod mail;
pub mod openapi;
mod options;
mod router;
mod routes;
mod scrub;
mod serve;
mod server;
mod share_page;
mod signing_keys;
mod state;
mod stored;
mod telemetry;
mod webhooks;

pub use auth::{Access, Holder, bearer, holder};
pub use backup::{Backup, Checked, restore};
pub use error::{Error, Result};
pub use hooks::{Hooks, ResponseFuture};
pub use http::canonical_form;
pub use http::extract::{PathArgs, QueryParams, UndocumentedJson};
pub use http::observed::{Observer, observe};
pub use identity::password::check_password;
pub use mail::MailOptions;
pub use options::{
    ConnectionLimits, CorsOptions, MetricsOptions, Options, RateLimits, RegisteredClient,
    TelemetryOptions,
};
pub use serve::{serve, serve_metrics};
pub use server::{Server, build};
pub use state::{AppState, ServerState};
pub use webhooks::signature;
