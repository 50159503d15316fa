//! `cairn share create`: a new link, and the mail with it.

use super::{of_link, print_link, unverified_nodes};
use crate::app::App;
use crate::cli::number::at_least_one;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _};
use crate::remote::{Remote, Within};
use cairn_wire::shares::{AccessMode, CreateShare, ShareByEmail};
use std::path::PathBuf;
use std::str::FromStr;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    node: String,
    /// Ask for a password: without it the link opens for nobody
    #[arg(long)]
    password: bool,
    /// Read the password from the first line of this file
    #[arg(long, value_name = "FILE", conflicts_with = "password")]
    password_file: Option<PathBuf>,
    /// Lifetime of the link, such as 7d or 12h
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    expires: Option<Expiry>,
    /// Number of downloads after which it ends
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
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
    #[command(flatten)]
    within: Within,
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
    let remote = Remote::open_at(app, &args.within, &args.node).await?;
    let password = match (args.password_file.as_deref(), args.password) {
        (None, false) => None,
        (file, _) => Some(prompt::link_password(file)?),
    };
    let unverified = unverified_nodes(args.include_unverified);
    let node = remote.find(&args.node).await?.node()?;
    let expiry_days = args.expires.map(|expiry| expiry.0);
    let what = format!("share {}", args.node);
    let made = if let Some(email) = args.email {
        let settings = ShareByEmail {
            file_id: node.id,
            email,
            expiry_days,
            view_only: args.view_only.then_some(true),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_a_number_and_a_unit() {
        assert_eq!("7d".parse(), Ok(Expiry(7.0)));
        assert_eq!("12h".parse(), Ok(Expiry(0.5)));
        for bad in ["", "7", "d", "0d", "-1d", "1y", "1é"] {
            assert!(bad.parse::<Expiry>().is_err(), "{bad}");
        }
    }
}
