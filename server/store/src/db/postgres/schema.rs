//! The schema that a connection works in.

use super::super::error::Result;
use super::client::Client;

impl Client {
    /// Makes the schema that the address names (`search_path`), if it isn't there yet.
    pub(in crate::db) fn make_schema(&self) -> Result<()> {
        self.execute_batch(
            "DO $$ DECLARE wanted text := split_part(current_setting('search_path'), ',', 1); BEGIN \
             IF current_schema() IS NULL AND wanted NOT IN ('', '\"$user\"') THEN \
             EXECUTE 'CREATE SCHEMA IF NOT EXISTS ' || wanted; END IF; END $$",
        )
    }
}
