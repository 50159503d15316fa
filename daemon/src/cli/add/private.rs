//! `cairn add --private`: the space in which the server has no names.

use super::Args;
use crate::app::App;
use crate::failure::{CommandResult, Failure};
use crate::session::Session;
use crate::{private_space, team};
use cairn_model::SpaceId;
use cairn_wire::teams::Team;

/// Returns the private space that a pair is to be in: the named team's, or the account's own, which is made if it
/// is missing.
pub(super) async fn choose(app: &App, args: &Args) -> CommandResult<Team> {
    let session = app.session()?;
    if let Some(wanted) = &args.space {
        return find_private_team(&session, wanted).await;
    }
    if args.dry_run {
        let own = private_space::find(&session).await?;
        return own.ok_or_else(|| {
            Failure::failed(
                "there is no private space yet: the first `cairn add --private` makes one, and all files would be uploaded",
            )
        });
    }
    private_space::open_or_make(app, &session).await
}

/// Refuses an open space. The server is asked for the team more than once, and may have another space each time.
///
/// # Errors
/// Usage for a space whose names the server has.
pub(super) fn check(space: SpaceId) -> CommandResult {
    if space.is_private() {
        return Ok(());
    }
    Err(Failure::usage(
        "the server now gives an open space for that team, in which it would have the names of all files: nothing was added",
    ))
}

async fn find_private_team(session: &Session, wanted: &str) -> CommandResult<Team> {
    let found = team::find(&session.api, wanted).await?;
    if found.space_id.is_private() {
        return Ok(found);
    }
    Err(Failure::usage(format!(
        "the space of the team {wanted} is an open one, and stays one: leave out --private, or make another team with `cairn teams create NAME --private`"
    )))
}
