//! One call of a tool: its checked arguments and its dependencies.

mod pages;

use crate::arguments::Arguments;
use crate::error::{ToolError, ToolResult};
use crate::local_paths::LocalPaths;
use crate::not_found_hint;
use crate::once_in_call;
use crate::outcome;
use crate::param::SKIP;
use crate::progress::Reporter;
use crate::services::Services;
use crate::session_before::read_before;
use crate::session_changes::Before;
use crate::session_settle::conclude;
use crate::share_address;
use crate::spaces::Sent;
use crate::subject::Subject;
use crate::time_limit::TimeLimit;
use crate::tool::{ResultForm, Route, Run, Tool, Undo, Verb};
use cairn_api::Method;
use cairn_space::Replace;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;

/// Returns the question of a call, `None` if there is nothing to ask.
pub(crate) type AskFn = for<'a> fn(&'a Call) -> Asking<'a>;

pub(crate) type Asking<'a> = BoxFuture<'a, ToolResult<Option<String>>>;

/// The longest argument in an address, in bytes; ids and codes are far shorter.
const MAX_SEGMENT: usize = 300;

/// The time limit of one request, retries included.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(45);

/// The note beside a change of what another service than Cairn's describes too briefly.
const UNNOTED: &str = "the service didn't say how it was before in a form that can be read: taking back the changes of this session leaves this one";

/// A running call.
pub(crate) struct Call {
    pub(crate) services: Arc<Services>,
    pub(crate) arguments: Arguments,
    pub(crate) progress: Reporter,
    /// The local paths that the call may use.
    pub(crate) paths: LocalPaths,
    /// True if the settings allow to replace local files without a question.
    pub(crate) may_replace: bool,
    /// True if a person was asked about this call and agreed.
    pub(crate) is_confirmed: bool,
    /// True if nobody was asked, because the tool's own question found nothing to ask about.
    pub(crate) has_no_question: bool,
    /// The things that a person was asked about.
    pub(crate) subject: Subject,
}

/// Runs the tool.
pub(crate) async fn run(tool: &Tool, call: Call, limit: TimeLimit) -> ToolResult<Value> {
    // On the heap: each layer around a future takes as much of the stack again.
    once_in_call::scope(Box::pin(run_whole(tool, call, limit))).await
}

async fn run_whole(tool: &Tool, call: Call, limit: TimeLimit) -> ToolResult<Value> {
    let services = call.services.clone();
    let ready = limit.prepare(Box::pin(prepare(tool, &call))).await?;
    let work = Box::pin(run_noted(tool, call, ready));
    let mut value = limit
        .run((tool.name, tool.effect.is_read_only()), work)
        .await?;
    let addresses = share_address::complete_addresses(&services, &mut value);
    if !limit.complete(Box::pin(addresses)).await {
        share_address::mark_incomplete(&mut value);
    }
    let paths = crate::node_paths::add(&services, &mut value);
    limit.complete(Box::pin(paths)).await;
    Ok(value)
}

/// The state of a call that may change something from now on.
struct Ready {
    before: Option<Before>,
    /// The turn of the node that it changes.
    turn: Option<OwnedMutexGuard<()>>,
}

/// Waits for the turn of the node that the call changes, and looks at what is there before.
async fn prepare(tool: &Tool, call: &Call) -> ToolResult<Ready> {
    let turn = match (tool.undo, call.arguments.id("file_uuid")) {
        (Some(Undo::Node(_)), Ok(node)) => Some(call.services.turns.wait(node).await),
        _ => None,
    };
    let before = match tool.undo {
        Some(undo) => read_before(undo, call).await?,
        None => None,
    };
    Ok(Ready { before, turn })
}

/// Runs the tool and notes what it changes, also where its response is lost or the call is cancelled.
async fn run_noted(tool: &Tool, call: Call, ready: Ready) -> ToolResult<Value> {
    let services = call.services.clone();
    let Ready { before, turn } = ready;
    let is_to_note = matches!(tool.undo, Some(Undo::Node(_) | Undo::LinkSettings));
    let is_unnoted = is_to_note && before.is_none();
    let intent = before.map(|before| services.intents.begin(before));
    let mut result = run_unfinished(tool, call).await;
    if is_unnoted && let Ok(Value::Object(fields)) = &mut result {
        let note = fields.entry("note".to_owned());
        note.or_insert_with(|| json!(UNNOTED));
    }
    let result = result.map_err(|error| outcome::of_tool(tool.name, tool.undo.is_some(), error));
    if let Some(intent) = intent {
        conclude(&services, intent, &result).await;
    }
    drop(turn);
    result
}

