//! The endpoints, one module per resource; each handler stays within a screen.
//!
//! A module registers its handlers with their OpenAPI description, so nothing can be served and
//! not described.

pub(crate) mod account;
pub(crate) mod admin;
pub(crate) mod ai;
pub(crate) mod api_keys;
pub(crate) mod batch;
pub(crate) mod changes;
pub(crate) mod checkpoints;
pub(crate) mod comments;
pub(crate) mod devices;
pub(crate) mod diagnostics;
pub(crate) mod downloads;
pub(crate) mod folders;
pub(crate) mod health;
pub(crate) mod keys;
pub(crate) mod metrics;
mod node_response;
pub(crate) mod nodes;
pub(crate) mod oauth;
pub(crate) mod payments;
pub(crate) mod public_shares;
pub(crate) mod retention;
pub(crate) mod revisions;
pub(crate) mod search;
pub(crate) mod service_accounts;
pub(crate) mod shares;
pub(crate) mod social;
pub(crate) mod spaces;
pub(crate) mod stream;
pub(crate) mod teams;
pub(crate) mod trash;
pub(crate) mod upload_batch;
pub(crate) mod uploads;
pub(crate) mod webhooks;
pub(crate) mod welcome;

use crate::openapi::head::head;
use crate::state::AppState;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use node_response::{node_response, node_tag};

/// Every endpoint of the API, with its description.
pub(crate) fn api() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(head())
        .merge(nodes::routes())
        .merge(batch::routes())
        .merge(folders::routes())
        .merge(comments::routes())
        .merge(trash::routes())
        .merge(revisions::routes())
        .merge(uploads::routes())
        .merge(upload_batch::routes())
        .merge(downloads::routes())
        .merge(changes::routes())
        .merge(checkpoints::routes())
        .merge(stream::routes())
        .merge(spaces::routes())
        .merge(keys::routes())
        .merge(account::routes())
        .merge(admin::routes())
        .merge(api_keys::routes())
        .merge(devices::routes())
        .merge(search::routes())
        .merge(teams::routes())
        .merge(social::routes())
        .merge(payments::routes())
        .merge(shares::routes())
        .merge(public_shares::routes())
        .merge(retention::routes())
        .merge(diagnostics::routes())
        .merge(ai::routes())
        .merge(health::routes())
        .merge(metrics::routes())
        .merge(webhooks::routes())
        .merge(service_accounts::routes())
        .merge(oauth::routes())
}
