//! Invitations into a team, by e-mail.
//!
//! The response to an invitation never tells whether the address has an account: the mail goes out
//! either way, and the invitation waits for whoever signs in with it.

use super::{member_data, read_team, require, team_name};
use crate::access::{self, Table};
use crate::catalog;
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::mails::one_line;
use crate::page::read_page;
use crate::payments::plan_of;
use crate::rights::Right;
use crate::rows::{fresh_id, id, name_of, word};
use crate::{Store, Tx};
use cairn_model::address::normalize;
use cairn_model::{AccountId, EventKind, TeamId};
use cairn_wire::Timestamp;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::teams::{Invitation, InvitationState, Team, TeamRole};
use serde_json::json;
use uuid::Uuid;

/// The time for which an invitation can be accepted.
const VALID_MS: i64 = 7 * 24 * 3600 * 1000;

const INVITATION_SQL: &str = "SELECT i.id, i.team, t.name, i.email, i.role, i.invited_by, i.state, \
     i.created_at, i.expires_at FROM team_invitations i JOIN teams t ON t.id = i.team";

fn invitation(row: &Row<'_>) -> db::Result<Invitation> {
    Ok(Invitation {
        id: id(row, 0)?,
        team_id: id(row, 1)?,
        team_name: row.get(2)?,
        email: row.get(3)?,
        role: word(row, 4)?,
        invited_by: id(row, 5)?,
        status: word(row, 6)?,
        created_at: Timestamp(row.get(7)?),
        expires_at: Timestamp(row.get(8)?),
    })
}

/// Returns the address of an account in the form in which invitations keep theirs.
fn email_of(conn: &Connection, account: AccountId) -> Result<String> {
    let email: String = conn.query_row(
        "SELECT email FROM accounts WHERE id = ?1",
        [account.as_bytes()],
        |row| row.get(0),
    )?;
    Ok(normalize(&email))
}

/// Members and open invitations against what the owner's plan allows.
fn check_room(conn: &Connection, team: TeamId) -> Result<()> {
    let owner = super::owner_of(conn, team)?;
    let taken: u64 = conn.query_row(
        "SELECT (SELECT count(*) FROM team_members WHERE team = ?1) \
         + (SELECT count(*) FROM team_invitations WHERE team = ?1 AND state = 'pending')",
        [team.as_bytes()],
        |row| row.get(0),
    )?;
    let limit = catalog::member_limit(plan_of(conn, owner)?);
    if taken >= limit {
        return Err(Error::QuotaFull(format!(
            "the team has {taken} members and open invitations, and its plan allows {limit}; \
             remove somebody or change the owner's plan"
        )));
    }
    Ok(())
}

impl Tx<'_> {
    fn expire_invitations(&self) -> Result<()> {
        self.conn.execute(
            "UPDATE team_invitations SET state = 'expired' WHERE state = 'pending' AND expires_at <= ?1",
            [self.now],
        )?;
        Ok(())
    }

    /// A pending invitation for the caller's own address.
    fn open_invitation(&self, account: AccountId, wanted: Uuid) -> Result<Invitation> {
        self.expire_invitations()?;
        let email = email_of(self.conn, account)?;
        let found = self
            .conn
            .prepare_cached(&format!(
                "{INVITATION_SQL} WHERE i.id = ?1 AND i.email = ?2"
            ))?
            .query_row(params![wanted.as_bytes(), email], invitation)
            .optional()?
            .ok_or_else(|| {
                let what = format!("invitation {wanted}");
                access::absent_error(self.conn, Table::Invitations, wanted.as_bytes(), &what)
            })?;
        match found.status {
            InvitationState::Pending => Ok(found),
            InvitationState::Expired | InvitationState::Withdrawn => Err(Error::Gone(format!(
                "the invitation {wanted} is {}; ask for another",
                name_of(&found.status)
            ))),
            InvitationState::Accepted | InvitationState::Declined => Err(Error::conflict(format!(
                "the invitation {wanted} was {} already",
                name_of(&found.status)
            ))),
        }
    }

    fn decide_invitation(&self, wanted: Uuid, state: InvitationState) -> Result<()> {
        self.conn.execute(
            "UPDATE team_invitations SET state = ?2 WHERE id = ?1",
            params![wanted.as_bytes(), name_of(&state)],
        )?;
        Ok(())
    }

    fn send_invitation(&self, sent: &Invitation, from: &str) -> Result<()> {
        let team = one_line(&sent.team_name);
        self.send_mail(
            &sent.email,
            &format!("{from} invites you to the team {team}"),
            &format!(
                "{from} invites you to the team {team} as {role}.\n\n\
                 Sign in with this address and accept the invitation {id} until {until}.\n",
                role = name_of(&sent.role),
                id = sent.id,
                until = sent.expires_at,
            ),
        )?;
        if let Some(account) = self.account_with_email(&sent.email)? {
            let data = json!({
                "invitation_id": sent.id, "team_id": sent.team_id, "team_name": sent.team_name,
                "role": sent.role, "invited_by": sent.invited_by,
            });
            self.notify(
                account,
                NotificationKind::Team,
                "You are invited to a team",
                &data,
            )?;
        }
        Ok(())
    }
}

