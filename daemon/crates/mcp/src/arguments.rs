//! Arguments of one call, checked against the tool's declaration, so that what is advertised is enforced.

mod form;
mod money;
mod value;

pub(crate) use form::is_uuid;

use crate::error::{ToolError, ToolResult};
use crate::mask;
use crate::param::{Param, Shape};
use crate::tool::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The key under which [`super::server`] puts arguments that are not an object.
pub(crate) const NOT_AN_OBJECT: &str = "\u{0}arguments";

/// Pairs of arguments that begin and end a period.
const PERIODS: [(&str, &str); 2] = [("date_from", "date_to"), ("active_from", "active_until")];

/// Checked arguments: of the right types, within limits, defaults filled in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks what a client sent.
    ///
    /// # Errors
    /// [`ToolError::Argument`] that names the argument and the rule.
    pub(crate) fn check(tool: &Tool, given: Map<String, Value>) -> ToolResult<Self> {
        if given.contains_key(NOT_AN_OBJECT) {
            return Err(ToolError::argument(
                "the arguments must be a JSON object, such as {}",
            ));
        }
        if let Some(unknown) = given.keys().find(|name| tool.param(name).is_none()) {
            return Err(unknown_argument(tool, unknown));
        }
        let mut checked = Map::new();
        for param in tool.params {
            let value = match given.get(param.name) {
                Some(Value::Null) if matches!(param.shape, Shape::Any) => Some(Value::Null),
                // What is null is not given: many clients fill in what is optional.
                None | Some(Value::Null) if param.required => {
                    return Err(ToolError::argument(missing_message(param)));
                }
                None | Some(Value::Null) => default(param),
                Some(value) => Some(value::check(param, value)?),
            };
            if let Some(value) = value {
                checked.insert(param.name.to_owned(), value);
            }
        }
        let checked = Self(checked);
        for (from, until) in PERIODS {
            // Checked times have one form, in which the later one is the greater text.
            if let (Some(start), Some(end)) = (checked.text(from), checked.text(until))
                && start > end
            {
                return Err(ToolError::argument(format!(
                    "{from} ({start}) is after {until} ({end}): swap them"
                )));
            }
        }
        for need in tool.requirements {
            let (name, value) = need.when;
            if checked.text(name) == Some(value) && !checked.has(need.argument) {
                return Err(ToolError::argument(format!(
                    "{} is required when {name} is {value}",
                    need.argument
                )));
            }
        }
        Ok(checked)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.get_mut(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns a text that the declaration requires.
    pub(crate) fn required_text(&self, name: &str) -> ToolResult<&str> {
        self.text(name)
            .ok_or_else(|| ToolError::argument(format!("{name} is required")))
    }

    /// Returns a local path that the declaration requires.
    pub(crate) fn path(&self, name: &str) -> ToolResult<&Path> {
        self.required_text(name).map(Path::new)
    }

    /// Returns an id that the declaration requires.
    pub(crate) fn id<T: std::str::FromStr>(&self, name: &str) -> ToolResult<T> {
        parse_id(name, self.required_text(name)?)
    }

    /// Returns the texts of a list; none if it is not given.
    pub(crate) fn texts(&self, name: &str) -> Vec<&str> {
        let list = self.get(name).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    pub(crate) fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// Returns the message for a missing argument, without its description where that mentions cryptography.
fn missing_message(param: &Param) -> String {
    let text = format!("{} is required", param.name);
    if mask::mentions_crypto(param.description) {
        text
    } else {
        format!("{text}: {}", param.description)
    }
}

fn parse_id<T: std::str::FromStr>(name: &str, text: &str) -> ToolResult<T> {
    text.parse()
        .map_err(|_| ToolError::argument(format!("{name} is not an id of the service")))
}

fn unknown_argument(tool: &Tool, name: &str) -> ToolError {
    let shown: String = name.chars().take(60).collect();
    let names: Vec<_> = tool.params.iter().map(|param| param.name).collect();
    ToolError::argument(if names.is_empty() {
        format!("there is no argument `{shown}`: {} takes none", tool.name)
    } else {
        format!(
            "there is no argument `{shown}`: {} takes {}",
            tool.name,
            names.join(", ")
        )
    })
}

fn default(param: &Param) -> Option<Value> {
    if param.server_default {
        return None;
    }
    match param.shape {
        Shape::Choice { default, .. } => default.map(|text| json!(text)),
        Shape::Integer { default, .. } => default.map(|number| json!(number)),
        Shape::Flag { default } => default.map(|flag| json!(flag)),
        Shape::Text { .. }
        | Shape::Number { .. }
        | Shape::MustAccept
        | Shape::Money { .. }
        | Shape::Texts { .. }
        | Shape::Choices { .. }
        | Shape::Labels
        | Shape::Object
        | Shape::List
        | Shape::Any => None,
    }
}

#[cfg(test)]
mod tests;
