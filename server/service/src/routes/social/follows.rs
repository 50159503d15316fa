//! Following people, and whom one might follow.

use crate::auth::Caller;
use crate::bounds::FOLLOWED;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_model::AccountId;
use cairn_store::Side;
use cairn_wire::Page;
use cairn_wire::page::PageQuery;
use cairn_wire::social::{Connection, Contact, FollowMany, Followed, FollowedMany, Suggestion};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(follow_many))
        .routes(routes!(follow, unfollow))
        .routes(routes!(followers))
        .routes(routes!(following))
        .routes(routes!(suggestions))
        .routes(routes!(connection))
}

/// Follows somebody; following again changes nothing.
#[utoipa::path(
    post, path = "/api/v1/social/follow/{user_id}", tag = "social",
    params(("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The relationship of the two users", body = Connection),
        (status = 400, description = "The user is the caller"),
        (status = 403, description = "The user blocks the caller, or is private"),
        (status = 404, description = "There is no such user"),
        (status = 409, description = "The caller blocks the user")
    )
)]
async fn follow(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(user): PathArgs<AccountId>,
) -> Result<Json<Connection>> {
    Ok(Json(app.store.follow(caller.account, user)?))
}

/// Follows somebody no longer.
#[utoipa::path(
    delete, path = "/api/v1/social/follow/{user_id}", tag = "social",
    params(("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The relationship of the two users", body = Connection),
        (status = 404, description = "There is no such user")
    )
)]
async fn unfollow(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(user): PathArgs<AccountId>,
) -> Result<Json<Connection>> {
    Ok(Json(app.store.unfollow(caller.account, user)?))
}

/// Follows up to 20 people; each with a response of its own.
#[utoipa::path(
    post, path = "/api/v1/social/follow/bulk", tag = "social", request_body = FollowMany,
    responses(
        (status = 200, description = "A result per user, in the order of the request", body = FollowedMany),
        (status = 400, description = "There are not 1 to 20 users")
    )
)]
async fn follow_many(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<FollowMany>,
) -> Result<Json<FollowedMany>> {
    if request.user_ids.is_empty() || request.user_ids.len() > FOLLOWED {
        return Err(Error::invalid(format!(
            "`user_ids` has to have 1 to {FOLLOWED} elements"
        )));
    }
    let mut results = Vec::new();
    for user in request.user_ids {
        results.push(
            match app.store.follow(caller.account, user).map_err(Error::from) {
                Ok(connection) => Followed {
                    user_id: user,
                    success: true,
                    connection: Some(connection),
                    error: None,
                },
                Err(error) if error.is_failure() => return Err(error),
                Err(error) => Followed {
                    user_id: user,
                    success: false,
                    connection: None,
                    error: Some(error.body()),
                },
            },
        );
    }
    let total = results.len() as u64;
    let succeeded = results.iter().filter(|result| result.success).count() as u64;
    Ok(Json(FollowedMany {
        results,
        total,
        succeeded,
        failed: total - succeeded,
    }))
}

/// Lists the caller's followers, latest first.
#[utoipa::path(
    get, path = "/api/v1/social/followers", tag = "social", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<Contact>))
)]
async fn followers(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Contact>>> {
    contacts(&app, &caller, query, Side::Followers)
}

/// Lists whom the caller follows, latest first.
#[utoipa::path(
    get, path = "/api/v1/social/following", tag = "social", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<Contact>))
)]
async fn following(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Contact>>> {
    contacts(&app, &caller, query, Side::Following)
}

fn contacts(
    app: &AppState,
    caller: &Caller,
    query: PageQuery,
    side: Side,
) -> Result<Json<Page<Contact>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .contacts(caller.account, side, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// People whom the caller might follow.
#[utoipa::path(
    get, path = "/api/v1/social/suggestions", tag = "social", params(PageQuery),
    responses((status = 200, description = "One page, the nearest first", body = Page<Suggestion>))
)]
async fn suggestions(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Suggestion>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .suggestions(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Returns the caller's relations to somebody: following, blocked, muted.
#[utoipa::path(
    get, path = "/api/v1/social/connections/{user_id}", tag = "social",
    params(("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The relationship of the two users", body = Connection),
        (status = 404, description = "There is no such user")
    )
)]
async fn connection(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(user): PathArgs<AccountId>,
) -> Result<Json<Connection>> {
    Ok(Json(app.store.social_connection(caller.account, user)?))
}
