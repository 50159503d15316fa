//! Three-way merges of two versions of a small text.

use super::find::Found;
use crate::engine::Engine;
use crate::error::EngineError;
use cairn_api::ErrorClass;
use cairn_model::Kind;
use cairn_transfer::{Download, MemoryTarget, TransferError};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

/// Texts up to this size are merged.
const MAX_MERGE: u64 = 1024 * 1024;

/// Merges both versions of a conflict with the one that they were made from.
///
/// # Errors
/// [`EngineError::NoMerge`] if they can't be merged, the network's or the disk's.
pub(super) async fn merge(engine: &Arc<Engine>, found: &Found) -> Result<String, EngineError> {
    let no = |why| EngineError::NoMerge {
        path: found.open.path.to_string(),
        why,
    };
    if let Some(why) = folder_among(found.copy.kind, found.original.as_ref().map(|row| row.kind)) {
        return Err(no(why));
    }
    let (Some(node), Some(base)) = (found.conflict.node, found.conflict.base) else {
        return Err(no(
            "the version that both were made from is known only to the device that made the copy",
        ));
    };
    if found.copy.stat.size > MAX_MERGE {
        return Err(no("only text files up to 1 MiB are merged"));
    }
    let root = Path::new(&found.folder.root);
    let copy = text(engine, &found.open.copy.to_path(root))
        .map_err(|_| no("the conflict copy is not UTF-8 text"))?;
    let original = text(engine, &found.open.path.to_path(root))
        .map_err(|_| no("the other version is not UTF-8 text"))?;
    let base = base_text(engine, Download::new(node, base))
        .await?
        .ok_or_else(|| {
            no("the version that both were made from is not there any more, or no text")
        })?;
    diffy::merge(&base, &copy, &original).map_err(|_| no("both versions changed the same lines"))
}

/// Returns why versions can't be merged of which one is a folder; `original` is what has the name.
fn folder_among(copy: Kind, original: Option<Kind>) -> Option<&'static str> {
    match (copy, original) {
        (Kind::File, Some(Kind::File) | None) => None,
        (Kind::Folder, Some(Kind::Folder) | None) => {
            Some("the conflict copy is a folder, and only text files are merged")
        }
        (Kind::Folder, Some(Kind::File)) => Some(
            "the conflict copy is a folder and the other version a file, and only text files are merged",
        ),
        (Kind::File, Some(Kind::Folder)) => Some(
            "the conflict copy is a file and the other version a folder, and only text files are merged",
        ),
    }
}

fn text(engine: &Engine, path: &Path) -> io::Result<String> {
    let mut out = String::new();
    engine
        .ports
        .disk
        .open(path)?
        .take(MAX_MERGE + 1)
        .read_to_string(&mut out)?;
    if out.len() as u64 > MAX_MERGE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(out)
}

/// Fetches the version that both were made from. `None` if it is not there any more, too large or no text.
async fn base_text(
    engine: &Arc<Engine>,
    download: Download,
) -> Result<Option<String>, EngineError> {
    let target = Arc::new(MemoryTarget::default());
    let into = Arc::clone(&target) as Arc<dyn cairn_transfer::Target>;
    match engine.transfer.download(download, into, &()).await {
        Ok(manifest) if manifest.size > MAX_MERGE => Ok(None),
        Ok(_) => Ok(String::from_utf8(target.take()).ok()),
        Err(TransferError::Api(error)) if error.class() == ErrorClass::Missing => Ok(None),
        Err(error) => Err(error.into()),
    }
}
