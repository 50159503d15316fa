//! Lists of nodes (files and folders) by pages: a folder's children, the trash.

use super::rows::{NODE_COLUMNS, NODE_TABLES, node_row, parent_blob};
use super::{Space, Store, nodes};
use crate::db::{self, ToSql};
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
            let filter = match what {
                Listing::Children { parent, name } => {
                    if let Some(parent) = parent {
                        let found = nodes::visible_node(conn, space, *parent)?;
                        if found.node.kind == Kind::File {
                            return Err(Error::invalid(format!(
                                "`parent_id` {parent} is a file; it has to be a folder"
                            )));
                        }
                    }
                    values.push(Box::new(parent_blob(parent.as_ref()).to_vec()));
                    if let Some(name) = name {
                        values.push(Box::new(name.key().as_str().to_owned()));
                        "n.state = 0 AND n.parent = ?2 AND n.name_key = ?3"
                    } else {
                        "n.state = 0 AND n.parent = ?2"
                    }
                }
                Listing::Trash => "n.state = 1 AND n.trash_root = n.id",
            };
            let parameters: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
            let total = conn
                .prepare_cached(&format!(
                    "SELECT count(*) FROM nodes n WHERE n.space = ?1 AND {filter}"
                ))?
                .query_row(parameters.as_slice(), |row| row.get(0))?;
            // The page is found with its rows' numbers alone: sorting whole nodes for each page of a long list takes
            // several times as long.
            let order = order.sql();
            let sql = format!(
                "SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE n.row IN (SELECT n.row FROM nodes n \
                 WHERE n.space = ?1 AND {filter} ORDER BY {order} LIMIT {take} OFFSET {skip}) ORDER BY {order}",
            );
            let nodes = conn
                .prepare(&sql)?
                .query_map(parameters.as_slice(), |row| {
                    node_row(row).map(|found| found.node)
                })?
                .collect::<db::Result<_>>()?;
            Ok((nodes, total))
        })
    }
}
