//! The differences of the two databases, apart from the [index of texts](super::texts): what they tell about themselves,
//! and their schemas.

use super::connection::{Backend, Connection};
use super::error::Result;
use super::migrations::{POSTGRES, SQLITE};

/// The databases that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    fn choose<T>(self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }

    /// The steps of the schema: the database counts those that ran.
    pub(crate) fn migrations(self) -> &'static [&'static str] {
        self.choose(&SQLITE, &POSTGRES)
    }
}

impl Connection {
    pub(crate) fn dialect(&self) -> Dialect {
        match self.backend {
            Backend::Sqlite(_) => Dialect::Sqlite,
            Backend::Postgres(_) => Dialect::Postgres,
        }
    }

    fn names(&self, sqlite: &str, postgres: &str, of: &str) -> Result<Vec<String>> {
        self.prepare(self.dialect().choose(sqlite, postgres))?
            .query_map([of], |row| row.get(0))?
            .collect()
    }

    /// Returns the number of migrations that ran.
    pub(crate) fn schema_version(&self) -> Result<usize> {
        if self.dialect() == Dialect::Sqlite {
            return self.query_row("PRAGMA user_version", [], |row| row.get(0));
        }
        if !self.has_table("schema_version")? {
            return Ok(0);
        }
        self.query_row("SELECT version FROM schema_version", [], |row| row.get(0))
    }

    pub(crate) fn set_schema_version(&self, version: usize) -> Result<()> {
        self.execute_batch(&match self.dialect() {
            Dialect::Sqlite => format!("PRAGMA user_version = {version}"),
            Dialect::Postgres => format!(
                "CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL); \
                 DELETE FROM schema_version; INSERT INTO schema_version VALUES ({version})"
            ),
        })
    }

    /// Returns the bytes that the database takes.
    pub(crate) fn size(&self) -> Result<i64> {
        let sql = self.dialect().choose(
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
            "SELECT pg_database_size(current_database())",
        );
        self.prepare_cached(sql)?.query_row([], |row| row.get(0))
    }

    /// Returns what the database itself finds wrong. PostgreSQL holds to references and types by itself, and its
    /// files are checked by its own programs (`pg_amcheck`).
    pub(crate) fn problems(&self) -> Result<Vec<String>> {
        if self.dialect() == Dialect::Postgres {
            return Ok(Vec::new());
        }
        let mut problems: Vec<String> = self
            .prepare("PRAGMA integrity_check")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_>>()?;
        problems.retain(|line| line != "ok");
        let broken = "SELECT count(*) FROM pragma_foreign_key_check()";
        let broken: u64 = self.query_row(broken, [], |row| row.get(0))?;
        if broken > 0 {
            problems.push(format!("{broken} rows refer to rows that are not there"));
        }
        Ok(problems)
    }

    pub(crate) fn has_table(&self, name: &str) -> Result<bool> {
        Ok(self.tables()?.iter().any(|table| table == name))
    }

    /// Returns the names of all tables.
    pub(crate) fn tables(&self) -> Result<Vec<String>> {
        self.names(
            "SELECT name FROM sqlite_schema WHERE type = ?1 AND name NOT LIKE 'sqlite_%' \
             AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY name",
            "SELECT CAST(tablename AS text) FROM pg_tables WHERE schemaname = current_schema() AND ?1 = 'table' \
             ORDER BY 1",
            "table",
        )
    }

    /// Returns the names of the tables that have a column, in their order.
    pub(crate) fn tables_with(&self, column: &str) -> Result<Vec<String>> {
        self.names(
            "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
             WHERE m.type = 'table' AND c.name = ?1 ORDER BY m.name",
            "SELECT CAST(table_name AS text) FROM information_schema.columns \
             WHERE table_schema = current_schema() AND column_name = ?1 ORDER BY 1",
            column,
        )
    }

    /// Empties all tables but some.
    pub(crate) fn empty_all_but(&self, kept: &[&str]) -> Result<()> {
        let tables = self.tables()?;
        let tables: Vec<String> = tables
            .iter()
            .filter(|table| !kept.contains(&table.as_str()))
            .map(|table| format!("\"{table}\""))
            .collect();
        match self.dialect() {
            Dialect::Sqlite => {
                // The order of deletion is not the order of the references.
                self.execute_batch("PRAGMA defer_foreign_keys = 1")?;
                for table in tables {
                    self.execute(&format!("DELETE FROM {table}"), [])?;
                }
                Ok(())
            }
            Dialect::Postgres => {
                let tables = tables.join(", ");
                self.execute_batch(&format!("TRUNCATE {tables} RESTART IDENTITY"))
            }
        }
    }
}
