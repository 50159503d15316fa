//! Enums of `cairn-model` as values of command-line arguments, with a help text for each.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::str::FromStr;

/// Returns a parser of these values, each with its help text; an empty one means that the value needs none.
pub(super) fn values<T>(
    all: &[T],
    as_str: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> + use<T>
where
    T: FromStr + Copy + Send + Sync + 'static,
    T::Err: std::error::Error + Send + Sync,
{
    let possible = all.iter().map(|value| {
        let possible = PossibleValue::new(as_str(*value));
        match help(*value) {
            "" => possible,
            help => possible.help(help),
        }
    });
    PossibleValuesParser::new(possible.collect::<Vec<_>>()).try_map(|text| text.parse::<T>())
}
