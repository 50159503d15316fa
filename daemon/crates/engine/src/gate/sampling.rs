//! The heads (the kinds of the first bytes) of contents in sync, read from this disk while nothing has changed
//! there.

use super::head::head_of_file;
use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{Db, FolderRow, Head, IndexError, LocalStat};
use cairn_model::{ContentHash, NodeId};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files that are looked at together: a command waits for no more.
const TOGETHER: u32 = 256;

/// A file that still has the content in sync, as far as its stat tells.
struct File {
    node: NodeId,
    hash: ContentHash,
    stat: LocalStat,
    path: PathBuf,
}

/// Looks at the next files of a folder whose heads are not known, and records them. Returns the last one; `None` after
/// the last of all.
///
/// # Errors
/// Returns the error of the index.
pub(crate) async fn sample_heads(
    engine: &Arc<Engine>,
    folder: &FolderRow,
    after: Option<NodeId>,
) -> Result<Option<NodeId>, EngineError> {
    let (files, last) = engine.index.read(|db| unchanged_files(db, folder, after))?;
    let Some(last) = last else {
        return Ok(None);
    };
    let disk = Arc::clone(&engine.ports.disk);
    let read = move || -> Vec<(NodeId, ContentHash, Head)> {
        let heads = files.into_iter().filter_map(|file| {
            // What can't be read now is looked at the next time.
            let head = head_of_file(&*disk, &file.path, &file.stat).ok()??;
            Some((file.node, file.hash, head))
        });
        heads.collect()
    };
    let heads = engine.ports.run_blocking(read).await;
    if !heads.is_empty() {
        engine.index.write(|db| {
            for (node, hash, head) in heads {
                db.set_head(folder.id, node, hash, head)?;
            }
            Ok(())
        })?;
    }
    Ok(Some(last))
}

fn unchanged_files(
    db: &Db<'_>,
    folder: &FolderRow,
    after: Option<NodeId>,
) -> Result<(Vec<File>, Option<NodeId>), IndexError> {
    let rows = db.synced_without_head(folder.id, after, TOGETHER)?;
    let last = rows.last().map(|row| row.node);
    let mut files = Vec::new();
    for row in rows {
        let (Some(local), Some(path)) = (db.local_row(row.local)?, db.local_path(row.local)?)
        else {
            continue;
        };
        if let Some(hash) = row.hash
            && local.hash == Some(hash)
        {
            files.push(File {
                node: row.node,
                hash,
                stat: local.stat,
                path: path.to_path(Path::new(&folder.root)),
            });
        }
    }
    Ok((files, last))
}
