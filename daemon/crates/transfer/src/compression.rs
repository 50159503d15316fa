//! The files that are not compressed: where others can put text beside secrets, the length after compression reveals
//! the secrets.
//!
//! A file type is recognised by the end of its name or by the first bytes. A name that no seal authenticates
//! comes from the service, which could switch compression on with a rename.

use crate::upload::UploadTarget;
use cairn_crypto::format2::Compression;

/// Mailboxes and databases, by the end of their names.
const LEFT_AS_THEY_ARE: [&str; 25] = [
    "eml", "emlx", "mbox", "mbx", "msf", "msg", "pst", "ost", "dbx", "nsf", "db", "db3", "sqlite",
    "sqlite3", "mdb", "accdb", "mdf", "ldf", "ibd", "fdb", "ldb", "sst", "myd", "myi", "duckdb",
];

/// Mailboxes and databases, by bytes at an offset.
const MARKS: [(usize, &[u8]); 12] = [
    (0, b"SQLite format 3\0"),
    // The journals of SQLite carry pages of the database.
    (0, b"\x37\x7f\x06\x82"),
    (0, b"\x37\x7f\x06\x83"),
    (0, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"),
    (0, b"!BDN"),
    (4, b"Standard Jet DB"),
    (4, b"Standard ACE DB"),
    (4, b"\xef\xcd\xab\x89"),
    (8, b"DUCK"),
    // Berkeley DB, then LMDB.
    (12, b"\x61\x15\x06\x00"),
    (12, b"\x62\x31\x05\x00"),
    (16, b"\xde\xc0\xef\xbe"),
];

/// Fields that a stored message begins with, as far as they don't begin with `X-`.
const FIELDS: [&str; 16] = [
    "return-path",
    "received",
    "delivered-to",
    "envelope-to",
    "authentication-results",
    "arc-seal",
    "dkim-signature",
    "message-id",
    "mime-version",
    "content-type",
    "date",
    "from",
    "reply-to",
    "to",
    "subject",
    "status",
];

/// Returns whether the chunks of a file may be compressed, as far as its name tells.
pub(crate) fn of(target: &UploadTarget) -> Compression {
    let is_verified = match target {
        UploadTarget::New { .. } => true,
        UploadTarget::Revision { .. } => target.sealed_content().is_some(),
    };
    if is_verified && !is_left(target.name()) {
        Compression::On
    } else {
        Compression::Off
    }
}

fn is_left(name: &str) -> bool {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    let end = end.strip_suffix("-wal").unwrap_or(end);
    let end = end.strip_suffix("-journal").unwrap_or(end);
    LEFT_AS_THEY_ARE
        .iter()
        .any(|left| left.eq_ignore_ascii_case(end))
}

/// Returns whether a file with this beginning is a mailbox or a database.
pub(crate) fn is_mail_or_database(beginning: &[u8]) -> bool {
    let has = |(at, mark): &(usize, &[u8])| {
        let rest = beginning.get(*at..);
        rest.is_some_and(|rest| rest.starts_with(mark))
    };
    MARKS.iter().any(has) || is_mail(beginning)
}

fn is_mail(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|&byte| byte == b'\n');
    let mut line = lines.next().unwrap_or_default();
    // A message of Apple Mail has its length in front.
    if is_number(line.trim_ascii()) {
        line = lines.next().unwrap_or_default();
    }
    if line.starts_with(b"From ") {
        return true;
    }
    let Some(colon) = line.iter().take(64).position(|&byte| byte == b':') else {
        return false;
    };
    let field = &line[..colon];
    let is_own = field.len() > 2 && field[..2].eq_ignore_ascii_case(b"x-");
    is_own
        || FIELDS
            .iter()
            .any(|known| field.eq_ignore_ascii_case(known.as_bytes()))
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::download::Download;
    use cairn_model::{NodeId, RevisionId};

    fn new(name: &str) -> UploadTarget {
        UploadTarget::New {
            node: NodeId::from_random_bytes([1; 16]),
            parent: None,
            name: name.to_owned(),
        }
    }

    fn revision(name: &str, manifest_hash: Option<[u8; 32]>) -> UploadTarget {
        let (node, base) = (
            NodeId::from_random_bytes([1; 16]),
            RevisionId::from_random_bytes([2; 16]),
        );
        UploadTarget::Revision {
            node,
            parent: None,
            name: name.to_owned(),
            base,
            number: 2,
            replaced: Some(Download {
                manifest_hash,
                ..Download::new(node, base)
            }),
            seal_seq: 2,
            version: None,
        }
    }

    #[test]
    fn mailboxes_and_databases_are_left_as_they_are() {
        for name in ["Inbox.MBOX", "app.sqlite", "app.sqlite-wal", "a.b.db"] {
            assert_eq!(of(&new(name)), Compression::Off, "{name}");
        }
        for name in ["notes.md", "db", "sqlite", "", ".mbox.txt"] {
            assert_eq!(of(&new(name)), Compression::On, "{name}");
        }
    }

    #[test]
    fn a_name_for_which_nobody_vouches_switches_nothing_on() {
        assert_eq!(of(&revision("notes.md", Some([1; 32]))), Compression::On);
        assert_eq!(of(&revision("a.mbox", Some([1; 32]))), Compression::Off);
        assert_eq!(of(&revision("notes.md", None)), Compression::Off);
    }

    #[test]
    fn mailboxes_and_databases_are_known_by_their_first_bytes() {
        let yes: [&[u8]; 10] = [
            b"SQLite format 3\0\x10\0\x01\x01",
            b"From alice@example.org Mon Nov 23 07:00:00 2026\nFrom: Alice\n",
            b"Return-Path: <alice@example.org>\r\n",
            b"X-Mozilla-Status: 0001\n",
            b"SUBJECT: hello",
            b"2847      \nReceived: from a by b\n",
            b"\0\x01\0\0Standard ACE DB\0",
            b"\x12\x34\x56\x78\0\0\0\0DUCK",
            b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xde\xc0\xef\xbe\x01",
            b"!BDN\0\0",
        ];
        for beginning in yes {
            assert!(is_mail_or_database(beginning), "{beginning:?}");
        }
        let no: [&[u8]; 8] = [
            b"",
            b"\n",
            b"12\n",
            b"# Title\n\nFrom: here",
            b"Title: a page\nDate: today\n",
            b"\x7fELF\x02\x01\x01",
            b"fn main() {}",
            b"%PDF-1.7\n",
        ];
        for beginning in no {
            assert!(!is_mail_or_database(beginning), "{beginning:?}");
        }
    }
}
