//! The people of a team: who they are, what they become, and how they go.

use super::{MEMBERSHIP_SQL, member_data, membership, require, role_of};
use crate::db::{self, Connection, Row, params};
use crate::error::{Error, Result};
use crate::page::read_page;
use crate::rights::Right;
use crate::rows::{id, name_of, word};
use crate::{Space, Store, Tx};
use cairn_model::{AccountId, EventKind, TeamId};
use cairn_wire::Timestamp;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::teams::{Offboarded, TeamMember, TeamRole};
use serde_json::{Value, json};

const MEMBER_SQL: &str = "SELECT m.account, a.email, a.display_name, m.role, m.joined_at \
     FROM team_members m JOIN accounts a ON a.id = m.account WHERE m.team = ?1";

fn member(row: &Row<'_>) -> db::Result<TeamMember> {
    Ok(TeamMember {
        user_id: id(row, 0)?,
        email: row.get(1)?,
        display_name: row.get(2)?,
        role: word(row, 3)?,
        joined_at: Timestamp(row.get(4)?),
    })
}

fn read_member(conn: &Connection, team: TeamId, account: AccountId) -> Result<TeamMember> {
    Ok(conn
        .prepare_cached(&format!("{MEMBER_SQL} AND m.account = ?2"))?
        .query_row(params![team.as_bytes(), account.as_bytes()], member)?)
}

/// A member whom others may change: anybody but the owner.
fn check_changeable(conn: &Connection, team: TeamId, user: AccountId, rule: &str) -> Result<()> {
    match role_of(conn, team, user)?.map(|found| found.role) {
        None => Err(Error::not_found(format!("the team has no member {user}"))),
        Some(TeamRole::Owner) => Err(Error::Forbidden(rule.to_owned())),
        Some(TeamRole::Admin | TeamRole::Member) => Ok(()),
    }
}

/// The numbers of what ended with a membership.
pub(crate) struct TakenOut {
    grants: u64,
    links: u64,
    invitations: u64,
}

impl Tx<'_> {
    /// Tells somebody that they are no longer in a team.
    fn notify_removed(&self, user: AccountId, data: &Value) -> Result<()> {
        let title = "You were removed from a team";
        self.notify(user, NotificationKind::Team, title, data)
    }

    /// Takes somebody out of a team: their grants, share links, open invitations, retention rules and
    /// uploads in progress end, and the key's epoch is raised: members make a new key, so that whoever left can't
    /// read what is written from then on.
    pub(crate) fn take_out(&self, team: TeamId, space: Space, user: AccountId) -> Result<TakenOut> {
        let data = member_data(self.conn, team, user)?;
        let links = self.revoke_shares(user, space)?;
        let invitations = self.withdraw_invitations_of(team, user)?;
        self.delete_rules_of(user, space)?;
        self.conn.execute(
            "UPDATE uploads SET expires_at = 0 WHERE space = ?1 AND account = ?2",
            params![space.row, user.as_bytes()],
        )?;
        self.tell_team(team, EventKind::TeamMemberLeft, &data)?;
        self.conn.execute(
            "DELETE FROM team_members WHERE team = ?1 AND account = ?2",
            params![team.as_bytes(), user.as_bytes()],
        )?;
        let grants = self.conn.execute(
            "DELETE FROM team_grants WHERE team = ?1 AND account = ?2",
            params![team.as_bytes(), user.as_bytes()],
        )?;
        self.conn.execute(
            "UPDATE teams SET key_epoch = key_epoch + 1 WHERE id = ?1",
            [team.as_bytes()],
        )?;
        Ok(TakenOut {
            grants: grants as u64,
            links,
            invitations,
        })
    }

    fn withdraw_invitations_of(&self, team: TeamId, user: AccountId) -> Result<u64> {
        Ok(self.conn.execute(
            "UPDATE team_invitations SET state = 'withdrawn' \
             WHERE team = ?1 AND invited_by = ?2 AND state = 'pending'",
            params![team.as_bytes(), user.as_bytes()],
        )? as u64)
    }

    /// Ends all memberships of an account; teams that it owned go on under their longest-standing admin
    /// or member. Returns the teams that nobody is left in.
    pub(crate) fn leave_all_teams(&self, account: AccountId) -> Result<Vec<TeamId>> {
        let memberships = self
            .conn
            .prepare(MEMBERSHIP_SQL)?
            .query_map([account.as_bytes()], membership)?
            .collect::<db::Result<Vec<_>>>()?;
        let mut orphaned = Vec::new();
        for its in memberships {
            if its.role == TeamRole::Owner && !self.hand_over(its.team, account)? {
                orphaned.push(its.team);
                continue;
            }
            self.take_out(its.team, its.space, account)?;
        }
        Ok(orphaned)
    }

    /// Makes another member the owner, if possible one whose account is in use; false if there is none.
    fn hand_over(&self, team: TeamId, owner: AccountId) -> Result<bool> {
        let candidates: Vec<AccountId> = self
            .conn
            .prepare(
                "SELECT m.account FROM team_members m JOIN accounts a ON a.id = m.account \
                 WHERE m.team = ?1 AND m.account <> ?2 \
                 ORDER BY a.disabled_at IS NULL AND a.deletion_requested_at IS NULL DESC, \
                 m.role = 'admin' DESC, m.joined_at, m.account LIMIT 1",
            )?
            .query_map(params![team.as_bytes(), owner.as_bytes()], |row| id(row, 0))?
            .collect::<db::Result<_>>()?;
        let Some(successor) = candidates.first() else {
            return Ok(false);
        };
        // One owner at a time: the old one steps down first.
        for (who, role) in [(owner, TeamRole::Admin), (*successor, TeamRole::Owner)] {
            self.set_role(team, who, role)?;
        }
        let data = member_data(self.conn, team, *successor)?;
        self.notify(
            *successor,
            NotificationKind::Team,
            "You now own a team",
            &data,
        )?;
        Ok(true)
    }

    fn set_role(&self, team: TeamId, user: AccountId, role: TeamRole) -> Result<()> {
        self.conn.execute(
            "UPDATE team_members SET role = ?3 WHERE team = ?1 AND account = ?2",
            params![team.as_bytes(), user.as_bytes(), name_of(&role)],
        )?;
        Ok(())
    }
}

