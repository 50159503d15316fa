//! Values of the shared vocabulary as arguments, with a help text for each.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::str::FromStr;

/// Returns a parser that takes exactly these values. An empty text means that the value needs none.
pub(super) fn words<T>(
    as_str: fn(T) -> &'static str,
    values: &[(T, &'static str)],
) -> impl TypedValueParser<Value = T> + use<T>
where
    T: FromStr + Copy + Send + Sync + 'static,
    T::Err: std::error::Error + Send + Sync,
{
    let possible = values.iter().map(|(value, help)| {
        let possible = PossibleValue::new(as_str(*value));
        match help.is_empty() {
            true => possible,
            false => possible.help(*help),
        }
    });
    PossibleValuesParser::new(possible.collect::<Vec<_>>()).try_map(|text| text.parse::<T>())
}
