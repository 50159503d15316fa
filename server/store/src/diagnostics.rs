//! Facts about an account that only diagnosis asks for.

use super::{Space, Store};
use crate::db::{self, Optional as _, params};
use crate::error::Result;
use cairn_model::AccountId;

/// The status of an account's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyStatus {
    pub bundle: bool,
    pub recovery: bool,
    /// Active files whose current revision has no manifest (the encrypted description that clients make).
    pub unsealed_files: u64,
}

impl Store {
    pub fn key_status(&self, account: AccountId) -> Result<KeyStatus> {
        self.read(|conn| {
            let recovery: Option<bool> = conn
                .prepare_cached("SELECT recovery IS NOT NULL FROM key_bundles WHERE account = ?1")?
                .query_row([account.as_bytes()], |row| row.get(0))
                .optional()?;
            let unsealed_files = conn
                .prepare_cached(
                    "SELECT count(*) FROM accounts a JOIN nodes n ON n.space = a.space \
                     LEFT JOIN revisions r ON r.id = n.revision \
                     WHERE a.id = ?1 AND n.state = 0 AND n.kind = 0 AND length(coalesce(r.manifest, x'')) = 0",
                )?
                .query_row([account.as_bytes()], |row| row.get(0))?;
            Ok(KeyStatus {
                bundle: recovery.is_some(),
                recovery: recovery.unwrap_or(false),
                unsealed_files,
            })
        })
    }

    /// The spaces (file trees) that a search looks into: the one that the request acts in, and those of the
    /// caller's teams if asked for.
    pub fn searched_spaces(
        &self,
        account: AccountId,
        space: Space,
        include_teams: bool,
    ) -> Result<Vec<Space>> {
        let mut spaces = vec![space];
        if include_teams {
            let teams: Vec<Space> = self.read(|conn| {
                Ok(conn
                    .prepare_cached(
                        "SELECT s.row, s.id FROM team_members m JOIN teams t ON t.id = m.team \
                         JOIN spaces s ON s.row = t.space WHERE m.account = ?1 ORDER BY s.row",
                    )?
                    .query_map(params![account.as_bytes()], |row| {
                        Ok(Space {
                            row: row.get(0)?,
                            id: super::rows::id(row, 1)?,
                        })
                    })?
                    .collect::<db::Result<_>>()?)
            })?;
            spaces.extend(teams.into_iter().filter(|team| *team != space));
        }
        Ok(spaces)
    }
}
