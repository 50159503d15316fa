//! Old versions of a file on the service.

use crate::calls::Desk;
use crate::calls::folders::choices;
use crate::program::{Fault, Run};
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

/// One version of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct VersionView {
    pub revision: String,
    pub number: u64,
    pub bytes: u64,
    pub at: String,
    pub by: String,
    pub current: bool,
}

pub(super) async fn versions(
    desk: &Desk,
    folder: &str,
    path: &str,
) -> Result<Vec<VersionView>, Fault> {
    let node = on_service(desk, folder, path).await?;
    let document = desk.program.run(Run::of(["versions", "--", &node])).await?;
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
    desk: &Desk,
    folder: &str,
    path: &str,
    revision: &str,
) -> Result<Value, Fault> {
    let node = on_service(desk, folder, path).await?;
    let run = Run::of(["versions", "--restore", revision, "--", &node]);
    desk.program.run(run).await.map(|_| Value::Null)
}

/// Where a file of a folder is on the service.
async fn on_service(desk: &Desk, folder: &str, path: &str) -> Result<String, Fault> {
    let remote = choices(desk, folder).await?.remote;
    Ok(format!("{}/{path}", remote.trim_end_matches('/')))
}
