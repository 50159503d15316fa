//! `cairn share`: links that let others open a file or folder, and their addresses.

mod create;
mod list;
mod names;
mod spaces;

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::keys;
use crate::output::text::clean;
use crate::remote::{Remote, Within};
use cairn_space::{LinkPassword, SharedLink, UnverifiedNodes};
use cairn_wire::nodes::Node;
use cairn_wire::shares::{Share, ShareStatus, UpdateShare};
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::slice;

/// Share files and folders by links, end-to-end encrypted
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make a link; its address has the key behind the #, which no server ever sees
    Create(create::Args),
    /// List the links, with their whole addresses
    List {
        /// Only links of this file or folder: a path such as /a/b, or an id
        node: Option<String>,
        #[command(flatten)]
        within: Within,
    },
    /// Put files that were added or changed since into a link
    Refresh {
        /// The link's address, short code or id
        link: String,
        /// Share also files that no device with your keys has uploaded; check them first
        #[arg(long)]
        include_unverified: bool,
        #[command(flatten)]
        within: Within,
    },
    /// Give a link another password
    Password {
        /// The link's address, short code or id
        link: String,
        /// Take the password away
        #[arg(long)]
        remove: bool,
        /// Read the password from the first line of this file instead of asking
        #[arg(long, value_name = "FILE", conflicts_with = "remove")]
        password_file: Option<PathBuf>,
        /// Share also files that no device with your keys has uploaded; check them first
        #[arg(long)]
        include_unverified: bool,
        #[command(flatten)]
        within: Within,
    },
    /// Switch a link off until it is enabled again
    Disable {
        /// The link's address, short code or id
        link: String,
    },
    /// Switch a link on again
    Enable {
        /// The link's address, short code or id
        link: String,
    },
    /// Delete a link for good
    Revoke {
        /// The link's address, short code or id
        link: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Action::Create(args) => create::run(app, args).await,
        Action::List { node, within } => {
            let remote = match &node {
                Some(node) => Remote::open_at(app, &within, node).await?,
                None => Remote::open(app, &within).await?,
            };
            list::run(app, &remote, node.as_deref()).await
        }
        Action::Refresh {
            link,
            include_unverified,
            within,
        } => {
            let remote = spaces::of_link(app, &within, &link).await?;
            refresh(app, &remote, &link, unverified_nodes(include_unverified)).await
        }
        Action::Password {
            link,
            remove,
            password_file,
            include_unverified,
            within,
        } => {
            let remote = spaces::of_link(app, &within, &link).await?;
            let password = if remove {
                None
            } else {
                Some(prompt::link_password(password_file.as_deref())?)
            };
            let unverified = unverified_nodes(include_unverified);
            set_password(
                app,
                &remote,
                &link,
                password.as_deref().map(|p| of_link(p)),
                unverified,
            )
            .await
        }
        Action::Disable { link } => switch(app, &link, false).await,
        Action::Enable { link } => switch(app, &link, true).await,
        Action::Revoke { link, dry_run } => revoke(app, &link, dry_run).await,
    }
}

fn of_link(password: &str) -> LinkPassword<'_> {
    LinkPassword {
        password,
        iterations: keys::iterations(),
    }
}

fn unverified_nodes(include: bool) -> UnverifiedNodes {
    if include {
        UnverifiedNodes::Include
    } else {
        UnverifiedNodes::Refuse
    }
}

/// Prints a link's address, and everything about it to programs.
fn print_link(app: &App, link: &SharedLink) {
    app.out.line(&link.address);
    let mut document = document(&link.share, Some(&link.address));
    if let Some(sent) = link.email_sent {
        document["email_sent"] = sent.into();
    }
    app.out.json(&document);
}

fn document(share: &Share, address: Option<&str>) -> Value {
    let mut document = serde_json::to_value(share).unwrap_or_default();
    if let Some(fields) = document.as_object_mut() {
        // Wrapped keys are of no use to anybody who reads this.
        fields.remove("key_blob");
        fields.remove("kdf");
        fields.insert("address".into(), json!(address));
    }
    document
}

/// The short code or id in what a person gave, which may be a whole address.
fn code_of(link: &str) -> &str {
    let link = link.split('#').next().unwrap_or_default();
    link.rsplit_once("/s/").map_or(link, |(_, code)| code)
}

async fn find(remote: &Remote, link: &str) -> CommandResult<(Share, Node)> {
    let code = code_of(link);
    let share = remote
        .api
        .share(code)
        .await
        .context(format_args!("find the link {code}"))?;
    let node = remote.find(&share.file_id.to_string()).await?.node()?;
    if share.key_blob.is_none() {
        return Err(Failure::failed(format!(
            "the link {code} was made without keys: make a new one with `cairn share create`"
        )));
    }
    Ok((share, node))
}

