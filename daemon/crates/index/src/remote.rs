//! The remote tree: the nodes of the whole space (all files of an account or team) as the change feed shows them.

use crate::below::{BELOW_REMOTE, Below};
use crate::error::IndexError;
use crate::folders::FolderRow;
use crate::open::Db;
use crate::sql_types::{
    collect, first_row, hash_from, id_from, kind_from, kind_to, name_from, parent_node_from,
    parent_node_to, to_signed, to_unsigned,
};
use cairn_model::{ContentHash, DeviceId, FolderId, Kind, Name, NodeId, RelPath, RevisionId};
use rusqlite::Row;
use uuid::Uuid;

/// A node as the service last described it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteRow {
    pub node: NodeId,
    /// `None`: the top of the space.
    pub parent: Option<NodeId>,
    pub name: Name,
    pub kind: Kind,
    pub revision: Option<RevisionId>,
    pub size: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub modified_ms: Option<i64>,
    pub executable: bool,
    pub version: u64,
    pub seal: Option<Vec<u8>>,
    /// The node and revision for which the content was sealed, if not for this one.
    pub source: Option<(NodeId, RevisionId)>,
    pub device: Option<DeviceId>,
    pub hash: Option<ContentHash>,
    /// The revision's number, from its manifest.
    pub number: Option<u64>,
    /// The highest number of an earlier revision, of those whose manifests were opened; 0 without one.
    pub number_before: u64,
    /// The sequence of the seal, if that was checked and fits; 0 otherwise. The value that is read back
    /// is the highest one that was ever recorded for the node.
    pub seen: u64,
    /// Milliseconds since 1970-01-01 UTC: the node's latest change, as the service has it.
    pub changed_ms: Option<i64>,
}

/// The result of recording a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PutResult {
    New,
    /// Known already, or something newer is.
    Known,
    /// A seal older than one that was seen: somebody serves a past state as the present one. The
    /// known state stays.
    Rollback,
    /// Another content source than before with the same revision: no client makes that. The
    /// recorded state stays.
    Tampered,
}

pub(crate) const COLUMNS: &str = "node, parent, name, kind, revision, size, modified, executable, version, seal, \
     source_node, source_revision, device, hash, number, seen, changed, number_before";

fn uuid_from(bytes: Option<Vec<u8>>) -> Result<Option<Uuid>, IndexError> {
    bytes.map(|b| id_from(&b).map(Uuid::from_bytes)).transpose()
}

pub(crate) fn read(row: &Row<'_>) -> Result<RemoteRow, IndexError> {
    let node: Vec<u8> = row.get(0)?;
    let parent: Vec<u8> = row.get(1)?;
    let source_node = uuid_from(row.get(10)?)?.map(NodeId);
    let source_revision = uuid_from(row.get(11)?)?.map(RevisionId);
    Ok(RemoteRow {
        node: NodeId(Uuid::from_bytes(id_from(&node)?)),
        parent: parent_node_from(&parent)?,
        name: name_from(row.get(2)?)?,
        kind: kind_from(row.get(3)?)?,
        revision: uuid_from(row.get(4)?)?.map(RevisionId),
        size: to_unsigned(row.get(5)?)?,
        modified_ms: row.get(6)?,
        executable: row.get(7)?,
        version: to_unsigned(row.get(8)?)?,
        seal: row.get(9)?,
        source: source_node.zip(source_revision),
        device: uuid_from(row.get(12)?)?.map(DeviceId),
        hash: hash_from(row.get(13)?)?,
        number: row
            .get::<_, Option<i64>>(14)?
            .map(to_unsigned)
            .transpose()?,
        seen: to_unsigned(row.get(15)?)?,
        changed_ms: row.get(16)?,
        number_before: to_unsigned(row.get(17)?)?,
    })
}

