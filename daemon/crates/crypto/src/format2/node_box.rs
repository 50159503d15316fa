//! The box of a statement: the part of a signed change of a node that only key holders can read. AES-256-SIV (RFC
//! 5297), because it is made again for each statement without room for a nonce.
//!
//! In open spaces (whose names the server sees) a file's box has the hash of its content and a folder's is empty. In
//! private spaces it also has the name, and for files size, time of change and media type, padded to 32 bytes.

use crate::error::{CryptoError, Result};
use crate::format2::keys::SpaceKeys;
use aes_siv::KeyInit as _;
use aes_siv::siv::Aes256Siv;
use cairn_log::bytes::{Reader, Writer};
use cairn_log::{AssociatedData, MAX_BOX};
use cairn_model::NodeId;
use zeroize::Zeroizing;

const SIV: usize = 16;
/// Private boxes are padded to a multiple of this, in bytes.
const BLOCK: usize = 32;
/// The longest media type, in bytes.
const MAX_MIME: usize = 255;
const MAX_NAME: usize = 255;

/// The plaintext of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeBox {
    /// A folder of an open space: nothing is secret.
    OpenFolder,
    /// A file of an open space: BLAKE3 of its content.
    OpenFile { hash: [u8; 32] },
    /// A folder of a private space.
    PrivateFolder { name: String },
    /// A file of a private space.
    PrivateFile(PrivateFacts),
}

/// A file of a private space, as its box has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateFacts {
    pub name: String,
    /// The length of the content, in bytes.
    pub size: u64,
    /// The time of the last change, in milliseconds since 1970.
    pub mtime_ms: i64,
    pub mime: String,
    /// BLAKE3 of the content.
    pub hash: [u8; 32],
}

/// The shape of a box, which follows from the statement's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxShape {
    pub is_folder: bool,
    pub is_private: bool,
}

impl NodeBox {
    /// Seals the box of a node's statement `seq`.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] for a name or media type that is empty or longer than 255 bytes.
    pub fn seal(
        &self,
        keys: &SpaceKeys,
        node: NodeId,
        seq: u64,
    ) -> std::result::Result<Vec<u8>, CryptoError> {
        let plain = self.encode()?;
        if plain.is_empty() {
            return Ok(Vec::new());
        }
        let associated = associated_data(keys, node, seq);
        cipher(keys)
            .encrypt([associated.as_bytes()], &plain)
            .map_err(|_| CryptoError::InvalidInput("the box is too long"))
    }

    /// Opens the box of the requested node's statement `seq`.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if it was altered, belongs to another statement, or has another shape.
    pub fn open(
        keys: &SpaceKeys,
        node: NodeId,
        seq: u64,
        shape: BoxShape,
        sealed: &[u8],
    ) -> std::result::Result<Self, CryptoError> {
        if shape.is_folder && !shape.is_private {
            return if sealed.is_empty() {
                Ok(Self::OpenFolder)
            } else {
                Err(CryptoError::NotAuthentic)
            };
        }
        if !(SIV..=MAX_BOX).contains(&sealed.len()) {
            return Err(CryptoError::NotAuthentic);
        }
        let associated = associated_data(keys, node, seq);
        let plain = cipher(keys)
            .decrypt([associated.as_bytes()], sealed)
            .map(Zeroizing::new)
            .map_err(|_| CryptoError::NotAuthentic)?;
        Self::decode(shape, &plain)
    }

    fn encode(&self) -> Result<Zeroizing<Vec<u8>>> {
        let mut out = Writer::new();
        match self {
            Self::OpenFolder => {}
            Self::OpenFile { hash } => {
                out.raw(hash);
            }
            Self::PrivateFolder { name } => {
                out.vx(field(name)?);
                pad(&mut out);
            }
            Self::PrivateFile(facts) => {
                out.vx(field(&facts.name)?)
                    .v(facts.size)
                    .zz(facts.mtime_ms)
                    .vx(field(&facts.mime)?)
                    .raw(&facts.hash);
                pad(&mut out);
            }
        }
        Ok(Zeroizing::new(out.finish()))
    }

    fn decode(shape: BoxShape, plain: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(plain);
        let decoded = match (shape.is_private, shape.is_folder) {
            (false, true) => Self::OpenFolder,
            (false, false) => Self::OpenFile {
                hash: reader.array()?,
            },
            (true, true) => Self::PrivateFolder {
                name: text(reader.vx(MAX_NAME)?)?,
            },
            (true, false) => Self::PrivateFile(PrivateFacts {
                name: text(reader.vx(MAX_NAME)?)?,
                size: reader.v()?,
                mtime_ms: reader.zz()?,
                mime: text(reader.vx(MAX_MIME)?)?,
                hash: reader.array()?,
            }),
        };
        if shape.is_private {
            let zeros = reader.rest();
            let is_padded = plain.len().is_multiple_of(BLOCK) && zeros.len() < BLOCK;
            if !is_padded || zeros.iter().any(|&byte| byte != 0) {
                return Err(CryptoError::NotAuthentic);
            }
        } else {
            reader.end()?;
        }
        Ok(decoded)
    }
}

fn field(text: &str) -> Result<&[u8]> {
    if text.is_empty() || text.len() > MAX_NAME {
        return Err(CryptoError::InvalidInput(
            "a name or media type is empty or longer than 255 bytes",
        ));
    }
    Ok(text.as_bytes())
}

fn text(bytes: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(bytes).map_err(|_| CryptoError::NotAuthentic)?;
    field(text).map_err(|_| CryptoError::NotAuthentic)?;
    Ok(text.to_owned())
}

fn pad(out: &mut Writer) {
    let mut plain = out.finish();
    plain.resize(plain.len().next_multiple_of(BLOCK), 0);
    out.raw(&plain);
}

fn cipher(keys: &SpaceKeys) -> Aes256Siv {
    let mut key = Zeroizing::new([0; 64]);
    let half = |label| *keys.boxes.derive(&AssociatedData::new(label)).bytes();
    key[..32].copy_from_slice(&half("cairn/2/siv-mac"));
    key[32..].copy_from_slice(&half("cairn/2/siv-enc"));
    Aes256Siv::new((&*key).into())
}

fn associated_data(keys: &SpaceKeys, node: NodeId, seq: u64) -> AssociatedData {
    AssociatedData::new("cairn/2/box")
        .id(&keys.space)
        .number(keys.epoch)
        .id(&node)
        .number(seq)
}

#[cfg(test)]
mod tests;
