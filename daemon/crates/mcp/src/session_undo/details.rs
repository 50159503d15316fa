//! Undoing what a session changed of descriptions, labels and favorites.

use super::nodes::UndoingSession;
use super::{Taken, if_kept};
use crate::error::ToolResult;
use crate::quote::quote;
use crate::session_state::Details;
use crate::tool::Verb;
use cairn_wire::nodes::{Node, NodeState};
use serde_json::{Map, json};

/// Gives a node its former details, if nobody has changed the same ones since.
pub(super) async fn reset(
    session: &UndoingSession<'_>,
    node: &Node,
    from: &Details,
    to: &Details,
) -> ToolResult<Taken> {
    let (name, now) = (quote(&node.name), Details::of(node));
    if node.state == NodeState::Trashed {
        return Ok(Taken::Left(format!("{name} is in the trash")));
    }
    let wanted = now.with_change(to, from);
    if wanted == now {
        return Ok(Taken::Already(format!(
            "the details of {name} are as before already"
        )));
    }
    if now.with_change(from, to) != now {
        return Ok(Taken::Left(format!(
            "the details of {name} were changed since"
        )));
    }
    let services = session.services;
    let id = node.id.to_string();
    let mut body = Map::new();
    if wanted.description != now.description {
        body.insert("description".to_owned(), json!(wanted.description));
    }
    if wanted.labels != now.labels {
        body.insert("labels".to_owned(), json!(wanted.labels));
    }
    let sets_fields = !body.is_empty();
    if sets_fields {
        services
            .request(Verb::Put, &["nodes", &id], &[], Some(&body.into()))
            .await?;
    }
    let mut favorite = Ok(());
    if wanted.favorite != now.favorite {
        let verb = if wanted.favorite {
            Verb::Put
        } else {
            Verb::Delete
        };
        let path = ["nodes", &id, "favorite"];
        let response = services.request(verb, &path, &[], None).await;
        favorite = response.map(|_| ());
    }
    if favorite.is_ok() || sets_fields {
        note(session, node).await;
    }
    favorite?;
    Ok(Taken::Done(format!("the details of {name} are as before")))
}

/// Notes that taking a change back has changed a node, whose older changes are still to be taken back. It has,
/// whether the result can be read or not.
async fn note(session: &UndoingSession<'_>, before: &Node) {
    let after = if_kept(session.services.node_as_it_is(before.id).await);
    let mut own = session.own.lock();
    match after {
        Ok(Some(after)) => own.note_undone(before, &after),
        Ok(None) => {}
        Err(_) => own.note_undone_unread(before),
    }
}
