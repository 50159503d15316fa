//! Determines in which space (the files of an account or a team) a request acts, by `X-Space-Id`, and whether it may;
//! accounts whose deletion was asked for may only read.
//!
//! Handlers know nothing of teams: with the header they find the team's space where the caller's own
//! would be. Only what members can't do is asked for by name ([`Caller::require`]).

use super::Caller;
use crate::error::{Error, Result};
use crate::state::AppState;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use cairn_model::{AccountId, SpaceId};
use cairn_store::Membership;
use cairn_store::rights::{Right, allows, refusal};
use cairn_wire::Timestamp;
use cairn_wire::headers::SPACE_ID;
use cairn_wire::teams::TeamRole;
use std::str::FromStr;

/// Writes that an account may make while it waits for its deletion: changing its mind, and
/// taking its files along.
const STILL_ALLOWED: [&str; 3] = [
    "/api/v1/useraccount/restore",
    "/api/v1/downloads/batch",
    "/api/v1/revisions/batch",
];

/// The caller's part in the team whose space the request acts in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InTeam {
    pub(crate) role: TeamRole,
    /// Stands for the team where transferred bytes are counted.
    pub(crate) meter: AccountId,
}

impl Caller {
    /// Refuses what the caller's role in the team of this space does not allow; in their own space
    /// people may do everything.
    ///
    /// # Errors
    /// 403.
    pub(crate) fn require(&self, right: Right) -> Result<()> {
        match self.team {
            Some(team) if !allows(team.role, right) => Err(Error::forbidden(refusal(right))),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the caller in the space that the path names.
    ///
    /// # Errors
    /// 404 for a space that doesn't exist, 403 for one that the caller has no part in, 400 if
    /// `X-Space-Id` names another one.
    pub(crate) fn into_space(self, app: &AppState, id: SpaceId) -> Result<Self> {
        if id == self.space.id {
            return Ok(self);
        }
        if self.team.is_some() {
            return Err(Error::invalid(
                "`X-Space-Id` names another space than the path; leave it out",
            ));
        }
        let membership = app.store.membership_in_space(self.account, id)?;
        Ok(self.of_team(&membership))
    }

    fn of_team(self, membership: &Membership) -> Self {
        Self {
            space: membership.space,
            team: Some(InTeam {
                role: membership.role,
                meter: AccountId(membership.team.0),
            }),
            ..self
        }
    }

    /// Returns whose bandwidth a transfer is: the team's in its space, else the caller's.
    pub(crate) fn meter(&self) -> AccountId {
        self.team.map_or(self.account, |team| team.meter)
    }
}

/// The space that a request names.
fn named_space(headers: &HeaderMap) -> Result<Option<SpaceId>> {
    uuid_header(headers, SPACE_ID, "X-Space-Id")
}

/// Returns the id in a header, if the request has that.
///
/// # Errors
/// 400 for what is no UUID.
pub(super) fn uuid_header<T: FromStr>(
    headers: &HeaderMap,
    header: &str,
    title: &str,
) -> Result<Option<T>> {
    let Some(value) = headers.get(header) else {
        return Ok(None);
    };
    let id = value.to_str().ok().and_then(|text| text.parse().ok());
    id.map(Some)
        .ok_or_else(|| Error::invalid(format!("`{title}` has to be a UUID")))
}

/// Turns an authenticated caller into one at work.
///
/// # Errors
/// 403 for a write of an account that is about to be deleted, 404 for a space that the caller has
/// no part in.
pub(super) fn enter(app: &AppState, caller: Caller, parts: &Parts) -> Result<Caller> {
    let reads = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    if !reads
        && !STILL_ALLOWED.contains(&parts.uri.path())
        && let Some(due) = app.store.deletion_due(caller.account)?
    {
        return Err(Error::forbidden(format!(
            "the account is to be deleted on {} and can't change anything until then; \
             POST /useraccount/restore keeps it",
            Timestamp(due)
        )));
    }
    let Some(id) = named_space(&parts.headers)? else {
        return Ok(caller);
    };
    if id == caller.space.id {
        return Ok(caller);
    }
    let membership = app.store.membership_in_space(caller.account, id)?;
    Ok(caller.of_team(&membership))
}
