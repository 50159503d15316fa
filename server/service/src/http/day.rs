//! Times of a query, which may be days.

use crate::error::{Error, Result};
use cairn_wire::Timestamp;

/// Reads a parameter that is an RFC 3339 time, or a day: its beginning, or (`end`) its last millisecond.
///
/// # Errors
/// 400 for anything else.
pub(crate) fn day_or_time(field: &str, text: Option<&str>, end: bool) -> Result<Option<i64>> {
    let Some(text) = text else {
        return Ok(None);
    };
    let day = || {
        let clock = if end { "23:59:59.999" } else { "00:00:00" };
        Timestamp::parse(&format!("{text}T{clock}Z"))
    };
    let time = Timestamp::parse(text).or_else(day).map(|at| at.0);
    time.map(Some).ok_or_else(|| {
        Error::invalid(format!(
            "`{field}` is `{text}`; it has to be such as 2026-01-31 or 2026-01-31T12:00:00Z"
        ))
    })
}
