//! Objects: blobs of encrypted chunks by name, in a folder, in memory or in an S3-compatible store.
//!
//! Names are random and say nothing. The content of an object is known to the database alone; an object
//! is always there before the database refers to it.

mod damage;

pub use damage::Damage;

use crate::error::{Error, Result};
use crate::options::ObjectLocation;
use crate::private_files;
use crate::source::Source;
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use uuid::Uuid;

/// The file that keeps objects from being deleted, beside their folder.
const LOCK: &str = "backup.lock";
/// The file of a restored data directory whose objects lie elsewhere: while it is there, none is deleted.
pub const KEEP_OBJECTS: &str = "KEEP-OBJECTS";
/// Ranges of one object that lie at most this far apart are read at once.
const COALESCE: u64 = 64 * 1024;

/// The store of sealed bytes.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    /// The folder that objects lie in, if it is one.
    folder: Option<PathBuf>,
    /// Locked by whoever copies the folder.
    lock: Option<PathBuf>,
    /// The file that keeps all objects, if they lie elsewhere than in the data directory.
    keep: Option<PathBuf>,
}

/// The place of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    pub(crate) object: String,
    pub(crate) range: Range<u64>,
}

impl Objects {
    /// Opens the object store; `data` is the data directory, absent for a server in memory.
    ///
    /// # Errors
    /// A folder or an address that can't be used.
    pub fn open(location: &ObjectLocation, data: Option<&std::path::Path>) -> Result<Self> {
        let store: Arc<dyn ObjectStore> = match (location, data) {
            (ObjectLocation::Local, None) => Arc::new(InMemory::new()),
            (ObjectLocation::Local, Some(data)) => {
                let folder = data.join("objects");
                private_files::close_dir(&folder).map_err(|source| Error::Io {
                    what: format!("can't make {}", folder.display()),
                    source,
                })?;
                Arc::new(LocalFileSystem::new_with_prefix(folder)?)
            }
            (
                ObjectLocation::S3 {
                    url,
                    endpoint,
                    region,
                    allow_http,
                },
                _,
            ) => s3(url, endpoint.as_ref(), region.as_ref(), *allow_http)?,
        };
        let folder = data
            .filter(|_| *location == ObjectLocation::Local)
            .map(|data| data.join("objects"));
        let lock = folder.as_ref().and(data).map(|data| data.join(LOCK));
        let elsewhere = data.filter(|_| folder.is_none());
        Ok(Self {
            store,
            folder,
            lock,
            keep: elsewhere.map(|data| data.join(KEEP_OBJECTS)),
        })
    }

    /// A name that no object has; the first two digits spread objects over folders.
    pub fn fresh_name(source: &Source) -> String {
        let id = source.id(Uuid::from_bytes).simple().to_string();
        format!("{}/{id}", &id[..2])
    }

    pub async fn put(&self, name: &str, parts: impl IntoIterator<Item = Bytes>) -> Result<()> {
        self.store
            .put(&Path::from(name), PutPayload::from_iter(parts))
            .await?;
        Ok(())
    }

    pub async fn get(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        Ok(self.store.get_range(&Path::from(name), range).await?)
    }

