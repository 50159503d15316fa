//! The sealed listings of shared files (a listing: the keys of one file's chunks, encrypted under the link's
//! key), made and sent to the server in groups.

use super::ShareError;
use super::walk::{FileToShare, UnverifiedNodes};
use crate::Space;
use cairn_crypto::SystemRandom;
use cairn_crypto::format2::{LinkKey, Listing, ListingPlace};
use cairn_model::RevisionId;
use cairn_transfer::{SharedRevision, TransferError};
use cairn_wire::Sealed;
use cairn_wire::nodes::Node;
use cairn_wire::shares::{MAX_LISTING, PutSharedFiles, Share, SharedFile};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use unicode_normalization::UnicodeNormalization as _;
use uuid::Uuid;

/// Lists of chunks that are fetched at once.
const AHEAD: usize = 4;
/// The number of every listing. It will count how often a link was refreshed, once a log records that; the salt
/// in each listing makes the ciphertexts differ.
const LISTING: u64 = 1;

/// Files whose manifests (records of revisions) are fetched in one request.
const FILES_PER_REQUEST: usize = 64;
/// Sealed bytes in one request to the server.
const PUT_BYTES: usize = 4 * 1024 * 1024;
/// Files in one request to the server, which takes 500.
const PUT_FILES: usize = 200;

impl Space {
    /// Replaces the files of a link on the service.
    pub(super) async fn put_files(
        &self,
        mut share: Share,
        files: Vec<SharedFile>,
    ) -> Result<Share, TransferError> {
        let id = share.id.to_string();
        let mut replace = true;
        for files in groups(files) {
            let put = PutSharedFiles { files, replace };
            share = self.api.put_shared_files(&id, &put).await?;
            replace = false;
        }
        Ok(share)
    }

    /// Returns everything that a link to a node carries, sealed under its key.
    ///
    /// # Errors
    /// [`ShareError::Unverified`], or that a file can't be opened.
    pub(super) async fn sealed_files(
        &self,
        node: &Node,
        unverified: UnverifiedNodes,
        share: Uuid,
        key: &LinkKey,
    ) -> Result<Vec<SharedFile>, ShareError> {
        let below = self.files_to_share(node, unverified).await?;
        let mut sealed = Vec::with_capacity(below.len());
        for group in below.chunks(FILES_PER_REQUEST) {
            for (file, revision, listing) in self.listings(group).await? {
                let place = ListingPlace {
                    share,
                    node: file.node.id,
                    number: LISTING,
                };
                let seal = listing.seal(key, place, &mut SystemRandom);
                let seal = seal.map_err(|source| ShareError::NotListable {
                    path: file.path.clone(),
                    source,
                })?;
                // Before anything of the link is replaced.
                if seal.len() > MAX_LISTING {
                    let path = file.path.clone();
                    return Err(ShareError::TooLarge { path });
                }
                sealed.push(SharedFile {
                    node_id: file.node.id,
                    revision_id: revision,
                    sealed: Sealed(seal),
                });
            }
        }
        Ok(sealed)
    }

    /// Returns what a link gives of a group of files: the keys of the chunks that they have now.
    async fn listings<'a>(
        &self,
        group: &'a [FileToShare],
    ) -> Result<Vec<(&'a FileToShare, RevisionId, Listing)>, TransferError> {
        let mut files = Vec::with_capacity(group.len());
        for file in group {
            let download = self.head(&file.node)?;
            files.push(((file, download), download));
        }
        let opened = self.transfer.manifests(files).await;
        let mut fetches = Vec::with_capacity(group.len());
        for ((file, download), manifest) in opened {
            let manifest = manifest?;
            fetches.push(async move {
                let shared = self.transfer.shared_revision(download, manifest).await?;
                Ok::<_, TransferError>((file, download.revision, self.listing(file, shared)))
            });
        }
        stream::iter(fetches).buffered(AHEAD).try_collect().await
    }

    fn listing(&self, file: &FileToShare, shared: SharedRevision) -> Listing {
        Listing {
            space: self.keys.space(),
            // No two names of a folder are equal in this form.
            path: file.path.nfc().collect(),
            size: shared.manifest.size,
            hash: shared.manifest.hash.0,
            chunks: shared.chunks,
        }
    }
}

/// Splits files into groups that fit into a request each. There is always a first group, also of no files: its
/// request replaces what the link had.
fn groups(files: Vec<SharedFile>) -> Vec<Vec<SharedFile>> {
    let mut groups = vec![Vec::new()];
    let mut bytes = 0;
    for file in files {
        let more = file.sealed.0.len();
        if let Some(group) = groups.last_mut()
            && (group.is_empty() || (group.len() < PUT_FILES && bytes + more <= PUT_BYTES))
        {
            bytes += more;
            group.push(file);
        } else {
            bytes = more;
            groups.push(vec![file]);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::NodeId;

    fn file(bytes: usize) -> SharedFile {
        SharedFile {
            node_id: NodeId::from_random_bytes([1; 16]),
            revision_id: RevisionId::from_random_bytes([2; 16]),
            sealed: Sealed(vec![0; bytes]),
        }
    }

    #[test]
    fn a_group_fits_into_a_request() {
        let counts = |sizes: &[usize]| -> Vec<usize> {
            let files = sizes.iter().map(|&bytes| file(bytes));
            groups(files.collect()).iter().map(Vec::len).collect()
        };
        assert_eq!(counts(&[]), [0], "an empty link is said to be empty");
        assert_eq!(counts(&[PUT_BYTES, 1]), [1, 1]);
        assert_eq!(counts(&[PUT_BYTES - 1, 1, 1]), [2, 1]);
        assert_eq!(counts(&[1, MAX_LISTING, 1]), [1, 1, 1]);
        assert_eq!(counts(&[1; PUT_FILES + 1]), [PUT_FILES, 1]);
    }
}
