//! A state as bytes, without what its records hold: who keeps the records elsewhere stores these bytes beside
//! them, and continues from there after a restart.
//!
//! 01 · history 16 · restored u8 · size v · complete subtrees 32 each · digest 2048 · genesis u8, then form
//! u8, account 16, identity 32, clock u48, random 16 · epoch v · members: count v, each account 16, identity
//! 32, role u8 · counters of device lists: count v, each account 16, counter v.
//!
//! In layouts a number is a length in bytes, v a LEB128 number.

use super::SpaceState;
use crate::bytes::{Reader, Writer};
use crate::control::{Genesis, Member, Role};
use crate::digest::{DIGEST, StateDigest};
use crate::error::{LogError, Result, require};
use crate::records::Records;
use crate::tree::Tree;
use cairn_model::SpaceId;

const VERSION: u8 = 1;

impl<R: Records> SpaceState<R> {
    /// Returns the bytes from which [`SpaceState::resume`] goes on with the same records.
    #[must_use]
    pub fn core(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u8(VERSION)
            .raw(&self.history)
            .u8(u8::from(self.is_restored))
            .v(self.tree.size());
        for subtree in self.tree.subtrees() {
            out.raw(subtree);
        }
        out.raw(&self.digest.to_bytes())
            .u8(u8::from(self.genesis.is_some()));
        if let Some(genesis) = &self.genesis {
            genesis.write(&mut out);
        }
        out.v(self.epoch).v(self.members.len() as u64);
        for member in self.members.values() {
            out.raw(member.account.as_bytes())
                .raw(&member.identity)
                .u8(member.role.code());
        }
        out.v(self.counters.len() as u64);
        for (account, counter) in &self.counters {
            out.raw(account.as_bytes()).v(*counter);
        }
        out.finish()
    }

    /// Goes on from the bytes that [`SpaceState::core`] gave.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for other bytes; [`LogError::UnsupportedFormat`] for those of a newer program.
    pub fn resume(space: SpaceId, core: &[u8], records: R) -> std::result::Result<Self, LogError> {
        let mut reader = Reader::new(core);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(LogError::UnsupportedFormat(u32::from(version)));
        }
        let mut state = Self::with_records(space, reader.array()?, records);
        state.is_restored = flag(&mut reader)?;
        state.tree = tree(&mut reader)?;
        state.digest = StateDigest::from_bytes(&reader.array::<DIGEST>()?);
        if flag(&mut reader)? {
            state.genesis = Some(Genesis::read(&mut reader)?);
        }
        state.epoch = reader.v()?;
        for _ in 0..reader.count(16 + 32 + 1)? {
            let account = reader.account()?;
            let member = Member {
                account,
                identity: reader.array()?,
                role: Role::from_code(reader.u8()?)?,
            };
            state.members.insert(account, member);
        }
        for _ in 0..reader.count(16 + 1)? {
            let account = reader.account()?;
            state.counters.insert(account, reader.v()?);
        }
        reader.end()?;
        Ok(state)
    }
}

fn flag(reader: &mut Reader<'_>) -> Result<bool> {
    let flag = reader.u8()?;
    require(flag <= 1)?;
    Ok(flag == 1)
}

fn tree(reader: &mut Reader<'_>) -> Result<Tree> {
    let size = reader.v()?;
    let subtrees = (0..size.count_ones()).map(|_| reader.array());
    let subtrees = subtrees.collect::<Result<Vec<_>>>()?;
    Tree::of_subtrees(size, subtrees).ok_or(LogError::NotGenuine)
}
