//! Profiles: one's own and others'.

use crate::auth::Caller;
use crate::bounds::{BIO, DISPLAY_NAME, URL};
use crate::error::Result;
use crate::http::extract::{Input, PathArgs};
use crate::http::text::{bounded_lines, bounded_text, handle};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_model::AccountId;
use cairn_store::Handle;
use cairn_wire::social::{Profile, SetUsername, SetVanityUrl, SetVisibility, UpdateProfile};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(own_profile, update_profile))
        .routes(routes!(profile))
        .routes(routes!(set_username))
        .routes(routes!(set_vanity_url))
        .routes(routes!(set_visibility))
}

/// The caller's own profile.
#[utoipa::path(
    get, path = "/api/v1/social/profile", tag = "social",
    responses((status = 200, description = "The profile", body = Profile))
)]
async fn own_profile(caller: Caller, State(app): State<AppState>) -> Result<Json<Profile>> {
    Ok(Json(app.store.own_profile(caller.account)?))
}

/// Changes the caller's profile; what is absent stays.
#[utoipa::path(
    put, path = "/api/v1/social/profile", tag = "social", request_body = UpdateProfile,
    responses(
        (status = 200, description = "The profile", body = Profile),
        (status = 400, description = "A text is too long, or `avatar_url` is not an https address")
    )
)]
async fn update_profile(
    caller: Caller,
    State(app): State<AppState>,
    Input(change): Input<UpdateProfile>,
) -> Result<Json<Profile>> {
    let text = |field, given: Option<String>, length| {
        given
            .map(|text| bounded_text(field, &text, length))
            .transpose()
    };
    let change = UpdateProfile {
        display_name: text("display_name", change.display_name, 1..=DISPLAY_NAME)?,
        bio: change
            .bio
            .map(|text| bounded_lines("bio", &text, 0..=BIO))
            .transpose()?,
        avatar_url: text("avatar_url", change.avatar_url, 0..=URL)?,
    };
    Ok(Json(app.store.update_profile(caller.account, &change)?))
}

/// Somebody's profile, as far as the caller may see it.
#[utoipa::path(
    get, path = "/api/v1/social/profiles/{user_id}", tag = "social",
    params(("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The profile", body = Profile),
        (status = 403, description = "The profile is private, for followers, or its owner blocks the caller"),
        (status = 404, description = "There is no such user")
    )
)]
async fn profile(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(user): PathArgs<AccountId>,
) -> Result<Json<Profile>> {
    Ok(Json(app.store.profile_for(caller.account, user)?))
}

/// Gives the caller a name that nobody else has.
#[utoipa::path(
    put, path = "/api/v1/social/username", tag = "social", request_body = SetUsername,
    responses(
        (status = 200, description = "The profile", body = Profile),
        (status = 400, description = "It is not 1 to 30 letters, digits, `-`, `_`"),
        (status = 409, description = "Somebody else has it")
    )
)]
async fn set_username(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<SetUsername>,
) -> Result<Json<Profile>> {
    let name = handle("username", &request.username, 1..=30)?;
    Ok(Json(app.store.set_handle(
        caller.account,
        Handle::Username,
        &name,
    )?))
}

/// Gives the caller's profile an address of its own.
#[utoipa::path(
    put, path = "/api/v1/social/vanity-url", tag = "social", request_body = SetVanityUrl,
    responses(
        (status = 200, description = "The profile", body = Profile),
        (status = 400, description = "It is not 3 to 30 letters, digits, `-`, `_`"),
        (status = 409, description = "Somebody else has it")
    )
)]
async fn set_vanity_url(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<SetVanityUrl>,
) -> Result<Json<Profile>> {
    let name = handle("vanity_url", &request.vanity_url, 3..=30)?;
    Ok(Json(app.store.set_handle(
        caller.account,
        Handle::VanityUrl,
        &name,
    )?))
}

/// Chooses who may see the caller's profile and activity.
#[utoipa::path(
    put, path = "/api/v1/social/visibility", tag = "social", request_body = SetVisibility,
    responses((status = 200, description = "The profile", body = Profile))
)]
async fn set_visibility(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<SetVisibility>,
) -> Result<Json<Profile>> {
    Ok(Json(
        app.store
            .set_visibility(caller.account, request.visibility)?,
    ))
}
