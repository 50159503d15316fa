//! Uploads in progress: what they announced, which of their chunks (encrypted pieces of the file) are here, when they
//! end.

use super::holders::{self, Announced, Presence};
use super::rows::{id as read_id, pack_chunks, unpack_chunks};
use super::upload_content::{Target, check_target};
use super::usage::{self, Growth};
use super::{Actor, Space, Store, Tx, access, chunks, log_guard, revisions};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, ChunkId, NodeId, RevisionId, UploadId};
use cairn_wire::transfer::{CreateUpload, SealedChunk};
use std::collections::{HashMap, HashSet};

/// The time for which an upload can be resumed.
const KEPT_MS: i64 = 7 * 24 * 3600 * 1000;

/// An upload as it was announced.
#[derive(Clone, Debug)]
pub struct OpenUpload {
    pub id: UploadId,
    pub account: AccountId,
    pub expires_at: i64,
    /// The row of the space that it was begun in, which its bytes count for.
    pub(crate) space: i64,
    /// True if its revision is there.
    pub(crate) done: bool,
    /// The request; its chunks are distinct and in file order.
    pub create: CreateUpload,
    /// Sealed sizes by chunk.
    pub sizes: HashMap<ChunkId, u64>,
}

/// The result of expiry: how many uploads were given up, and the objects that nothing refers to any more.
#[derive(Debug, Default)]
pub struct ExpiredUploads {
    pub uploads: u64,
    pub objects: Vec<String>,
}

impl OpenUpload {
    /// Refuses a request that acts in another space than the one that the upload was begun in: that one
    /// pays for it.
    ///
    /// # Errors
    /// 400.
    pub fn check_space(&self, space: Space) -> Result<()> {
        if self.space != space.row {
            return Err(Error::invalid(
                "the upload was begun in another space; send that one's `X-Space-Id`",
            ));
        }
        Ok(())
    }
}

struct UploadRow {
    upload: UploadId,
    account: AccountId,
    space: i64,
    expires_at: i64,
    done: bool,
    request: String,
    packed: Vec<u8>,
}

const COLUMNS: &str = "id, account, space, expires_at, done, request, chunks";

fn upload_row(row: &Row<'_>) -> db::Result<UploadRow> {
    Ok(UploadRow {
        upload: read_id(row, 0)?,
        account: read_id(row, 1)?,
        space: row.get(2)?,
        expires_at: row.get(3)?,
        done: row.get(4)?,
        request: row.get(5)?,
        packed: row.get(6)?,
    })
}

impl UploadRow {
    fn open(self) -> Result<OpenUpload> {
        let mut create: CreateUpload = serde_json::from_str(&self.request)
            .map_err(|e| Error::Internal(format!("a stored upload can't be read: {e}")))?;
        create.chunks = unpack_chunks(&self.packed)?;
        Ok(OpenUpload {
            id: self.upload,
            account: self.account,
            expires_at: self.expires_at,
            space: self.space,
            done: self.done,
            sizes: create
                .chunks
                .iter()
                .map(|chunk| (chunk.id, chunk.size))
                .collect(),
            create,
        })
    }
}

fn find(conn: &Connection, account: AccountId, id: UploadId, now: i64) -> Result<OpenUpload> {
    let sql =
        format!("SELECT {COLUMNS} FROM uploads WHERE id = ?1 AND account = ?2 AND expires_at > ?3");
    conn.prepare_cached(&sql)?
        .query_row(params![id.as_bytes(), account.as_bytes(), now], upload_row)
        .optional()?
        .ok_or_else(|| no_upload(conn, account, id))?
        .open()
}

/// Returns the error for an upload that the account has not, or not any more.
pub(super) fn no_upload(conn: &Connection, account: AccountId, id: UploadId) -> Error {
    let others = conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM uploads WHERE id = ?1 AND account <> ?2)")
        .and_then(|mut found| {
            found.query_row(params![id.as_bytes(), account.as_bytes()], |row| row.get(0))
        });
    match others {
        Ok(true) => access::forbidden_error(&format!("upload {id}")),
        Ok(false) => Error::not_found(format!(
            "there is no upload {id}; it was given up, or is older than 7 days"
        )),
        Err(error) => error.into(),
    }
}

