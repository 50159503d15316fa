//! Arguments of one call, checked against the tool's declaration: what is advertised is enforced.

mod form;
mod money;

pub(crate) use form::is_uuid;

use crate::failure::{Outcome, ToolError};
use crate::mask;
use crate::param::{Param, Shape};
use crate::tool::Tool;
use serde_json::{Map, Number, Value, json};
use std::path::Path;

/// Under this key stands what was sent instead of an object.
pub(crate) const NO_OBJECT: &str = "\u{0}arguments";

/// Checked arguments: of the right types, within limits, defaults filled in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks what a client sent.
    ///
    /// # Errors
    /// [`ToolError::Argument`] that names the argument and the rule.
    pub(crate) fn check(tool: &Tool, given: Map<String, Value>) -> Outcome<Self> {
        if given.contains_key(NO_OBJECT) {
            return Err(ToolError::argument(
                "the arguments have to be a JSON object, such as {}",
            ));
        }
        if let Some(unknown) = given.keys().find(|name| tool.param(name).is_none()) {
            return Err(unknown_argument(tool, unknown));
        }
        let mut checked = Map::new();
        for param in tool.params {
            let value = match given.get(param.name) {
                // What is null is not given: many clients fill in what is optional.
                None | Some(Value::Null) if param.required => {
                    return Err(ToolError::argument(missing(param)));
                }
                None | Some(Value::Null) => default(param),
                Some(value) => Some(check(param, value)?),
            };
            if let Some(value) = value {
                checked.insert(param.name.to_owned(), value);
            }
        }
        let checked = Self(checked);
        for need in tool.needs {
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

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A text that the declaration requires, so that it is there.
    pub(crate) fn required(&self, name: &str) -> Outcome<&str> {
        self.text(name)
            .ok_or_else(|| ToolError::argument(format!("{name} is required")))
    }

    /// A path on this machine that the declaration requires.
    pub(crate) fn path(&self, name: &str) -> Outcome<&Path> {
        self.required(name).map(Path::new)
    }

    /// An id that the declaration requires.
    pub(crate) fn id<T: std::str::FromStr>(&self, name: &str) -> Outcome<T> {
        parse_id(name, self.required(name)?)
    }

    /// An id that may be left out.
    pub(crate) fn optional_id<T: std::str::FromStr>(&self, name: &str) -> Outcome<Option<T>> {
        self.text(name).map(|text| parse_id(name, text)).transpose()
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    pub(crate) fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// What is missing and what it is for, unless that is nothing to speak of in a message.
fn missing(param: &Param) -> String {
    let text = format!("{} is required", param.name);
    if mask::speaks_of_it(param.about) {
        text
    } else {
        format!("{text}: {}", param.about)
    }
}

fn parse_id<T: std::str::FromStr>(name: &str, text: &str) -> Outcome<T> {
    text.parse()
        .map_err(|_| ToolError::argument(format!("{name} is no id of the service")))
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
    if param.chosen_there {
        return None;
    }
    match param.shape {
        Shape::Choice { default, .. } => default.map(|text| json!(text)),
        Shape::Whole { default, .. } => default.map(|number| json!(number)),
        Shape::Flag { default } => default.map(|flag| json!(flag)),
        Shape::Text { .. }
        | Shape::Number { .. }
        | Shape::Agreed
        | Shape::Money { .. }
        | Shape::Texts { .. }
        | Shape::Choices { .. }
        | Shape::Labels
        | Shape::Object
        | Shape::List
        | Shape::Anything => None,
    }
}

/// The value as the tool sees it, or what is wrong with it.
fn check(param: &Param, value: &Value) -> Outcome<Value> {
    let name = param.name;
    let wrong = |rule: String| ToolError::argument(format!("{name} {rule}"));
    match param.shape {
        Shape::Text { min, max, form } => {
            let text = value
                .as_str()
                .ok_or_else(|| wrong(format!("has to be a string, not {}", kind(value))))?;
            length(text, min, max).map_err(wrong)?;
            form::checked(form, text).map(Value::String).map_err(wrong)
        }
        Shape::Choice { of, .. } => one_of(of, value).map_err(wrong),
        Shape::Whole { min, max, .. } => whole(value, min, max).map_err(wrong),
        Shape::Number { above } => number(value, above).map_err(wrong),
        Shape::Flag { .. } if value.is_boolean() => Ok(value.clone()),
        Shape::Flag { .. } => Err(wrong(format!(
            "has to be true or false, not {}",
            kind(value)
        ))),
        Shape::Agreed if *value == Value::Bool(true) => Ok(value.clone()),
        Shape::Agreed => Err(wrong(format!("has to be true: {}", param.about))),
        Shape::Money { min, max } => {
            let text = value.as_str().ok_or_else(|| {
                wrong(format!(
                    "has to be a decimal in a string such as \"4.99\", not {}",
                    kind(value)
                ))
            })?;
            money::checked(text, min, max)
                .map(Value::String)
                .map_err(wrong)
        }
        Shape::Texts { min, max, form } => {
            let items = list(value, min, max).map_err(wrong)?;
            let checked: Result<Vec<_>, _> = items
                .iter()
                .enumerate()
                .map(|(at, item)| {
                    let text = item
                        .as_str()
                        .ok_or_else(|| format!("[{at}] has to be a string, not {}", kind(item)))?;
                    form::checked(form, text)
                        .map(Value::String)
                        .map_err(|rule| format!("[{at}] {rule}"))
                })
                .collect();
            checked
                .map(Value::Array)
                .map_err(|rule| ToolError::argument(format!("{name}{rule}")))
        }
        Shape::Choices { of } => {
            let items = list(value, 1, usize::MAX).map_err(wrong)?;
            for (at, item) in items.iter().enumerate() {
                one_of(of, item)
                    .map_err(|rule| ToolError::argument(format!("{name}[{at}] {rule}")))?;
            }
            Ok(value.clone())
        }
        Shape::Labels => labels(value).map_err(wrong),
        Shape::Object if value.is_object() => Ok(value.clone()),
        Shape::Object => Err(wrong(format!("has to be an object, not {}", kind(value)))),
        Shape::List => list(value, 0, usize::MAX)
            .map(|_| value.clone())
            .map_err(wrong),
        Shape::Anything => Ok(value.clone()),
    }
}

fn length(text: &str, min: usize, max: usize) -> Result<(), String> {
    let has = text.chars().count();
    if (min..=max).contains(&has) {
        return Ok(());
    }
    Err(match (min, max) {
        (1, usize::MAX) => "can't be empty".to_owned(),
        (_, usize::MAX) => format!("has to have at least {min} characters, not {has}"),
        (0, _) => format!("can have at most {max} characters, not {has}"),
        _ => format!("has to have {min} to {max} characters, not {has}"),
    })
}

fn one_of(of: &[&str], value: &Value) -> Result<Value, String> {
    match value.as_str() {
        Some(text) if of.contains(&text) => Ok(value.clone()),
        _ => {
            let named: Vec<_> = of.iter().map(|choice| format!("`{choice}`")).collect();
            Err(format!("has to be one of {}", named.join(", ")))
        }
    }
}

/// A whole number, which JSON may write as `1.0` too.
fn whole(value: &Value, min: i64, max: i64) -> Result<Value, String> {
    /// Beyond this, floating point skips whole numbers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let exact = value.as_i64().or_else(|| {
        value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)
            .map(|float| float as i64)
    });
    let Some(number) = exact else {
        return Err(format!("has to be a whole number, not {}", kind(value)));
    };
    if (min..=max).contains(&number) {
        return Ok(json!(number));
    }
    Err(if max == i64::MAX {
        format!("has to be at least {min}")
    } else {
        format!("has to be from {min} to {max}")
    })
}

