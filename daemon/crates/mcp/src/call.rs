//! One call of a tool: its checked arguments, and what it can use.

use crate::arguments::Arguments;
use crate::failure::{Outcome, ToolError};
use crate::progress::Reporter;
use crate::services::Services;
use crate::tool::{Route, Run, Tool, Verb};
use cairn_api::Method;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long one request may take, its repetitions included.
const PATIENCE: Duration = Duration::from_secs(60);

/// A call on its way.
pub(crate) struct Call {
    pub(crate) services: Arc<Services>,
    pub(crate) arguments: Arguments,
    pub(crate) progress: Reporter,
}

/// Does what the tool does.
pub(crate) async fn run(tool: &Tool, call: Call) -> Outcome<Value> {
    match tool.run {
        Run::Rest(route) => call.rest(&route).await,
        Run::Update(route) => {
            if !call.gives_more_than(&route) {
                return Err(nothing_to_change(tool, &route));
            }
            call.rest(&route).await
        }
        Run::ShowOrUpdate(show, update) => {
            let route = if call.gives_more_than(&update) {
                update
            } else {
                show
            };
            call.rest(&route).await
        }
        Run::Local(work) => work(&call),
        Run::Own(work) => work(call).await,
    }
}

impl Call {
    /// Tells whether any argument is given besides those in the path.
    fn gives_more_than(&self, route: &Route) -> bool {
        self.arguments
            .fields()
            .keys()
            .any(|name| !in_path(route, name))
    }

    /// Makes the request that the declaration describes.
    pub(crate) async fn rest(&self, route: &Route) -> Outcome<Value> {
        self.send(route, Map::new()).await
    }

    /// The same with further fields in the body.
    pub(crate) async fn send(&self, route: &Route, more: Map<String, Value>) -> Outcome<Value> {
        let fields = self.arguments.fields();
        let segments = segments(route, fields)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let mut sent: Map<String, Value> = fields
            .iter()
            .filter(|(name, _)| !in_path(route, name))
            .map(|(name, value)| (sent_as(route, name).to_owned(), value.clone()))
            .collect();
        for (name, value) in route.fixed {
            sent.insert((*name).to_owned(), json!(value));
        }
        sent.extend(more);
        let answer = match route.verb {
            Verb::Get | Verb::Delete => {
                let query: Vec<_> = sent
                    .iter()
                    .map(|(name, value)| (name.clone(), as_text(value)))
                    .collect();
                self.request(route.verb, &segments, &query, None).await?
            }
            Verb::Post | Verb::Put => {
                let body = Value::Object(sent);
                self.request(route.verb, &segments, &[], Some(&body))
                    .await?
            }
        };
        Ok(finished(answer, route.done))
    }

    /// Makes any request of the REST API, below `/api/v1`.
    pub(crate) async fn request(
        &self,
        verb: Verb,
        path: &[&str],
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> Outcome<Value> {
        self.services.request(verb, path, query, body).await
    }
}

impl Services {
    /// Makes any request of the REST API. Reads are repeated when that can help, changes never.
    pub(crate) async fn request(
        &self,
        verb: Verb,
        path: &[&str],
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> Outcome<Value> {
        let (api, method) = match verb {
            Verb::Get => (&self.reads, Method::GET),
            Verb::Post => (&self.writes, Method::POST),
            Verb::Put => (&self.writes, Method::PUT),
            Verb::Delete => (&self.writes, Method::DELETE),
        };
        let answer = api.call(method, path, query, body);
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(ToolError::Late {
                seconds: PATIENCE.as_secs(),
            }),
        }
    }
}

fn nothing_to_change(tool: &Tool, route: &Route) -> ToolError {
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

/// The argument that a part of a path stands for.
fn argument_of(part: &str) -> Option<&str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

fn segments(route: &Route, fields: &Map<String, Value>) -> Outcome<Vec<String>> {
    route
        .path
        .split('/')
        .map(|part| match argument_of(part) {
            None => Ok(part.to_owned()),
            Some(name) => {
                let text = fields.get(name).map(as_text).unwrap_or_default();
                if text.trim().is_empty() {
                    return Err(ToolError::argument(format!("{name} is required")));
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

fn sent_as<'a>(route: &Route, name: &'a str) -> &'a str {
    route
        .renamed
        .iter()
        .find(|(here, _)| *here == name)
        .map_or(name, |(_, there)| there)
}

fn as_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The answer as an object, with what to say where it says nothing.
pub(crate) fn finished(answer: Value, done: Option<&str>) -> Value {
    let mut answer = match answer {
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
    if let Some(done) = done {
        answer
            .entry("success".to_owned())
            .or_insert(Value::Bool(true));
        answer
            .entry("message".to_owned())
            .or_insert_with(|| json!(done));
    } else if answer.is_empty() {
        answer.insert("success".to_owned(), Value::Bool(true));
    }
    Value::Object(answer)
}
