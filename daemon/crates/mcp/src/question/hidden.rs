//! The question before something is made or replaced on the service that programs may run by themselves where it is
//! synced: a hidden file, a start-up file, or one in such a folder. Tools don't write such files on this machine, and
//! a synced folder would be a way around that.

use super::{Asking, known};
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::local_paths::is_hidden_or_start_up;
use crate::node_paths;
use crate::node_tools;
use crate::quote::quote_end;
use crate::tool::Verb;
use cairn_api::ApiError;
use futures_util::FutureExt as _;
use serde_json::Value;
use std::path::Path;

/// The paths that a question names.
const NAMED: usize = 10;

/// The arguments for the folder that something is put into.
const FOLDERS: [&str; 3] = ["folder_uuid", "parent_uuid", "target_folder_uuid"];

/// The arguments for a name, or for a path below the folder.
const NAMES: [&str; 3] = ["name", "path", "new_path"];

/// Asks if the call makes or replaces a hidden file or a start-up file.
pub(crate) fn hidden_place(call: &Call) -> Asking<'_> {
    async move {
        // A local file that tools don't use is refused before anybody is asked.
        if let Ok(local) = call.arguments.path("local_path") {
            call.paths.check(local)?;
        }
        check_names(call)?;
        let mut paths = paths(call).await?;
        paths.retain(|path| is_hidden_or_start_up(path));
        Ok((!paths.is_empty()).then(|| question(&paths)))
    }
    .boxed()
}

/// Refuses names that no file has, about which nobody needs to be asked.
fn check_names(call: &Call) -> ToolResult {
    for argument in ["name", "new_name", "file_name"] {
        if call.arguments.has(argument) {
            node_tools::name(call, argument)?;
        }
    }
    for argument in ["path", "new_path"] {
        if let Some(path) = call
            .arguments
            .text(argument)
            .filter(|path| !path.is_empty())
        {
            node_tools::path_levels(path)?;
        }
    }
    Ok(())
}

fn question(paths: &[String]) -> String {
    let named: Vec<_> = paths
        .iter()
        .take(NAMED)
        .map(|path| quote_end(path))
        .collect();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "Make, replace or move {}{more}? Files that are hidden, or have such a name or folder, may be run by programs on every device that syncs them.",
        named.join(", ")
    )
}

/// Returns the paths on the service of what the call makes or replaces, and those of what it takes away from there: taken
/// back, it would be there again with what it has become.
async fn paths(call: &Call) -> ToolResult<Vec<String>> {
    let nodes = nodes(call).await?;
    let mut paths = Vec::new();
    for node in &nodes {
        paths.push(path_of(call, node).await);
    }
    if let Some(name) = call.arguments.text("new_name") {
        let above = paths.first().map_or("", |path| parent_path(path));
        paths.push(format!("{above}/{name}"));
        return Ok(paths);
    }
    if !nodes.is_empty() && !call.arguments.has("target_folder_uuid") {
        return Ok(paths);
    }
    let folder = FOLDERS.iter().find_map(|name| call.arguments.text(name));
    let above = match folder {
        Some(id) => match node(call, id).await? {
            Some(folder) => path_of(call, &folder).await,
            // The top of a space.
            None => String::new(),
        },
        None => String::new(),
    };
    let names = NAMES.iter().find_map(|name| call.arguments.text(name));
    let below = names.map_or_else(|| above.clone(), |name| format!("{above}/{name}"));
    let mut last: Vec<_> = nodes
        .iter()
        .filter_map(|node| known::text(node, "name"))
        .collect();
    last.extend(uploaded_name(call));
    match last.as_slice() {
        [] => paths.push(below),
        names => paths.extend(names.iter().map(|name| format!("{below}/{name}"))),
    }
    Ok(paths)
}

/// Returns the files and folders that the call names; one that is not there is the concern of the call itself.
async fn nodes(call: &Call) -> ToolResult<Vec<Value>> {
    let many = call.arguments.get("file_uuids").and_then(Value::as_array);
    let ids = many.into_iter().flatten().filter_map(Value::as_str);
    let mut found = Vec::new();
    for id in ids.chain(call.arguments.text("file_uuid")) {
        found.extend(node(call, id).await?);
    }
    Ok(found)
}

