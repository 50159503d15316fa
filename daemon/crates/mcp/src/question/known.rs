//! The things that a call is about, looked up before anybody is asked: what the service would refuse in any case is
//! refused at once, and nobody is asked about it.

use crate::arguments::is_uuid;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::not_found_hint::with_hint;
use crate::quote::{quote, quote_end};
use crate::tool::Verb;
use cairn_api::ApiError;
use serde_json::Value;

/// The name of an argument, and its value.
pub(super) type Named<'a> = (&'a str, &'a str);

/// Returns what the service has at a path, of which an argument is part; null where it can't say that now.
///
/// # Errors
/// Those with which the call itself would be refused: there is no such thing, or it is somebody else's.
pub(super) async fn look_up(call: &Call, path: &[&str], named: Named<'_>) -> ToolResult<Value> {
    look_up_with(call, path, &[], named).await
}

async fn look_up_with(
    call: &Call,
    path: &[&str],
    query: &[(String, String)],
    named: Named<'_>,
) -> ToolResult<Value> {
    match call.request(Verb::Get, path, query, None).await {
        Ok(found) => Ok(found),
        Err(error) if is_refusal(&error) => Err(with_hint(error, &[named])),
        Err(_) => Ok(Value::Null),
    }
}

/// Returns true for the errors after which the service won't carry the call out either.
fn is_refusal(error: &ToolError) -> bool {
    matches!(
        error,
        ToolError::NotFound { .. }
            | ToolError::Api(
                ApiError::NotFound { .. } | ApiError::Forbidden { .. } | ApiError::Rejected { .. }
            )
    )
}

/// Returns the file or folder of an argument, null where it can't be looked up now.
pub(super) async fn node(call: &Call, argument: &str) -> ToolResult<Value> {
    let id = call.arguments.text(argument).unwrap_or_default();
    if !is_uuid(id) {
        return Ok(Value::Null);
    }
    look_up(call, &["nodes", id], (argument, id)).await
}

/// Returns the path and size of the file or folder of an argument, or its id.
pub(super) async fn file(call: &Call, argument: &str) -> ToolResult<String> {
    let id = call.arguments.text(argument).unwrap_or_default();
    let node = node(call, argument).await?;
    Ok(describe(call, id, &node).await)
}

/// Returns the path and size of a node as the service has it, or its id where it is not known.
pub(super) async fn describe(call: &Call, id: &str, node: &Value) -> String {
    call.subject.note_node(node);
    let Some(name) = text(node, "name") else {
        return quote(id);
    };
    let path = crate::node_paths::for_person(&call.services, node).await;
    let path = path.unwrap_or(name);
    // Somebody may have given it the looks of another one.
    let hidden = if crate::clean::text(&path) == path {
        ""
    } else {
        ", whose path has invisible characters"
    };
    let shown = quote_end(&path);
    match node["size"].as_u64() {
        Some(size) if node["kind"] == "file" => {
            format!("{shown} ({}){hidden}", cairn_model::size::binary(size))
        }
        _ => format!("the folder {shown}{hidden}"),
    }
}

pub(super) fn text(value: &Value, field: &str) -> Option<String> {
    value[field].as_str().map(str::to_owned)
}

/// Returns the share link of a call, null where it can't be looked up now.
pub(super) async fn link(call: &Call) -> ToolResult<Value> {
    let code = call.arguments.text("short_code").unwrap_or_default();
    look_up(call, &["shares", code], ("short_code", code)).await
}

/// Returns the name of a team, or its id where it can't be looked up now.
pub(super) async fn team(call: &Call, id: &str) -> ToolResult<String> {
    let team = look_up(call, &["teams", id], ("team_uuid", id)).await?;
    Ok(quote(text(&team, "name").as_deref().unwrap_or(id)))
}

/// Checks that the caller's role in a team has a right.
///
/// # Errors
/// [`ToolError::Refused`] if it has not.
pub(super) async fn check_right(call: &Call, team: &str, right: &str, what: &str) -> ToolResult {
    let path = ["teams", team, "permissions"];
    let rights = look_up(call, &path, ("team_uuid", team)).await?;
    if rights["permissions"][right] != false {
        return Ok(());
    }
    let role = text(&rights, "role").unwrap_or_default();
    Err(ToolError::refused(format!(
        "only the team's owner and admins may {what}, and your role in it is {role}"
    )))
}

/// Returns the entry of a list of the service that fits; `None` if it may be on a further page, or can't be looked up now.
///
/// # Errors
/// The same as of [`look_up`], also where the whole list has no such entry.
pub(super) async fn find_entry(
    call: &Call,
    path: &[&str],
    query: &[(&str, &str)],
    (argument, value): Named<'_>,
    fits: impl Fn(&Value) -> bool + Send,
) -> ToolResult<Option<Value>> {
    let query: Vec<_> = query
        .iter()
        .chain(&[("page_size", "100")])
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let list = look_up_with(call, path, &query, (argument, value)).await?;
    let Some(entries) = list["content"].as_array() else {
        return Ok(None);
    };
    let found = entries.iter().find(|entry| fits(entry)).cloned();
    let is_whole = list["totalElements"].as_u64() == Some(entries.len() as u64);
    if found.is_none() && is_whole {
        let message = format!("{argument} {value} names nothing that is there");
        let error = ApiError::NotFound { message };
        return Err(with_hint(error.into(), &[(argument, value)]));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_services;
    use serde_json::json;

    #[test]
    fn only_a_refusal_ends_a_call_before_its_question() {
        let message = || "no".to_owned();
        let refused = [
            ApiError::NotFound { message: message() },
            ApiError::Forbidden { message: message() },
        ];
        for error in refused {
            assert!(is_refusal(&error.into()));
        }
        assert!(!is_refusal(&ApiError::Offline(message()).into()));
        assert!(!is_refusal(&ToolError::TimedOut { seconds: 45 }));
    }

    #[tokio::test]
    async fn what_can_not_be_looked_up_now_is_asked_about_by_its_id() {
        let id = "123e4567-e89b-42d3-a456-426614174000";
        let call = test_services::call(json!({ "file_uuid": id }));
        assert_eq!(file(&call, "file_uuid").await.unwrap(), quote(id));
        assert_eq!(team(&call, id).await.unwrap(), quote(id));
        check_right(&call, id, "invite", "invite people")
            .await
            .unwrap();
    }
}
