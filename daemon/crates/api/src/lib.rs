//! The REST client: one method per endpoint, with authentication, retries and bounded responses.
//!
//! It knows the wire contract and nothing about keys, files or the index: sealed bytes go in and
//! come out as they are. The network itself is behind [`Transport`], so that the whole client runs
//! against a server in the same process, on a paused clock.

mod account;
mod auth;
mod call;
mod changes;
mod checkpoints;
mod client;
mod counters;
mod downloads;
mod entropy;
mod error;
mod json_call;
mod login;
mod lost_response;
mod names;
mod network;
mod nodes;
mod paging;
mod payments;
mod provider;
mod retry;
mod shares;
mod sse;
mod teams;
mod transport;
mod uploads;
mod webhooks;

pub use auth::{ApiKey, Auth};
pub use call::is_unprotected;
pub use changes::FeedStream;
pub use client::Api;
pub use counters::{Counters, CountersSnapshot};
pub use entropy::{Entropy, SystemEntropy};
pub use error::{ApiError, CallFailure, ErrorClass};
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
pub use login::{Login, TokenStore, Tokens};
pub use names::NameSeal;
pub use network::HttpTransport;
pub use paging::Paging;
pub use provider::{Attempt, DevicePoll, Provider, query_pairs, revoke};
pub use retry::RetryPolicy;
pub use transport::{BodyStream, Payload, Request, Response, Transport, TransportError};
pub use webhooks::WebhookAction;
