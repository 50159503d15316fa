//! The storage quota of a space (the files of an account or team) with a signed log: the bytes that a commit stores
//! count, as its objects do.

use crate::db::Connection;
use crate::error::Result;
use crate::usage::{self, Growth};
use crate::{Space, Tx};
use cairn_log::{Commit, ControlBody, NodeOp, NodeStatement, Statement};

/// Bytes beyond the limit for what has to be possible in a full space: deleting, removing members, revoking devices.
const RESERVE: i64 = 16 << 20;

/// Returns true for a statement that a full space takes.
fn is_essential(body: &[u8]) -> bool {
    match Statement::decode(body) {
        Ok(Statement::Node(node)) => matches!(node.op, NodeOp::Trash | NodeOp::Purge),
        Ok(Statement::Control(control)) => match control.body {
            ControlBody::Roster(_)
            | ControlBody::Epoch(_)
            | ControlBody::DeviceList(_)
            | ControlBody::Rejoin(_) => true,
            ControlBody::Genesis(_)
            | ControlBody::Invitation(_)
            | ControlBody::Checkpoint(_)
            | ControlBody::Link(_)
            | ControlBody::Joined(_)
            | ControlBody::Identity(_) => false,
        },
        Err(_) => false,
    }
}

/// Returns the files that a statement makes (1) or deletes for good (-1).
fn files_in(node: &NodeStatement) -> i64 {
    let is_first = node.prev == [0; 16];
    match (&node.file, node.op == NodeOp::Purge) {
        (None, _) => 0,
        (Some(_), true) => -1,
        (Some(_), false) => i64::from(is_first),
    }
}

/// Counts the files of a commit that was stored, and refuses it if it doesn't fit; `before` is what the space
/// used before it.
///
/// # Errors
/// 507.
pub(super) fn check_commit(tx: &Tx<'_>, space: Space, before: i64, commit: &Commit) -> Result<()> {
    let mut files = 0;
    for body in &commit.statements {
        if let Ok(Statement::Node(node)) = Statement::decode(body) {
            files += files_in(&node);
        }
    }
    let growth = Growth { bytes: 0, files };
    usage::check_quota(tx.conn, space, growth)?;
    usage::count_files(tx.conn, space, files)?;
    let (used, limit) = usage::used_and_limit(tx.conn, space.row)?;
    let is_essential = commit.statements.iter().all(|body| is_essential(body));
    if used <= before || (is_essential && used <= limit.saturating_add(RESERVE)) {
        return Ok(());
    }
    usage::check_fits(tx.conn, space.row)
}

/// Refuses an object that doesn't fit. The boxes of a new epoch, which have their SHA-256 as their name, may use the reserve:
/// a device can be revoked in a full space.
///
/// # Errors
/// 507.
pub(super) fn check_object(
    conn: &Connection,
    space: Space,
    bytes: i64,
    is_boxes: bool,
) -> Result<()> {
    let (used, limit) = usage::used_and_limit(conn, space.row)?;
    if is_boxes && used.saturating_add(bytes) <= limit.saturating_add(RESERVE) {
        return Ok(());
    }
    usage::check_quota(conn, space, Growth { bytes, files: 0 })
}
