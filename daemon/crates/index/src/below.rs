//! Rows that lie below a local row or a node of the service, as statements choose them.
//!
//! Most of what is removed are files, which have nothing below them. Statements with their id alone are much faster than
//! those that walk a tree, for which SQLite makes two tables each time.

/// The rows `below` of a local row `?2` of the folder `?1`, itself among them. CROSS JOIN keeps the order of the
/// loops: SQLite would go through the whole folder first.
pub(crate) const BELOW_LOCAL: &str = "WITH RECURSIVE below(id) AS (SELECT ?2 UNION ALL \
     SELECT l.id FROM below b CROSS JOIN local l ON l.folder = ?1 AND l.parent = b.id) ";
/// The nodes `below` of a node `?1` in the remote tree, itself among them.
pub(crate) const BELOW_REMOTE: &str = "WITH RECURSIVE below(node) AS (SELECT ?1 UNION ALL \
     SELECT r.node FROM below b CROSS JOIN remote r ON r.parent = b.node) ";

/// The parts of a statement about a row or a node and all that is below it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Below {
    /// Begins the statement.
    pub(crate) with: &'static str,
    /// The ids, behind `IN`.
    pub(crate) ids: &'static str,
    /// The column of the walk; `None` where there is nothing below.
    column: Option<&'static str>,
}

impl Below {
    /// A local row with what is below it; `?1` is its folder, `?2` its id.
    pub(crate) const LOCAL: Self = Self {
        with: BELOW_LOCAL,
        ids: "(SELECT id FROM below)",
        column: Some("id"),
    };
    /// A local row with nothing below it.
    pub(crate) const LOCAL_ALONE: Self = Self {
        with: "",
        ids: "(?2)",
        column: None,
    };
    /// A node with what is below it; `?1` is its id.
    pub(crate) const REMOTE: Self = Self {
        with: BELOW_REMOTE,
        ids: "(SELECT node FROM below)",
        column: Some("node"),
    };
    /// A node with nothing below it.
    pub(crate) const REMOTE_ALONE: Self = Self {
        with: "",
        ids: "(?1)",
        column: None,
    };

    /// Returns the rows `s` of a table that have the ids in a column, behind `FROM` and with a condition. The order is
    /// that of the walk.
    pub(crate) fn rows_of(&self, table: &str, column: &str) -> String {
        match self.column {
            Some(id) => format!("below b CROSS JOIN {table} s ON s.{column} = b.{id} WHERE true"),
            None => format!("{table} s WHERE s.{column} IN {}", self.ids),
        }
    }
}

#[cfg(test)]
mod tests;
