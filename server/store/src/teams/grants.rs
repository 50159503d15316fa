//! Grants of a team's key: the key to the team's files, encrypted to one member's public key. There is one for each
//! member and key epoch (a new key, counted by a number, replaces the old one when a member leaves). The server can't
//! open them.

use super::{member_ids, require, role_of};
use crate::db::{self, Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::rights::Right;
use crate::rows::{id, json};
use crate::{Store, Tx};
use cairn_model::{AccountId, TeamId};
use cairn_wire::keys::KeyBundle;
use cairn_wire::teams::{Grant, MemberKeys, NewGrant, TeamKeys};
use cairn_wire::{Sealed, Timestamp};

/// A grant is one RSA block with a signature, far below this. Whole groups of base64.
pub const MAX_GRANT: usize = 16 * 1024 + 2;

fn epoch(conn: &Connection, team: TeamId) -> Result<u32> {
    Ok(conn.query_row(
        "SELECT key_epoch FROM teams WHERE id = ?1",
        [team.as_bytes()],
        |row| row.get(0),
    )?)
}

fn grants(conn: &Connection, team: TeamId, account: AccountId) -> Result<Vec<Grant>> {
    Ok(conn
        .prepare_cached(
            "SELECT epoch, account, sealed, granted_by, created_at FROM team_grants \
             WHERE team = ?1 AND account = ?2 ORDER BY epoch",
        )?
        .query_map(params![team.as_bytes(), account.as_bytes()], |row| {
            Ok(Grant {
                epoch: row.get(0)?,
                user_id: id(row, 1)?,
                grant: Sealed(row.get(2)?),
                granted_by: id(row, 3)?,
                created_at: Timestamp(row.get(4)?),
            })
        })?
        .collect::<db::Result<_>>()?)
}

fn public_keys(conn: &Connection, account: AccountId) -> Result<Option<KeyBundle>> {
    Ok(conn
        .prepare_cached("SELECT bundle FROM key_bundles WHERE account = ?1")?
        .query_row([account.as_bytes()], |row| {
            json::<Option<KeyBundle>>(row, 0)
        })
        .optional()?
        .flatten())
}

fn keys(conn: &Connection, team: TeamId, account: AccountId) -> Result<TeamKeys> {
    let its = require(conn, team, account, Right::View)?;
    let epoch = epoch(conn, team)?;
    let mut members = Vec::new();
    for user in member_ids(conn, team)? {
        let bundle = public_keys(conn, user)?;
        let (rsa_public, signing_public) = bundle.map_or((None, None), |bundle| {
            (Some(bundle.rsa_public), Some(bundle.signing_public))
        });
        members.push(MemberKeys {
            user_id: user,
            rsa_public,
            signing_public,
            has_grant: grants(conn, team, user)?
                .iter()
                .any(|grant| grant.epoch == epoch),
        });
    }
    Ok(TeamKeys {
        space_id: its.space.id,
        epoch,
        grants: grants(conn, team, account)?,
        members,
    })
}

impl Tx<'_> {
    fn grant(&self, team: TeamId, by: AccountId, epoch: u32, new: &NewGrant) -> Result<()> {
        if new.grant.0.is_empty() || new.grant.0.len() > MAX_GRANT {
            return Err(Error::invalid(format!(
                "`grants[].grant` has to have 1 to {MAX_GRANT} bytes"
            )));
        }
        if role_of(self.conn, team, new.user_id)?.is_none() {
            return Err(Error::not_found(format!(
                "the team has no member {}",
                new.user_id
            )));
        }
        let known: Option<Vec<u8>> = self
            .conn
            .query_row(
                "SELECT sealed FROM team_grants WHERE team = ?1 AND epoch = ?2 AND account = ?3",
                params![team.as_bytes(), epoch, new.user_id.as_bytes()],
                |row| row.get(0),
            )
            .optional()?;
        match known {
            Some(known) if known == new.grant.0 => Ok(()),
            Some(_) => Err(Error::conflict(format!(
                "the member {} has another grant of epoch {epoch} already",
                new.user_id
            ))),
            None => {
                self.conn.execute(
                    "INSERT INTO team_grants (team, epoch, account, sealed, granted_by, created_at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        team.as_bytes(),
                        epoch,
                        new.user_id.as_bytes(),
                        new.grant.0,
                        by.as_bytes(),
                        self.now
                    ],
                )?;
                Ok(())
            }
        }
    }
}

impl Store {
    /// The caller's grants, and whom the key in force can be granted to.
    ///
    /// # Errors
    /// 404 for somebody who is no member.
    pub fn team_keys(&self, account: AccountId, team: TeamId) -> Result<TeamKeys> {
        self.read(|conn| keys(conn, team, account))
    }

    /// Stores grants: those of the epoch in force, or of an earlier one for members who came later.
    ///
    /// # Errors
    /// 404, 403; 409 for an epoch that is yet to come and for a member with another grant.
    pub fn put_grants(
        &self,
        account: AccountId,
        team: TeamId,
        of_epoch: u32,
        new: &[NewGrant],
    ) -> Result<TeamKeys> {
        self.write(|tx| {
            require(tx.conn, team, account, Right::ManageKeys)?;
            let in_force = epoch(tx.conn, team)?;
            if of_epoch == 0 || of_epoch > in_force {
                return Err(Error::conflict(format!(
                    "the team's key is at epoch {in_force}, and `epoch` is {of_epoch}"
                )));
            }
            for grant in new {
                tx.grant(team, account, of_epoch, grant)?;
            }
            keys(tx.conn, team, account)
        })
    }
}
