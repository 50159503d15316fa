//! `compute`: sums, filters, sorting and tables over values in the arguments. It makes no
//! call, and it never guesses: one element of another type is an error that names it.

mod table;
mod values;

use crate::arguments::Arguments;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use serde_json::{Value, json};
use std::cmp::Ordering;
use values::{as_number, compare, numbers};

pub(crate) const OPERATIONS: &[&str] = &[
    "sum",
    "count",
    "average",
    "min",
    "max",
    "filter",
    "sort",
    "format_bytes",
    "format_table",
];

pub(crate) const COMPARISONS: &[&str] = &[
    "eq",
    "neq",
    "gt",
    "gte",
    "lt",
    "lte",
    "contains",
    "startsWith",
    "endsWith",
];

pub(crate) fn run(call: &Call) -> ToolResult<Value> {
    compute_value(&call.arguments)
}

fn compute_value(arguments: &Arguments) -> ToolResult<Value> {
    let operation = arguments.required_text("operation")?;
    let values = arguments
        .get("values")
        .and_then(Value::as_array)
        .ok_or_else(|| ToolError::argument(format!("values is required for {operation}")))?;
    let field = arguments.text("field");
    match operation {
        "count" => Ok(response(operation, json!(values.len()), values.len())),
        "sum" | "average" | "min" | "max" => compute_numeric(operation, values, field),
        "filter" => filter(arguments, values, field),
        "sort" => sort(arguments, values, field),
        "format_bytes" => format_bytes(values, field),
        _ => table::format_table(arguments, values),
    }
}

fn response(operation: &str, result: Value, count: usize) -> Value {
    json!({ "operation": operation, "result": result, "count": count })
}

fn compute_numeric(operation: &str, values: &[Value], field: Option<&str>) -> ToolResult<Value> {
    let numbers = numbers(values, field)?;
    if numbers.is_empty() && operation != "sum" {
        return Err(ToolError::argument(format!(
            "values is empty: {operation} needs at least one number"
        )));
    }
    let result = match operation {
        "sum" => values::sum(&numbers)?,
        "average" => values::average(&numbers)?,
        "min" => extreme(&numbers, Ordering::Less),
        _ => extreme(&numbers, Ordering::Greater),
    };
    Ok(response(operation, result, numbers.len()))
}

fn extreme(numbers: &[&Value], wanted: Ordering) -> Value {
    let mut best: Option<&Value> = None;
    for number in numbers {
        let better =
            best.is_none_or(|best| as_number(number).partial_cmp(&as_number(best)) == Some(wanted));
        if better {
            best = Some(number);
        }
    }
    best.cloned().unwrap_or(Value::Null)
}

fn filter(arguments: &Arguments, values: &[Value], field: Option<&str>) -> ToolResult<Value> {
    let comparison = arguments.required_text("filter_op")?;
    let wanted = arguments.get("filter_value").unwrap_or(&Value::Null);
    let mut kept = Vec::new();
    for (at, element) in values.iter().enumerate() {
        let value = match field {
            // Whole objects equal objects only.
            None if element.is_object() && !wanted.is_object() => {
                return Err(values::no_field(at));
            }
            None => Some(element),
            Some(field) => element
                .as_object()
                .ok_or_else(|| values::no_object(at, element))?
                .get(field)
                .filter(|value| !value.is_null()),
        };
        // What has no value equals null only, and is neither more nor less than anything.
        let fits = match value {
            None => match comparison {
                "eq" => wanted.is_null(),
                "neq" => !wanted.is_null(),
                _ => false,
            },
            Some(value) => fits(comparison, value, wanted, at, field)?,
        };
        if fits {
            kept.push(element.clone());
        }
    }
    let count = kept.len();
    Ok(json!({
        "operation": "filter",
        "result": kept,
        "count": count,
        "total": values.len(),
    }))
}

fn fits(
    comparison: &str,
    value: &Value,
    wanted: &Value,
    at: usize,
    field: Option<&str>,
) -> ToolResult<bool> {
    let text = |value: &Value| value.as_str().map(str::to_lowercase);
    match comparison {
        "eq" => Ok(values::equal(value, wanted)),
        "neq" => Ok(!values::equal(value, wanted)),
        "contains" => match (value.as_array(), text(value), text(wanted)) {
            (Some(items), ..) => Ok(items.iter().any(|item| values::equal(item, wanted))),
            (None, Some(value), Some(wanted)) => Ok(value.contains(&wanted)),
            _ => Err(values::not_text(at, field, value, wanted)),
        },
        "startsWith" | "endsWith" => match (text(value), text(wanted)) {
            (Some(value), Some(wanted)) if comparison == "startsWith" => {
                Ok(value.starts_with(&wanted))
            }
            (Some(value), Some(wanted)) => Ok(value.ends_with(&wanted)),
            _ => Err(values::not_text(at, field, value, wanted)),
        },
        _ => {
            let order = compare(value, wanted)
                .ok_or_else(|| values::incomparable_error(at, field, value, wanted))?;
            Ok(match comparison {
                "gt" => order == Ordering::Greater,
                "gte" => order != Ordering::Less,
                "lt" => order == Ordering::Less,
                _ => order != Ordering::Greater,
            })
        }
    }
}

fn sort(arguments: &Arguments, values: &[Value], field: Option<&str>) -> ToolResult<Value> {
    let keys = values::sort_keys(values, field)?;
    if let Some(first) = keys.iter().flatten().next() {
        for (at, key) in keys.iter().enumerate() {
            if let Some(key) = key.filter(|key| compare(first, key).is_none()) {
                return Err(values::incomparable_error(at, field, key, first));
            }
        }
    }
    let descending = arguments.text("sort_order") == Some("desc");
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| match (keys[*a], keys[*b]) {
        (Some(a), Some(b)) => {
            let order = compare(a, b).unwrap_or(Ordering::Equal);
            if descending { order.reverse() } else { order }
        }
        // What has no value is last in both orders.
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    let sorted: Vec<_> = order.into_iter().map(|at| values[at].clone()).collect();
    let count = sorted.len();
    Ok(response("sort", Value::Array(sorted), count))
}

fn format_bytes(values: &[Value], field: Option<&str>) -> ToolResult<Value> {
    let mut formatted = Vec::new();
    for (at, number) in numbers(values, field)?.into_iter().enumerate() {
        let bytes = as_number(number);
        if bytes < 0.0 {
            return Err(ToolError::argument(format!(
                "values[{at}] is {number}: a size can't be negative"
            )));
        }
        formatted
            .push(json!({ "bytes": number, "formatted": cairn_model::size::binary(bytes as u64) }));
    }
    let count = formatted.len();
    Ok(response("format_bytes", Value::Array(formatted), count))
}

#[cfg(test)]
mod tests;
