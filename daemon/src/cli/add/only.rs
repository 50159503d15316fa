//! Checks the subfolders of `--only`: one that neither side has is most often a typing error, and would make a
//! folder that syncs nothing, without any message.

use super::within;
use crate::app::App;
use crate::failure::CommandResult;
use crate::remote::{Remote, RemoteNode};
use cairn_control::{NewFolder, TeamSpace};
use cairn_model::Kind;
use std::path::Path;
use std::time::Duration;

/// The longest wait for the service: the pair is made without it as well.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns the subfolders that neither side has; none if the service can't be asked.
pub(super) async fn missing_subfolders(
    app: &App,
    new: &NewFolder,
    space: Option<&TeamSpace>,
) -> Vec<String> {
    let is_here = |sub: &&String| Path::new(&new.local).join(trim_separators(sub)).is_dir();
    let absent: Vec<&String> = new.only.iter().filter(|sub| !is_here(sub)).collect();
    if absent.is_empty() {
        return Vec::new();
    }
    let asked = tokio::time::timeout(LIMIT, not_there(app, space, &new.remote, &absent)).await;
    asked.ok().and_then(Result::ok).unwrap_or_default()
}

async fn not_there(
    app: &App,
    space: Option<&TeamSpace>,
    top: &str,
    subfolders: &[&String],
) -> CommandResult<Vec<String>> {
    let remote = Remote::open(app, &within(space)).await?;
    let mut missing = Vec::new();
    for sub in subfolders {
        let path = format!("{}/{}", top.trim_end_matches('/'), trim_separators(sub));
        let found = remote.look_up(&path).await?;
        let is_folder = matches!(&found, Some(RemoteNode::Node(node)) if node.kind == Kind::Folder);
        if !is_folder {
            missing.push((*sub).clone());
        }
    }
    Ok(missing)
}

/// A subfolder without the separators that people write around it.
fn trim_separators(subfolder: &str) -> &str {
    subfolder.trim_matches('/')
}
