//! `cairn share list`: the links with their state and addresses.

use super::{document, names, spaces};
use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::output::table::{Align, Table};
use crate::output::text::local_time;
use crate::remote::Remote;
use cairn_wire::shares::{Share, ShareStatus};
use serde_json::json;

pub(super) async fn run(app: &App, remote: &Remote, node: Option<&str>) -> CommandResult {
    let node = match node {
        Some(text) => Some(remote.find(text).await?.node()?.id),
        None => None,
    };
    let mut shares = remote.api.shares(node).await.context("list the links")?;
    names::open(app, &mut shares).await?;
    let mut table = Table::new(&[
        ("FILE", Align::Name),
        ("STATUS", Align::Left),
        ("OPENED", Align::Right),
        ("DOWNLOADS", Align::Right),
        ("EXPIRES", Align::Left),
        ("ADDRESS", Align::Left),
    ]);
    let addresses = spaces::addresses(app, remote, &shares).await?;
    let mut documents = Vec::with_capacity(shares.len());
    for (share, address) in shares.iter().zip(&addresses) {
        let downloads = match share.download_limit {
            Some(limit) => format!("{} of {limit}", share.download_count),
            None => share.download_count.to_string(),
        };
        table.row([
            names::text_of(share),
            status(share).to_owned(),
            share.access_count.to_string(),
            downloads,
            share
                .expires_at
                .map_or_else(|| "never".into(), |at| local_time(at.0, &app.zone)),
            match (address, &share.key_blob) {
                (Some(address), _) => address.clone(),
                (None, None) => format!("{} (without keys)", share.short_code),
                (None, Some(_)) => format!("{} (its key is not on this device)", share.short_code),
            },
        ]);
        documents.push(document(share, address.as_deref()));
    }
    table.print(&app.out, "Nothing is shared.");
    app.out.json(&json!({ "links": documents }));
    Ok(())
}

fn status(share: &Share) -> &'static str {
    match share.status {
        ShareStatus::Active => "active",
        ShareStatus::FileGone => "file gone",
        ShareStatus::MakerLeft => "its creator left the team",
        ShareStatus::Deactivated => "switched off",
        ShareStatus::Expired => "expired",
        ShareStatus::AtDownloadLimit => "download limit reached",
        ShareStatus::NotYetActive => "not active yet",
        ShareStatus::ActiveWindowEnded => "ended",
    }
}
