//! One page of a list with the number of all its entries, as every list of the API has them.

use crate::db::{self, Connection, Row, ToSql};
use crate::error::Result;

/// Reads one page of a list and counts its entries. Both statements take the parameters of `which`; after them the
/// `list` takes how many rows come before the page, and how many are on it.
pub(super) fn read_page<T>(
    conn: &Connection,
    (count, list): (&str, &str),
    which: &[&dyn ToSql],
    (skip, take): (u64, u64),
    read: impl FnMut(&Row<'_>) -> db::Result<T>,
) -> Result<(Vec<T>, u64)> {
    let total = conn
        .prepare_cached(count)?
        .query_row(which, |row| row.get(0))?;
    let mut parameters = which.to_vec();
    parameters.extend([&skip as &dyn ToSql, &take]);
    let found = conn
        .prepare_cached(list)?
        .query_map(&parameters[..], read)?
        .collect::<db::Result<_>>()?;
    Ok((found, total))
}
