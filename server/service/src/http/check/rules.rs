//! The rules of a schema for one value.

use super::{Checked, DOCUMENT, Rules, WORDS};
use regex::Regex;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Returns the wording that the document has for a rule, or else `rule`.
fn documented_or(rules: &Rules, rule: String) -> String {
    match rules.get(WORDS).and_then(Value::as_str) {
        Some(words) => words.to_owned(),
        None => rule,
    }
}

/// Checks a value that is no list and no object against the choices there are.
pub(super) fn check_plain(rules: &Rules, value: &Value) -> Checked {
    if let Some(only) = rules.get("const")
        && only != value
    {
        return Err(documented_or(rules, format!("it has to be {only}")));
    }
    if let Some(choices) = rules.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        let names: Vec<String> = choices
            .iter()
            .filter(|one| !one.is_null())
            .map(|one| {
                one.as_str()
                    .map_or_else(|| one.to_string(), |text| format!("`{text}`"))
            })
            .collect();
        let rule = format!("it has to be one of {}", names.join(", "));
        return Err(documented_or(rules, rule));
    }
    Ok(())
}

pub(super) fn text(rules: &Rules, text: &str) -> Checked {
    if rules.contains_key("const") || rules.contains_key("enum") {
        check_plain(rules, &text.into())?;
    }
    let keys = ["minLength", "maxLength"];
    if keys.iter().any(|key| rules.contains_key(*key)) {
        check_count(rules, keys, text.chars().count(), "characters")?;
    }
    pattern(rules, text)
}

pub(super) fn check_count(rules: &Rules, keys: [&str; 2], count: usize, unit: &str) -> Checked {
    let [least, most] = keys.map(|key| rules.get(key).and_then(Value::as_u64));
    let count = count as u64;
    if least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most) {
        return Ok(());
    }
    let rule = match (least, most) {
        (Some(least), Some(most)) => {
            format!("it has {count} {unit}; it has to have {least} to {most}")
        }
        (Some(least), None) => format!("it has {count} {unit}; it has to have at least {least}"),
        (None, most) => format!(
            "it has {count} {unit}; at most {} are allowed",
            most.unwrap_or_default()
        ),
    };
    Err(documented_or(rules, rule))
}

pub(super) fn number(rules: &Rules, value: &Value) -> Checked {
    check_plain(rules, value)?;
    let bounds = [
        ("minimum", "at least", Ordering::Less, false),
        ("exclusiveMinimum", "more than", Ordering::Less, true),
        ("maximum", "at most", Ordering::Greater, false),
    ];
    for (key, words, beyond, exclusive) in bounds {
        let Some(bound) = rules.get(key) else {
            continue;
        };
        let order = compare(value, bound);
        if order == beyond || exclusive && order == Ordering::Equal {
            let rule = format!("it is {value}; it has to be {words} {bound}");
            return Err(documented_or(rules, rule));
        }
    }
    Ok(())
}

/// Compares whole numbers exactly, and others as far as a float can.
fn compare(one: &Value, other: &Value) -> Ordering {
    let whole = |value: &Value| {
        value
            .as_i64()
            .map(i128::from)
            .or_else(|| value.as_u64().map(i128::from))
    };
    if let (Some(one), Some(other)) = (whole(one), whole(other)) {
        return one.cmp(&other);
    }
    let float = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    float(one).total_cmp(&float(other))
}

/// Compiles the patterns below a part of the document.
fn compile(part: &'static Value, into: &mut HashMap<&'static str, Regex>) {
    match part {
        Value::Object(fields) => {
            for (key, value) in fields {
                if let ("pattern", Value::String(pattern)) = (key.as_str(), value)
                    && let Ok(regex) = Regex::new(pattern)
                {
                    into.insert(pattern, regex);
                }
                compile(value, into);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| compile(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the patterns of the document; each is compiled once.
fn patterns() -> &'static HashMap<&'static str, Regex> {
    static COMPILED: OnceLock<HashMap<&'static str, Regex>> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let mut compiled = HashMap::new();
        if let Some(document) = DOCUMENT.get() {
            compile(&document()["components"]["schemas"], &mut compiled);
        }
        compiled
    })
}

fn pattern(rules: &Rules, text: &str) -> Checked {
    let Some(pattern) = rules.get("pattern").and_then(Value::as_str) else {
        return Ok(());
    };
    let rule = match patterns().get(pattern) {
        Some(regex) if regex.is_match(text) => return Ok(()),
        Some(_) => format!("it has to match `{pattern}`"),
        None => format!("the pattern `{pattern}` can't be read"),
    };
    Err(documented_or(rules, rule))
}
