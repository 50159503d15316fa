//! Stores of tests: in memory, or in a schema of their own in the database of PostgreSQL that `CAIRN_TEST_POSTGRES`
//! names (`cargo xtask test` runs them against both).

use crate::{PostgresUrl, Source, Store};
use std::sync::Arc;

/// Opens an empty store.
pub(crate) fn open(source: Arc<Source>) -> Store {
    let Ok(url) = std::env::var("CAIRN_TEST_POSTGRES") else {
        return Store::open(None, source).unwrap();
    };
    let schema = uuid::Uuid::new_v4().simple();
    let url = PostgresUrl(format!("{url}?options=-csearch_path%3Dtest_{schema}"));
    Store::open_postgres(&url, None, source).unwrap()
}
