//! Search for files and folders (nodes): by a part of a name or of metadata, or by words in everything that is
//! written about one, with filters on top.
//!
//! The word index is brought up to date by the search that needs it.

use super::rows::{NODE_COLUMNS, NODE_TABLES, id as read_id, media, node_row};
use super::{Space, Store};
use crate::db::{self, Connection, Dialect, Row, ValueRef, params};
use crate::error::Result;
use cairn_model::name::{compose, search_key};
use cairn_model::{Category, Kind, NodeId};
use cairn_wire::nodes::Node;
use std::collections::HashSet;

/// The places that a text is looked for in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Words or parts of them, each in a name, a description, a label or a tag.
    #[default]
    Parts,
    /// Words, or their beginnings, also in comments.
    Words,
}

/// A search.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pub text: String,
    pub mode: Mode,
    pub category: Option<Category>,
    /// Without a dot, lower case.
    pub extension: Option<String>,
    /// Created from this time on.
    pub from: Option<i64>,
    /// Created up to this time.
    pub to: Option<i64>,
}

/// The different words of a text that count: each costs a comparison with every node.
const MAX_WORDS: usize = 16;

/// Returns the first different words, whatever their case.
fn distinct_words<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    words
        .filter(|word| seen.insert(word.to_lowercase()))
        .take(MAX_WORDS)
        .collect()
}

/// Returns the words of a text, each of which has to be found, in any order.
fn parts(text: &str) -> Vec<String> {
    let key = search_key(text);
    let words = distinct_words(key.split_whitespace());
    words.into_iter().map(str::to_owned).collect()
}

/// Returns the words of a text in the index of texts, the last ones as they begin.
fn words(text: &str) -> Vec<String> {
    // An accent that stands alone would split a word.
    let text = compose(text);
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = distinct_words(words.filter(|word| !word.is_empty()));
    words.into_iter().map(str::to_owned).collect()
}

/// Takes a node out of the index.
pub(super) fn forget(conn: &Connection, node: NodeId) -> Result<()> {
    conn.prepare_cached(
        "DELETE FROM node_text WHERE rowid = (SELECT row FROM nodes WHERE id = ?1)",
    )?
    .execute([node.as_bytes()])?;
    Ok(())
}

impl Store {
    /// Brings the index up to date with what changed since the last search by words.
    fn index_texts(&self, space: Space) -> Result<()> {
        let behind = |conn: &Connection| -> Result<Vec<(i64, i64)>> {
            Ok(conn
                .prepare_cached(
                    "SELECT row, seq FROM nodes WHERE space = ?1 \
                     AND seq > coalesce((SELECT seq FROM node_text_state WHERE space = ?1), -1) ORDER BY seq",
                )?
                .query_map([space.row], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<db::Result<_>>()?)
        };
        if self.read(behind)?.is_empty() {
            return Ok(());
        }
        self.write(|tx| {
            let changed = behind(tx.conn)?;
            for (row, _) in &changed {
                tx.conn.index_node(*row)?;
            }
            if let Some((_, seq)) = changed.last() {
                tx.conn
                    .prepare_cached(
                        "INSERT INTO node_text_state (space, seq) VALUES (?1, ?2) \
                         ON CONFLICT (space) DO UPDATE SET seq = excluded.seq",
                    )?
                    .execute(params![space.row, seq])?;
            }
            Ok(())
        })
    }

    /// One page of the active nodes that a search finds, and their number.
    pub fn search(
        &self,
        spaces: &[Space],
        search: &Search,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Node>, u64)> {
        let Some(matching) = Matching::of(search, self.dialect) else {
            return Ok((Vec::new(), 0));
        };
        // What is sealed can be searched by devices alone.
        let open = spaces.iter().filter(|space| !space.id.is_private());
        let spaces: Vec<Space> = open.copied().collect();
        if spaces.is_empty() {
            return Ok((Vec::new(), 0));
        }
        if search.mode == Mode::Words {
            for space in &spaces {
                self.index_texts(*space)?;
            }
        }
        let sql = matching.sql(&spaces);
        self.read(|conn| {
            let found = find_rows(conn, &sql, &matching, search)?;
            let page = found
                .iter()
                .skip(usize::try_from(skip).unwrap_or(usize::MAX))
                .take(usize::try_from(take).unwrap_or(usize::MAX))
                .map(|row| {
                    let sql = format!("SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE n.row = ?1");
                    Ok(conn
                        .prepare_cached(&sql)?
                        .query_row([row], |row| node_row(row).map(|found| found.node))?)
                })
                .collect::<Result<_>>()?;
            Ok((page, found.len() as u64))
        })
    }
}

/// The parts of the query that depend on the mode.
struct Matching {
    tables: &'static str,
    filter: &'static str,
    /// `None` where what is found is sorted by name here: SQLite would sort everything that it reads.
    order: Option<&'static str>,
    /// The text that the filter compares with.
    text: Option<String>,
    /// Parts that have to be in the texts of a node; SQLite knows the two cases of ASCII letters only.
    parts: Vec<String>,
}

impl Matching {
    /// Returns `None` for a search by words without a word: it finds nothing.
    fn of(search: &Search, dialect: Dialect) -> Option<Self> {
        let words = words(&search.text);
        Some(match search.mode {
            Mode::Parts => Self {
                tables: "nodes n",
                filter: "CAST(?1 AS TEXT) IS NULL",
                order: None,
                text: None,
                parts: parts(&search.text),
            },
            Mode::Words if words.is_empty() => return None,
            Mode::Words => {
                let search = dialect.word_search();
                Self {
                    tables: search.tables,
                    filter: search.filter,
                    order: Some(search.order),
                    text: Some(dialect.word_query(&words)),
                    parts: Vec::new(),
                }
            }
        })
    }