/// Returns a file or folder; `None` for what is none, or is not there.
async fn node(call: &Call, id: &str) -> ToolResult<Option<Value>> {
    match call.request(Verb::Get, &["nodes", id], &[], None).await {
        Ok(node) => {
            call.subject.note_node(&node);
            Ok(Some(node))
        }
        Err(
            ToolError::NotFound { .. }
            | ToolError::Api(
                ApiError::NotFound { .. } | ApiError::Forbidden { .. } | ApiError::Rejected { .. },
            ),
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the path of a node, its name where that is not known.
async fn path_of(call: &Call, node: &Value) -> String {
    let name = || known::text(node, "name").unwrap_or_default();
    let path = node_paths::for_person(&call.services, node).await;
    path.unwrap_or_else(name)
}

fn parent_path(path: &str) -> &str {
    let above = path.rsplit_once('/').map(|(above, _)| above);
    above.unwrap_or_default()
}

/// Returns the name that an upload gets.
fn uploaded_name(call: &Call) -> Option<String> {
    let given = call.arguments.text("file_name").map(str::to_owned);
    given.or_else(|| {
        let local = call.arguments.text("local_path")?;
        let name = Path::new(local).file_name()?;
        Some(name.to_string_lossy().into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_paths::LocalPaths;
    use crate::test_services::{call_of, stub_services};
    use serde_json::json;
    use std::path::PathBuf;

    const FILE: &str = "123e4567-e89b-42d3-a456-426614174000";
    const FOLDER: &str = "123e4567-e89b-42d3-a456-426614174001";
    const SPACE: &str = "123e4567-e89b-42d3-a456-426614174002";

    /// Returns the question of a call, where a file is named `name` and lies in a folder.
    async fn asked(name: &'static str, folder: &'static str, arguments: Value) -> Option<String> {
        let services = stub_services(move |request| {
            let node = |id, name, parent, kind| {
                json!({
                    "id": id, "name": name, "parent_id": parent, "kind": kind, "space_id": SPACE,
                    "state": "active", "version": 1, "size": 0, "key_epoch": 0, "revision_id": null,
                    "created_at": "2020-03-01T00:00:00Z", "updated_at": "2020-03-01T00:00:00Z",
                })
            };
            let path = request.path.as_str();
            if path.ends_with(FILE) {
                (200, node(FILE, name, json!(FOLDER), "file"))
            } else if path.ends_with(FOLDER) {
                (200, node(FOLDER, folder, Value::Null, "folder"))
            } else {
                (404, json!({}))
            }
        });
        let mut call = call_of(services, arguments);
        call.paths = LocalPaths::new(vec![std::env::temp_dir()], Vec::new());
        hidden_place(&call).await.unwrap()
    }

    /// Returns a local path that tools may use.
    fn local(name: &str) -> PathBuf {
        std::env::temp_dir().join(name)
    }

    #[tokio::test]
    async fn nobody_is_asked_about_a_local_file_that_is_refused() {
        let outside = json!({ "local_path": "/nowhere/.bashrc" });
        let call = call_of(stub_services(|_| (404, json!({}))), outside);
        let refused = hidden_place(&call).await.unwrap_err().to_string();
        assert!(refused.contains("--allow-dir"), "{refused}");
    }

    #[tokio::test]
    async fn nobody_is_asked_about_a_name_that_no_file_has() {
        for arguments in [
            json!({ "name": ".." }),
            json!({ "name": ".a/b" }),
            json!({ "file_uuid": FILE, "new_name": "." }),
            json!({ "local_path": local("b"), "file_name": ".." }),
            json!({ "path": ".a/../b" }),
            json!({ "file_uuids": [FILE], "target_folder_uuid": FOLDER, "new_path": "a/.." }),
        ] {
            let mut call = call_of(stub_services(|_| (404, json!({}))), arguments.clone());
            call.paths = LocalPaths::new(vec![std::env::temp_dir()], Vec::new());
            let refused = hidden_place(&call).await;
            assert!(refused.is_err(), "{arguments}");
        }
    }

    #[tokio::test]
    async fn hidden_names_and_folders_are_asked_about() {
        for (name, folder, arguments) in [
            (
                "x",
                "plans",
                json!({ "local_path": local("b"), "file_name": ".bashrc" }),
            ),
            ("x", "plans", json!({ "local_path": local(".b") })),
            (
                "x",
                ".git",
                json!({ "local_path": local("b"), "folder_uuid": FOLDER }),
            ),
            ("x", "plans", json!({ "name": ".git" })),
            (
                "x",
                "plans",
                json!({ "path": "a/.git/hooks", "parent_uuid": FOLDER }),
            ),
            (
                "x",
                "plans",
                json!({ "file_uuid": FILE, "new_name": ".envrc" }),
            ),
            (
                "x",
                "plans",
                json!({ "file_uuid": FILE, "new_name": "\u{200c}.envrc" }),
            ),
            (
                "x",
                ".git",
                json!({ "file_uuid": FILE, "target_folder_uuid": FOLDER }),
            ),
            (
                ".profile",
                "plans",
                json!({ "file_uuid": FILE, "target_folder_uuid": FOLDER }),
            ),
            (
                "x",
                "plans",
                json!({ "file_uuids": [FILE], "target_folder_uuid": FOLDER, "new_path": "a/Autostart" }),
            ),
            (
                ".profile",
                "plans",
                json!({ "file_uuid": FILE, "new_name": "x" }),
            ),
            (".profile", "plans", json!({ "file_uuid": FILE })),
        ] {
            let question = asked(name, folder, arguments.clone()).await;
            assert!(question.is_some(), "{arguments}");
        }
    }

    #[tokio::test]
    async fn ordinary_names_are_not_asked_about() {
        for (name, arguments) in [
            (
                "x",
                json!({ "local_path": local(".hidden/b"), "file_name": "b.txt" }),
            ),
            ("x", json!({ "path": "a/b.d/c", "parent_uuid": FOLDER })),
            (
                "x",
                json!({ "file_uuid": FILE, "target_folder_uuid": FOLDER }),
            ),
            (
                "x",
                json!({ "file_uuid": FILE, "target_folder_uuid": SPACE }),
            ),
            ("x", json!({ "file_uuid": SPACE, "new_name": "y" })),
            ("x", json!({ "file_uuid": FILE })),
        ] {
            assert_eq!(
                asked(name, "plans", arguments.clone()).await,
                None,
                "{arguments}"
            );
        }
    }
}
