//! `cairn share`: links that let others open a file or folder, and their addresses.

use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::keys;
use crate::output::table::{Align, Table};
use crate::output::text::{clean, local_time};
use crate::remote::Remote;
use cairn_space::{LinkPassword, SharedLink, UnverifiedNodes};
use cairn_wire::shares::{AccessMode, CreateShare, Share, ShareByEmail, ShareStatus, UpdateShare};
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::str::FromStr;

/// Share files and folders by links, end-to-end encrypted
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make a link; its address has the key behind the #, which no server ever sees
    Create(Create),
    /// List the links, with their whole addresses
    List {
        /// Only links of this file or folder: a path such as /a/b, or an id
        node: Option<String>,
    },
    /// Put files that were added or changed since into a link
    Refresh {
        /// Its address, short code or id
        link: String,
        /// Share also files that no device with your keys has uploaded; check them first
        #[arg(long)]
        include_unverified: bool,
    },
    /// Give a link another password
    Password {
        /// Its address, short code or id
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
    },
    /// Switch a link off for the time being
    Disable {
        /// Its address, short code or id
        link: String,
    },
    /// Switch a link on again
    Enable {
        /// Its address, short code or id
        link: String,
    },
    /// Delete a link for good
    Revoke {
        /// Its address, short code or id
        link: String,
    },
}

#[derive(clap::Args, Debug)]
struct Create {
    /// A path such as /a/b, or an id
    node: String,
    /// Ask for a password: without it the link opens for nobody
    #[arg(long)]
    password: bool,
    /// Read the password from the first line of this file
    #[arg(long, value_name = "FILE", conflicts_with = "password")]
    password_file: Option<PathBuf>,
    /// Lifetime of the link, such as 7d or 12h
    #[arg(long, value_name = "TIME")]
    expires: Option<Expiry>,
    /// Number of downloads after which it ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Files can be viewed in the browser but not downloaded
    #[arg(long)]
    view_only: bool,
    /// Only for this e-mail address; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    allow: Vec<String>,
    /// Only for this e-mail address, which gets a mail with the link (not with its key)
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["allow", "password", "password_file", "limit"])]
    email: Option<String>,
    /// Share also files that no device with your keys has uploaded; check them first
    #[arg(long)]
    include_unverified: bool,
}

/// A span of time, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Expiry(f64);

impl FromStr for Expiry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a valid time span (try 7d, 12h or 30m)");
        let unit = text.chars().last().ok_or_else(bad)?;
        let days = match unit {
            'd' => 1.0,
            'h' => 1.0 / 24.0,
            'm' => 1.0 / 1440.0,
            _ => return Err(bad()),
        };
        let number: u32 = text[..text.len() - unit.len_utf8()]
            .parse()
            .map_err(|_| bad())?;
        if number == 0 {
            return Err(bad());
        }
        Ok(Self(f64::from(number) * days))
    }
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::new(app, &app.session()?);
    match args.action {
        Action::Create(create) => self::create(app, &remote, create).await,
        Action::List { node } => list(app, &remote, node.as_deref()).await,
        Action::Refresh {
            link,
            include_unverified,
        } => refresh(app, &remote, &link, unverified(include_unverified)).await,
        Action::Password {
            link,
            remove,
            password_file,
            include_unverified,
        } => {
            let unverified = unverified(include_unverified);
            let password = if remove {
                None
            } else {
                Some(prompt::passphrase(
                    password_file.as_deref(),
                    "Password of the link: ",
                )?)
            };
            let (share, node) = find(&remote, &link).await?;
            let changed = remote
                .space
                .set_share_password(
                    &share,
                    &node,
                    password.as_deref().map(|p| of_link(p)),
                    unverified,
                )
                .await
                .context(format_args!("change the password of {}", share.file_name))?;
            print_link(app, &changed);
            Ok(())
        }
        Action::Disable { link } => switch(app, &remote, &link, false).await,
        Action::Enable { link } => switch(app, &remote, &link, true).await,
        Action::Revoke { link } => {
            let code = code_of(&link);
            remote
                .api
                .delete_share(code)
                .await
                .context(format_args!("revoke {code}"))?;
            app.out.line(format_args!("{} is revoked.", clean(code)));
            app.out.json(&json!({ "revoked": code }));
            Ok(())
        }
    }
}

fn of_link(password: &str) -> LinkPassword<'_> {
    LinkPassword {
        password,
        iterations: keys::iterations(),
    }
}

fn unverified(include: bool) -> UnverifiedNodes {
    if include {
        UnverifiedNodes::Include
    } else {
        UnverifiedNodes::Refuse
    }
}

