//! The trash: what lies in it, out of it again, and gone for good.

use super::node_response;
use crate::auth::Caller;
use crate::error::Result;
use crate::http::extract::{PathArgs, QueryParams};
use crate::http::if_match::node_if_match;
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cairn_model::NodeId;
use cairn_store::rights::Right;
use cairn_store::{Listing, Order, Purged, RestorePlace};
use cairn_wire::Page;
use cairn_wire::nodes::{Emptied, Node, NodeState};
use cairn_wire::page::PageQuery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list, empty))
        .routes(routes!(purge))
        .routes(routes!(restore))
        .routes(routes!(restore_node))
}

/// Lists what was put into the trash, latest first, without what went along with its folder.
#[utoipa::path(
    get, path = "/api/v1/trash", tag = "trash", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<Node>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Node>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app.store.list(
        caller.space,
        &Listing::Trash,
        Order::Date,
        window.skip(),
        window.take(),
    )?;
    Ok(Json(window.envelope(found)))
}

/// Deletes everything in the trash for good.
#[utoipa::path(
    delete, path = "/api/v1/trash", tag = "trash",
    responses((status = 200, description = "How many nodes went", body = Emptied))
)]
async fn empty(caller: Caller, State(app): State<AppState>) -> Result<Json<Emptied>> {
    caller.require(Right::EmptyTrash)?;
    let purged = app.store.write_many(|tx| tx.purge_all(&caller.actor()))?;
    Ok(delete_objects(&app, &purged).await)
}

/// Deletes the objects of what was purged, and tells how many nodes that was.
async fn delete_objects(app: &AppState, purged: &Purged) -> Json<Emptied> {
    app.objects.delete(&purged.objects).await;
    Json(Emptied {
        deleted: purged.nodes,
    })
}

/// Deletes one node in the trash, with what went along with it, for good.
#[utoipa::path(
    delete, path = "/api/v1/trash/{id}", tag = "trash",
    params(
        ("id" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The version that the change was decided on, in quotes, or the `ETag`")
    ),
    responses(
        (status = 200, description = "How many nodes went", body = Emptied),
        (status = 409, description = "The node is not itself in the trash"),
        (status = 412, description = "The node is at another version")
    )
)]
async fn purge(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    headers: HeaderMap,
) -> Result<Json<Emptied>> {
    caller.require(Right::EmptyTrash)?;
    let seen = node_if_match(&app, &caller, id, &headers)?;
    let actor = caller.actor();
    let purged = app.store.write_many(|tx| {
        tx.check_seen_version(&actor, id, seen, None)?;
        tx.purge(&actor, id)
    })?;
    Ok(delete_objects(&app, &purged).await)
}

/// Takes a node out of the trash; under `name (2)` where its name is taken, at the top of the
/// space where its folder is gone.
#[utoipa::path(
    post, path = "/api/v1/trash/{id}/restore", tag = "trash",
    params(
        ("id" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The version that the change was decided on, in quotes, or the `ETag`")
    ),
    responses(
        (status = 200, description = "The restored node", body = Node),
        (status = 409, description = "The node is not itself in the trash"),
        (status = 412, description = "The node is at another version")
    )
)]
async fn restore(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    headers: HeaderMap,
) -> Result<Response> {
    let seen = node_if_match(&app, &caller, id, &headers)?;
    let actor = caller.actor();
    let node = app.store.write_many(|tx| {
        tx.check_seen_version(&actor, id, seen, Some(NodeState::Active))?;
        tx.restore(&actor, id, None, &RestorePlace::Free)
    })?;
    Ok(node_response(StatusCode::OK, node))
}

/// The same under the node's own path.
#[utoipa::path(
    post, path = "/api/v1/nodes/{id}/restore", tag = "trash",
    params(
        ("id" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The version that the change was decided on, in quotes, or the `ETag`")
    ),
    responses(
        (status = 200, description = "The restored node", body = Node),
        (status = 409, description = "The node is not itself in the trash"),
        (status = 412, description = "The node is at another version")
    )
)]
async fn restore_node(
    caller: Caller,
    app: State<AppState>,
    id: PathArgs<NodeId>,
    headers: HeaderMap,
) -> Result<Response> {
    restore(caller, app, id, headers).await
}
