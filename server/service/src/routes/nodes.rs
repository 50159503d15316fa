//! `/nodes` (files and folders): listing, folders, metadata, the way into the trash, copies.

use super::node_response;
use crate::auth::Caller;
use crate::bounds::{LABEL, LABELS, NODE_DESCRIPTION};
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::if_match::node_if_match;
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_model::{Kind, NodeId};
use cairn_store::{Edit, Listing, NewFolder, Order, name_in};
use cairn_wire::headers::NODE_SEAL;
use cairn_wire::nodes::{
    CopyNode, CreateNode, DeleteNode, ListNodes, Node, NodeOrder, NodeState, UpdateNode,
};
use cairn_wire::{Page, Sealed};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get, update, trash))
        .routes(routes!(copy))
}

/// Lists a folder, or the trash.
#[utoipa::path(
    get, path = "/api/v1/nodes", tag = "nodes", params(ListNodes),
    responses((status = 200, description = "One page", body = Page<Node>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<ListNodes>,
) -> Result<Json<Page<Node>>> {
    let window = Window::new(query.page, query.page_size)?;
    let order = match query.sort_by {
        None | Some(NodeOrder::Name) => Order::Name,
        Some(NodeOrder::Size) => Order::Size,
        Some(NodeOrder::Date) => Order::Date,
        Some(NodeOrder::Unknown(other)) => {
            return Err(Error::invalid(format!(
                "`sort_by` is `{other}`; it has to be `name`, `size` or `date`"
            )));
        }
    };
    let what = match query.state {
        Some(NodeState::Trashed) => Listing::Trash,
        Some(NodeState::Active) | None => Listing::Children {
            parent: query.parent_id,
            name: query
                .name
                .map(|name| name_in(caller.space.id, &name))
                .transpose()?,
        },
    };
    let found = app
        .store
        .list(caller.space, &what, order, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Makes a folder; files come through uploads.
#[utoipa::path(
    post, path = "/api/v1/nodes", tag = "nodes", request_body = CreateNode,
    responses(
        (status = 201, description = "The new folder", body = Node),
        (status = 200, description = "The folder that the same request made before", body = Node),
        (status = 404, description = "There is no such folder"),
        (status = 409, description = "The name or the id is taken"),
        (status = 507, description = "A long node seal does not fit into the storage, or there are as many folders as may be")
    )
)]
async fn create(
    caller: Caller,
    State(app): State<AppState>,
    Input(new): Input<CreateNode>,
) -> Result<Response> {
    if new.kind == Kind::File {
        return Err(Error::invalid(
            "`kind` is `file`; files are made by POST /uploads or POST /uploads/batch",
        ));
    }
    let folder = NewFolder {
        id: new.id,
        parent: new.parent_id,
        name: name_in(caller.space.id, &new.name)?,
        seal: new.seal,
    };
    let (node, is_new) = app
        .store
        .write(|tx| tx.create_folder(&caller.actor(), &folder))?;
    Ok(node_response(
        if is_new {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        },
        node,
    ))
}

/// One file or folder; `ETag` begins with its version.
#[utoipa::path(
    get, path = "/api/v1/nodes/{id}", tag = "nodes", params(("id" = String, Path, format = Uuid)),
    responses((status = 200, description = "The node", body = Node))
)]
async fn get(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
) -> Result<Response> {
    Ok(node_response(
        StatusCode::OK,
        app.store.node(caller.space, id)?,
    ))
}

/// Changes metadata; name and folder in one atomic step.
#[utoipa::path(
    put, path = "/api/v1/nodes/{id}", tag = "nodes", request_body = UpdateNode,
    params(
        ("id" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The version that the change was decided on, in quotes, or the `ETag`")
    ),
    responses(
        (status = 200, description = "The changed node", body = Node),
        (status = 409, description = "The name is taken, or the folder lies inside the node"),
        (status = 412, description = "The node is at another version"),
        (status = 507, description = "The description, labels, tags or seal don't fit into the storage")
    )
)]
async fn update(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    headers: HeaderMap,
    Input(change): Input<UpdateNode>,
) -> Result<Response> {
    let edit = Edit {
        name: change
            .name
            .map(|name| name_in(caller.space.id, &name))
            .transpose()?,
        parent: change.parent_id,
        executable: change.executable,
        description: change.description,
        labels: change.labels,
        tags: change.tags,
        favorite: change.favorite,
        seal: change.seal,
        version: node_if_match(&app, &caller, id, &headers)?,
    };
    check_texts(&edit)?;
    let node = app.store.write(|tx| tx.edit(&caller.actor(), id, &edit))?;
    Ok(node_response(StatusCode::OK, node))
}