/// Lists the chunks that are still to be sent: those that are missing, and those that only somebody
/// else's upload has sent, so that both are compared.
pub(super) fn unconfirmed_chunks(found: &[Announced]) -> Vec<ChunkId> {
    found
        .iter()
        .filter(|one| one.presence != Presence::Confirmed)
        .map(|one| one.held.chunk.id)
        .collect()
}

/// The chunks that an upload still has to send, each once, in file order.
fn to_send(conn: &Connection, upload: &OpenUpload) -> Result<Vec<ChunkId>> {
    if upload.done {
        return Ok(Vec::new());
    }
    let create = &upload.create;
    let found = holders::look_up(conn, create.node_id, &create.chunks, upload.account)?;
    Ok(unconfirmed_chunks(&found))
}

/// Returns the announced bytes that are stored nowhere yet.
fn absent_bytes(found: &[Announced]) -> i64 {
    found
        .iter()
        .filter(|one| one.presence == Presence::Absent)
        .fold(0, |sum: i64, one| {
            sum.saturating_add(revisions::to_signed(one.held.chunk.size))
        })
}

/// Deletes chunks of an upload that nothing else needs.
fn give_up(
    conn: &Connection,
    node: NodeId,
    its: &[SealedChunk],
    garbage: &mut Vec<String>,
) -> Result<()> {
    let others: Vec<Vec<u8>> = conn
        .prepare_cached("SELECT chunks FROM uploads WHERE node = ?1 AND done = 0")?
        .query_map([node.as_bytes()], |row| row.get(0))?
        .collect::<db::Result<_>>()?;
    let mut needed = HashSet::new();
    for packed in others {
        needed.extend(unpack_chunks(&packed)?.into_iter().map(|chunk| chunk.id));
    }
    its.iter()
        .filter(|chunk| !needed.contains(&chunk.id))
        .try_for_each(|chunk| chunks::remove(conn, node, chunk.id, garbage))
}

/// Returns what makes an upload what it is, without its chunks.
fn identity(create: &CreateUpload) -> CreateUpload {
    CreateUpload {
        chunks: Vec::new(),
        ..create.clone()
    }
}

fn same_request(one: &CreateUpload, other: &CreateUpload) -> bool {
    identity(one) == identity(other) && pack_chunks(&one.chunks) == pack_chunks(&other.chunks)
}

/// An upload of the same revision that is still open, or that has been completed.
fn begun_upload(
    conn: &Connection,
    actor: &Actor,
    revision: RevisionId,
    node: NodeId,
    now: i64,
) -> Result<Option<OpenUpload>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM uploads WHERE node = ?1 AND revision = ?2 AND account = ?3 AND expires_at > ?4"
    );
    conn.prepare_cached(&sql)?
        .query_row(
            params![
                node.as_bytes(),
                revision.as_bytes(),
                actor.account.as_bytes(),
                now
            ],
            upload_row,
        )
        .optional()?
        .map(UploadRow::open)
        .transpose()
}

/// Inserts an upload, for which so many bytes are set aside.
fn insert(
    conn: &Connection,
    create: &CreateUpload,
    upload: &UploadRow,
    reserved: i64,
) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO uploads (id, space, account, node, revision, expires_at, done, request, chunks, \
         reserved) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        upload.upload.as_bytes(),
        upload.space,
        upload.account.as_bytes(),
        create.node_id.as_bytes(),
        create.revision_id.as_bytes(),
        upload.expires_at,
        upload.done,
        upload.request,
        upload.packed,
        reserved
    ])?;
    Ok(())
}

