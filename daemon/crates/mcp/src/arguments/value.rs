//! Checks of single values against a parameter's shape.

use super::{form, money};
use crate::error::{ToolError, ToolResult};
use crate::param::{Form, Param, Shape};
use serde_json::{Map, Number, Value, json};

/// Returns the value as the tool sees it, or the rule that it breaks.
pub(super) fn check(param: &Param, value: &Value) -> ToolResult<Value> {
    // Elements are named as `name[0]`, without a space.
    let violation = |rule: String| {
        let space = if rule.starts_with('[') { "" } else { " " };
        ToolError::argument(format!("{}{space}{rule}", param.name))
    };
    let checked = match param.shape {
        Shape::Text { min, max, form } => text(value, min, max, form),
        Shape::Choice { of, .. } => one_of(of, value),
        Shape::Integer { min, max, .. } => integer(value, min, max),
        Shape::Number {
            above,
            min,
            max,
            in_cents,
        } => number(value, above, min, max).and_then(|number| match in_cents {
            true => whole_cents(number),
            false => Ok(number),
        }),
        Shape::Flag { .. } if value.is_boolean() => Ok(value.clone()),
        Shape::Flag { .. } => Err(format!("must be true or false, not {}", type_name(value))),
        Shape::MustAccept if *value == Value::Bool(true) => Ok(value.clone()),
        Shape::MustAccept => Err(format!("must be true: {}", param.description)),
        Shape::Money { min, max } => amount(value, min, max),
        Shape::Texts { min, max, form } => texts(value, min, max, form),
        Shape::Choices { of } => choices(of, value),
        Shape::Labels => labels(value),
        Shape::Object if value.is_object() => Ok(value.clone()),
        Shape::Object => Err(format!("must be an object, not {}", type_name(value))),
        Shape::List => list(value, 0, usize::MAX).map(|_| value.clone()),
        Shape::Any => Ok(value.clone()),
    };
    checked.map_err(violation)
}

fn text(value: &Value, min: usize, max: usize, form: Form) -> Result<Value, String> {
    let text = value
        .as_str()
        .ok_or_else(|| format!("must be a string, not {}", type_name(value)))?;
    length(text, min, max)?;
    form::check(form, text).map(Value::String)
}

fn amount(value: &Value, min: u64, max: u64) -> Result<Value, String> {
    let text = value.as_str().ok_or_else(|| {
        format!(
            "must be a decimal in a string such as \"4.99\", not {}",
            type_name(value)
        )
    })?;
    money::check(text, min, max).map(Value::String)
}

fn texts(value: &Value, min: usize, max: usize, form: Form) -> Result<Value, String> {
    let items = list(value, min, max)?.iter().enumerate();
    let checked: Result<Vec<_>, _> = items
        .map(|(at, item)| text(item, 0, usize::MAX, form).map_err(|rule| format!("[{at}] {rule}")))
        .collect();
    checked.map(Value::Array)
}

fn choices(of: &[&str], value: &Value) -> Result<Value, String> {
    for (at, item) in list(value, 1, usize::MAX)?.iter().enumerate() {
        one_of(of, item).map_err(|rule| format!("[{at}] {rule}"))?;
    }
    Ok(value.clone())
}

fn length(text: &str, min: usize, max: usize) -> Result<(), String> {
    let has = text.chars().count();
    if (min..=max).contains(&has) {
        return Ok(());
    }
    Err(match (min, max) {
        (1, usize::MAX) => "can't be empty".to_owned(),
        (_, usize::MAX) => format!("must have at least {min} characters, not {has}"),
        (0, _) => format!("can have at most {max} characters, not {has}"),
        _ => format!("must have {min} to {max} characters, not {has}"),
    })
}

fn one_of(of: &[&str], value: &Value) -> Result<Value, String> {
    match value.as_str() {
        Some(text) if of.contains(&text) => Ok(value.clone()),
        _ => {
            let named: Vec<_> = of.iter().map(|choice| format!("`{choice}`")).collect();
            Err(format!("must be one of {}", named.join(", ")))
        }
    }
}

/// Checks an integer, which JSON may write as `1.0` too.
fn integer(value: &Value, min: i64, max: i64) -> Result<Value, String> {
    /// 2^53: beyond it, floating point skips integers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let exact = value.as_i64().or_else(|| {
        value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)
            .map(|float| float as i64)
    });
    let Some(number) = exact else {
        let whole = value.as_f64().filter(|float| float.fract() == 0.0);
        return Err(match whole {
            Some(_) => "is too large a number".to_owned(),
            None => format!("must be a whole number, not {}", type_name(value)),
        });
    };
    if (min..=max).contains(&number) {
        return Ok(json!(number));
    }
    Err(if max == i64::MAX {
        format!("must be at least {min}")
    } else {
        format!("must be from {min} to {max}")
    })
}

fn number(
    value: &Value,
    above: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
) -> Result<Value, String> {
    /// Anything that is counted or paid for here is less.
    const MAX: f64 = 1e12;
    let float = value
        .as_f64()
        .filter(|float| float.is_finite())
        .ok_or_else(|| format!("must be a number, not {}", type_name(value)))?;
    if let Some(above) = above.filter(|above| float <= *above) {
        return Err(format!("must be more than {above}"));
    }
    if let Some((min, max)) = min.zip(max)
        && !(min..=max).contains(&float)
    {
        return Err(format!("must be from {min} to {max}"));
    }
    if let Some(min) = min.filter(|min| float < *min) {
        return Err(format!("must be at least {min}"));
    }
    if float > MAX {
        return Err("is too large".to_owned());
    }
    let tidy = (float.fract() == 0.0 && float.abs() < 1e15).then(|| json!(float as i64));
    Ok(tidy.unwrap_or_else(|| Number::from_f64(float).map_or(Value::Null, Value::Number)))
}

/// Refuses a part of a cent, in the shortest form that a number has as text.
fn whole_cents(number: Value) -> Result<Value, String> {
    let text = number.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, part)| part.len());
    match decimals <= 2 && !text.contains('e') {
        true => Ok(number),
        false => Err("can have at most two decimals, such as 10.50".to_owned()),
    }
}

fn list(value: &Value, min: usize, max: usize) -> Result<&Vec<Value>, String> {
    let items = value
        .as_array()
        .ok_or_else(|| format!("must be an array, not {}", type_name(value)))?;
    if (min..=max).contains(&items.len()) {
        return Ok(items);
    }
    Err(match (min, max) {
        (_, usize::MAX) => format!("must have at least {min} elements"),
        (0, _) => format!("can have at most {max} elements, not {}", items.len()),
        _ => format!("must have {min} to {max} elements, not {}", items.len()),
    })
}

/// Converts plain values to text, the type of labels.
fn labels(value: &Value) -> Result<Value, String> {
    let fields = value.as_object().ok_or_else(|| {
        format!(
            "must be an object of key-value pairs, not {}",
            type_name(value)
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
                return Err(format!(
                    "must have text, number or boolean values: `{shown}` has none"
                ));
            }
        };
        labels.insert(key.clone(), Value::String(text));
    }
    Ok(Value::Object(labels))
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
