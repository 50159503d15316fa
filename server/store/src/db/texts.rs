//! The index of texts: which nodes have which words in their names and in what is written about them.
//!
//! SQLite takes the texts apart itself (FTS5). For PostgreSQL it is done here and in the same way, since its own
//! parsers make other words of the same texts: letters and digits make words, without regard to case and accents.

use super::connection::Connection;
use super::dialect::Dialect;
use super::error::Result;
use super::params::params;
use super::row::Row;
use super::value::ValueRef;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Words of a node that PostgreSQL's index takes at most: it has room for 1 MiB.
const MOST_WORDS: usize = 12_000;
/// Bytes of one of those words.
const LONGEST_WORD: usize = 60;

/// The tables that a search by words reads, the condition, and the order in which a word in the name counts most.
pub(crate) struct WordSearch {
    pub(crate) tables: &'static str,
    pub(crate) filter: &'static str,
    pub(crate) order: &'static str,
}

const FTS5: WordSearch = WordSearch {
    tables: "node_text t JOIN nodes n ON n.row = t.rowid",
    filter: "node_text MATCH ?1",
    order: "bm25(node_text, 10, 4, 4, 4, 1), n.name_key, n.id",
};

const TSVECTOR: WordSearch = WordSearch {
    tables: "node_text t JOIN nodes n ON n.row = t.rowid",
    filter: "t.words @@ CAST(CAST(?1 AS text) AS tsquery)",
    order: "ts_rank('{0.1, 0.4, 0.4, 1.0}', t.words, CAST(CAST(?1 AS text) AS tsquery)) DESC, n.name_key, n.id",
};

/// A word as PostgreSQL's index has it.
fn fold(word: &str) -> String {
    let folded = word.nfd().filter(|c| !is_combining_mark(*c));
    let folded: String = folded.flat_map(char::to_lowercase).collect();
    let end = folded.floor_char_boundary(LONGEST_WORD.min(folded.len()));
    folded[..end].to_owned()
}

/// Returns the words of a text, each with its place and weight.
fn vector(texts: &[(&str, char)]) -> String {
    let mut all = String::new();
    let mut place = 0;
    for (text, weight) in texts {
        let composed: String = text.nfc().collect();
        for word in composed.split(|c: char| !c.is_alphanumeric()) {
            let word = fold(word);
            if !word.is_empty() && place < MOST_WORDS {
                place += 1;
                let place = place.min(16_383);
                all += &format!("'{word}':{place}{weight} ");
            }
        }
    }
    all
}

impl Dialect {
    /// Returns how a search by words is written.
    pub(crate) fn word_search(self) -> &'static WordSearch {
        match self {
            Self::Sqlite => &FTS5,
            Self::Postgres => &TSVECTOR,
        }
    }

    /// Returns a query for all of some words, as they begin. A word is letters and digits only.
    pub(crate) fn word_query(self, words: &[String]) -> String {
        let terms: Vec<String> = match self {
            Self::Sqlite => words.iter().map(|word| format!("\"{word}\"*")).collect(),
            Self::Postgres => words
                .iter()
                .map(|word| format!("'{}':*", fold(word)))
                .collect(),
        };
        match self {
            Self::Sqlite => terms.join(" "),
            Self::Postgres => terms.join(" & "),
        }
    }
}

impl Connection {
    /// Brings the index up to date with the texts of one node.
    pub(crate) fn index_node(&self, row: i64) -> Result<()> {
        self.prepare_cached("DELETE FROM node_text WHERE rowid = ?1")?
            .execute([row])?;
        if self.dialect() == Dialect::Sqlite {
            self.prepare_cached(
                "INSERT INTO node_text (rowid, name, description, labels, tags, comments) \
                 SELECT n.row, n.name_key, n.description, coalesce(n.labels, ''), coalesce(n.tags, ''), \
                 (SELECT coalesce(group_concat(c.body, char(10)), '') FROM comments c WHERE c.node = n.id) \
                 FROM nodes n WHERE n.row = ?1 AND n.state < 2",
            )?
            .execute([row])?;
            return Ok(());
        }
        let read = |row: &Row<'_>| -> Result<String> {
            let text = |column| row.get_with(column, ValueRef::as_str);
            Ok(vector(&[
                (text(0)?, 'A'),
                (text(1)?, 'B'),
                (text(2)?, 'B'),
                (text(3)?, 'B'),
                (text(4)?, 'D'),
            ]))
        };
        let words: Vec<String> = self
            .prepare_cached(
                "SELECT n.name_key, n.description, coalesce(n.labels, ''), coalesce(n.tags, ''), \
                 (SELECT coalesce(string_agg(c.body, chr(10)), '') FROM comments c WHERE c.node = n.id) \
                 FROM nodes n WHERE n.row = ?1 AND n.state < 2",
            )?
            .query_map([row], read)?
            .collect::<Result<_>>()?;
        for words in words {
            let sql = "INSERT INTO node_text (rowid, words) VALUES (?1, CAST(CAST(?2 AS text) AS tsvector))";
            self.prepare_cached(sql)?.execute(params![row, words])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{fold, vector};

    #[test]
    fn words_are_letters_and_digits_without_case_and_accents() {
        assert_eq!(fold("Ärger"), "arger");
        assert_eq!(fold("e\u{301}t\u{e9}"), "ete");
        assert_eq!(
            vector(&[("Tax-2025.pdf", 'A'), ("it's \\ \"new\"", 'D')]),
            "'tax':1A '2025':2A 'pdf':3A 'it':4D 's':5D 'new':6D "
        );
    }
}
