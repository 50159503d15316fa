//! Share links as a holder of the keys makes them: the secret, and the sealed keys of what is shared.
//!
//! The server gets a wrapped secret, sealed files and a gate value; the address with the secret is
//! put together here. A link carries files as they were when it was made or last refreshed.

use crate::blocking::Blocking;
use crate::download::Download;
use crate::error::{Check, TransferError};
use crate::transfer::{Transfer, refused};
use cairn_crypto::{CryptoError, LinkFile, LinkKey, LinkSecret, NodeFacts, NodeSeal, OwnedLink};
use cairn_model::{Kind, Name, NodeId};
use cairn_wire::Sealed;
use cairn_wire::nodes::{Node, NodeState};
use cairn_wire::shares::{
    CreateShare, GateKdf, PutSharedFiles, Share, ShareByEmail, SharedFile, UpdateShare,
};
use cairn_wire::transfer::{DownloadBatch, DownloadFile};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::HashSet;
use uuid::Uuid;

/// Files whose keys are opened in one request.
const AT_ONCE: usize = 64;
/// Sealed bytes in one request to the server.
const PUT_BYTES: usize = 4 * 1024 * 1024;
/// Files in one request to the server, which takes 500.
const PUT_FILES: usize = 200;
/// Folders asked for at once.
const FOLDERS_AT_ONCE: usize = 8;

/// A password for a link, and how often PBKDF2 runs for it.
pub struct LinkPassword<'a> {
    pub password: &'a str,
    pub iterations: u32,
}

/// A link with its whole address.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedLink {
    pub share: Share,
    /// The address with the secret behind the `#`; whoever has it can open the link.
    pub address: String,
    /// The server has put a mail into its outbox; `None` where none was asked for.
    pub email_sent: Option<bool>,
}

/// A file below what is shared, and its path there.
struct Below {
    node: Node,
    path: String,
}

/// A new link's secret and key, and what the server gets of its password.
struct NewLink {
    id: Uuid,
    owned: OwnedLink,
    gate: Option<(String, GateKdf)>,
}

impl Transfer {
    /// Makes a link to a file, or to a folder with everything below it. `settings` are those of the
    /// server; its id, password and keys are filled in here.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if anything that is to be shared is not authentic; nothing is
    /// shared then.
    pub async fn create_share(
        &self,
        node: &Node,
        settings: CreateShare,
        password: Option<LinkPassword<'_>>,
    ) -> Result<SharedLink, TransferError> {
        let new = self.new_link(password).await?;
        let files = self.sealed_files(node, new.id, &new.owned.key).await?;
        let (gate, kdf) = new.gate.clone().unzip();
        let settings = CreateShare {
            id: Some(new.id),
            file_id: Some(node.id),
            password: gate,
            kdf,
            key_blob: Some(self.wrapped(&new)),
            ..settings
        };
        let share = self.shared.api.create_share(&settings).await?;
        self.finish(share, new, files, None).await
    }

    /// Makes a link that one e-mail address may open, and has the server mail it there (without its
    /// secret).
    ///
    /// # Errors
    /// As [`Self::create_share`].
    pub async fn share_by_email(
        &self,
        node: &Node,
        settings: ShareByEmail,
    ) -> Result<SharedLink, TransferError> {
        let new = self.new_link(None).await?;
        let files = self.sealed_files(node, new.id, &new.owned.key).await?;
        let settings = ShareByEmail {
            file_id: node.id,
            id: Some(new.id),
            key_blob: Some(self.wrapped(&new)),
            ..settings
        };
        let made = self.shared.api.share_by_email(&settings).await?;
        self.finish(made.share, new, files, Some(made.email_sent))
            .await
    }

    /// Puts what is shared now into a link: files that came since, and new revisions.
    ///
    /// # Errors
    /// [`TransferError::Sealing`] if this link was made without keys, or by somebody else.
    pub async fn refresh_share(
        &self,
        share: &Share,
        node: &Node,
    ) -> Result<SharedLink, TransferError> {
        let owned = self.owned_link(share)?;
        let files = self.sealed_files(node, share.id, &owned.key).await?;
        let share = self.put_files(share.clone(), files).await?;
        let address = self.address_of(&share, &owned.secret)?;
        Ok(SharedLink {
            share,
            address,
            email_sent: None,
        })
    }

    /// Gives a link another password, or none: a new gate, and its files sealed anew.
    ///
    /// # Errors
    /// As [`Self::refresh_share`].
    pub async fn set_share_password(
        &self,
        share: &Share,
        node: &Node,
        password: Option<LinkPassword<'_>>,
    ) -> Result<SharedLink, TransferError> {
        let secret = self.owned_link(share)?.secret;
        let new = self.link_of(share.id, secret, password).await?;
        let files = self.sealed_files(node, share.id, &new.owned.key).await?;
        let (gate, kdf) = new.gate.clone().unzip();
        let change = UpdateShare {
            password: Some(gate),
            kdf,
            key_blob: Some(self.wrapped(&new)),
            ..UpdateShare::default()
        };
        let changed = self
            .shared
            .api
            .update_share(&share.id.to_string(), &change)
            .await?;
        self.finish(changed, new, files, None).await
    }