impl Store {
    /// One page of a team's members, the owner first, and their number.
    ///
    /// # Errors
    /// 404 for somebody who is no member.
    pub fn team_members(
        &self,
        account: AccountId,
        team: TeamId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<TeamMember>, u64)> {
        self.read(|conn| {
            require(conn, team, account, Right::View)?;
            let count = "SELECT count(*) FROM team_members WHERE team = ?1";
            let list = format!(
                "{MEMBER_SQL} ORDER BY m.role = 'owner' DESC, m.role = 'admin' DESC, a.email \
                 LIMIT ?3 OFFSET ?2"
            );
            let which = params![team.as_bytes()];
            read_page(conn, (count, &list), which, (skip, take), member)
        })
    }

    /// Makes a member an admin, or an admin a member.
    ///
    /// # Errors
    /// 404, 403; the owner's role can't be changed.
    pub fn change_role(
        &self,
        account: AccountId,
        team: TeamId,
        user: AccountId,
        role: TeamRole,
    ) -> Result<TeamMember> {
        self.write(|tx| {
            require(tx.conn, team, account, Right::ChangeRoles)?;
            check_changeable(tx.conn, team, user, "the owner's role cannot be changed")?;
            tx.set_role(team, user, role)?;
            if user != account {
                let mut data = member_data(tx.conn, team, user)?;
                data["role"] = json!(role);
                tx.notify(
                    user,
                    NotificationKind::Team,
                    "Your role in a team was changed",
                    &data,
                )?;
            }
            read_member(tx.conn, team, user)
        })
    }

    /// Takes a member out of a team; anybody but the owner may take out themselves.
    ///
    /// # Errors
    /// 404, 403; the owner can't be removed.
    pub fn remove_member(&self, account: AccountId, team: TeamId, user: AccountId) -> Result<()> {
        self.write(|tx| {
            let right = if user == account {
                Right::View
            } else {
                Right::Remove
            };
            let its = require(tx.conn, team, account, right)?;
            check_changeable(
                tx.conn,
                team,
                user,
                "the owner cannot be removed from the team",
            )?;
            let data = member_data(tx.conn, team, user)?;
            tx.take_out(team, its.space, user)?;
            if user != account {
                tx.notify_removed(user, &data)?;
            }
            Ok(())
        })
    }

    /// Takes a member out of a team with everything that they had opened to others there.
    ///
    /// # Errors
    /// 404, 403; the owner can't be offboarded.
    pub fn offboard_member(
        &self,
        account: AccountId,
        team: TeamId,
        user: AccountId,
    ) -> Result<Offboarded> {
        self.write(|tx| {
            let its = require(tx.conn, team, account, Right::Offboard)?;
            check_changeable(tx.conn, team, user, "the owner cannot be offboarded")?;
            let data = member_data(tx.conn, team, user)?;
            let taken = tx.take_out(team, its.space, user)?;
            tx.notify_removed(user, &data)?;
            Ok(Offboarded {
                user_id: user,
                revoked_share_links: taken.links,
                revoked_grants: taken.grants,
                withdrawn_invitations: taken.invitations,
            })
        })
    }
}
