//! Comments on files and folders, and replies to them.

use crate::auth::Caller;
use crate::bounds::COMMENT;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_model::NodeId;
use cairn_wire::comments::{Comment, Comments, WriteComment};
use cairn_wire::page::PageQuery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list, add))
        .routes(routes!(reply))
        .routes(routes!(comment, delete))
}

fn text(new: WriteComment) -> Result<String> {
    let length = new.text.chars().count();
    if new.text.trim().is_empty() || length > COMMENT {
        return Err(Error::invalid(format!(
            "`text` has {length} characters; it has to have 1 to {COMMENT} and to say something"
        )));
    }
    Ok(new.text)
}

/// The comments on a file or folder, each with the replies to it.
#[utoipa::path(
    get, path = "/api/v1/nodes/{id}/comments", tag = "comments",
    params(("id" = String, Path, format = Uuid), PageQuery),
    responses(
        (status = 200, description = "One page of threads, in the order of their times", body = Comments),
        (status = 404, description = "There is no such file or folder")
    )
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Comments>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .comments(caller.space, id, window.skip(), window.take())?;
    Ok(Json(Comments {
        page: window.envelope((found.page, found.threads)),
        total: found.comments,
    }))
}

/// Writes a comment.
#[utoipa::path(
    post, path = "/api/v1/nodes/{id}/comments", tag = "comments", request_body = WriteComment,
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 201, description = "The comment", body = Comment),
        (status = 400, description = "The text is empty or too long"),
        (status = 404, description = "There is no such file or folder"),
        (status = 409, description = "It is in the trash, or has 10,000 comments")
    )
)]
async fn add(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    Input(new): Input<WriteComment>,
) -> Result<(StatusCode, Json<Comment>)> {
    write(&app, &caller, id, None, new)
}

/// Replies to a comment.
#[utoipa::path(
    post, path = "/api/v1/nodes/{id}/comments/{parent}/replies", tag = "comments", request_body = WriteComment,
    params(("id" = String, Path, format = Uuid), ("parent" = String, Path, format = Uuid)),
    responses(
        (status = 201, description = "The reply", body = Comment),
        (status = 400, description = "The text is empty or too long, or the replies nest too deep"),
        (status = 404, description = "There is no such file, folder or comment")
    )
)]
async fn reply(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, parent)): PathArgs<(NodeId, Uuid)>,
    Input(new): Input<WriteComment>,
) -> Result<(StatusCode, Json<Comment>)> {
    write(&app, &caller, id, Some(parent), new)
}

/// Writes a comment on a node, or the reply to another comment on it.
fn write(
    app: &AppState,
    caller: &Caller,
    node: NodeId,
    parent: Option<Uuid>,
    new: WriteComment,
) -> Result<(StatusCode, Json<Comment>)> {
    let text = text(new)?;
    let written = app
        .store
        .write(|tx| tx.add_comment(&caller.actor(), node, parent, &text))?;
    Ok((StatusCode::CREATED, Json(written)))
}

/// One comment, without the replies to it.
#[utoipa::path(
    get, path = "/api/v1/comments/{id}", tag = "comments", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The comment", body = Comment),
        (status = 403, description = "It is on a file of somebody else"),
        (status = 404, description = "There is no such comment")
    )
)]
async fn comment(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<Json<Comment>> {
    Ok(Json(app.store.comment(caller.account, id)?))
}

/// Deletes one of the caller's own comments; where it was answered, an empty place stays.
#[utoipa::path(
    delete, path = "/api/v1/comments/{id}", tag = "comments", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "It was deleted"),
        (status = 403, description = "Someone else wrote it"),
        (status = 404, description = "There is no such comment")
    )
)]
async fn delete(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<StatusCode> {
    app.store
        .write(|tx| tx.delete_comment(caller.account, id))?;
    Ok(StatusCode::NO_CONTENT)
}
