//! The bundled server: the whole REST API over SQLite and a folder of sealed objects.
//!
//! [`build`] makes an [`App`] of [`Options`]; its router serves over TCP ([`serve`]) or in-process.
//! The server never sees a key or plaintext and depends on no crate that could open anything.

mod app;
mod assistant;
mod auth;
mod catalog;
mod config;
mod dev;
mod error;
mod events;
mod http;
mod hub;
mod identity;
mod objects;
pub mod openapi;
mod options;
mod provider;
mod rights;
mod routes;
mod serve;
mod sink;
mod source;
mod store;
mod webhooks;

pub use app::{App, build};
pub use config::load as load_config;
pub use error::{Error, Result};
pub use options::{
    KeptRevisions, Limits, Objects, Options, Patience, RateLimits, RegisteredClient,
};
pub use serve::serve;
pub use sink::{Print, receive};
pub use source::{Clock, Source};
