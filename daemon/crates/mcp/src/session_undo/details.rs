//! Taking back what a session changed of descriptions, labels and favorites.

use super::{Taken, took_back};
use crate::error::ToolResult;
use crate::services::Services;
use crate::session_state::Details;
use crate::tool::Verb;
use cairn_wire::nodes::{Node, NodeState};
use serde_json::{Map, json};

/// Gives a node its former details, if nobody has changed the same ones since.
pub(super) async fn reset(
    services: &Services,
    node: &Node,
    from: &Details,
    to: &Details,
) -> ToolResult<Taken> {
    let (name, now) = (&node.name, Details::of(node));
    if node.state == NodeState::Trashed {
        return Ok(Err(format!("{name} is in the trash")));
    }
    let wanted = now.with_change(to, from);
    if wanted == now {
        return Ok(Ok(format!("the details of {name} are as before already")));
    }
    if now.with_change(from, to) != now {
        return Ok(Err(format!("the details of {name} were changed since")));
    }
    let id = node.id.to_string();
    let mut body = Map::new();
    if wanted.description != now.description {
        body.insert("description".to_owned(), json!(wanted.description));
    }
    if wanted.labels != now.labels {
        body.insert("labels".to_owned(), json!(wanted.labels));
    }
    if !body.is_empty() {
        services
            .request(Verb::Put, &["nodes", &id], &[], Some(&body.into()))
            .await?;
    }
    if wanted.favorite != now.favorite {
        let verb = if wanted.favorite {
            Verb::Put
        } else {
            Verb::Delete
        };
        services
            .request(verb, &["nodes", &id, "favorite"], &[], None)
            .await?;
    }
    took_back(services, node).await?;
    Ok(Ok(format!("the details of {name} are as before")))
}