fn number(value: &Value, above: f64) -> Result<Value, String> {
    let float = value
        .as_f64()
        .filter(|float| float.is_finite())
        .ok_or_else(|| format!("has to be a number, not {}", kind(value)))?;
    if float <= above {
        return Err(format!("has to be more than {above}"));
    }
    let tidy = (float.fract() == 0.0 && float.abs() < 1e15).then(|| json!(float as i64));
    Ok(tidy.unwrap_or_else(|| Number::from_f64(float).map_or(Value::Null, Value::Number)))
}

fn list(value: &Value, min: usize, max: usize) -> Result<&Vec<Value>, String> {
    let items = value
        .as_array()
        .ok_or_else(|| format!("has to be an array, not {}", kind(value)))?;
    if (min..=max).contains(&items.len()) {
        return Ok(items);
    }
    Err(match (min, max) {
        (_, usize::MAX) => format!("has to have at least {min} elements"),
        (0, _) => format!("can have at most {max} elements, not {}", items.len()),
        _ => format!("has to have {min} to {max} elements, not {}", items.len()),
    })
}

/// Plain values; they become text, which is what labels are.
fn labels(value: &Value) -> Result<Value, String> {
    let fields = value.as_object().ok_or_else(|| {
        format!(
            "has to be an object of key-value pairs, not {}",
            kind(value)
        )
    })?;
    let mut labels = Map::new();
    for (key, value) in fields {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                let shown: String = key.chars().take(60).collect();
                return Err(format!("has to have plain values: `{shown}` has none"));
            }
        };
        labels.insert(key.clone(), Value::String(text));
    }
    Ok(Value::Object(labels))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a broken number",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