impl Store {
    /// Invites an address into a team; the mail goes out with it.
    ///
    /// # Errors
    /// 404, 403; 409 for a member or an address that is invited already; 507 for a full team.
    pub fn invite(
        &self,
        account: AccountId,
        team: TeamId,
        email: &str,
        role: TeamRole,
    ) -> Result<Invitation> {
        let email = normalize(email);
        self.write(|tx| {
            require(tx.conn, team, account, Right::Invite)?;
            tx.refuse_blocked_at(account, &email)?;
            tx.expire_invitations()?;
            let taken: Option<&str> = tx
                .conn
                .query_row(
                    "SELECT EXISTS (SELECT 1 FROM team_members m JOIN accounts a ON a.id = m.account \
                     WHERE m.team = ?1 AND a.email = ?2), EXISTS (SELECT 1 FROM team_invitations \
                     WHERE team = ?1 AND email = ?2 AND state = 'pending')",
                    params![team.as_bytes(), email],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .map(|(member, invited): (bool, bool)| match (member, invited) {
                    (true, _) => Some("is a member of the team already"),
                    (false, true) => Some("has an open invitation to the team already"),
                    (false, false) => None,
                })?;
            if let Some(why) = taken {
                return Err(Error::conflict(format!("{email} {why}")));
            }
            check_room(tx.conn, team)?;
            let sent = Invitation {
                id: fresh_id(tx.source),
                team_id: team,
                team_name: team_name(tx.conn, team)?,
                email,
                role,
                invited_by: account,
                status: InvitationState::Pending,
                created_at: Timestamp(tx.now),
                expires_at: Timestamp(tx.now + VALID_MS),
            };
            tx.conn.execute(
                "INSERT INTO team_invitations (id, team, email, role, invited_by, state, created_at, expires_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, 'pending', ?6, ?7)",
                params![
                    sent.id.as_bytes(),
                    team.as_bytes(),
                    sent.email,
                    name_of(&role),
                    account.as_bytes(),
                    sent.created_at.0,
                    sent.expires_at.0
                ],
            )?;
            let from = email_of(tx.conn, account)?;
            tx.send_invitation(&sent, &from)?;
            Ok(sent)
        })
    }

    /// One page of the invitations that wait for the account's answer, latest first.
    pub fn invitations(
        &self,
        account: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Invitation>, u64)> {
        self.write(|tx| {
            tx.expire_invitations()?;
            let email = email_of(tx.conn, account)?;
            page(tx.conn, "i.email = ?1", &email, skip, take)
        })
    }

    /// One page of a team's open invitations, latest first.
    ///
    /// # Errors
    /// 404, 403.
    pub fn team_invitations(
        &self,
        account: AccountId,
        team: TeamId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Invitation>, u64)> {
        self.write(|tx| {
            require(tx.conn, team, account, Right::Invite)?;
            tx.expire_invitations()?;
            page(tx.conn, "i.team = ?1", team.as_bytes(), skip, take)
        })
    }

    /// Makes the caller a member.
    ///
    /// # Errors
    /// 404, 403 for another's invitation, 409 for an answered one, 410 for one that is no longer open.
    pub fn accept_invitation(&self, account: AccountId, wanted: Uuid) -> Result<Team> {
        self.write(|tx| {
            let found = tx.open_invitation(account, wanted)?;
            tx.decide_invitation(wanted, InvitationState::Accepted)?;
            tx.join(found.team_id, account, found.role)?;
            let mut data = member_data(tx.conn, found.team_id, account)?;
            data["role"] = json!(found.role);
            tx.tell_team(found.team_id, EventKind::TeamMemberJoined, &data)?;
            if found.invited_by != account {
                tx.notify(
                    found.invited_by,
                    NotificationKind::Team,
                    "Your invitation was accepted",
                    &data,
                )?;
            }
            read_team(tx.conn, found.team_id, account)
        })
    }

    /// Turns an invitation down.
    ///
    /// # Errors
    /// As [`Store::accept_invitation`].
    pub fn decline_invitation(&self, account: AccountId, wanted: Uuid) -> Result<()> {
        self.write(|tx| {
            let found = tx.open_invitation(account, wanted)?;
            tx.decide_invitation(wanted, InvitationState::Declined)?;
            let data = json!({
                "team_id": found.team_id, "team_name": found.team_name, "email": found.email,
            });
            tx.notify(
                found.invited_by,
                NotificationKind::Team,
                "Your invitation was declined",
                &data,
            )
        })
    }

    /// Takes an open invitation back.
    ///
    /// # Errors
    /// 404, 403.
    pub fn withdraw_invitation(
        &self,
        account: AccountId,
        team: TeamId,
        wanted: Uuid,
    ) -> Result<()> {
        self.write(|tx| {
            require(tx.conn, team, account, Right::Invite)?;
            let changed = tx.conn.execute(
                "UPDATE team_invitations SET state = 'withdrawn' \
                 WHERE id = ?1 AND team = ?2 AND state = 'pending'",
                params![wanted.as_bytes(), team.as_bytes()],
            )?;
            if changed == 0 {
                return Err(Error::not_found(format!(
                    "the team has no open invitation {wanted}"
                )));
            }
            Ok(())
        })
    }
}

fn page(
    conn: &Connection,
    filter: &str,
    value: &dyn db::ToSql,
    skip: u64,
    take: u64,
) -> Result<(Vec<Invitation>, u64)> {
    let count =
        format!("SELECT count(*) FROM team_invitations i WHERE {filter} AND i.state = 'pending'");
    let list = format!(
        "{INVITATION_SQL} WHERE {filter} AND i.state = 'pending' \
         ORDER BY i.created_at DESC, i.id LIMIT ?3 OFFSET ?2"
    );
    read_page(conn, (&count, &list), &[value], (skip, take), invitation)
}