async fn create(app: &App, remote: &Remote, args: Create) -> CommandResult {
    let password = match (&args.password_file, args.password) {
        (Some(file), _) => Some(prompt::from_file(file)?),
        (None, true) => Some(prompt::typed(
            "Password of the link: ",
            "--password-file FILE",
        )?),
        (None, false) => None,
    };
    let unverified = unverified(args.include_unverified);
    let node = remote.find(&args.node).await?.node()?;
    let expiry_days = args.expires.map(|expiry| expiry.0);
    let what = format!("share {}", args.node);
    let made = if let Some(email) = args.email {
        let settings = ShareByEmail {
            file_id: node.id,
            email,
            expiry_days,
            view_only: args.view_only,
            id: None,
            key_blob: None,
        };
        remote
            .space
            .share_by_email(&node, settings, unverified)
            .await
            .context(what)?
    } else {
        let settings = CreateShare {
            expiry_days,
            download_limit: args.limit,
            allowed_emails: args.allow,
            access_mode: args.view_only.then_some(AccessMode::ViewOnly),
            ..CreateShare::default()
        };
        let password = password.as_deref().map(|p| of_link(p));
        remote
            .space
            .create_share(&node, settings, password, unverified)
            .await
            .context(what)?
    };
    print_link(app, &made);
    match made.email_sent {
        Some(true) => app.out.note(
            "The mail has the address without its key: send the whole address above another way.",
        ),
        Some(false) => app
            .out
            .note("The server has sent no mail: send the whole address above yourself."),
        None => {}
    }
    Ok(())
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

fn status(share: &Share) -> &'static str {
    match share.status {
        ShareStatus::Active => "active",
        ShareStatus::FileGone => "file gone",
        ShareStatus::MakerLeft => "left the team",
        ShareStatus::Deactivated => "off",
        ShareStatus::Expired => "expired",
        ShareStatus::AtDownloadLimit => "at its limit",
        ShareStatus::NotYetActive => "not yet",
        ShareStatus::ActiveWindowEnded => "over",
    }
}

async fn list(app: &App, remote: &Remote, node: Option<&str>) -> CommandResult {
    let node = match node {
        Some(text) => Some(remote.find(text).await?.node()?.id),
        None => None,
    };
    let shares = remote.api.shares(node).await.context("list the links")?;
    let mut table = Table::new(&[
        ("FILE", Align::Left),
        ("STATUS", Align::Left),
        ("OPENED", Align::Right),
        ("DOWNLOADS", Align::Right),
        ("EXPIRES", Align::Left),
        ("ADDRESS", Align::Left),
    ]);
    let mut documents = Vec::with_capacity(shares.len());
    for share in &shares {
        let address = match remote.space.share_address(share) {
            Ok(address) => address,
            Err(error) => {
                tracing::warn!(share = %share.id, %error, "its address can't be shown");
                None
            }
        };
        let downloads = match share.download_limit {
            Some(limit) => format!("{} of {limit}", share.download_count),
            None => share.download_count.to_string(),
        };
        table.row([
            share.file_name.clone(),
            status(share).to_owned(),
            share.access_count.to_string(),
            downloads,
            share
                .expires_at
                .map_or_else(|| "never".into(), |at| local_time(at.0, app.offset)),
            address
                .clone()
                .unwrap_or_else(|| format!("{} (without keys)", share.short_code)),
        ]);
        documents.push(document(share, address.as_deref()));
    }
    table.print(&app.out, "Nothing is shared.");
    app.out.json(&json!({ "links": documents }));
    Ok(())
}

/// The short code or id in what a person gave, which may be a whole address.
fn code_of(link: &str) -> &str {
    let link = link.split('#').next().unwrap_or_default();
    link.rsplit_once("/s/").map_or(link, |(_, code)| code)
}

async fn find(remote: &Remote, link: &str) -> CommandResult<(Share, cairn_wire::nodes::Node)> {
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

async fn refresh(
    app: &App,
    remote: &Remote,
    link: &str,
    unverified: UnverifiedNodes,
) -> CommandResult {
    let (share, node) = find(remote, link).await?;
    // Which node a link is of, is the server's word: a person sees what is put into it.
    let path = remote.path_of(&node, &mut Default::default()).await?;
    app.out
        .note(format_args!("The link shares {}.", clean(&path)));
    let refreshed = remote
        .space
        .refresh_share(&share, &node, unverified)
        .await
        .context(format_args!("refresh the link to {}", share.file_name))?;
    print_link(app, &refreshed);
    Ok(())
}

async fn switch(app: &App, remote: &Remote, link: &str, on: bool) -> CommandResult {
    let code = code_of(link);
    let change = UpdateShare {
        is_active: Some(on),
        ..UpdateShare::default()
    };
    let share = remote
        .api
        .update_share(code, &change)
        .await
        .context(format_args!("change the link {code}"))?;
    let state = if on { "on" } else { "off" };
    app.out.line(format_args!(
        "The link to {} is {state}.",
        clean(&share.file_name)
    ));
    app.out.json(&document(&share, None));
    Ok(())
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

    #[test]
    fn an_expiry_is_a_number_and_a_unit() {
        assert_eq!("7d".parse(), Ok(Expiry(7.0)));
        assert_eq!("12h".parse(), Ok(Expiry(0.5)));
        for bad in ["", "7", "d", "0d", "-1d", "1y", "1é"] {
            assert!(bad.parse::<Expiry>().is_err(), "{bad}");
        }
    }
}
