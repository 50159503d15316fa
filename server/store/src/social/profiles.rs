//! Profiles: what they say, their names, and who may see them.

use super::{Pair, no_user, pair_exists, refuse_blocked};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::rows::{id, name_of, word};
use crate::{Store, Tx};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::social::FeedEntryKind;
use cairn_wire::social::{Profile, UpdateProfile, Visibility};
use serde_json::json;

const PROFILE_SQL: &str = "SELECT a.id, a.display_name, p.username, p.vanity_url, p.bio, p.avatar_url, \
     p.visibility, p.verified, (SELECT count(*) FROM follows f WHERE f.followee = a.id), \
     (SELECT count(*) FROM follows f WHERE f.follower = a.id), p.tip_jar, a.created_at \
     FROM accounts a JOIN profiles p ON p.account = a.id WHERE a.id = ?1";

fn profile(row: &Row<'_>) -> db::Result<Profile> {
    Ok(Profile {
        user_id: id(row, 0)?,
        display_name: row.get(1)?,
        username: row.get(2)?,
        vanity_url: row.get(3)?,
        bio: row.get(4)?,
        avatar_url: row.get(5)?,
        visibility: word(row, 6)?,
        is_verified: row.get(7)?,
        follower_count: row.get(8)?,
        following_count: row.get(9)?,
        tip_jar_id: id(row, 10)?,
        created_at: Timestamp(row.get(11)?),
    })
}

fn read(conn: &Connection, account: AccountId) -> Result<Option<Profile>> {
    Ok(conn
        .prepare_cached(PROFILE_SQL)?
        .query_row([account.as_bytes()], profile)
        .optional()?)
}

/// A name that only one profile can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handle {
    Username,
    VanityUrl,
}

impl Handle {
    fn column(self) -> &'static str {
        match self {
            Self::Username => "username",
            Self::VanityUrl => "vanity_url",
        }
    }
}

impl Tx<'_> {
    fn own_profile(&self, account: AccountId) -> Result<Profile> {
        self.ensure_profile(account)?;
        read(self.conn, account)?.ok_or_else(|| no_user(account))
    }
}

impl Store {
    /// The caller's own profile.
    pub fn own_profile(&self, account: AccountId) -> Result<Profile> {
        if let Some(found) = self.read(|conn| read(conn, account))? {
            return Ok(found);
        }
        self.write(|tx| tx.own_profile(account))
    }

    /// Somebody's profile, as far as the viewer may see it.
    ///
    /// # Errors
    /// 404 for nobody; 403 for a profile that is not open to the viewer.
    pub fn profile_for(&self, viewer: AccountId, user: AccountId) -> Result<Profile> {
        if viewer == user {
            return self.own_profile(user);
        }
        self.read(|conn| {
            let found = read(conn, user)?.ok_or_else(|| no_user(user))?;
            refuse_blocked(conn, viewer, user)?;
            let open = match found.visibility {
                Visibility::Public => true,
                Visibility::FollowersOnly => pair_exists(conn, Pair::Follows, viewer, user)?,
                Visibility::Private => false,
            };
            if open {
                Ok(found)
            } else {
                Err(Error::Forbidden(format!(
                    "the profile of {user} is not open to you"
                )))
            }
        })
    }

    /// Changes what a profile says.
    pub fn update_profile(&self, account: AccountId, change: &UpdateProfile) -> Result<Profile> {
        self.write(|tx| {
            let known = tx.own_profile(account)?;
            let avatar = match change.avatar_url.as_deref() {
                Some("") => None,
                Some(new) => Some(new.to_owned()),
                None => known.avatar_url.clone(),
            };
            tx.conn.execute(
                "UPDATE accounts SET display_name = ?2 WHERE id = ?1",
                params![
                    account.as_bytes(),
                    change.display_name.as_ref().unwrap_or(&known.display_name)
                ],
            )?;
            tx.conn.execute(
                "UPDATE profiles SET bio = ?2, avatar_url = ?3 WHERE account = ?1",
                params![
                    account.as_bytes(),
                    change.bio.as_ref().unwrap_or(&known.bio),
                    avatar
                ],
            )?;
            let new = tx.own_profile(account)?;
            if new != known {
                tx.publish(
                    account,
                    FeedEntryKind::ProfileUpdated,
                    &json!({"display_name": new.display_name}),
                )?;
            }
            Ok(new)
        })
    }

    /// Gives a profile a name that nobody else has; upper and lower case are the same.
    ///
    /// # Errors
    /// 409 for a name that is taken.
    pub fn set_handle(&self, account: AccountId, handle: Handle, text: &str) -> Result<Profile> {
        let column = handle.column();
        self.write(|tx| {
            tx.ensure_profile(account)?;
            let taken: bool = tx.conn.query_row(
                &format!(
                    "SELECT EXISTS (SELECT 1 FROM profiles WHERE {column} = ?1 AND account <> ?2)"
                ),
                params![text, account.as_bytes()],
                |row| row.get(0),
            )?;
            if taken {
                return Err(Error::conflict(format!("the {column} {text} is taken")));
            }
            tx.conn.execute(
                &format!("UPDATE profiles SET {column} = ?2 WHERE account = ?1"),
                params![account.as_bytes(), text],
            )?;
            tx.own_profile(account)
        })
    }

    /// Chooses who may see a profile.
    pub fn set_visibility(&self, account: AccountId, visibility: Visibility) -> Result<Profile> {
        self.write(|tx| {
            tx.ensure_profile(account)?;
            tx.conn.execute(
                "UPDATE profiles SET visibility = ?2 WHERE account = ?1",
                params![account.as_bytes(), name_of(&visibility)],
            )?;
            tx.own_profile(account)
        })
    }
}
