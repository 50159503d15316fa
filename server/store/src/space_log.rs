//! The signed log of a space (format 2, docs/design/format-2.md): devices sign their changes as commits of statements
//! about nodes, and readers can prove that the server shows everybody the same log. Commits are checked by the rules of
//! `cairn-log`.
//!
//! A commit is checked and taken in by one transaction, which touches rows of what the commit names and a
//! few for each level of the tree: its cost doesn't grow with the space. A refusal rolls it back.

mod collect;
mod history;
mod objects;
mod pages;
mod quota;
mod rate;
mod records;
mod rights;
mod snapshot;
#[cfg(test)]
mod tests;
mod uses;

pub use collect::CollectedSpaceObjects;
pub use history::begin_restored_histories;
pub(crate) use history::restored_mark;
pub use objects::{NewSpaceObject, SpaceObject};
pub use pages::MAX_LOG_PAGE;

use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::transaction::Durability;
use crate::{Actor, Space, Store, Tx, log_guard, usage};
use cairn_log::{
    Commit, CommitRequest, CommitResponse, LogPage, Records as _, Refusal, SpaceState, Statement,
};
use cairn_model::AccountId;
use records::{CommitError, Rows, damaged_error};

/// The most bytes of entries in the response to a commit.
const MAX_RESPONSE: usize = 1 << 20;

/// The tables of a log.
const TABLES: [&str; 9] = [
    "log_uses",
    "log_ended",
    "log_items",
    "log_leaves",
    "log_subtrees",
    "log_places",
    "log_devices",
    "log_marks",
    "logs",
];

/// Deletes the log of a space with its objects, whose files are to be deleted by the caller.
pub(super) fn delete_log(conn: &Connection, space: Space, files: &mut Vec<String>) -> Result<()> {
    files.extend(objects::delete_all(conn, space)?);
    for table in TABLES {
        conn.execute(
            &format!("DELETE FROM {table} WHERE space = ?1"),
            [space.row],
        )?;
    }
    Ok(())
}

fn load<'a>(
    conn: &'a Connection,
    space: Space,
    first_history: [u8; 16],
) -> std::result::Result<SpaceState<Rows<'a>>, CommitError> {
    let rows = Rows {
        conn,
        space: space.row,
    };
    let core: Option<Vec<u8>> = conn
        .prepare_cached("SELECT core FROM logs WHERE space = ?1")?
        .query_row([space.row], |row| row.get(0))
        .optional()?;
    match core {
        Some(core) => {
            let state = SpaceState::resume(space.id, &core, rows);
            Ok(state.map_err(|_| damaged_error("the state"))?)
        }
        None => Ok(SpaceState::with_records(space.id, first_history, rows)),
    }
}

fn save(conn: &Connection, space: Space, state: &SpaceState<Rows<'_>>) -> Result<()> {
    let (size, root) = state.head();
    conn.prepare_cached(
        "INSERT INTO logs (space, history, size, root, core) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (space) DO UPDATE SET history = excluded.history, size = excluded.size, \
         root = excluded.root, core = excluded.core",
    )?
    .execute(params![
        space.row,
        state.history(),
        size,
        root,
        state.core()
    ])?;
    Ok(())
}

/// Refuses the first commit of a space that has files which no device signed.
fn check_empty(conn: &Connection, space: Space) -> Result<()> {
    let has_nodes: bool = conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM nodes WHERE space = ?1 AND state < 2) \
         OR EXISTS (SELECT 1 FROM uploads WHERE space = ?1 AND done = 0)",
        [space.row],
        |row| row.get(0),
    )?;
    if has_nodes {
        return Err(Error::conflict(format!(
            "the space {} has files or open uploads that no device has signed; a log begins in an empty \
             space: delete them for good first",
            space.id
        )));
    }
    Ok(())
}

