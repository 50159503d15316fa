//! The files that are not compressed: where strangers can put text beside secrets, compressed lengths tell
//! the secrets.

use cairn_crypto::format2::Compression;

/// Mailboxes and databases, by the end of their names.
const LEFT_AS_THEY_ARE: [&str; 20] = [
    "eml", "emlx", "mbox", "mbx", "msf", "msg", "pst", "ost", "dbx", "nsf", "db", "db3", "sqlite",
    "sqlite3", "mdb", "accdb", "mdf", "ldf", "ibd", "fdb",
];

/// Returns whether the chunks of a file of this name are compressed.
pub(crate) fn of(name: &str) -> Compression {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    // The journals of SQLite carry rows of the database.
    let end = end.strip_suffix("-wal").unwrap_or(end);
    let end = end.strip_suffix("-journal").unwrap_or(end);
    let is_left = LEFT_AS_THEY_ARE
        .iter()
        .any(|left| left.eq_ignore_ascii_case(end));
    if is_left {
        Compression::Off
    } else {
        Compression::On
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_and_databases_are_left_as_they_are() {
        for name in ["Inbox.MBOX", "app.sqlite", "app.sqlite-wal", "a.b.db"] {
            assert_eq!(of(name), Compression::Off, "{name}");
        }
        for name in ["notes.md", "db", "sqlite", "", ".mbox.txt"] {
            assert_eq!(of(name), Compression::On, "{name}");
        }
    }
}
