//! The content versions of a file.

use super::node_response;
use crate::auth::Caller;
use crate::bounds::OPERATIONS;
use crate::error::{Error, Result};
use crate::http::extract::{Input, MAX_LIST, PathArgs, QueryParams};
use crate::http::if_match::node_if_match;
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use cairn_model::{EventKind, NodeId, RevisionId};
use cairn_store::events::node_data;
use cairn_wire::Page;
use cairn_wire::nodes::{FilesRevisions, Node, Revision, RevisionsAt};
use cairn_wire::page::PageQuery;
use cairn_wire::transfer::RevisionContent;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(at_time))
        .routes(routes!(manifest))
        .routes(routes!(restore))
}

/// Lists a file's revisions, newest first.
#[utoipa::path(
    get, path = "/api/v1/nodes/{id}/revisions", tag = "revisions",
    params(("id" = String, Path, format = Uuid), PageQuery),
    responses((status = 200, description = "One page", body = Page<Revision>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Revision>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .revisions(caller.space, id, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// The revisions that up to 1,000 files had at a time, beside their present ones.
#[utoipa::path(
    post, path = "/api/v1/revisions/batch", tag = "revisions", request_body = RevisionsAt,
    responses((status = 200, description = "One element per file, in order", body = FilesRevisions))
)]
async fn at_time(
    caller: Caller,
    State(app): State<AppState>,
    Input(asked): Input<RevisionsAt, MAX_LIST>,
) -> Result<Json<FilesRevisions>> {
    if asked.nodes.len() > OPERATIONS {
        return Err(Error::invalid(format!(
            "`nodes` has {} elements; at most {OPERATIONS} are allowed",
            asked.nodes.len()
        )));
    }
    let files = app
        .store
        .revisions_at(caller.space, &asked.nodes, asked.at.0)?;
    Ok(Json(FilesRevisions { files }))
}

/// Everything sealed that a revision consists of, chunks aside.
#[utoipa::path(
    get, path = "/api/v1/nodes/{id}/revisions/{revision}/manifest", tag = "revisions",
    params(("id" = String, Path, format = Uuid), ("revision" = String, Path, format = Uuid)),
    responses((status = 200, description = "Sealed record and list of objects", body = RevisionContent))
)]
async fn manifest(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, revision)): PathArgs<(NodeId, RevisionId)>,
    method: Method,
) -> Result<Json<RevisionContent>> {
    let content = app.store.revision_content(caller.space, id, revision)?;
    // HEAD takes this way, too, and gets no content.
    if method == Method::GET {
        raise_downloaded(&app, &caller, id)?;
    }
    Ok(Json(content))
}

/// Raises `file.downloaded`: whoever asks for the manifest goes on to the chunks.
pub(crate) fn raise_downloaded(app: &AppState, caller: &Caller, id: NodeId) -> Result<()> {
    let wanted = app
        .store
        .is_wanted(caller.account, EventKind::FileDownloaded)?;
    if wanted {
        let node = app.store.node(caller.space, id)?;
        app.store.write(|tx| {
            tx.emit_with(caller.account, EventKind::FileDownloaded, || {
                node_data(&node)
            })
        })?;
    }
    Ok(())
}

/// Makes an older revision the current one again: a new revision whose content stays sealed to
/// the old one.
#[utoipa::path(
    post, path = "/api/v1/nodes/{id}/revisions/{revision}/restore", tag = "revisions",
    params(
        ("id" = String, Path, format = Uuid), ("revision" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The version that the change was decided on, in quotes, or the `ETag`")
    ),
    responses(
        (status = 200, description = "The node with its new revision", body = Node),
        (status = 412, description = "The node is at another version")
    )
)]
async fn restore(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, revision)): PathArgs<(NodeId, RevisionId)>,
    headers: HeaderMap,
) -> Result<Response> {
    let seen = node_if_match(&app, &caller, id, &headers)?;
    let actor = caller.actor();
    let node = app.store.write(|tx| {
        tx.check_seen_version(&actor, id, seen, None)?;
        tx.restore_revision(&actor, id, revision)
    })?;
    Ok(node_response(StatusCode::OK, node))
}
