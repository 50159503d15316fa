//! Creates the missing folders of paths in one call; sizes of folders; favorites.

use super::node_response;
use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::if_match::node_if_match;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cairn_model::{Name, NodeId};
use cairn_store::{Edit, name_in};
use cairn_wire::nodes::{CreateFolders, CreatedFolders, FolderSizes, ListFolderSizes, Node};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const MAX_LEVELS: usize = 20;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(create_path))
        .routes(routes!(sizes))
        .routes(routes!(add_favorite, remove_favorite))
}

/// Makes the folders of a path that are missing, in one atomic step.
#[utoipa::path(
    post, path = "/api/v1/nodes/folders", tag = "nodes", request_body = CreateFolders,
    responses(
        (status = 201, description = "The folders of the path", body = CreatedFolders),
        (status = 400, description = "The path is empty, has a bad name, or more than 20 levels"),
        (status = 404, description = "There is no such parent"),
        (status = 409, description = "A file has one of the names")
    )
)]
async fn create_path(
    caller: Caller,
    State(app): State<AppState>,
    Input(new): Input<CreateFolders>,
) -> Result<(StatusCode, Json<CreatedFolders>)> {
    let names = new
        .path
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|name| name_in(caller.space.id, name))
        .collect::<cairn_store::Result<Vec<Name>>>()?;
    if names.is_empty() || names.len() > MAX_LEVELS {
        return Err(Error::invalid(format!(
            "`path` has {} levels; it has to have 1 to {MAX_LEVELS}",
            names.len()
        )));
    }
    let made = app
        .store
        .write(|tx| tx.create_folders(&caller.actor(), new.parent_id, names))?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Adds up the files below each folder of a folder.
#[utoipa::path(
    get, path = "/api/v1/nodes/folder-sizes", tag = "nodes", params(ListFolderSizes),
    responses(
        (status = 200, description = "The size of each folder in it", body = FolderSizes),
        (status = 400, description = "`parent_id` is a file"),
        (status = 404, description = "There is no such folder")
    )
)]
async fn sizes(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<ListFolderSizes>,
) -> Result<Json<FolderSizes>> {
    let sizes = app.store.folder_sizes(caller.space, query.parent_id)?;
    Ok(Json(sizes))
}

fn set_favorite(
    app: &AppState,
    caller: &Caller,
    id: NodeId,
    headers: &HeaderMap,
    favorite: bool,
) -> Result<Response> {
    let edit = Edit {
        favorite: Some(favorite),
        version: node_if_match(app, caller, id, headers)?,
        ..Edit::default()
    };
    let node = app.store.write(|tx| tx.edit(&caller.actor(), id, &edit))?;
    Ok(node_response(StatusCode::OK, node))
}

/// Marks a node as a favorite.
#[utoipa::path(
    put, path = "/api/v1/nodes/{id}/favorite", tag = "nodes",
    params(
        ("id" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The version that the change was decided on, in quotes, or the `ETag`")
    ),
    responses(
        (status = 200, description = "The node", body = Node),
        (status = 404, description = "There is no such node"),
        (status = 409, description = "The node is in the trash"),
        (status = 412, description = "The node is at another version")
    )
)]
async fn add_favorite(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    headers: HeaderMap,
) -> Result<Response> {
    set_favorite(&app, &caller, id, &headers, true)
}

/// Takes the mark away.
#[utoipa::path(
    delete, path = "/api/v1/nodes/{id}/favorite", tag = "nodes",
    params(
        ("id" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The version that the change was decided on, in quotes, or the `ETag`")
    ),
    responses(
        (status = 200, description = "The node", body = Node),
        (status = 404, description = "There is no such node"),
        (status = 409, description = "The node is in the trash"),
        (status = 412, description = "The node is at another version")
    )
)]
async fn remove_favorite(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    headers: HeaderMap,
) -> Result<Response> {
    set_favorite(&app, &caller, id, &headers, false)
}