async fn run_unfinished(tool: &Tool, call: Call) -> ToolResult<Value> {
    match tool.run {
        Run::Rest(route) => call.send(&route).await,
        Run::AllPages(route) => {
            let newest_last = tool.result == ResultForm::NewestLast;
            call.all_pages(&route, newest_last).await
        }
        Run::Update(route) => {
            if !call.changes_something(&route) {
                return Err(nothing_to_change_error(tool, &route));
            }
            call.send(&route).await
        }
        Run::ShowOrUpdate(show, update) => {
            let route = if call.changes_something(&update) {
                update
            } else {
                show
            };
            call.send(&route).await
        }
        Run::Local(work) => work(&call),
        Run::Custom(work) => work(call).await,
    }
}

impl Call {
    /// Returns true if any argument is given besides those in the path.
    fn changes_something(&self, route: &Route) -> bool {
        self.arguments
            .fields()
            .keys()
            .any(|name| !in_path(route, name))
    }

    /// Returns true if the call only shows what the tool would otherwise set.
    pub(crate) fn only_shows(&self, tool: &Tool) -> bool {
        if let Some(flag) = tool.carried_out_by {
            return self.arguments.flag(flag) != Some(true);
        }
        match tool.run {
            Run::ShowOrUpdate(_, update) => !self.changes_something(&update),
            Run::Rest(_) | Run::AllPages(_) | Run::Update(_) | Run::Local(_) | Run::Custom(_) => {
                false
            }
        }
    }

    /// Returns the files of this machine that the call may replace.
    pub(crate) fn replaced_files(&self) -> Replace {
        if self.may_replace {
            return Replace::Anything;
        }
        if self.is_confirmed {
            return self.subject.replaced_files();
        }
        Replace::Nothing
    }

    /// Makes the declared request.
    pub(crate) async fn send(&self, route: &Route) -> ToolResult<Value> {
        self.rest_with(route, Map::new()).await
    }

    /// Makes the declared request with further fields in the query or the body.
    pub(crate) async fn rest_with(
        &self,
        route: &Route,
        more: Map<String, Value>,
    ) -> ToolResult<Value> {
        let fields = self.arguments.fields();
        let parts = segments(route, fields)?;
        let segments: Vec<&str> = parts.iter().map(String::as_str).collect();
        let mut sent: Map<String, Value> = fields
            .iter()
            .filter(|(name, _)| !in_path(route, name) && *name != SKIP.name)
            .map(|(name, value)| (wire_name(route, name).to_owned(), value.clone()))
            .collect();
        for (name, value) in route.fixed {
            sent.insert((*name).to_owned(), json!(value));
        }
        sent.extend(more);
        let response = match route.verb {
            Verb::Get | Verb::Delete => {
                let query: Vec<_> = sent
                    .iter()
                    .map(|(name, value)| (name.clone(), to_text(value)))
                    .collect();
                self.request(route.verb, &segments, &query, None).await
            }
            Verb::Post | Verb::Put => {
                let body = Value::Object(sent);
                self.request(route.verb, &segments, &[], Some(&body)).await
            }
        };
        let named: Vec<(&str, &str)> = route
            .path
            .split('/')
            .zip(&segments)
            .filter_map(|(part, value)| Some((argument_of(part)?, *value)))
            .collect();
        let response = response.map_err(|error| not_found_hint::with_hint(error, &named))?;
        Ok(with_success(response, route.success_message))
    }