/// Refuses a commit of somebody else's device: nobody brings in what another account signed.
fn check_sender(state: &SpaceState<Rows<'_>>, device: u32, sender: AccountId) -> Result<()> {
    let owner = match state.records().device(device) {
        Ok(known) => known.map(|known| known.account),
        Err(CommitError::Store(error)) => return Err(error),
        Err(CommitError::Refused(_)) => None,
    };
    if owner == Some(sender) {
        return Ok(());
    }
    Err(Error::Forbidden(
        "the commit is signed by a device of another account".into(),
    ))
}

fn append(
    tx: &Tx<'_>,
    actor: &Actor,
    first_history: [u8; 16],
    request: &CommitRequest,
) -> std::result::Result<u64, CommitError> {
    let (bytes, space) = (&request.commit, actor.space);
    let mut state = load(tx.conn, space, first_history)?;
    let is_first = state.genesis().is_none();
    rights::check_writer(tx.conn, actor, is_first)?;
    let (used, _) = usage::used_and_limit(tx.conn, space.row)?;
    let position = state.apply_commit(bytes)?;
    if is_first {
        check_empty(tx.conn, space)?;
    }
    let commit = Commit::decode(bytes).map_err(Refusal::from)?;
    let device = commit.header.device;
    check_sender(&state, device, actor.account)?;
    let is_control = |body: &Vec<u8>| matches!(Statement::decode(body), Ok(Statement::Control(_)));
    let controls = commit.statements.iter().filter(|body| is_control(body));
    rate::admit(tx, space, device, controls.count())?;
    let naming = uses::Naming {
        tx,
        actor,
        position,
    };
    naming.name_all(&commit, &request.manifests)?;
    save(tx.conn, space, &state)?;
    quota::check_commit(tx, space, used, &commit)?;
    Ok(position)
}

impl Store {
    /// Returns true if a space has a log.
    pub fn has_log(&self, space: Space) -> Result<bool> {
        self.read(|conn| log_guard::has_log(conn, space))
    }

    /// Checks a commit and appends it to the log; it is on the disk when this returns. The response to an
    /// accepted or refused commit has the entries after the size that its device has seen, as far as they fit.
    ///
    /// # Errors
    /// 409 for the first commit of a space with files, and for objects that aren't there; 403 for another
    /// account's device, and for somebody who has no part in the space any more; 429 for too many control statements;
    /// 507 for what doesn't fit. A commit that breaks a rule of the log is a response, not an error.
    pub fn commit(&self, actor: &Actor, request: &CommitRequest) -> Result<CommitResponse> {
        let bytes = &request.commit;
        let server = self.history_id();
        let mut refusal = None;
        let taken = self.write_with(Durability::OnDisk, |tx| {
            let first_history = history::of(tx.conn, &server, actor.space.id)?;
            append(tx, actor, first_history.history, request).map_err(|failed| match failed {
                CommitError::Store(error) => error,
                CommitError::Refused(rule) => {
                    refusal = Some(rule);
                    Error::conflict(rule.to_string())
                }
            })
        });
        let seen = Commit::decode(bytes).map(|commit| commit.header.seen);
        let page = |from| self.log_page(actor.space, from, MAX_RESPONSE);
        match (taken, refusal) {
            (Ok(position), _) => Ok(CommitResponse::Accepted {
                position,
                page: page(seen.unwrap_or(position))?,
            }),
            (Err(_), Some(refusal)) => Ok(CommitResponse::Refused {
                refusal,
                page: page(seen.unwrap_or(u64::MAX))?,
            }),
            (Err(error), None) => Err(error),
        }
    }

    /// Returns the entries from a position on, at most so many bytes of them, but one where there is one.
    ///
    /// # Errors
    /// A database that fails.
    pub fn log_page(&self, space: Space, from: u64, most: usize) -> Result<LogPage> {
        let server = self.history_id();
        self.read(|conn| {
            let first_history = history::of(conn, &server, space.id)?;
            pages::read(conn, space, &first_history, from, most)
        })
    }
}
