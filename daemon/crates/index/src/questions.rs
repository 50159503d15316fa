//! Questions about mass deletions, kept until a person answers, over any restart.

use crate::columns::{collect, signed, unsigned};
use crate::error::IndexError;
use crate::open::Db;
use cairn_model::FolderId;

/// Where the files would be deleted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// On this disk, because they were deleted on the service.
    Local,
    /// On the service, because they were deleted on this disk.
    Remote,
}

/// What the person said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Asked,
    /// Delete them; holds until the deletions are done.
    Agreed,
}

/// One question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuestionRow {
    pub folder: FolderId,
    pub side: Side,
    pub files: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub answer: Answer,
}

fn side_text(side: Side) -> &'static str {
    match side {
        Side::Local => "local",
        Side::Remote => "remote",
    }
}

impl Db<'_> {
    /// Asks, or records the answer.
    ///
    /// # Errors
    /// SQLite's.
    pub fn put_question(&self, row: &QuestionRow) -> Result<(), IndexError> {
        let answer = match row.answer {
            Answer::Asked => "asked",
            Answer::Agreed => "agreed",
        };
        self.0
            .prepare_cached("INSERT OR REPLACE INTO questions (folder, side, files, at, answer) VALUES (?1,?2,?3,?4,?5)")?
            .execute((row.folder.0, side_text(row.side), signed(row.files), row.at_ms, answer))?;
        Ok(())
    }

    /// Ends a question.
    ///
    /// # Errors
    /// SQLite's.
    pub fn end_question(&self, folder: FolderId, side: Side) -> Result<(), IndexError> {
        self.0
            .prepare_cached("DELETE FROM questions WHERE folder = ?1 AND side = ?2")?
            .execute((folder.0, side_text(side)))?;
        Ok(())
    }

    /// The questions of a folder.
    ///
    /// # Errors
    /// SQLite's.
    pub fn questions(&self, folder: FolderId) -> Result<Vec<QuestionRow>, IndexError> {
        let mut statement = self.0.prepare_cached(
            "SELECT side, files, at, answer FROM questions WHERE folder = ?1 ORDER BY side",
        )?;
        collect(&mut statement.query([folder.0])?, |row| {
            let side: String = row.get(0)?;
            let answer: String = row.get(3)?;
            Ok(QuestionRow {
                folder,
                side: match side.as_str() {
                    "local" => Side::Local,
                    "remote" => Side::Remote,
                    _ => return Err(IndexError::Corrupt("side of a question")),
                },
                files: unsigned(row.get(1)?)?,
                at_ms: row.get(2)?,
                answer: if answer == "agreed" {
                    Answer::Agreed
                } else {
                    Answer::Asked
                },
            })
        })
    }
}