async fn set_password(
    app: &App,
    remote: &Remote,
    link: &str,
    password: Option<LinkPassword<'_>>,
    unverified: UnverifiedNodes,
) -> CommandResult {
    let (share, node) = find(remote, link).await?;
    note_shared(app, remote, &node).await?;
    let changed = remote
        .space
        .set_share_password(&share, &node, password, unverified)
        .await
        .context(format_args!("change the password of {}", share.file_name))?;
    print_link(app, &changed);
    note_kept(app);
    Ok(())
}

async fn refresh(
    app: &App,
    remote: &Remote,
    link: &str,
    unverified: UnverifiedNodes,
) -> CommandResult {
    let (share, node) = find(remote, link).await?;
    note_shared(app, remote, &node).await?;
    let refreshed = remote
        .space
        .refresh_share(&share, &node, unverified)
        .await
        .context(format_args!("refresh the link to {}", share.file_name))?;
    print_link(app, &refreshed);
    note_kept(app);
    Ok(())
}

/// Reports what a link shares: only the server says which node that is, so a person has to see what is put into it.
async fn note_shared(app: &App, remote: &Remote, node: &Node) -> CommandResult {
    let path = remote.path_of(node, &mut Default::default()).await?;
    app.out
        .note(format_args!("The link shares {}.", clean(&path)));
    Ok(())
}

/// Says what a link goes on to open: its secret stays the same.
fn note_kept(app: &App) {
    app.out.note(
        "Who kept what the link had before can still open that with its address. For a file that was redacted, or \
         after a change of the password, make a new link (`cairn share create`) and revoke this one.",
    );
}

async fn revoke(app: &App, link: &str, dry_run: DryRun) -> CommandResult {
    let remote = Remote::open(app, &Within::default()).await?;
    let code = code_of(link);
    // A deletion whose response is lost ends well if the link is gone then: it has to have been there.
    let share = remote.api.share(code).await;
    let mut share = share.context(format_args!("find the link {code}"))?;
    if dry_run.is_wanted {
        names::open(app, slice::from_mut(&mut share)).await?;
        let (shown, file) = (clean(code), names::text_of(&share));
        let line = format!("The link {shown} to {file} would be deleted for good.");
        let document = json!({ "would_revoke": code, "file_name": share.file_name });
        return dry_run::show(app, line, document);
    }
    remote
        .api
        .delete_share(code)
        .await
        .context(format_args!("revoke {code}"))?;
    app.out.line(format_args!("{} is revoked.", clean(code)));
    app.out.json(&json!({ "revoked": code }));
    Ok(())
}

async fn switch(app: &App, link: &str, on: bool) -> CommandResult {
    let remote = Remote::open(app, &Within::default()).await?;
    let code = code_of(link);
    let change = UpdateShare {
        is_active: Some(on),
        ..UpdateShare::default()
    };
    let mut share = remote
        .api
        .update_share(code, &change)
        .await
        .context(format_args!("change the link {code}"))?;
    names::open(app, slice::from_mut(&mut share)).await?;
    app.out.line(state_of(&share));
    let addresses = spaces::addresses(app, &remote, slice::from_ref(&share)).await?;
    let address = addresses.first().and_then(Option::as_deref);
    app.out.json(&document(&share, address));
    Ok(())
}

/// Says whether a link is on, and what keeps it from being opened although it is.
fn state_of(share: &Share) -> String {
    let name = names::text_of(share);
    let but = match share.status {
        ShareStatus::Active => return format!("The link to {name} is on."),
        ShareStatus::Deactivated => return format!("The link to {name} is off."),
        ShareStatus::FileGone => "what it shares is in the trash, or was deleted for good",
        ShareStatus::MakerLeft => "who made it has left the team",
        ShareStatus::Expired => "it has expired",
        ShareStatus::AtDownloadLimit => "its download limit is reached",
        ShareStatus::NotYetActive => "the time for which it was made has not begun",
        ShareStatus::ActiveWindowEnded => "the time for which it was made is over",
    };
    match share.is_active {
        true => format!("The link to {name} is on, but opens for nobody: {but}."),
        false => format!("The link to {name} is off."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_goes_by_its_address_code_or_id() {
        for text in [
            "https://files.example/s/abc234#00ff",
            "/s/abc234",
            "abc234",
            "abc234#00",
        ] {
            assert_eq!(code_of(text), "abc234", "{text}");
        }
    }
}