fn check_texts(edit: &Edit) -> Result<()> {
    if edit
        .description
        .as_ref()
        .is_some_and(|text| text.chars().count() > NODE_DESCRIPTION)
    {
        return Err(Error::invalid(format!(
            "`description` has more than {NODE_DESCRIPTION} characters"
        )));
    }
    let labels = edit
        .labels
        .iter()
        .flatten()
        .flat_map(|(key, value)| [key, value]);
    let tags = edit.tags.iter().flatten();
    if labels.chain(tags).any(|text| text.chars().count() > LABEL) {
        return Err(Error::invalid(format!(
            "a label or tag has more than {LABEL} characters"
        )));
    }
    let many = edit
        .labels
        .as_ref()
        .map_or(0, |l| l.len())
        .max(edit.tags.as_ref().map_or(0, Vec::len));
    if many > LABELS {
        return Err(Error::invalid(format!(
            "a node has at most {LABELS} labels and {LABELS} tags"
        )));
    }
    Ok(())
}

/// Moves a node with everything below it into the trash.
#[utoipa::path(
    delete, path = "/api/v1/nodes/{id}", tag = "nodes",
    params(
        ("id" = String, Path, format = Uuid), DeleteNode,
        ("X-Node-Seal" = Option<String>, Header, description = "The node seal, base64"),
        ("If-Match" = Option<String>, Header, description = "The version that the change was decided on, in quotes, or the `ETag`")
    ),
    responses(
        (status = 200, description = "The node, now in the trash", body = Node),
        (status = 409, description = "Something below changed after `seen`"),
        (status = 412, description = "The node is at another version")
    )
)]
async fn trash(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    headers: HeaderMap,
    QueryParams(query): QueryParams<DeleteNode>,
) -> Result<Response> {
    let seal = headers
        .get(NODE_SEAL)
        .map(|value| {
            STANDARD
                .decode(value.as_bytes())
                .map(Sealed)
                .map_err(|_| Error::invalid("`X-Node-Seal` has to be base64 with padding"))
        })
        .transpose()?;
    let seen = query
        .seen
        .as_deref()
        .map(|cursor| app.store.position(caller.space, cursor))
        .transpose()?;
    let version = node_if_match(&app, &caller, id, &headers)?;
    let actor = caller.actor();
    let node = app.store.write_many(|tx| {
        tx.check_seen_version(&actor, id, version, Some(NodeState::Trashed))?;
        tx.trash(&actor, id, seen, seal.as_ref())
    })?;
    Ok(node_response(StatusCode::OK, node))
}

/// Copies a node, a folder with everything below it, in one atomic step and without keys.
#[utoipa::path(
    post, path = "/api/v1/nodes/{id}/copy", tag = "nodes", request_body = CopyNode,
    params(
        ("id" = String, Path, format = Uuid),
        ("If-Match" = Option<String>, Header, description = "The version of the original that the copy was decided on, in quotes")
    ),
    responses(
        (status = 201, description = "The copy", body = Node),
        (status = 400, description = "There are more than 20,000 files and folders in it, or more than 64 MiB of metadata"),
        (status = 409, description = "The name or the id is taken"),
        (status = 412, description = "The original is at another version"),
        (status = 507, description = "The copy does not fit")
    )
)]
async fn copy(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<NodeId>,
    headers: HeaderMap,
    Input(how): Input<CopyNode>,
) -> Result<Response> {
    let seen = node_if_match(&app, &caller, id, &headers)?;
    let node = app
        .store
        .write_many(|tx| tx.copy(&caller.actor(), id, &how, seen))?;
    Ok(node_response(StatusCode::CREATED, node))
}
