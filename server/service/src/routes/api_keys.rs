//! `/apikeys`: long-lived credentials for machines.

use crate::auth::Caller;
use crate::bounds::CREDENTIAL_NAME;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::secret::show_once;
use crate::http::text::bounded_text;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use cairn_wire::Page;
use cairn_wire::account::{ApiKey, CreateApiKey, CreatedApiKey};
use cairn_wire::page::PageQuery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// 100 years of 365 days: a date of four digits, whatever the clock says.
const MAX_EXPIRY_MS: i64 = 36_500 * 86_400_000;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(revoke))
}

/// Milliseconds in `30d`, `12h`, `45m`, `90s`.
fn duration_ms(text: &str) -> Result<i64> {
    let bad = || {
        Error::invalid(format!(
            "`expires_in` is `{text}`; it has to be such as `30d`, `12h`, `45m` or `90s`"
        ))
    };
    let unit = text.chars().last().ok_or_else(bad)?;
    let seconds: i64 = match unit {
        'd' => 86_400,
        'h' => 3_600,
        'm' => 60,
        's' => 1,
        _ => return Err(bad()),
    };
    let number: i64 = text[..text.len() - unit.len_utf8()]
        .parse()
        .map_err(|_| bad())?;
    number
        .checked_mul(seconds * 1000)
        .filter(|ms| *ms > 0)
        .ok_or_else(bad)
        .and_then(|ms| {
            if ms <= MAX_EXPIRY_MS {
                Ok(ms)
            } else {
                Err(Error::invalid(
                    "`expires_in` is more than 100 years; leave it out for a key that doesn't expire",
                ))
            }
        })
}

/// Lists the caller's keys, newest first; the keys themselves are not shown again.
#[utoipa::path(
    get, path = "/api/v1/apikeys", tag = "apikeys", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<ApiKey>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<ApiKey>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .api_keys(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Makes a key; the response shows it, this once.
#[utoipa::path(
    post, path = "/api/v1/apikeys", tag = "apikeys", request_body = CreateApiKey,
    responses(
        (status = 201, description = "The key", body = CreatedApiKey),
        (status = 409, description = "There are ten active keys")
    )
)]
async fn create(
    caller: Caller,
    State(app): State<AppState>,
    Input(new): Input<CreateApiKey>,
) -> Result<Response> {
    let name = bounded_text("name", &new.name, 1..=CREDENTIAL_NAME)?;
    let expires_in = new.expires_in.as_deref().map(duration_ms).transpose()?;
    let key = app.fresh_key();
    let info = app.store_key(caller.account, &name, &key, expires_in)?;
    let body = CreatedApiKey { key, info };
    Ok(show_once((StatusCode::CREATED, Json(body))))
}

/// Revokes a key at once.
#[utoipa::path(
    delete, path = "/api/v1/apikeys/{id}", tag = "apikeys", params(("id" = String, Path, format = Uuid)),
    responses((status = 204, description = "It is revoked"))
)]
async fn revoke(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<StatusCode> {
    app.store.revoke_api_key(caller.account, id)?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use super::duration_ms;

    #[test]
    fn durations_are_a_number_and_a_unit() {
        assert_eq!(duration_ms("30d").unwrap(), 30 * 86_400_000);
        assert_eq!(duration_ms("90s").unwrap(), 90_000);
        for bad in [
            "",
            "d",
            "12",
            "1y",
            "-1d",
            "0h",
            "1é",
            "99999999999999999d",
            "99999999999d",
            "36501d",
        ] {
            assert!(duration_ms(bad).is_err(), "{bad}");
        }
    }
}
