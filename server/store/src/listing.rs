//! Lists of nodes (files and folders) by pages: a folder's children, the trash.

use super::rows::{NODE_COLUMNS, NODE_TABLES, node_row, parent_blob};
use super::{Space, Store, nodes};
use crate::db::{self, Connection, ToSql};
use crate::error::{Error, Result};
use cairn_model::{Kind, Name, NodeId};
use cairn_wire::nodes::Node;

/// The nodes to list.
#[derive(Clone, Debug)]
pub enum Listing {
    Children {
        parent: Option<NodeId>,
        name: Option<Name>,
    },
    /// The nodes that were put into the trash, without those that went along with them.
    Trash,
}

/// Ties are broken by name and id, so that pages don't overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Name,
    /// Largest first.
    Size,
    /// Latest first.
    Date,
}

impl Order {
    fn sql(self) -> &'static str {
        match self {
            Self::Name => "n.name_key, n.id",
            Self::Size => "n.size DESC, n.name_key, n.id",
            Self::Date => "coalesce(n.modified_at, n.updated_at) DESC, n.name_key, n.id",
        }
    }
}

/// Returns the condition on the nodes to list, and adds its values behind that of the space.
///
/// # Errors
/// 404 for a folder that isn't there, 400 for a file.
fn filter(
    conn: &Connection,
    space: Space,
    what: &Listing,
    values: &mut Vec<Box<dyn ToSql>>,
) -> Result<&'static str> {
    let (parent, name) = match what {
        Listing::Children { parent, name } => (parent, name),
        Listing::Trash => return Ok("n.state = 1 AND n.trash_root = n.id"),
    };
    if let Some(parent) = parent {
        let found = nodes::visible_node(conn, space, *parent)?;
        if found.node.kind == Kind::File {
            return Err(Error::invalid(format!(
                "`parent_id` {parent} is a file; it has to be a folder"
            )));
        }
    }
    values.push(Box::new(parent_blob(parent.as_ref()).to_vec()));
    let Some(name) = name else {
        return Ok("n.state = 0 AND n.parent = ?2");
    };
    values.push(Box::new(name.key().as_str().to_owned()));
    Ok("n.state = 0 AND n.parent = ?2 AND n.name_key = ?3")
}

impl Store {
    /// One page and the number of all.
    ///
    /// # Errors
    /// 404 for a folder that isn't there, 400 for a file.
    pub fn list(
        &self,
        space: Space,
        what: &Listing,
        order: Order,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Node>, u64)> {
        self.read(|conn| {
            let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(space.row)];
            let filter = filter(conn, space, what, &mut values)?;
            let of_filter = values.len();
            values.extend([Box::new(take) as Box<dyn ToSql>, Box::new(skip)]);
            let parameters: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
            // The page is found with its rows' numbers alone: sorting whole nodes for each page of a long list takes
            // several times as long.
            let order = order.sql();
            let sql = format!(
                "SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE n.row IN (SELECT n.row FROM nodes n \
                 WHERE n.space = ?1 AND {filter} ORDER BY {order} LIMIT ?{} OFFSET ?{}) ORDER BY {order}",
                of_filter + 1,
                of_filter + 2,
            );
            let nodes: Vec<Node> = conn
                .prepare_cached(&sql)?
                .query_map(parameters.as_slice(), |row| {
                    node_row(row).map(|found| found.node)
                })?
                .collect::<db::Result<_>>()?;
            let listed = nodes.len() as u64;
            // A last page says itself how many there are.
            if listed < take && (listed > 0 || skip == 0) {
                return Ok((nodes, skip + listed));
            }
            let total = conn
                .prepare_cached(&format!(
                    "SELECT count(*) FROM nodes n WHERE n.space = ?1 AND {filter}"
                ))?
                .query_row(&parameters[..of_filter], |row| row.get(0))?;
            Ok((nodes, total))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Source};
    use std::sync::Arc;

    fn plan(sql: &str) -> String {
        let store = Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap();
        let steps = store.read(|conn| {
            let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let steps = plan.query_map([], |row| row.get(3))?;
            Ok(steps.collect::<db::Result<Vec<String>>>()?)
        });
        steps.unwrap().join("\n")
    }

    #[test]
    fn a_list_looks_at_its_folder_and_at_no_revision_but_copies() {
        let children = "n.space = 1 AND n.state = 0 AND n.parent = x'01'";
        let count = plan(&format!("SELECT count(*) FROM nodes n WHERE {children}"));
        assert!(count.contains("nodes_name"), "{count}");
        let order = Order::Name.sql();
        let page = plan(&format!(
            "SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE n.row IN (SELECT n.row FROM nodes n \
             WHERE {children} ORDER BY {order} LIMIT 100 OFFSET 0) ORDER BY {order}"
        ));
        for index in ["nodes_name", "revisions_copied"] {
            assert!(page.contains(index), "{page}");
        }
        assert!(!page.contains("SCAN n"), "{page}");
    }
}
