//! Share links as a holder of the keys makes them: the secret, and the sealed keys of what is shared.
//!
//! The server gets a wrapped secret, sealed files and a password verifier; the address with the secret is
//! put together here. A link carries files as they were when it was made or last refreshed.

mod error;
mod seal;
mod walk;

pub use error::ShareError;
pub use walk::UnverifiedNodes;

use crate::Space;
use cairn_crypto::{CryptoError, LinkSecret, OwnedLink, SystemRandom};
use cairn_transfer::{Blocking, Check, TransferError};
use cairn_wire::Sealed;
use cairn_wire::nodes::Node;
use cairn_wire::shares::{CreateShare, PasswordKdf, Share, ShareByEmail, SharedFile, UpdateShare};
use uuid::Uuid;

/// A password for a link.
pub struct LinkPassword<'a> {
    pub password: &'a str,
    /// Rounds of PBKDF2.
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

/// A new link's secret and key, and what the server gets of its password.
struct NewLink {
    id: Uuid,
    owned: OwnedLink,
    password_verifier: Option<(String, PasswordKdf)>,
}

impl Space {
    /// Makes a link to a file, or to a folder with everything below it. `settings` are those of the
    /// server; its id, password and keys are filled in here.
    ///
    /// # Errors
    /// [`ShareError::Unverified`] if a name or place between the top of the space and a shared file is
    /// not sealed, unless those are to be included; [`TransferError::Refused`] if content is not
    /// authentic. Nothing is shared then.
    pub async fn create_share(
        &self,
        node: &Node,
        settings: CreateShare,
        password: Option<LinkPassword<'_>>,
        unverified: UnverifiedNodes,
    ) -> Result<SharedLink, ShareError> {
        let new = self.new_link(password).await?;
        let files = self
            .sealed_files(node, unverified, new.id, &new.owned.key)
            .await?;
        let (password_verifier, kdf) = new.password_verifier.clone().unzip();
        let settings = CreateShare {
            id: Some(new.id),
            file_id: Some(node.id),
            password: password_verifier,
            kdf,
            key_blob: Some(self.wrap_link(&new)),
            ..settings
        };
        let share = self.api.create_share(&settings).await?;
        Ok(self.finish(share, new, files, None).await?)
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
        unverified: UnverifiedNodes,
    ) -> Result<SharedLink, ShareError> {
        let new = self.new_link(None).await?;
        let files = self
            .sealed_files(node, unverified, new.id, &new.owned.key)
            .await?;
        let settings = ShareByEmail {
            file_id: node.id,
            id: Some(new.id),
            key_blob: Some(self.wrap_link(&new)),
            ..settings
        };
        let made = self.api.share_by_email(&settings).await?;
        let sent = Some(made.email_sent);
        Ok(self.finish(made.share, new, files, sent).await?)
    }

    /// Puts what is shared now into a link: files that came since, and new revisions.
    ///
    /// # Errors
    /// As [`Self::create_share`]; [`TransferError::Sealing`] if this link was made without keys, or by somebody else.
    pub async fn refresh_share(
        &self,
        share: &Share,
        node: &Node,
        unverified: UnverifiedNodes,
    ) -> Result<SharedLink, ShareError> {
        let owned = self.owned_link(share)?;
        let files = self
            .sealed_files(node, unverified, share.id, &owned.key)
            .await?;
        let share = self.put_files(share.clone(), files).await?;
        let address = self.address_of(&share, &owned.secret)?;
        Ok(SharedLink {
            share,
            address,
            email_sent: None,
        })
    }

    /// Gives a link another password, or none: a new verifier, and its files sealed anew.
    ///
    /// # Errors
    /// As [`Self::refresh_share`].
    pub async fn set_share_password(
        &self,
        share: &Share,
        node: &Node,
        password: Option<LinkPassword<'_>>,
        unverified: UnverifiedNodes,
    ) -> Result<SharedLink, ShareError> {
        let secret = self.owned_link(share)?.secret;
        let new = self.link_of(share.id, secret, password).await?;
        let files = self
            .sealed_files(node, unverified, share.id, &new.owned.key)
            .await?;
        let (password_verifier, kdf) = new.password_verifier.clone().unzip();
        let change = UpdateShare {
            password: Some(password_verifier),
            kdf,
            key_blob: Some(self.wrap_link(&new)),
            ..UpdateShare::default()
        };
        let changed = self
            .api
            .update_share(&share.id.to_string(), &change)
            .await?;
        Ok(self.finish(changed, new, files, None).await?)
    }

    /// Returns the whole address of one of the account's links; `None` if it was made without keys.
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
        let id = uuid::Builder::from_random_bytes(crate::random_id()).into_uuid();
        let secret = LinkSecret::generate(&mut SystemRandom);
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
                password_verifier: None,
            });
        };
        let kdf = LinkSecret::password_params(password.iterations, &mut SystemRandom)
            .map_err(TransferError::Sealing)?;
        let wire = PasswordKdf {
            iterations: kdf.iterations,
            salt: Sealed(kdf.salt.to_vec()),
        };
        let text = to_zeroizing(password.password);
        let derive = move || {
            let (key, password_verifier) = secret.key_with_password(&text, &kdf)?;
            Ok((OwnedLink { secret, key }, password_verifier.to_hex()))
        };
        let (owned, password_verifier) = run_blocking(self.transfer.blocking(), derive).await?;
        Ok(NewLink {
            id,
            owned,
            password_verifier: Some((password_verifier, wire)),
        })
    }

    fn wrap_link(&self, new: &NewLink) -> Sealed {
        Sealed(new.owned.wrap(&self.keys, new.id, &mut SystemRandom))
    }

    fn owned_link(&self, share: &Share) -> Result<OwnedLink, TransferError> {
        let blob =
            share
                .key_blob
                .as_ref()
                .ok_or(TransferError::Sealing(CryptoError::InvalidInput(
                    "the link was made without keys; make a new one",
                )))?;
        OwnedLink::unwrap(&self.keys, share.id, &blob.0).map_err(|source| TransferError::Refused {
            check: Check::LinkKey,
            source,
        })
    }

    /// The address is never taken from the server, which could name a page of somebody else.
    fn address_of(&self, share: &Share, secret: &LinkSecret) -> Result<String, TransferError> {
        let code = &share.short_code;
        if code.is_empty() || !code.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(TransferError::protocol(format!(
                "the link {} has a short code that can't be one",
                share.id
            )));
        }
        let base = self.api.base_url();
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
            return Err(TransferError::protocol(
                "the server made another link than it was asked for",
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
}

fn to_zeroizing(text: &str) -> zeroize::Zeroizing<String> {
    zeroize::Zeroizing::new(text.to_owned())
}

async fn run_blocking<T: Send + 'static>(
    threads: Blocking,
    work: impl FnOnce() -> Result<T, CryptoError> + Send + 'static,
) -> Result<T, TransferError> {
    threads.run(work).await.map_err(TransferError::Sealing)
}
