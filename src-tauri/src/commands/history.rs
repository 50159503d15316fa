//! Activity, and the old versions of a file on the server.

use super::context::Commands;
use super::folders::choices;
use crate::program::{Fault, Run};
use crate::view::{self, ActivityView};
use cairn_control::typed;
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

/// One version of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct VersionView {
    pub revision: String,
    pub number: u64,
    pub bytes: u64,
    /// RFC 3339 in UTC.
    pub at: String,
    pub by: String,
    pub current: bool,
}

pub(super) async fn activity(commands: &Commands, limit: u32) -> Result<Vec<ActivityView>, Fault> {
    let list = commands.request(typed::Activity { limit }).await?;
    Ok(list.events.iter().map(view::activity).collect())
}

pub(super) async fn versions(
    commands: &Commands,
    folder: String,
    path: String,
) -> Result<Vec<VersionView>, Fault> {
    let node = remote_path(commands, folder, &path).await?;
    let document = commands.run(Run::of(["versions", "--", &node])).await?;
    let versions = document["versions"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut versions: Vec<_> = versions
        .iter()
        .map(|version| VersionView {
            revision: text(&version["id"]),
            number: version["number"].as_u64().unwrap_or(0),
            bytes: version["size"].as_u64().unwrap_or(0),
            at: text(&version["created_at"]),
            by: text(&version["uploaded_by"]),
            current: version["current"].as_bool().unwrap_or(false),
        })
        .collect();
    versions.sort_by_key(|version| std::cmp::Reverse(version.number));
    Ok(versions)
}

pub(super) async fn restore(
    commands: &Commands,
    folder: String,
    path: String,
    revision: String,
) -> Result<(), Fault> {
    let node = remote_path(commands, folder, &path).await?;
    let run = Run::of(["versions", "--restore", &revision, "--", &node]);
    commands.run(run).await.map(drop)
}

/// Returns the path on the server of a file below a folder pair.
async fn remote_path(commands: &Commands, folder: String, path: &str) -> Result<String, Fault> {
    let remote = choices(commands, folder).await?.remote;
    Ok(format!("{}/{path}", remote.trim_end_matches('/')))
}