impl Db<'_> {
    /// Returns one node.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remote_row(&self, node: NodeId) -> Result<Option<RemoteRow>, IndexError> {
        let mut statement =
            self.prepare(&format!("SELECT {COLUMNS} FROM remote WHERE node = ?1"))?;
        first_row(&mut statement.query([node.as_bytes()])?, read)
    }

    /// Returns the nodes of a folder whose names compare equal to this one.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remote_children_by_key(
        &self,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<Vec<RemoteRow>, IndexError> {
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM remote WHERE parent = ?1 AND key = ?2 ORDER BY node"
        ))?;
        collect(
            &mut statement.query((parent_node_to(parent), name.key().as_str()))?,
            read,
        )
    }

    /// Returns the nodes of a folder.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remote_children(&self, parent: Option<NodeId>) -> Result<Vec<RemoteRow>, IndexError> {
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM remote WHERE parent = ?1 ORDER BY name"
        ))?;
        collect(&mut statement.query([parent_node_to(parent)])?, read)
    }

    /// Returns all nodes of the space.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn all_remotes(&self) -> Result<Vec<RemoteRow>, IndexError> {
        let mut statement = self.prepare_whole(&format!("SELECT {COLUMNS} FROM remote"))?;
        collect(&mut statement.query([])?, read)
    }

    /// Returns the node's path from the top of the space.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remote_path(&self, node: NodeId) -> Result<Option<RelPath>, IndexError> {
        self.remote_path_from(None, node)
    }

    /// Returns the path of a node below the remote folder of a pair; `None` if it is not below it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remote_path_in(
        &self,
        folder: &FolderRow,
        node: NodeId,
    ) -> Result<Option<RelPath>, IndexError> {
        let Some(base) = folder.remote_node else {
            return Ok(None);
        };
        self.remote_path_from(base, node)
    }

    /// Returns the path of a node from a folder above it, or from the top; `None` if it is not below that.
    fn remote_path_from(
        &self,
        base: Option<NodeId>,
        node: NodeId,
    ) -> Result<Option<RelPath>, IndexError> {
        let mut names = Vec::new();
        let mut at = Some(node);
        while at != base {
            let Some(id) = at else { return Ok(None) };
            let Some(row) = self.remote_row(id)? else {
                return Ok(None);
            };
            names.push(row.name);
            at = row.parent;
            if names.len() > 10_000 {
                return Err(IndexError::Corrupt("remote parents that form a cycle"));
            }
        }
        names.reverse();
        Ok(Some(names.into_iter().collect()))
    }

    /// Records a node as the feed or a response described it, and marks it dirty in the pairs that
    /// it belongs to now or was synced in.
    ///
    /// Hash and number of its revision stay while the revision is the same. A
    /// version older than the recorded one is ignored: responses and feed may cross. A seal older than
    /// one that was seen is refused, also of a node that was gone meanwhile.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_remote(
        &self,
        folders: &[FolderRow],
        row: &RemoteRow,
    ) -> Result<PutResult, IndexError> {
        let before = self.remote_row(row.node)?;
        if let Some(refused) = before.as_ref().and_then(|old| refusal(old, row)) {
            return Ok(refused);
        }
        let mut row = row.clone();
        if before.is_none()
            && let Some(past) = self.past_seal(row.node)?
        {
            if past.is_after(&row) {
                return Ok(PutResult::Rollback);
            }
            row.seen = row.seen.max(past.seen);
            self.remove_past_seal(row.node)?;
        }
        if let Some(old) = &before {
            inherit(&mut row, old);
            // The time alone is no news: an older index lacks it.
            let old = RemoteRow {
                changed_ms: row.changed_ms,
                ..old.clone()
            };
            if old == row {
                return Ok(PutResult::Known);
            }
            self.remember_place(&old, &row)?;
            if old.parent != row.parent {
                self.mark_gone_above_node(row.node)?;
            }
        }
        self.write_remote(&row)?;
        let now = self.pairs_containing(folders, row.parent)?;
        for folder in &now {
            self.mark_node(*folder, row.node)?;
        }
        self.mark_synced_node(row.node)?;
        if row.kind == Kind::Folder
            && let Some(old) = before
            && (old.parent, &old.name) != (row.parent, &row.name)
        {
            if let Some(pairs) = self.pairs_affected_by_move(folders, &old, &row, &now)? {
                self.mark_remote_below(&pairs, row.node)?;
            }
            // What a rule kept from this disk at the old path may belong here at the new one.
            for folder in now {
                if self.has_rules(folder)? {
                    self.mark_unsynced_below(folder, row.node)?;
                }
            }
        }
        Ok(PutResult::New)
    }

    fn write_remote(&self, row: &RemoteRow) -> Result<(), IndexError> {
        self.prepare(
                "INSERT OR REPLACE INTO remote (node, parent, name, key, kind, revision, size, modified, executable, \
                 version, seal, source_node, source_revision, device, hash, number, seen, changed, number_before) \
                 VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)",
            )?
            .execute(rusqlite::params![
                row.node.as_bytes(),
                parent_node_to(row.parent),
                row.name.as_str(),
                row.name.key().as_str(),
                kind_to(row.kind),
                row.revision.as_ref().map(RevisionId::as_bytes),
                to_signed(row.size),
                row.modified_ms,
                row.executable,
                to_signed(row.version),
                row.seal,
                row.source.map(|(node, _)| *node.as_bytes()),
                row.source.map(|(_, revision)| *revision.as_bytes()),
                row.device.as_ref().map(DeviceId::as_bytes),
                row.hash.map(|h| h.0),
                row.number.map(to_signed),
                to_signed(row.seen),
                row.changed_ms,
                to_signed(row.number_before),
            ])?;
        Ok(())
    }

    /// Returns whether the move of a folder may change what belongs where of all that is below it, and in
    /// which pairs that is now: it came into a pair, or left it; or it may have come into what is
    /// selected, or left that.
    fn pairs_affected_by_move(
        &self,
        folders: &[FolderRow],
        old: &RemoteRow,
        row: &RemoteRow,
        now: &[FolderId],
    ) -> Result<Option<Vec<FolderId>>, IndexError> {
        if old.parent != row.parent && self.pairs_containing(folders, old.parent)? != now {
            return Ok(Some(now.to_vec()));
        }
        let mut pairs = Vec::new();
        for id in now {
            let chooses = folders
                .iter()
                .any(|f| f.id == *id && f.settings.has_selection());
            // What was not here was ignored, by whatever rule.
            if chooses || self.synced_row(*id, row.node)?.is_none() {
                pairs.push(*id);
            }
        }
        Ok((!pairs.is_empty()).then_some(pairs))
    }

    /// Returns the parts of a statement about a node, whose parameters begin with its id.
    pub(crate) fn below_remote(&self, node: NodeId) -> Result<Below, IndexError> {
        let has_children = self
            .prepare("SELECT 1 FROM remote WHERE parent = ?1 LIMIT 1")?
            .exists([node.as_bytes()])?;
        Ok(match has_children {
            true => Below::REMOTE,
            false => Below::REMOTE_ALONE,
        })
    }

    /// Marks what lies below a node and is not synced in a pair.
    fn mark_unsynced_below(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare(&format!(
            "{BELOW_REMOTE} INSERT OR REPLACE INTO dirty_node (folder, node, changed) \
             SELECT ?2, b.node, 0 FROM below b WHERE NOT EXISTS \
             (SELECT 1 FROM synced s WHERE s.node = b.node AND s.folder = ?2)"
        ))?
        .execute((node.as_bytes(), folder.0))?;
        Ok(())
    }

    pub(crate) fn mark_remote_below(
        &self,
        folders: &[FolderId],
        node: NodeId,
    ) -> Result<(), IndexError> {
        let mut queue = vec![node];
        while let Some(at) = queue.pop() {
            for child in self.remote_children(Some(at))? {
                for folder in folders {
                    self.mark_node(*folder, child.node)?;
                }
                self.mark_synced_node(child.node)?;
                if child.kind == Kind::Folder {
                    queue.push(child.node);
                }
            }
        }
        Ok(())
    }

    /// Removes a node with everything below it; what was synced becomes dirty. The highest seals that were seen are
    /// kept. Returns whether the node was there.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_remote(&self, node: NodeId) -> Result<bool, IndexError> {
        self.mark_gone_above_node(node)?;
        let value = [node.as_bytes()];
        let below = self.below_remote(node)?;
        let (with, ids) = (below.with, below.ids);
        let synced = below.rows_of("synced", "node");
        self.prepare(&format!(
            "{with}INSERT OR REPLACE INTO dirty_node (folder, node, changed) \
             SELECT s.folder, s.node, 1 FROM {synced}"
        ))?
        .execute(value)?;
        self.prepare(&format!(
            "{with}DELETE FROM dirty_node WHERE folder IN (SELECT id FROM folders) AND node IN {ids} \
             AND NOT EXISTS (SELECT 1 FROM synced s WHERE s.node = dirty_node.node AND s.folder = dirty_node.folder)"
        ))?
        .execute(value)?;
        self.keep_past_seals(node)?;
        let removed = self
            .prepare(&format!("{with}DELETE FROM remote WHERE node IN {ids}"))?
            .execute(value)?;
        Ok(removed > 0)
    }

    /// Records the facts of a revision's manifest, if the node still has that revision.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn set_remote_manifest(
        &self,
        node: NodeId,
        revision: RevisionId,
        hash: ContentHash,
        number: u64,
    ) -> Result<(), IndexError> {
        self.prepare("UPDATE remote SET hash = ?3, number = ?4 WHERE node = ?1 AND revision = ?2")?
            .execute((
                node.as_bytes(),
                revision.as_bytes(),
                hash.0,
                to_signed(number),
            ))?;
        Ok(())
    }

    /// Records the executable bit that the manifest of a revision gives a node without a seal, if the node still has
    /// that revision. A seal that it came with was for another bit; one of a version after `version`, in which the
    /// node was looked at, vouches for a later bit and stays.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn set_remote_executable(
        &self,
        node: NodeId,
        revision: RevisionId,
        version: u64,
        executable: bool,
    ) -> Result<(), IndexError> {
        self.prepare(
            "UPDATE remote SET executable = ?4, seal = NULL \
             WHERE node = ?1 AND revision = ?2 AND (version = ?3 OR seal IS NULL) AND executable <> ?4",
        )?
        .execute((
            node.as_bytes(),
            revision.as_bytes(),
            to_signed(version),
            executable,
        ))?;
        Ok(())
    }

    /// Records a later version of a node whose other attributes stay as they are known. `seen` is the sequence of
    /// its seal, 0 without one: the known state is no longer the last that was sealed then, and counts as unsealed.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn raise_remote_version(
        &self,
        node: NodeId,
        version: u64,
        seen: u64,
    ) -> Result<(), IndexError> {
        self.prepare(
            "UPDATE remote SET version = ?2, seal = CASE WHEN seen < ?3 THEN NULL ELSE seal END, \
             seen = max(seen, ?3) WHERE node = ?1 AND version < ?2",
        )?
        .execute((node.as_bytes(), to_signed(version), to_signed(seen)))?;
        Ok(())
    }

    /// Forgets the whole remote tree, before a snapshot is recorded in the same transaction. The highest seals that
    /// were seen are kept.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clear_remote(&self) -> Result<(), IndexError> {
        self.keep_all_past_seals()?;
        self.0
            .execute_batch("DELETE FROM remote; DELETE FROM dirty_node;")?;
        Ok(())
    }
}