    fn sql(&self, spaces: &[Space]) -> String {
        let Self { tables, filter, .. } = self;
        let rows: Vec<String> = spaces.iter().map(|space| space.row.to_string()).collect();
        let order = self
            .order
            .map_or(String::new(), |order| format!("ORDER BY {order}"));
        format!(
            "SELECT n.row, n.kind, n.name, n.description, n.tags, n.labels, n.name_key, n.id FROM {tables} \
             WHERE n.state = 0 AND n.space IN ({}) AND {filter} \
             AND n.created_at >= ?2 AND n.created_at <= ?3 {order}",
            rows.join(", ")
        )
    }
}

/// Returns true if each of the parts is in one of a node's texts.
fn holds_all(parts: &[String], row: &Row<'_>) -> db::Result<bool> {
    // Most nodes have a name alone, and most names lack the first part already.
    let mut missing: Vec<&str> = parts.iter().map(String::as_str).collect();
    for column in 2..=5 {
        if missing.is_empty() {
            return Ok(true);
        }
        if let Some(text) = row
            .get_with(column, ValueRef::as_str_or_null)?
            .filter(|text| !text.is_empty())
        {
            let key = search_key(text);
            missing.retain(|part| !key.contains(part));
        }
    }
    Ok(missing.is_empty())
}

/// Returns the rows of the nodes that match and that the filters let through.
fn find_rows(
    conn: &Connection,
    sql: &str,
    matching: &Matching,
    search: &Search,
) -> Result<Vec<i64>> {
    let from = search.from.unwrap_or(i64::MIN);
    let to = search.to.unwrap_or(i64::MAX);
    let mut found: Vec<(String, NodeId, i64)> = Vec::new();
    let mut statement = conn.prepare_cached(sql)?;
    let mut candidates = statement.query(params![matching.text, from, to])?;
    while let Some(row) = candidates.next()? {
        let kind = if row.get::<i64>(1)? == 1 {
            Kind::Folder
        } else {
            Kind::File
        };
        if holds_all(&matching.parts, &row)? && fits(search, kind, &row.get::<String>(2)?) {
            found.push((row.get(6)?, read_id(&row, 7)?, row.get(0)?));
        }
    }
    if matching.order.is_none() {
        found.sort_unstable();
    }
    Ok(found.into_iter().map(|(_, _, row)| row).collect())
}

/// The filters that come from a node's name.
fn fits(search: &Search, kind: Kind, name: &str) -> bool {
    if let Some(wanted) = search.category {
        let (_, category) = media(kind, name);
        if category.unwrap_or(Category::Folder) != wanted {
            return false;
        }
    }
    search.extension.as_ref().is_none_or(|wanted| {
        kind == Kind::File
            && name
                .rsplit_once('.')
                .is_some_and(|(_, extension)| extension.to_lowercase() == *wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::{Dialect, MAX_WORDS, parts, words};

    #[test]
    fn a_word_is_looked_for_once_and_many_words_are_bounded() {
        assert_eq!(parts("tax Tax TAX 2025 tax"), ["tax", "2025"]);
        assert_eq!(words("tax-tax"), ["tax"]);
        let many: Vec<String> = (0..127).map(|number| number.to_string()).collect();
        let many = many.join(" ");
        assert_eq!(parts(&many).len(), MAX_WORDS);
        assert_eq!(words(&many).len(), MAX_WORDS);
    }

    #[test]
    fn words_are_quoted_so_that_no_text_is_a_query_language() {
        let query = |text| Dialect::Sqlite.word_query(&words(text));
        assert_eq!(query("tax 2025"), "\"tax\"* \"2025\"*");
        assert_eq!(query("a\" OR name:b*"), "\"a\"* \"OR\"* \"name\"* \"b\"*");
        let query = |text| Dialect::Postgres.word_query(&words(text));
        assert_eq!(query("a' | b:*"), "'a':* & 'b':*");
        assert_eq!(words("—%_"), Vec::<String>::new());
    }
}
