//! `/social`: relations between users: profiles, following, blocking, tips.

mod feed;
mod follows;
mod notifications;
mod profiles;
mod relations;
mod tips;

use crate::state::AppState;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .merge(profiles::routes())
        .merge(follows::routes())
        .merge(relations::routes())
        .merge(feed::routes())
        .merge(tips::routes())
        .merge(notifications::routes())
}
