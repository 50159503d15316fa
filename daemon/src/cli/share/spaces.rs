//! The spaces that links are of: the server lists those of all spaces, and each is opened with the keys of its own.

use super::code_of;
use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::remote::{Remote, Within};
use cairn_wire::shares::Share;

/// Opens the space that a link is of: the one that the command line names, else that whose keys open the link.
pub(super) async fn of_link(app: &App, within: &Within, link: &str) -> CommandResult<Remote> {
    let remote = Remote::open(app, within).await?;
    if within.team.is_some() {
        return Ok(remote);
    }
    let code = code_of(link);
    let share = remote.api.share(code).await;
    let share = share.context(format_args!("find the link {code}"))?;
    if share.key_blob.is_none() || address_in(&remote, &share).is_some() {
        return Ok(remote);
    }
    for other in others(app, &remote).await? {
        if address_in(&other, &share).is_some() {
            return Ok(other);
        }
    }
    Ok(remote)
}

/// Returns the whole addresses of links, of whichever space they are; `None` for one that was made without keys, or
/// with keys that this device does not have.
pub(super) async fn addresses(
    app: &App,
    remote: &Remote,
    shares: &[Share],
) -> CommandResult<Vec<Option<String>>> {
    let mut found: Vec<_> = shares
        .iter()
        .map(|share| address_in(remote, share))
        .collect();
    let is_missing =
        |share: &Share, address: &Option<String>| share.key_blob.is_some() && address.is_none();
    if !shares
        .iter()
        .zip(&found)
        .any(|(share, address)| is_missing(share, address))
    {
        return Ok(found);
    }
    for other in others(app, remote).await? {
        for (share, address) in shares.iter().zip(&mut found) {
            if is_missing(share, address) {
                *address = address_in(&other, share);
            }
        }
    }
    for (share, address) in shares.iter().zip(&found) {
        if is_missing(share, address) {
            tracing::warn!(share = %share.id, "no key on this device opens the link");
        }
    }
    Ok(found)
}

/// Opens the spaces of the account's teams, and its own. One whose key is not at hand is left out.
async fn others(app: &App, remote: &Remote) -> CommandResult<Vec<Remote>> {
    let teams = remote.api.teams().await.context("ask for the teams")?;
    let named = teams.iter().map(|team| Some(team.id.to_string()));
    let mut opened = Vec::new();
    for team in std::iter::once(None).chain(named) {
        match Remote::open(app, &Within { team }).await {
            Ok(other) => opened.push(other),
            Err(failure) => {
                tracing::debug!(error = failure.message, "a space stays closed");
            }
        }
    }
    Ok(opened)
}

fn address_in(remote: &Remote, share: &Share) -> Option<String> {
    remote.space.share_address(share).ok().flatten()
}
