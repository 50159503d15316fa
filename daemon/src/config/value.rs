//! Parsers of settings and flags, in the file and on the command line: rates, the number of deletions from which a
//! person is asked, numbers.

use super::schedule::RateSchedule;
use cairn_model::{DeletionGate, Verification};
use std::ops::RangeInclusive;
use toml_edit::{Item, Value};

const RATE: &str = "a number of bytes, or a text such as \"500KB\", \"2MB\", \"off\"";
const SCHEDULE: &str = "times of the day that don't overlap, each with a rate, such as \"08:00-18:00 1MB/s, 22:00-06:00 off\", or \"off\"";
const GATE: &str =
    "\"PERCENT%:FILES:MOST\" such as \"50%:50:1000\", the same without MOST, or \"off\"";

/// Bytes per second: `500KB`, `2MB`, `1.5MiB`, `800000`; `off` and `0` are no limit.
pub(crate) fn parse_rate(text: &str) -> Result<Option<u64>, String> {
    let text = text.trim().trim_end_matches("/s");
    if text.eq_ignore_ascii_case("off") {
        return Ok(None);
    }
    let is_zero = || !text.contains(|c: char| ('1'..='9').contains(&c));
    match cairn_model::size::parse(text) {
        Some(0) if is_zero() => Ok(None),
        Some(rate) if rate > 0 => Ok(Some(rate)),
        Some(_) | None => Err(format!("`{text}` is not a valid rate (use {RATE})")),
    }
}

/// `off`, `N%:M` or `N%:M:MOST`.
pub(crate) fn parse_gate(text: &str) -> Result<Option<DeletionGate>, String> {
    if text.eq_ignore_ascii_case("off") {
        return Ok(None);
    }
    let parts = text.split_once(':').and_then(|(percent, numbers)| {
        let percent: u8 = percent.trim().strip_suffix('%')?.parse().ok()?;
        let (files, most) = match numbers.split_once(':') {
            Some((files, most)) => (files, most.trim().parse().ok()?),
            None => (numbers, DeletionGate::usual_most()),
        };
        Some(DeletionGate {
            percent,
            files: files.trim().parse().ok()?,
            most,
        })
    });
    match parts {
        Some(gate) if gate.percent <= 100 => Ok(Some(gate)),
        Some(_) | None => Err(format!(
            "`{text}` is not a valid deletion gate (use {GATE})"
        )),
    }
}

pub(super) fn rate(item: &Item) -> Result<Option<u64>, &'static str> {
    match item.as_value() {
        Some(Value::Integer(number)) => match u64::try_from(*number.value()) {
            Ok(0) => Ok(None),
            Ok(rate) => Ok(Some(rate)),
            Err(_) => Err(RATE),
        },
        Some(Value::String(text)) => parse_rate(text.value()).map_err(|_| RATE),
        Some(_) | None => Err(RATE),
    }
}

pub(super) fn schedule(item: &Item) -> Result<RateSchedule, &'static str> {
    RateSchedule::parse(item.as_str().ok_or(SCHEDULE)?).map_err(|_| SCHEDULE)
}

pub(super) fn gate(item: &Item) -> Result<Option<DeletionGate>, &'static str> {
    parse_gate(item.as_str().ok_or(GATE)?).map_err(|_| GATE)
}

pub(super) fn number(
    item: &Item,
    range: RangeInclusive<u64>,
    expected: &'static str,
) -> Result<u64, &'static str> {
    let number = item.as_integer().and_then(|n| u64::try_from(n).ok());
    number.filter(|n| range.contains(n)).ok_or(expected)
}

pub(super) fn boolean(item: &Item) -> Result<bool, &'static str> {
    item.as_bool().ok_or("true or false")
}

pub(super) fn verify(item: &Item) -> Result<Verification, &'static str> {
    let mode = item.as_str().and_then(|text| text.parse().ok());
    mode.ok_or("\"warn\" or \"strict\"")
}

pub(super) fn text(item: &Item) -> Result<String, &'static str> {
    let text = item.as_str().ok_or("a text")?;
    text.parse::<tracing_subscriber::EnvFilter>()
        .map(|_| text.to_owned())
        .map_err(|_| "a level (error, warn, info, debug, trace) or a filter of levels")
}

pub(super) fn show_rate(rate: Option<u64>) -> String {
    rate.map_or_else(|| "\"off\"".to_owned(), |rate| rate.to_string())
}

pub(super) fn show_gate(gate: Option<DeletionGate>) -> String {
    gate.map_or_else(
        || "\"off\"".to_owned(),
        |gate| format!("\"{}%:{}:{}\"", gate.percent, gate.files, gate.most),
    )
}

/// A value from the command line: a number or a boolean where it looks like one, else a text.
pub(super) fn item(text: &str) -> Item {
    let value = match text.parse::<Value>() {
        Ok(value @ (Value::Integer(_) | Value::Boolean(_) | Value::String(_))) => value,
        Ok(Value::Float(_) | Value::Datetime(_) | Value::Array(_) | Value::InlineTable(_))
        | Err(_) => Value::from(text),
    };
    Item::Value(value)
}
