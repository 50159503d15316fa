//! The settings that an account's links have in common: their defaults and the theme of their
//! pages.

use crate::auth::Caller;
use crate::bounds::{BIO, DISPLAY_NAME, LINK_DAYS, LINK_LEAST_DAYS, URL};
use crate::error::{Error, Result};
use crate::http::extract::Input;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::shares::{ShareDefaults, ShareTheme, UpdateShareDefaults, UpdateShareTheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const CLASSES: [&str; 5] = [
    "theme-dark",
    "theme-light",
    "theme-minimal",
    "theme-bold",
    "theme-elegant",
];

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(defaults, set_defaults))
        .routes(routes!(theme, set_theme))
}

/// Returns what new links begin with.
#[utoipa::path(
    get, path = "/api/v1/shares/defaults", tag = "shares",
    responses((status = 200, description = "The defaults", body = ShareDefaults))
)]
async fn defaults(caller: Caller, State(app): State<AppState>) -> Result<Json<ShareDefaults>> {
    Ok(Json(app.store.share_defaults(caller.account)?))
}

/// Changes what new links begin with; what is not given stays.
#[utoipa::path(
    put, path = "/api/v1/shares/defaults", tag = "shares", request_body = UpdateShareDefaults,
    responses(
        (status = 200, description = "The new defaults", body = ShareDefaults),
        (status = 400, description = "`default_expiry_days` is out of range")
    )
)]
async fn set_defaults(
    caller: Caller,
    State(app): State<AppState>,
    Input(change): Input<UpdateShareDefaults>,
) -> Result<Json<ShareDefaults>> {
    if let Some(days) = change.default_expiry_days
        && days != 0.0
        && !(LINK_LEAST_DAYS..=f64::from(LINK_DAYS)).contains(&days)
    {
        return Err(Error::invalid(format!(
            "`default_expiry_days` is {days}; it has to be 0 (never), or {LINK_LEAST_DAYS} to {LINK_DAYS}"
        )));
    }
    let new = app.store.write(|tx| {
        let old = tx.share_defaults(caller.account)?;
        let new = ShareDefaults {
            default_expiry_days: change
                .default_expiry_days
                .unwrap_or(old.default_expiry_days),
            default_access_mode: change
                .default_access_mode
                .unwrap_or(old.default_access_mode),
            notify_on_download: change.notify_on_download.unwrap_or(old.notify_on_download),
        };
        tx.set_share_defaults(caller.account, &new)?;
        Ok(new)
    })?;
    Ok(Json(new))
}

/// Returns how the pages of the caller's links look.
#[utoipa::path(
    get, path = "/api/v1/shares/theme", tag = "shares",
    responses((status = 200, description = "The theme", body = ShareTheme))
)]
async fn theme(caller: Caller, State(app): State<AppState>) -> Result<Json<ShareTheme>> {
    Ok(Json(app.store.share_theme(caller.account)?))
}

/// Changes how the pages look; what is not given stays, an empty text clears.
#[utoipa::path(
    put, path = "/api/v1/shares/theme", tag = "shares", request_body = UpdateShareTheme,
    responses(
        (status = 200, description = "The new theme", body = ShareTheme),
        (status = 400, description = "A field is not as it has to be")
    )
)]
async fn set_theme(
    caller: Caller,
    State(app): State<AppState>,
    Input(change): Input<UpdateShareTheme>,
) -> Result<Json<ShareTheme>> {
    check(&change)?;
    let new = app.store.write(|tx| {
        let old = tx.share_theme(caller.account)?;
        let new = ShareTheme {
            display_name: change.display_name.unwrap_or(old.display_name),
            bio: change.bio.unwrap_or(old.bio),
            logo_url: change.logo_url.unwrap_or(old.logo_url),
            accent_color: change.accent_color.unwrap_or(old.accent_color),
            background_color: change.background_color.unwrap_or(old.background_color),
            css_class: change.css_class.unwrap_or(old.css_class),
        };
        tx.set_share_theme(caller.account, &new)?;
        Ok(new)
    })?;
    Ok(Json(new))
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_https(text: &str) -> bool {
    text.len() <= URL
        && text
            .strip_prefix("https://")
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "\"'<>;,".contains(c))
}

fn check(change: &UpdateShareTheme) -> Result<()> {
    let long = |field: &str, text: &Option<String>, max: usize| match text {
        Some(text) if text.chars().count() > max => Err(Error::invalid(format!(
            "`{field}` has more than {max} characters"
        ))),
        Some(_) | None => Ok(()),
    };
    long("display_name", &change.display_name, DISPLAY_NAME)?;
    long("bio", &change.bio, BIO)?;
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    if filled(&change.logo_url).is_some_and(|url| !is_https(&url)) {
        return Err(Error::invalid("`logo_url` has to be an https:// address"));
    }
    for (field, colour) in [
        ("accent_color", &change.accent_color),
        ("background_color", &change.background_color),
    ] {
        if filled(colour).is_some_and(|colour| !is_colour(&colour)) {
            return Err(Error::invalid(format!("`{field}` has to be `#RRGGBB`")));
        }
    }
    if filled(&change.css_class).is_some_and(|class| !CLASSES.contains(&class.as_str())) {
        return Err(Error::invalid(format!(
            "`css_class` has to be {} or empty",
            CLASSES.join(", ")
        )));
    }
    Ok(())
}
