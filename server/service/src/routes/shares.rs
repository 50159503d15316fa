//! `/shares`: making, listing, changing and revoking links; a link goes by its id or short code.

pub(crate) mod many;
pub(crate) mod settings;
pub(crate) mod theme;
pub(crate) mod visits;

use crate::auth::Caller;
use crate::bounds::LINK_FILES;
use crate::error::{Error, Result};
use crate::http::address::Address;
use crate::http::extract::{Input, MAX_LIST, PathArgs, QueryParams};
use crate::http::page::{MAX_SIZE, Window};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use cairn_store::NewShare;
use cairn_wire::Page;
use cairn_wire::shares::{
    CreateShare, ListShares, PutSharedFiles, Share, ToggledShare, UpdateShare,
};
use settings::{Change, hash_password_check};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get, update, revoke))
        .routes(routes!(toggle))
        .routes(routes!(put_files))
        .merge(many::routes())
        .merge(theme::routes())
        .merge(visits::routes())
}

/// Lists the caller's links, the newest first. Pages count from 0 here.
#[utoipa::path(
    get, path = "/api/v1/shares", tag = "shares", params(ListShares),
    responses(
        (status = 200, description = "One page", body = Page<Share>),
        (status = 400, description = "`page_size` is out of range")
    )
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    QueryParams(query): QueryParams<ListShares>,
) -> Result<Json<Page<Share>>> {
    if let Some(size) = query.size
        && !(1..=MAX_SIZE).contains(&size)
    {
        return Err(Error::invalid(format!(
            "`size` is {size}; it has to be 1 to {MAX_SIZE}"
        )));
    }
    let window = Window::from_zero(query.page, query.page_size.or(query.size))?;
    let (rows, total) = app.store.shares(
        caller.account,
        caller.space,
        query.file_id,
        window.skip(),
        window.take(),
    )?;
    let now = app.source.now_ms();
    let shares = rows.iter().map(|row| row.show(now, &base)).collect();
    Ok(Json(window.envelope((shares, total))))
}

/// Makes a link to a file or folder.
///
/// A client with the keys adds what the link gives access to: `PUT /shares/{id}/files`.
#[utoipa::path(
    post, path = "/api/v1/shares", tag = "shares", request_body = CreateShare,
    responses(
        (status = 201, description = "The link", body = Share),
        (status = 400, description = "A setting is out of range"),
        (status = 404, description = "There is no such file or folder"),
        (status = 409, description = "It is in the trash, the id is taken, or the caller has 10,000 links")
    )
)]
async fn create(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    Input(new): Input<CreateShare>,
) -> Result<Response> {
    let node = new
        .file_id
        .ok_or_else(|| Error::invalid("`file_id` is missing; it names what is shared"))?;
    let password_check = hash_password_check(&app, caller.account, new.password.as_deref()).await?;
    let (id, storage_type) = (new.id, new.storage_type);
    let change = Change::of_new(new, password_check)?;
    let row = app.store.write(|tx| {
        let new = NewShare {
            id,
            node,
            storage_type,
            settings: change.new_settings(&tx.share_defaults(caller.account)?, tx.now)?,
        };
        tx.create_share(&caller.actor(), &new)
    })?;
    let share = row.show(app.source.now_ms(), &base);
    Ok((StatusCode::CREATED, Json(share)).into_response())
}

/// One link.
#[utoipa::path(
    get, path = "/api/v1/shares/{id}", tag = "shares",
    params(("id" = String, Path, description = "Id or short code")),
    responses(
        (status = 200, description = "The link", body = Share),
        (status = 403, description = "It is not the caller's"),
        (status = 404, description = "There is no such link")
    )
)]
async fn get(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    PathArgs(id): PathArgs<String>,
) -> Result<Json<Share>> {
    let row = app.store.share(caller.account, &id)?;
    Ok(Json(row.show(app.source.now_ms(), &base)))
}

/// Changes a link's settings; what is not given stays.
#[utoipa::path(
    put, path = "/api/v1/shares/{id}", tag = "shares", request_body = UpdateShare,
    params(("id" = String, Path, description = "Id or short code")),
    responses(
        (status = 200, description = "The changed link", body = Share),
        (status = 400, description = "A setting is out of range"),
        (status = 403, description = "It is not the caller's"),
        (status = 404, description = "There is no such link")
    )
)]
async fn update(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    PathArgs(id): PathArgs<String>,
    Input(change): Input<UpdateShare>,
) -> Result<Json<Share>> {
    let password_check = match &change.password {
        None => None,
        Some(password) => {
            Some(hash_password_check(&app, caller.account, password.as_deref()).await?)
        }
    };
    let change = Change::of_update(change, password_check)?;
    let row = app.store.write(|tx| {
        let old = tx.share(caller.account, &id)?;
        let settings = change.apply(old.settings(), tx.now)?;
        tx.set_share(&old, &settings)
    })?;
    Ok(Json(row.show(app.source.now_ms(), &base)))
}

/// Revokes a link for good, with its log.
#[utoipa::path(
    delete, path = "/api/v1/shares/{id}", tag = "shares",
    params(("id" = String, Path, description = "Id or short code")),
    responses(
        (status = 204, description = "It was deleted"),
        (status = 403, description = "It is not the caller's"),
        (status = 404, description = "There is no such link")
    )
)]
async fn revoke(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<String>,
) -> Result<StatusCode> {
    app.store.write(|tx| tx.delete_share(caller.account, &id))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Switches a link off, or on again.
#[utoipa::path(
    post, path = "/api/v1/shares/{id}/toggle", tag = "shares",
    params(("id" = String, Path, description = "Id or short code")),
    responses(
        (status = 200, description = "Whether it was active, and is", body = ToggledShare),
        (status = 403, description = "It is not the caller's"),
        (status = 404, description = "There is no such link")
    )
)]
async fn toggle(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    PathArgs(id): PathArgs<String>,
) -> Result<Json<ToggledShare>> {
    let (previous, row) = app.store.write(|tx| {
        let old = tx.share(caller.account, &id)?;
        let mut settings = old.settings();
        settings.is_active = !settings.is_active;
        Ok((old.share.is_active, tx.set_share(&old, &settings)?))
    })?;
    Ok(Json(ToggledShare {
        previous,
        current: !previous,
        share: row.show(app.source.now_ms(), &base),
    }))
}

/// Adds files to what a link carries: their keys, sealed under the link's own.
#[utoipa::path(
    put, path = "/api/v1/shares/{id}/files", tag = "shares", request_body = PutSharedFiles,
    params(("id" = String, Path, description = "Id or short code")),
    responses(
        (status = 200, description = "The link", body = Share),
        (status = 400, description = "A file lies outside what is shared, there are too many, or `sealed` is longer than 11 MiB"),
        (status = 404, description = "There is no such link or file"),
        (status = 507, description = "What the link carries does not fit into the storage")
    )
)]
async fn put_files(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    PathArgs(id): PathArgs<String>,
    Input(put): Input<PutSharedFiles, MAX_LIST>,
) -> Result<Json<Share>> {
    if put.files.len() > LINK_FILES {
        return Err(Error::invalid(format!(
            "`files` has {} elements; at most {LINK_FILES} go at a time",
            put.files.len()
        )));
    }
    let row = app
        .store
        .write(|tx| tx.put_shared_files(&caller.actor(), &id, &put.files, put.replace))?;
    Ok(Json(row.show(app.source.now_ms(), &base)))
}
