//! `/oauth` and `/.well-known`: the identity provider. Its errors have the form of RFC 6749.

mod account;
mod authorize;
mod device;
mod discovery;
mod new_password;
mod request;
mod revoke;
mod second_factor;
mod token;
mod typed_code;
mod userinfo;

use crate::state::AppState;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    discovery::routes()
        .merge(account::routes())
        .merge(authorize::routes())
        .merge(new_password::routes())
        .merge(token::routes())
        .merge(device::routes())
        .merge(typed_code::routes())
        .merge(revoke::routes())
        .merge(userinfo::routes())
}