    /// Returns true if an object is there and long enough for a range; nothing of it is read.
    ///
    /// # Errors
    /// A store that fails: nothing is known of the object then.
    pub async fn has(&self, place: &Extent) -> Result<bool> {
        match self.store.head(&Path::from(place.object.as_str())).await {
            Ok(found) => Ok(found.size >= place.range.end),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a range of an object; `None` if there is no object, or one that is too short.
    ///
    /// # Errors
    /// A store that fails: nothing is known of the object then.
    pub async fn get_if_whole(&self, place: &Extent) -> Result<Option<Bytes>> {
        if !self.has(place).await? {
            return Ok(None);
        }
        match self.get(&place.object, place.range.clone()).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_missing_object() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a whole object and holds it against its size and SHA-256; `None` if it is missing, cut short or has other bytes.
    ///
    /// # Errors
    /// A store that fails: nothing is known of the object then.
    pub async fn get_whole(
        &self,
        name: &str,
        size: u64,
        sha256: &[u8; 32],
    ) -> Result<Option<Bytes>> {
        let stored = match self.store.head(&Path::from(name)).await {
            Ok(found) => found.size,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if stored != size {
            return Ok(None);
        }
        let bytes = match self.get(name, 0..size).await {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing_object() => return Ok(None),
            Err(error) => return Err(error),
        };
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        Ok((found == *sha256).then_some(bytes))
    }

    /// Reads many ranges in order, each run of neighbours within one object at once.
    pub async fn get_many(&self, places: &[Extent]) -> Result<Vec<Bytes>> {
        let mut out = Vec::with_capacity(places.len());
        let mut rest = places;
        while let Some(first) = rest.first() {
            let mut run = first.range.clone();
            let mut length = 0;
            for place in rest {
                if place.object != first.object
                    || place.range.start < run.start
                    || place.range.start > run.end + COALESCE
                {
                    break;
                }
                run.end = run.end.max(place.range.end);
                length += 1;
            }
            let (these, later) = rest.split_at(length);
            let bytes = self.get(&first.object, run.clone()).await?;
            for place in these {
                let start = usize::try_from(place.range.start - run.start).unwrap_or(usize::MAX);
                let end = usize::try_from(place.range.end - run.start).unwrap_or(usize::MAX);
                if end > bytes.len() || start > end {
                    return Err(Error::Internal(format!(
                        "the object {} is cut short",
                        place.object
                    )));
                }
                out.push(bytes.slice(start..end));
            }
            rest = later;
        }
        Ok(out)
    }

    /// Checks that the folder of the objects and the data directory above it can be written.
    ///
    /// # Errors
    /// A folder that is gone, full or read-only.
    pub fn check_folder(&self) -> Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        for dir in [Some(folder.as_path()), folder.parent()]
            .into_iter()
            .flatten()
        {
            // The name differs, because many may check at once.
            let probe = dir.join(format!(".probe-{}", Uuid::new_v4().simple()));
            std::fs::write(&probe, b"x")
                .and_then(|()| std::fs::remove_file(&probe))
                .map_err(|source| Error::Io {
                    what: format!("can't write in {}", dir.display()),
                    source,
                })?;
        }
        Ok(())
    }

    /// Checks that the object store answers.
    ///
    /// # Errors
    /// A store that can't be reached.
    pub async fn check_store(&self) -> Result<()> {
        match self.store.head(&Path::from("is/there")).await {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the sizes of all objects, in bytes.
    pub async fn sizes(&self) -> Result<HashMap<String, u64>> {
        let found: Vec<_> = self.store.list(None).try_collect().await?;
        Ok(found
            .into_iter()
            .map(|meta| (meta.location.to_string(), meta.size))
            .collect())
    }

    /// Makes an object outlast a power failure, where the store does not see to that itself.
    ///
    /// # Errors
    /// A file that can't be written through to the disk.
    pub async fn persist(&self, name: &str) -> Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let file = folder.join(name);
        let written = tokio::task::spawn_blocking(move || {
            std::fs::File::open(&file)?.sync_all()?;
            match file.parent() {
                Some(dir) => private_files::sync_dir(dir),
                None => Ok(()),
            }
        });
        let io = |source| Error::Io {
            what: format!("can't write the object {name} through to the disk"),
            source,
        };
        written
            .await
            .map_err(|e| Error::Internal(format!("an object can't be written: {e}")))?
            .map_err(io)
    }

    /// Keeps every object that is there, until the file is dropped: also from other processes. Waits for
    /// a deletion that has begun. An object store elsewhere keeps nothing back.
    ///
    /// # Errors
    /// A data directory that can't be written.
    pub fn lock_all(&self) -> Result<Option<File>> {
        let Some(path) = &self.lock else {
            return Ok(None);
        };
        let file = private_files::open_lock(path).and_then(|file| file.lock().map(|()| file));
        file.map(Some).map_err(|source| Error::Io {
            what: format!("can't lock {}", path.display()),
            source,
        })
    }

    /// Returns the file that keeps all objects, if it is there.
    fn keep_file(&self) -> Option<&std::path::Path> {
        self.keep.as_deref().filter(|keep| keep.exists())
    }

    /// Returns a file that lets objects be deleted as long as it lives, where they lie in a folder.
    fn lock_for_deletion(&self) -> std::result::Result<Option<File>, TryLockError> {
        let Some(path) = &self.lock else {
            return Ok(None);
        };
        let file = private_files::open_lock(path).map_err(TryLockError::Error)?;
        file.try_lock_shared()?;
        Ok(Some(file))
    }

    /// Deletes objects and returns their number; one that is gone already, or can't be deleted now, is
    /// left to the next sweep. So are all of them while a backup copies objects, and in a data directory that was
    /// restored while its objects lie elsewhere.
    pub async fn delete(&self, names: &[String]) -> usize {
        if names.is_empty() {
            return 0;
        }
        if let Some(keep) = self.keep_file() {
            tracing::warn!(
                count = names.len(),
                "objects are kept: this data directory was restored, and another server may use them; delete {} \
                 when none does",
                keep.display()
            );
            return 0;
        }
        let _lock = match self.lock_for_deletion() {
            Ok(lock) => lock,
            Err(TryLockError::WouldBlock) => {
                tracing::info!(
                    count = names.len(),
                    "objects are kept while a backup is made"
                );
                return 0;
            }
            Err(TryLockError::Error(error)) => {
                tracing::warn!(%error, "objects are kept: a backup may be running");
                return 0;
            }
        };
        let mut gone = 0;
        for name in names {
            match self.store.delete(&Path::from(name.as_str())).await {
                Ok(()) => gone += 1,
                Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => tracing::warn!(%error, name, "can't delete an object"),
            }
        }
        gone
    }

    /// Deletes every object older than `before_ms` that is not in `known`; tells how many.
    pub async fn sweep(&self, known: &HashSet<String>, before_ms: i64) -> Result<usize> {
        let found: Vec<_> = self.store.list(None).try_collect().await?;
        let orphans: Vec<String> = found
            .into_iter()
            .filter(|meta| meta.last_modified.timestamp_millis() < before_ms)
            .map(|meta| meta.location.to_string())
            .filter(|name| !known.contains(name))
            .collect();
        Ok(self.delete(&orphans).await)
    }
}

fn s3(
    url: &str,
    endpoint: Option<&String>,
    region: Option<&String>,
    allow_http: bool,
) -> Result<Arc<dyn ObjectStore>> {
    let place = url.strip_prefix("s3://").ok_or_else(|| {
        Error::Config(format!(
            "[objects] url is `{url}`; it has to be s3://BUCKET or s3://BUCKET/PREFIX"
        ))
    })?;
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_allow_http(allow_http);
    if let Some(endpoint) = endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = region {
        builder = builder.with_region(region);
    }
    let store = builder.build()?;
    let prefix = prefix.trim_matches('/');
    Ok(if prefix.is_empty() {
        Arc::new(store)
    } else {
        Arc::new(PrefixStore::new(store, prefix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(object: &str, range: Range<u64>) -> Extent {
        Extent {
            object: object.into(),
            range,
        }
    }

    #[tokio::test]
    async fn nothing_is_deleted_from_a_bucket_after_a_restore_until_somebody_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let keep = dir.path().join(KEEP_OBJECTS);
        let mut objects = Objects::open(&ObjectLocation::Local, None).unwrap();
        objects.keep = Some(keep.clone());
        let bytes = [Bytes::from_static(b"x")];
        objects.put("aa/1", bytes).await.unwrap();
        std::fs::write(&keep, "").unwrap();
        let unknown = HashSet::new();
        assert_eq!(objects.sweep(&unknown, i64::MAX).await.unwrap(), 0);
        assert_eq!(objects.delete(&["aa/1".to_owned()]).await, 0);
        std::fs::remove_file(&keep).unwrap();
        assert_eq!(objects.sweep(&unknown, i64::MAX).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn ranges_come_back_in_order_whatever_is_read_at_once() {
        let objects = Objects::open(&ObjectLocation::Local, None).unwrap();
        objects
            .put(
                "aa/1",
                [Bytes::from_static(b"0123"), Bytes::from_static(b"456789")],
            )
            .await
            .unwrap();
        objects
            .put("bb/2", [Bytes::from_static(b"abcdef")])
            .await
            .unwrap();
        let places = [
            place("aa/1", 0..3),
            place("aa/1", 3..5),
            place("bb/2", 1..2),
            place("aa/1", 8..10),
            place("aa/1", 2..4),
        ];
        let got = objects.get_many(&places).await.unwrap();
        let want: [&[u8]; 5] = [b"012", b"34", b"b", b"89", b"23"];
        assert_eq!(got, want);
        assert!(objects.get_many(&[place("aa/1", 8..12)]).await.is_err());
    }

    #[tokio::test]
    async fn a_sweep_takes_what_nobody_knows_and_what_is_old_enough() {
        let objects = Objects::open(&ObjectLocation::Local, None).unwrap();
        objects
            .put("aa/1", [Bytes::from_static(b"x")])
            .await
            .unwrap();
        objects
            .put("bb/2", [Bytes::from_static(b"y")])
            .await
            .unwrap();
        let known = HashSet::from(["aa/1".to_owned()]);
        assert_eq!(objects.sweep(&known, 0).await.unwrap(), 0);
        assert_eq!(objects.sweep(&known, i64::MAX).await.unwrap(), 1);
        assert!(objects.get("aa/1", 0..1).await.is_ok());
        assert!(objects.get("bb/2", 0..1).await.is_err());
    }

    #[tokio::test]
    async fn nothing_is_deleted_while_a_backup_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Objects::open(&ObjectLocation::Local, Some(dir.path())).unwrap();
        let (server, command) = (open(), open());
        let put = server.put("aa/1", [Bytes::from_static(b"x")]);
        put.await.unwrap();
        let name = ["aa/1".to_owned()];
        let held = command.lock_all().unwrap();
        assert_eq!(server.delete(&name).await, 0);
        assert_eq!(server.sweep(&HashSet::new(), i64::MAX).await.unwrap(), 0);
        assert!(server.get("aa/1", 0..1).await.is_ok());
        drop(held);
        assert_eq!(server.delete(&name).await, 1);
        assert!(server.get("aa/1", 0..1).await.is_err());
    }
}
