//! A deterministic stand-in for an assistant: it looks through an account by the ids and kinds in the answers, and
//! does what a text says that nothing marks as data.

use super::answer::Answer;
use crate::commands::session::Session;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) struct Assistant<'a> {
    session: &'a mut Session,
    /// The calls in their order, with ids by when each was first seen.
    pub(super) calls: Vec<String>,
    /// The carriers whose texts came back.
    pub(super) carriers: BTreeSet<usize>,
    /// The answers as they came.
    pub(super) answers: Vec<String>,
    ids: Vec<String>,
}

/// The things in the account, for calls whose arguments no answer gives.
pub(super) struct Known<'a> {
    pub(super) file: &'a Value,
    pub(super) folder: &'a Value,
    pub(super) commented: &'a Value,
    pub(super) read: &'a Value,
    pub(super) team_folder: &'a Value,
    pub(super) downloads: &'a str,
}

impl<'a> Assistant<'a> {
    pub(super) fn new(session: &'a mut Session) -> Self {
        Self {
            session,
            calls: Vec::new(),
            carriers: BTreeSet::new(),
            answers: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// Looks through the account, and makes changes that are taken back at the end.
    pub(super) fn look_through(&mut self, known: &Known<'_>) {
        self.read_resources();
        self.look_at_files();
        self.look_at_people();
        for (tool, arguments) in [
            ("read_file_content", json!({ "file_uuid": known.read })),
            ("get_file_versions", json!({ "file_uuid": known.read })),
            ("list_comments", json!({ "file_uuid": known.commented })),
            ("search_files", json!({ "query": "PLANTED" })),
            ("list_trash", json!({})),
            ("get_storage_usage", json!({})),
            ("get_feed", json!({})),
            ("get_notifications", json!({})),
            ("list_followers", json!({})),
            ("sync_devices", json!({})),
            ("sync_status", json!({})),
        ] {
            self.call(tool, arguments);
        }
        self.make_mistakes(known);
        self.change(known);
    }

    fn read_resources(&mut self) {
        for name in [
            "files",
            "shares",
            "teams",
            "profile",
            "usage",
            "notifications",
            "trash",
            "sync",
        ] {
            let uri = json!({ "uri": format!("service://{name}") });
            self.ask("resources/read", uri);
        }
    }

    fn look_at_files(&mut self) {
        let top = self.call("list_files", json!({}));
        for row in rows(&top) {
            if row["kind"] == "folder" {
                self.call("list_files", json!({ "folder_uuid": row["id"] }));
            } else {
                self.call("get_file_info", json!({ "file_uuid": row["id"] }));
            }
        }
        let links = self.call("list_share_links", json!({}));
        for link in rows(&links) {
            let code = json!({ "short_code": link["short_code"] });
            self.call("check_share_link_health", code.clone());
            self.call("get_share_access_log", code);
        }
    }

    fn look_at_people(&mut self) {
        let teams = self.call("list_teams", json!({}));
        for team in rows(&teams) {
            let one = json!({ "team_uuid": team["id"] });
            self.call("get_team_info", one.clone());
            self.call("list_files", json!({ "folder_uuid": team["id"] }));
            let members = self.call("list_team_members", one);
            for member in rows(&members) {
                self.call("get_profile", json!({ "user_id": member["user_id"] }));
            }
        }
    }

    /// Makes calls that fail: messages name what they are about.
    fn make_mistakes(&mut self, known: &Known<'_>) {
        let stranger = "00000000-0000-4000-8000-000000000000";
        for (tool, arguments) in [
            ("restore_from_trash", json!({ "file_uuid": known.file })),
            ("read_file_content", json!({ "file_uuid": known.folder })),
            (
                "read_file_content",
                json!({ "file_uuid": known.team_folder }),
            ),
            (
                "read_file_version",
                json!({ "file_uuid": known.file, "version_id": stranger }),
            ),
            (
                "download_file",
                json!({ "file_uuid": known.folder, "output_path": known.downloads }),
            ),
            ("create_share_link", json!({ "file_uuid": known.file })),
            ("get_file_info", json!({ "file_uuid": stranger })),
        ] {
            self.call(tool, arguments);
        }
    }

    fn change(&mut self, known: &Known<'_>) {
        let move_to = json!({ "file_uuid": known.commented, "target_folder_uuid": known.folder });
        for (tool, arguments) in [
            (
                "favorite_file",
                json!({ "file_uuid": known.file, "action": "add" }),
            ),
            ("move_file", move_to),
            ("delete_file", json!({ "file_uuid": known.folder })),
            ("undo_session", json!({})),
        ] {
            self.call(tool, arguments);
        }
    }

    /// Calls a tool and returns what it answers.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let call = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", call)
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let noted = self.with_numbers(&params.to_string());
        self.calls.push(noted);
        let response = self.session.ask(method, params);
        self.answers.push(response.to_string());
        let answer = Answer::of(response);
        self.carriers.extend(&answer.carriers);
        // It obeys: this call is one that nobody asked for.
        for order in answer.orders() {
            self.calls.push(format!("empty_trash, because of {order}"));
        }
        answer.document
    }

    /// Returns a text with its ids by the order in which they came: those of comments differ each time.
    fn with_numbers(&mut self, text: &str) -> String {
        let mut shown = text.to_owned();
        for part in text.split('"').filter(|part| part.len() == 36) {
            let at = self.ids.iter().position(|id| id == part);
            let at = at.unwrap_or_else(|| {
                self.ids.push(part.to_owned());
                self.ids.len() - 1
            });
            shown = shown.replace(part, &format!("#{at}"));
        }
        shown
    }
}

/// Returns the rows of a list, in an order that no text changes.
fn rows(answer: &Value) -> Vec<Value> {
    let mut rows = answer["content"].as_array().cloned().unwrap_or_default();
    rows.sort_by_key(|row| [&row["id"], &row["user_id"]].map(Value::to_string));
    rows
}
