//! `/service-accounts`: credentials for programs, used with the client-credentials flow.

use crate::auth::Caller;
use crate::bounds::CREDENTIAL_NAME;
use crate::error::Result;
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::secret::show_once;
use crate::http::text::bounded_text;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cairn_model::ServiceScope;
use cairn_wire::Page;
use cairn_wire::identity::{CreateServiceAccount, CreatedServiceAccount, ServiceAccount};
use cairn_wire::page::PageQuery;
use sha2::{Digest as _, Sha256};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(delete))
}

/// Lists the caller's service accounts, oldest first.
#[utoipa::path(
    get, path = "/api/v1/service-accounts", tag = "identity", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<ServiceAccount>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<ServiceAccount>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .service_accounts(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Makes a service account that acts for the caller; the response shows its secret, this once.
#[utoipa::path(
    post, path = "/api/v1/service-accounts", tag = "identity", request_body = CreateServiceAccount,
    responses(
        (status = 201, description = "The service account with its secret", body = CreatedServiceAccount),
        (status = 409, description = "There are twenty service accounts")
    )
)]
async fn create(
    caller: Caller,
    State(app): State<AppState>,
    Input(new): Input<CreateServiceAccount>,
) -> Result<Response> {
    let name = bounded_text("name", &new.name, 1..=CREDENTIAL_NAME)?;
    let scope = new.scope.unwrap_or(ServiceScope::Files);
    let client_secret = format!("cs_{}", URL_SAFE_NO_PAD.encode(app.source.bytes::<32>()));
    let hash = Sha256::digest(&client_secret).into();
    let info = app
        .store
        .add_service_account(caller.account, &name, scope, &hash)?;
    let body = CreatedServiceAccount {
        client_secret,
        info,
    };
    Ok(show_once((StatusCode::CREATED, Json(body))))
}

/// Deletes a service account; its tokens end with it.
#[utoipa::path(
    delete, path = "/api/v1/service-accounts/{id}", tag = "identity",
    params(("id" = String, Path, format = Uuid)),
    responses((status = 204, description = "It was deleted"))
)]
async fn delete(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<StatusCode> {
    app.store.delete_service_account(caller.account, id)?;
    app.tokens.end(id, app.source.now_ms());
    Ok(StatusCode::NO_CONTENT)
}
