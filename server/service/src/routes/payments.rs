//! `/payment`: subscriptions, tokens, the wallet, creators, and the provider's portal.

pub(crate) mod billing;
mod creators;
mod subscriptions;
mod tokens;
mod wallet;

use crate::state::AppState;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .merge(subscriptions::routes())
        .merge(tokens::routes())
        .merge(wallet::routes())
        .merge(creators::routes())
        .merge(billing::routes())
}
