//! `/admin`: accounts, as those see and change them who administer the server.

mod credentials;
mod reports;

use crate::auth::administrator::Admin;
use crate::error::Result;
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::secret::show_once;
use crate::state::{AppState, address};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use cairn_model::AccountId;
use cairn_store::NewLimits;
use cairn_wire::Page;
use cairn_wire::account::AccountStatus;
use cairn_wire::admin::{AccountOverview, AdminEvent, InviteAccount, InvitedAccount, SetQuota};
use cairn_wire::page::PageQuery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list_accounts))
        .routes(routes!(account, delete_account))
        .routes(routes!(disable))
        .routes(routes!(enable))
        .routes(routes!(set_quota))
        .routes(routes!(invite))
        .routes(routes!(list_events))
        .merge(credentials::routes())
        .merge(reports::routes())
}

/// Lists all accounts, by their addresses.
#[utoipa::path(
    get, path = "/api/v1/admin/accounts", tag = "admin", params(PageQuery),
    responses(
        (status = 200, description = "One page", body = Page<AccountOverview>),
        (status = 403, description = "The caller is not an administrator")
    )
)]
async fn list_accounts(
    _: Admin,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<AccountOverview>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app.store.accounts_page(window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Returns one account.
#[utoipa::path(
    get, path = "/api/v1/admin/accounts/{id}", tag = "admin", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The account", body = AccountOverview),
        (status = 403, description = "The caller is not an administrator")
    )
)]
async fn account(
    _: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
) -> Result<Json<AccountOverview>> {
    Ok(Json(app.store.account_overview(id)?))
}

/// Begins the 60 days after which an account and its files are deleted; its owner can cancel it.
#[utoipa::path(
    delete, path = "/api/v1/admin/accounts/{id}", tag = "admin", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The account is pending deletion", body = AccountStatus),
        (status = 403, description = "The caller is not an administrator, or the account is one"),
        (status = 409, description = "It is pending deletion already")
    )
)]
async fn delete_account(
    admin: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
) -> Result<Json<AccountStatus>> {
    admin.check_may_change(&app, id)?;
    Ok(Json(app.store.begin_deletion(admin.by(), id)?))
}

/// Switches an account off: its logins end, its keys and links stop, its data stays.
#[utoipa::path(
    post, path = "/api/v1/admin/accounts/{id}/disable", tag = "admin", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The account", body = AccountOverview),
        (status = 403, description = "The caller is not an administrator, or the account is one")
    )
)]
async fn disable(
    admin: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
) -> Result<Json<AccountOverview>> {
    set_disabled(&app, admin, id, true)
}

/// Switches a disabled account on again.
#[utoipa::path(
    post, path = "/api/v1/admin/accounts/{id}/enable", tag = "admin", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The account", body = AccountOverview),
        (status = 403, description = "The caller is not an administrator, or the account is one")
    )
)]
async fn enable(
    admin: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
) -> Result<Json<AccountOverview>> {
    set_disabled(&app, admin, id, false)
}

fn set_disabled(
    app: &AppState,
    admin: Admin,
    id: AccountId,
    disabled: bool,
) -> Result<Json<AccountOverview>> {
    admin.check_may_change(app, id)?;
    app.store.set_disabled(admin.by(), id, disabled)?;
    Ok(Json(app.store.account_overview(id)?))
}

/// Changes what an account may use; what is absent stays.
#[utoipa::path(
    put, path = "/api/v1/admin/accounts/{id}/quota", tag = "admin", request_body = SetQuota,
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The account", body = AccountOverview),
        (status = 403, description = "The caller is not an administrator, or the account is one")
    )
)]
async fn set_quota(
    admin: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
    Input(new): Input<SetQuota>,
) -> Result<Json<AccountOverview>> {
    admin.check_may_change(&app, id)?;
    let limits = NewLimits {
        storage: new.storage_limit,
        bandwidth: new.bandwidth_limit,
        files: new.file_count_limit,
    };
    app.store.change_limits(admin.by(), id, limits)?;
    Ok(Json(app.store.account_overview(id)?))
}

/// Offers an account to an address: by mail or, where the server sends none, with the link in the response.
#[utoipa::path(
    post, path = "/api/v1/admin/invitations", tag = "admin", request_body = InviteAccount,
    responses(
        (status = 201, description = "The invitation, valid for three days", body = InvitedAccount),
        (status = 403, description = "The caller is not an administrator"),
        (status = 409, description = "There is such an account, or three open invitations, or the server has no configured address for links")
    )
)]
async fn invite(
    admin: Admin,
    State(app): State<AppState>,
    Input(invite): Input<InviteAccount>,
) -> Result<Response> {
    let email = address(&invite.email)?;
    app.check_links()?;
    let link = app.invite(admin.by(), &email)?;
    let body = InvitedAccount {
        email,
        mailed: link.is_none(),
        link,
    };
    // The link makes an account.
    Ok(show_once((StatusCode::CREATED, Json(body))))
}

/// Lists what administrators changed, latest first.
#[utoipa::path(
    get, path = "/api/v1/admin/events", tag = "admin", params(PageQuery),
    responses(
        (status = 200, description = "One page", body = Page<AdminEvent>),
        (status = 403, description = "The caller is not an administrator")
    )
)]
async fn list_events(
    _: Admin,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<AdminEvent>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app.store.admin_events(window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}