impl Tx<'_> {
    /// Begins an upload, or finds the one that the same request began.
    ///
    /// # Errors
    /// Fails like completing it now would: 404, 409, 507.
    pub fn begin_upload(
        &self,
        actor: &Actor,
        create: &CreateUpload,
    ) -> Result<(OpenUpload, Vec<ChunkId>)> {
        log_guard::check_no_log(self.conn, actor.space)?;
        if let Some(known) = begun_upload(
            self.conn,
            actor,
            create.revision_id,
            create.node_id,
            self.now,
        )? {
            if !known.done && !same_request(&known.create, create) {
                return Err(Error::conflict(format!(
                    "the revision {} is being uploaded with other content; choose another id",
                    create.revision_id
                )));
            }
            let missing = to_send(self.conn, &known)?;
            return Ok((known, missing));
        }
        let target = check_target(self.conn, actor.space, create)?;
        let done = matches!(target, Target::Done(_));
        let found = if done {
            Vec::new()
        } else {
            holders::look_up(self.conn, create.node_id, &create.chunks, actor.account)?
        };
        let packed = pack_chunks(&create.chunks);
        let listed = if done {
            0
        } else {
            usage::announced_list_bytes(found.len())
        };
        let growth = Growth {
            bytes: absent_bytes(&found).saturating_add(listed),
            files: target.files(),
        };
        usage::check_quota(self.conn, actor.space, growth)?;
        let upload = UploadRow {
            upload: self.source.id(UploadId::from_random_bytes),
            account: actor.account,
            space: actor.space.row,
            expires_at: self.now + KEPT_MS,
            done,
            request: serde_json::to_string(&identity(create))
                .map_err(|e| Error::Internal(format!("an upload can't be written: {e}")))?,
            packed,
        };
        insert(self.conn, create, &upload, growth.bytes)?;
        Ok((upload.open()?, unconfirmed_chunks(&found)))
    }

    /// An upload for changing it.
    pub fn upload(&self, account: AccountId, id: UploadId) -> Result<OpenUpload> {
        find(self.conn, account, id, self.now)
    }

    /// Gives an upload up. The objects are to be deleted after the transaction.
    pub fn delete_upload(&self, account: AccountId, id: UploadId) -> Result<Vec<String>> {
        let upload = find(self.conn, account, id, self.now)?;
        let mut garbage = Vec::new();
        self.conn
            .prepare_cached("DELETE FROM uploads WHERE id = ?1")?
            .execute([id.as_bytes()])?;
        if !upload.done {
            give_up(
                self.conn,
                upload.create.node_id,
                &upload.create.chunks,
                &mut garbage,
            )?;
        }
        Ok(garbage)
    }
}

impl Store {
    /// An upload of this account that has not expired.
    pub fn upload(&self, account: AccountId, id: UploadId) -> Result<OpenUpload> {
        let now = self.source().now_ms();
        self.read(|conn| find(conn, account, id, now))
    }

    /// The chunks that an upload still has to send, each once, in file order.
    pub fn missing_chunks(&self, upload: &OpenUpload) -> Result<Vec<ChunkId>> {
        self.read(|conn| to_send(conn, upload))
    }

    /// Deletes expired uploads.
    pub fn expire_uploads(&self) -> Result<ExpiredUploads> {
        self.write(|tx| {
            let sql = format!("DELETE FROM uploads WHERE expires_at <= ?1 RETURNING {COLUMNS}");
            let expired: Vec<UploadRow> = tx
                .conn
                .prepare(&sql)?
                .query_map([tx.now], upload_row)?
                .collect::<db::Result<_>>()?;
            let mut gone = ExpiredUploads::default();
            for row in expired {
                let upload = row.open()?;
                if !upload.done {
                    gone.uploads += 1;
                    give_up(
                        tx.conn,
                        upload.create.node_id,
                        &upload.create.chunks,
                        &mut gone.objects,
                    )?;
                }
            }
            Ok(gone)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Clock, Source, Store};
    use std::sync::Arc;

    #[test]
    fn the_uploads_of_a_space_are_found_by_an_index() {
        let store = Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap();
        let plan: String = store
            .read(|conn| {
                let sql = "EXPLAIN QUERY PLAN DELETE FROM uploads WHERE space = 1";
                Ok(conn.query_row(sql, [], |row| row.get(3))?)
            })
            .unwrap();
        assert!(plan.contains("uploads_space"), "{plan}");
    }
}