    /// The whole address of one of the account's links; `None` if it was made without keys.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if the server gives another secret than it was given.
    pub fn share_address(&self, share: &Share) -> Result<Option<String>, TransferError> {
        if share.key_blob.is_none() {
            return Ok(None);
        }
        let owned = self.owned_link(share)?;
        self.address_of(share, &owned.secret).map(Some)
    }

    async fn new_link(&self, password: Option<LinkPassword<'_>>) -> Result<NewLink, TransferError> {
        let (id, secret) = self.shared.with_random(|random| {
            let mut bytes = [0; 16];
            random.fill(&mut bytes);
            let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
            (id, LinkSecret::generate(random))
        });
        self.link_of(id, secret, password).await
    }

    async fn link_of(
        &self,
        id: Uuid,
        secret: LinkSecret,
        password: Option<LinkPassword<'_>>,
    ) -> Result<NewLink, TransferError> {
        let Some(password) = password else {
            let key = secret.key();
            return Ok(NewLink {
                id,
                owned: OwnedLink { secret, key },
                gate: None,
            });
        };
        let kdf = self
            .shared
            .with_random(|random| LinkSecret::password_params(password.iterations, random))
            .map_err(TransferError::Sealing)?;
        let wire = GateKdf {
            iterations: kdf.iterations,
            salt: Sealed(kdf.salt.to_vec()),
        };
        let text = zeroizing(password.password);
        let derive = move || {
            let (key, gate) = secret.key_with_password(&text, &kdf)?;
            Ok((OwnedLink { secret, key }, gate.to_hex()))
        };
        let (owned, gate) = blocking(&self.shared.blocking, derive).await?;
        Ok(NewLink {
            id,
            owned,
            gate: Some((gate, wire)),
        })
    }

    fn wrapped(&self, new: &NewLink) -> Sealed {
        Sealed(
            self.shared
                .with_random(|random| new.owned.wrap(&self.shared.keys, new.id, random)),
        )
    }

    fn owned_link(&self, share: &Share) -> Result<OwnedLink, TransferError> {
        let blob =
            share
                .key_blob
                .as_ref()
                .ok_or(TransferError::Sealing(CryptoError::InvalidInput(
                    "the link was made without keys; make a new one",
                )))?;
        OwnedLink::unwrap(&self.shared.keys, share.id, &blob.0).map_err(refused(Check::ContentKey))
    }