/// Returns the reason for which a state of a node is not recorded over the known one, if there is any.
fn refusal(old: &RemoteRow, new: &RemoteRow) -> Option<PutResult> {
    if old.version > new.version {
        return Some(PutResult::Known);
    }
    // Seals are made without randomness: two of one number are two states, of which one is past.
    let same_number = new.seen > 0 && new.seen == old.seen;
    if (1..old.seen).contains(&new.seen)
        || (same_number && old.seal.is_some() && old.seal != new.seal)
    {
        return Some(PutResult::Rollback);
    }
    let same_revision = old.revision.is_some() && old.revision == new.revision;
    (same_revision && old.source != new.source).then_some(PutResult::Tampered)
}

/// Takes over from the known state what is known of a node beside its state.
fn inherit(new: &mut RemoteRow, old: &RemoteRow) {
    new.seen = new.seen.max(old.seen);
    new.number_before = new.number_before.max(old.number_before);
    if old.revision == new.revision {
        new.hash = new.hash.or(old.hash);
        new.number = new.number.or(old.number);
    } else {
        new.number_before = new.number_before.max(old.number.unwrap_or(0));
    }
}

impl RemoteRow {
    /// Returns a row of an empty folder without a seal.
    #[must_use]
    pub fn folder(node: NodeId, parent: Option<NodeId>, name: Name) -> Self {
        Self {
            node,
            parent,
            name,
            kind: Kind::Folder,
            revision: None,
            size: 0,
            modified_ms: None,
            executable: false,
            version: 1,
            seal: None,
            source: None,
            device: None,
            hash: None,
            number: None,
            number_before: 0,
            seen: 0,
            changed_ms: None,
        }
    }
}

#[cfg(test)]
mod tests;
