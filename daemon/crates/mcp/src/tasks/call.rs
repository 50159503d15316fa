//! The call of a task, as its process reads it on stdin.

use crate::arguments::Arguments;
use crate::call::Call;
use crate::local_paths::LocalPaths;
use crate::progress::Reporter;
use crate::services::Services;
use crate::subject::{Parts, Subject};
use crate::tool::Tool;
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;

/// A call that was checked and confirmed.
#[derive(Serialize, Deserialize)]
pub(crate) struct TaskCall {
    pub(crate) tool: String,
    /// The arguments as the client sent them, from which messages quote.
    pub(crate) given: JsonObject,
    arguments: Arguments,
    paths: LocalPaths,
    may_replace: bool,
    is_confirmed: bool,
    /// The things that a person was asked about.
    subject: Parts,
}

impl TaskCall {
    pub(crate) fn of(tool: &Tool, call: &Call, given: JsonObject) -> Self {
        Self {
            tool: tool.name.to_owned(),
            given,
            arguments: call.arguments.clone(),
            paths: call.paths.clone(),
            may_replace: call.may_replace,
            is_confirmed: call.is_confirmed,
            subject: call.subject.parts(),
        }
    }

    /// Returns the call as text.
    ///
    /// # Errors
    /// A local path that is no Unicode.
    pub(crate) fn text(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a call.
    ///
    /// # Errors
    /// A text of another form, such as one that is cut.
    pub(crate) fn read(text: &str) -> io::Result<Self> {
        Ok(serde_json::from_str(text)?)
    }

    /// Returns the call with what it needs to run.
    pub(crate) fn into_call(self, services: Arc<Services>, progress: Reporter) -> Call {
        Call {
            services,
            arguments: self.arguments,
            progress,
            paths: self.paths,
            may_replace: self.may_replace,
            is_confirmed: self.is_confirmed,
            has_no_question: false,
            subject: Subject::of(self.subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::PathBuf;

    #[test]
    fn a_call_arrives_as_it_was_checked() {
        let given = json!({ "local_path": "~/x", "folder_uuid": null });
        let given = given.as_object().unwrap().clone();
        let allowed = vec![std::env::temp_dir(), PathBuf::from("/nowhere/a b")];
        let file = tempfile::NamedTempFile::new().unwrap();
        let noted = Subject::default();
        noted.note_file(file.path().to_owned(), &file.as_file().metadata().unwrap());
        let subject = noted.parts();
        let call = TaskCall {
            tool: "upload_file".to_owned(),
            given: given.clone(),
            arguments: serde_json::from_value(json!({ "local_path": "~/x" })).unwrap(),
            paths: LocalPaths::new(allowed, vec![PathBuf::from("/nowhere/a b/private")]),
            may_replace: true,
            is_confirmed: false,
            subject,
        };
        let text = call.text().unwrap();
        let read = TaskCall::read(&text).unwrap();
        assert_eq!(read.text().unwrap(), text);
        assert_eq!(read.given, given);
        assert!(read.may_replace && !read.is_confirmed);
        assert!(
            TaskCall::read(&text[..text.len() - 1]).is_err(),
            "it is cut"
        );
    }
}