    /// The address is never taken from the server, which could name a page of somebody else.
    fn address_of(&self, share: &Share, secret: &LinkSecret) -> Result<String, TransferError> {
        let code = &share.short_code;
        if code.is_empty() || !code.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(TransferError::Protocol(format!(
                "the link {} has a short code that can't be one",
                share.id
            )));
        }
        let base = self.shared.api.base_url();
        Ok(format!("{base}/s/{code}#{}", *secret.reveal()))
    }

    async fn finish(
        &self,
        share: Share,
        new: NewLink,
        files: Vec<SharedFile>,
        email_sent: Option<bool>,
    ) -> Result<SharedLink, TransferError> {
        if share.id != new.id {
            return Err(TransferError::Protocol(
                "the server made another link than it was asked for".into(),
            ));
        }
        let share = self.put_files(share, files).await?;
        let address = self.address_of(&share, &new.owned.secret)?;
        Ok(SharedLink {
            share,
            address,
            email_sent,
        })
    }

    async fn put_files(
        &self,
        mut share: Share,
        files: Vec<SharedFile>,
    ) -> Result<Share, TransferError> {
        let id = share.id.to_string();
        let mut group = Vec::new();
        let (mut bytes, mut replace) = (0, true);
        let mut rest = files.into_iter().peekable();
        loop {
            let next = rest.next();
            let full = group.len() >= PUT_FILES || bytes >= PUT_BYTES;
            if next.is_none() || full {
                let files = std::mem::take(&mut group);
                let put = PutSharedFiles { files, replace };
                share = self.shared.api.put_shared_files(&id, &put).await?;
                (bytes, replace) = (0, false);
            }
            let Some(file) = next else { return Ok(share) };
            bytes += file.sealed.0.len();
            group.push(file);
        }
    }

    /// Everything that a link to a node carries, sealed under its key.
    async fn sealed_files(
        &self,
        node: &Node,
        share: Uuid,
        key: &LinkKey,
    ) -> Result<Vec<SharedFile>, TransferError> {
        let below = self.files_below(node).await?;
        let mut sealed = Vec::with_capacity(below.len());
        for group in below.chunks(AT_ONCE) {
            for (node, file) in self.link_files(group).await? {
                let seal = self
                    .shared
                    .with_random(|random| key.seal_file(share, node, &file, random));
                sealed.push(SharedFile {
                    node_id: node,
                    revision_id: file.revision,
                    sealed: Sealed(seal.map_err(TransferError::Sealing)?),
                });
            }
        }
        Ok(sealed)
    }

    /// Opens keys and manifests of a group of files.
    async fn link_files(&self, group: &[Below]) -> Result<Vec<(NodeId, LinkFile)>, TransferError> {
        let downloads: Vec<Download> = group
            .iter()
            .map(|file| self.current(&file.node))
            .collect::<Result<_, _>>()?;
        let ask = DownloadBatch {
            files: downloads
                .iter()
                .map(|one| DownloadFile {
                    node_id: one.node,
                    revision_id: one.revision,
                })
                .collect(),
            content: false,
        };
        let (answer, _) = self.shared.api.download_batch(&ask).await?;
        let mut out = Vec::with_capacity(group.len());
        for ((file, download), got) in group.iter().zip(downloads).zip(answer.files) {
            let content = got.content.ok_or_else(|| {
                let message = got.error.map(|error| error.message).unwrap_or_default();
                TransferError::from_status(got.status, message)
            })?;
            let shared = self.shared.clone();
            let (key, manifest) = self
                .shared
                .blocking
                .run(move || shared.open_revision(&download, &content))
                .await?;
            let opened = LinkFile {
                revision: download.revision,
                path: file.path.clone(),
                size: manifest.size,
                modified_ms: manifest.modified_ms,
                hash: manifest.hash,
                key,
                chunks: manifest.chunks,
            };
            out.push((file.node.id, opened));
        }
        Ok(out)
    }

    fn current(&self, node: &Node) -> Result<Download, TransferError> {
        let revision = node.revision_id.ok_or_else(|| {
            TransferError::Protocol(format!("the file {} has no revision", node.id))
        })?;
        let facts = NodeFacts {
            node: node.id,
            parent: node.parent_id,
            name: &node.name,
            kind: node.kind,
            executable: node.executable,
            deleted: node.state == NodeState::Trashed,
        };
        let seal = node
            .seal
            .as_ref()
            .and_then(|seal| NodeSeal::check(&self.shared.keys, &facts, &seal.0).ok());
        Ok(Download {
            node: node.id,
            revision,
            source: node.content_source,
            manifest_hash: seal.and_then(|info| info.manifest_hash),
        })
    }

    /// A shared file itself, or all files below a shared folder.
    async fn files_below(&self, top: &Node) -> Result<Vec<Below>, TransferError> {
        check(top)?;
        if top.kind == Kind::File {
            return Ok(vec![Below {
                node: top.clone(),
                path: top.name.clone(),
            }]);
        }
        let mut files = Vec::new();
        let mut seen = HashSet::from([top.id]);
        let mut level = vec![(top.id, String::new())];
        while !level.is_empty() {
            let children = stream::iter(level.drain(..))
                .map(|(id, path)| async move {
                    let children = self.shared.api.children(Some(id), None).await?;
                    Ok::<_, TransferError>((path, children))
                })
                .buffered(FOLDERS_AT_ONCE)
                .try_collect::<Vec<_>>()
                .await?;
            for (path, nodes) in children {
                for node in nodes {
                    check(&node)?;
                    if !seen.insert(node.id) {
                        return Err(TransferError::Protocol(
                            "the server's folders contain each other: nothing was shared".into(),
                        ));
                    }
                    let here = if path.is_empty() {
                        node.name.clone()
                    } else {
                        format!("{path}/{}", node.name)
                    };
                    match node.kind {
                        Kind::Folder => level.push((node.id, here)),
                        Kind::File => files.push(Below { node, path: here }),
                    }
                }
            }
        }
        Ok(files)
    }
}

/// Names become paths in somebody else's archive.
fn check(node: &Node) -> Result<(), TransferError> {
    match Name::new(node.name.clone()) {
        Ok(_) => Ok(()),
        Err(error) => Err(TransferError::Protocol(format!(
            "the node {} has an impossible name: {error}",
            node.id
        ))),
    }
}

fn zeroizing(text: &str) -> zeroize::Zeroizing<String> {
    zeroize::Zeroizing::new(text.to_owned())
}

async fn blocking<T: Send + 'static>(
    threads: &Blocking,
    work: impl FnOnce() -> Result<T, CryptoError> + Send + 'static,
) -> Result<T, TransferError> {
    threads.run(work).await.map_err(TransferError::Sealing)
}