    /// Makes a request of the REST API, below `/api/v1`.
    pub(crate) async fn request(
        &self,
        verb: Verb,
        path: &[&str],
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> ToolResult<Value> {
        self.services.request(verb, path, query, body).await
    }
}

impl Services {
    /// Makes a request of the REST API. Reads are retried where that can help, and changes where
    /// they can't be made twice by it.
    pub(crate) async fn request(
        &self,
        verb: Verb,
        path: &[&str],
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> ToolResult<Value> {
        self.request_under("/api/v1", verb, path, query, body).await
    }

    /// Makes a request below another root, such as `/v2`.
    pub(crate) async fn request_under(
        &self,
        root: &str,
        verb: Verb,
        path: &[&str],
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> ToolResult<Value> {
        let sent = Sent {
            root: root.to_owned(),
            method: match verb {
                Verb::Get => Method::GET,
                Verb::Post => Method::POST,
                Verb::Put => Method::PUT,
                Verb::Delete => Method::DELETE,
            },
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            query: query.to_vec(),
            body: body.cloned(),
        };
        let response = self.send(sent);
        let (error, may_be_done) = match tokio::time::timeout(REQUEST_TIMEOUT, response).await {
            Ok(Ok(response)) => return Ok(response),
            Ok(Err(failure)) => (failure.error.into(), failure.may_be_done),
            Err(_) => {
                let seconds = REQUEST_TIMEOUT.as_secs();
                (ToolError::TimedOut { seconds }, true)
            }
        };
        Err(if may_be_done && verb != Verb::Get {
            outcome::mark_unknown(error)
        } else {
            error
        })
    }
}

fn nothing_to_change_error(tool: &Tool, route: &Route) -> ToolError {
    let names: Vec<_> = tool
        .params
        .iter()
        .map(|param| param.name)
        .filter(|name| !in_path(route, name))
        .collect();
    ToolError::argument(format!(
        "nothing to change: give at least one of {}",
        names.join(", ")
    ))
}

fn in_path(route: &Route, name: &str) -> bool {
    route
        .path
        .split('/')
        .any(|part| argument_of(part) == Some(name))
}

/// Returns the argument that a part of a path stands for.
fn argument_of(part: &str) -> Option<&str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

fn segments(route: &Route, fields: &Map<String, Value>) -> ToolResult<Vec<String>> {
    route
        .path
        .split('/')
        .map(|part| match argument_of(part) {
            None => Ok(part.to_owned()),
            Some(name) => {
                let text = fields.get(name).map(to_text).unwrap_or_default();
                if text.trim().is_empty() {
                    return Err(ToolError::argument(format!("{name} is required")));
                }
                if text.len() > MAX_SEGMENT {
                    return Err(ToolError::argument(format!(
                        "{name} is too long: list or search to get one"
                    )));
                }
                // In an address these two lead elsewhere, however they are encoded.
                if matches!(text.as_str(), "." | "..") {
                    return Err(ToolError::argument(format!(
                        "{name} can't be `{text}`: list or search to get one"
                    )));
                }
                Ok(text)
            }
        })
        .collect()
}

fn wire_name<'a>(route: &Route, name: &'a str) -> &'a str {
    route
        .renamed
        .iter()
        .find(|(argument, _)| *argument == name)
        .map_or(name, |(_, field)| field)
}

fn to_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the response as an object, with a success message where it is empty.
pub(crate) fn with_success(response: Value, success_message: Option<&str>) -> Value {
    let mut response = match response {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        Value::Array(items) => {
            let mut fields = Map::new();
            fields.insert("items".to_owned(), Value::Array(items));
            fields
        }
        plain @ (Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            let mut fields = Map::new();
            fields.insert("result".to_owned(), plain);
            fields
        }
    };
    if let Some(success_message) = success_message {
        response
            .entry("success".to_owned())
            .or_insert(Value::Bool(true));
        response
            .entry("message".to_owned())
            .or_insert_with(|| json!(success_message));
    } else if response.is_empty() {
        response.insert("success".to_owned(), Value::Bool(true));
    }
    Value::Object(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::KeySource;
    use crate::test_services::{call_of, silent_services};
    use crate::toolset;

    #[tokio::test(start_paused = true)]
    async fn a_call_that_has_changed_nothing_yet_is_not_reported_as_perhaps_done() {
        let mut tools = toolset::ALL.iter().flat_map(|set| set.tools);
        let tool = tools.find(|tool| tool.name == "create_folder").unwrap();
        let call = call_of(
            silent_services(KeySource::Missing),
            json!({ "name": "plans" }),
        );
        let error = Box::pin(run(tool, call, TimeLimit::start(tool.name))).await;
        let message = error.unwrap_err().public_message();
        assert!(message.contains("did not respond"), "{message}");
        assert!(!message.contains("may have been done"), "{message}");
    }
}
