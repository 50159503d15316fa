//! The values of `compute`: fields, numbers, order, and the errors for those that don't fit.

use crate::error::{ToolError, ToolResult};
use serde_json::{Number, Value, json};
use std::cmp::Ordering;

/// Returns what to sort the elements by: themselves, or a field, which some may lack.
pub(super) fn sort_keys<'a>(
    values: &'a [Value],
    field: Option<&str>,
) -> ToolResult<Vec<Option<&'a Value>>> {
    let mut keys = Vec::new();
    for (at, element) in values.iter().enumerate() {
        let key = match field {
            None if element.is_object() => return Err(no_field(at)),
            None => Some(element),
            Some(field) => element
                .as_object()
                .ok_or_else(|| no_object(at, element))?
                .get(field),
        };
        keys.push(key.filter(|key| !key.is_null()));
    }
    Ok(keys)
}

/// Returns the elements, or one field of each.
fn field_values<'a>(values: &'a [Value], field: Option<&str>) -> ToolResult<Vec<&'a Value>> {
    values
        .iter()
        .enumerate()
        .map(|(at, element)| match field {
            None => Ok(element),
            Some(field) => element
                .as_object()
                .ok_or_else(|| no_object(at, element))?
                .get(field)
                .ok_or_else(|| ToolError::argument(format!("values[{at}] has no field `{field}`"))),
        })
        .collect()
}

/// Returns the same, if all of them are numbers.
pub(super) fn numbers<'a>(values: &'a [Value], field: Option<&str>) -> ToolResult<Vec<&'a Value>> {
    let found = field_values(values, field)?;
    for (at, value) in found.iter().enumerate() {
        if !value.is_number() {
            let hint = if value.is_object() {
                ": name the field to use in `field`"
            } else {
                ""
            };
            return Err(ToolError::argument(format!(
                "{} is {}, not a number{hint}",
                location(at, field),
                type_name(value)
            )));
        }
    }
    Ok(found)
}

pub(super) fn as_number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// Returns the sum, exact for integers.
pub(super) fn sum(numbers: &[&Value]) -> ToolResult<Value> {
    match whole_sum(numbers) {
        Some(sum) => Ok(integer(sum)),
        None => finite_number(float_sum(numbers)),
    }
}

pub(super) fn average(numbers: &[&Value]) -> ToolResult<Value> {
    let count = numbers.len() as f64;
    match whole_sum(numbers) {
        Some(sum) if sum % numbers.len() as i128 == 0 => Ok(integer(sum / numbers.len() as i128)),
        Some(sum) => finite_number(sum as f64 / count),
        None => finite_number(float_sum(numbers) / count),
    }
}

fn whole_sum(numbers: &[&Value]) -> Option<i128> {
    numbers
        .iter()
        .map(|number| {
            number
                .as_i64()
                .map(i128::from)
                .or_else(|| number.as_u64().map(i128::from))
        })
        .sum()
}

/// Adds with Kahan's compensation: cents stay cents over many elements.
fn float_sum(numbers: &[&Value]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for number in numbers {
        let add = as_number(number) - lost;
        let next = sum + add;
        lost = (next - sum) - add;
        sum = next;
    }
    sum
}

fn integer(sum: i128) -> Value {
    i64::try_from(sum)
        .map(|sum| json!(sum))
        .or_else(|_| u64::try_from(sum).map(|sum| json!(sum)))
        .unwrap_or_else(|_| json!(sum as f64))
}

fn finite_number(number: f64) -> ToolResult<Value> {
    // Hides what binary fractions add behind the digits that anybody means.
    let rounded: f64 = format!("{number:.12e}").parse().unwrap_or(number);
    Number::from_f64(rounded)
        .map(Value::Number)
        .ok_or_else(|| ToolError::argument("the numbers are too large to calculate with"))
}

pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => compare(a, b) == Some(Ordering::Equal),
        _ => a == b,
    }
}

/// Compares two values of one type; returns `None` for others.
pub(super) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            _ => as_number(a).partial_cmp(&as_number(b)),
        },
        (Value::String(x), Value::String(y)) => Some(x.cmp(y)),
        (Value::Bool(x), Value::Bool(y)) => Some(x.cmp(y)),
        _ => None,
    }
}

pub(super) fn no_field(at: usize) -> ToolError {
    ToolError::argument(format!(
        "values[{at}] is an object: name the field to use in `field`"
    ))
}

pub(super) fn no_object(at: usize, value: &Value) -> ToolError {
    ToolError::argument(format!(
        "values[{at}] is {}, not an object with fields",
        type_name(value)
    ))
}

pub(super) fn incomparable_error(
    at: usize,
    field: Option<&str>,
    value: &Value,
    other: &Value,
) -> ToolError {
    ToolError::argument(format!(
        "{} is {} and can't be compared with {}: all values must be of one type",
        location(at, field),
        type_name(value),
        type_name(other)
    ))
}

pub(super) fn not_text(at: usize, field: Option<&str>, value: &Value, wanted: &Value) -> ToolError {
    if wanted.is_string() {
        ToolError::argument(format!(
            "{} is {}, not a string",
            location(at, field),
            type_name(value)
        ))
    } else {
        ToolError::argument(format!(
            "filter_value is {}, but this comparison needs a string",
            type_name(wanted)
        ))
    }
}

fn location(at: usize, field: Option<&str>) -> String {
    match field {
        None => format!("values[{at}]"),
        Some(field) => format!("`{field}` of values[{at}]"),
    }
}

pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
