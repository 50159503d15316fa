//! The question before a call of a tool without a question of its own: its arguments, with paths in place of ids, and
//! without passwords.

use super::{file, known, quote, shorten};
use crate::arguments::is_uuid;
use crate::call::Call;
use crate::error::ToolResult;
use crate::param::{Form, Param};
use crate::tool::Tool;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

/// The files of a list that are named; each costs requests.
const NAMED_FILES: usize = 10;

/// Returns the question of a tool without one of its own.
///
/// # Errors
/// Those with which the call would be refused, because there is nothing of an id that it names.
pub(crate) fn generic<'a>(tool: &'a Tool, call: &'a Call) -> BoxFuture<'a, ToolResult<String>> {
    async move {
        let mut given = Vec::new();
        for (name, value) in call.arguments.fields() {
            let shown = match tool.param(name) {
                Some(param) => shown_value(call, param, value).await?,
                None => shorten(&value.to_string()),
            };
            given.push(format!("{name} = {shown}"));
        }
        let with = if given.is_empty() {
            String::new()
        } else {
            format!(" ({})", given.join(", "))
        };
        Ok(format!(
            "{}{with}: {} Go ahead?",
            tool.title, tool.description
        ))
    }
    .boxed()
}

async fn shown_value(call: &Call, param: &Param, value: &Value) -> ToolResult<String> {
    if is_secret(param.name) {
        return Ok("a new password".to_owned());
    }
    if names_node(param) {
        return files(call, param.name, value).await;
    }
    match value.as_str() {
        Some(id) if param.name == "team_uuid" => known::team(call, id).await,
        Some(_) | None => Ok(shorten(&value.to_string())),
    }
}

/// Returns true for an argument that nobody but who chose it has to see.
fn is_secret(name: &str) -> bool {
    name.contains("password") || name.contains("passphrase")
}

fn names_node(param: &Param) -> bool {
    let form = param.shape.text_form();
    form == Some(Form::Node) || (form == Some(Form::Uuid) && param.name == "file_uuid")
}

/// Returns the names of the file or folder of an argument, or of those in its list.
async fn files(call: &Call, argument: &str, value: &Value) -> ToolResult<String> {
    let Some(list) = value.as_array() else {
        return match known::file(call, argument).await {
            // The top of a space is no node.
            Err(refused) => top(call, value).await.ok_or(refused),
            Ok(shown) => Ok(shown),
        };
    };
    // Each of several has its own result, also where it is refused.
    let mut names = Vec::new();
    for one in list.iter().take(NAMED_FILES) {
        names.push(file_or_top(call, one).await);
    }
    Ok(match list.len().saturating_sub(NAMED_FILES) {
        0 => names.join(", "),
        more => format!("{}, and {more} more", names.join(", ")),
    })
}

/// Returns the name of a file or folder, or of the space of whose top this is the id.
async fn file_or_top(call: &Call, value: &Value) -> String {
    let id = value.as_str().unwrap_or_default();
    let shown = file(call, Some(id)).await;
    // That of a node is its path.
    if !is_uuid(id) || shown != quote(id) {
        return shown;
    }
    top(call, value).await.unwrap_or(shown)
}

/// Returns the name of the space of whose top this is the id; `None` if it is none.
async fn top(call: &Call, value: &Value) -> Option<String> {
    let id = value.as_str().unwrap_or_default();
    let is = |other: String| other.eq_ignore_ascii_case(id);
    let services = &call.services;
    let own = services.own_space_id().await;
    if own.is_ok_and(|own| is(own.to_string())) {
        return Some("the top of your own space".to_owned());
    }
    let teams = services.teams().await.unwrap_or_default();
    let named = teams
        .iter()
        .find(|team| is(team.id.to_string()) || is(team.space_id.to_string()));
    named.map(|team| format!("the top of the team {}", quote(&team.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_services;
    use crate::toolset;
    use serde_json::json;

    #[test]
    fn every_argument_for_a_file_is_named() {
        let tools = toolset::ALL.iter().flat_map(|set| set.tools);
        let changing = tools.filter(|tool| !tool.effect.is_read_only());
        let params: Vec<_> = changing.flat_map(|tool| tool.params).collect();
        let params = || params.iter();
        let named: Vec<_> = params()
            .filter(|param| names_node(param))
            .map(|param| param.name)
            .collect();
        for name in [
            "file_uuid",
            "file_uuids",
            "folder_uuid",
            "target_folder_uuid",
        ] {
            assert!(named.contains(&name), "{name}");
        }
        let forgotten = params().filter(|param| {
            (param.name.starts_with("file_") || param.name.contains("folder_"))
                && param.name.contains("uuid")
                && !names_node(param)
        });
        assert_eq!(
            forgotten.map(|param| param.name).collect::<Vec<_>>(),
            [""; 0]
        );
    }

    #[tokio::test]
    async fn a_question_has_no_secret_of_any_tool() {
        const SECRET: &str = "hunter2";
        let mut asked = 0;
        for tool in toolset::ALL.iter().flat_map(|set| set.tools) {
            let names = tool.params.iter().map(|param| param.name);
            let secret = |name: &&str| name.contains("pass") || name.contains("secret");
            for name in names.filter(secret) {
                let call = test_services::call(json!({ name: SECRET }));
                let question = generic(tool, &call).await.unwrap();
                assert!(question.contains(name), "{}: {question}", tool.name);
                assert!(!question.contains(SECRET), "{}: {question}", tool.name);
                asked += 1;
            }
        }
        assert!(asked >= 3, "{asked}");
        let tool = toolset::ALL.iter().flat_map(|set| set.tools).next();
        let call = test_services::call(json!({ "other": SECRET }));
        let question = generic(tool.unwrap(), &call).await.unwrap();
        assert!(question.contains(SECRET), "what is no secret is shown");
    }
}
