//! Long transfers as tasks (the protocol's extension `io.modelcontextprotocol/tasks`): a process of its own does the
//! work of a call, so that it goes on when the assistant's program ends, and any later session of the same account
//! can ask how far it is.
//!
//! Everything that a person or the client has to be asked is settled before; what the process gets is a call that may
//! be run. The place of the states and the start of the process are the program's ([`crate::task_files`]).

mod call;
mod state;
mod worker;

pub(crate) use call::TaskCall;
pub(crate) use state::{Stage, TaskState};
pub(crate) use worker::run;

use crate::call::Call;
use crate::tool::Tool;
use cairn_model::NodeId;

/// The size in bytes from which the transfer of a file becomes a task.
const LONG: u64 = 16 * 1024 * 1024;

/// Returns whether a call may take long enough to be worth a process of its own.
pub(crate) async fn is_long(tool: &Tool, call: &Call) -> bool {
    match tool.name {
        "upload_folder" | "download_folder" => true,
        "upload_file" => {
            let path = call.arguments.path("local_path").ok();
            let path = path.and_then(|path| call.paths.check(path).ok());
            let meta = path.and_then(|path| std::fs::metadata(path).ok());
            meta.is_some_and(|meta| meta.is_file() && meta.len() >= LONG)
        }
        "download_file" => {
            let Ok(id) = call.arguments.id::<NodeId>("file_uuid") else {
                return false;
            };
            // Whatever is wrong, the call itself reports it.
            let found = call.services.node_with_keys(id).await;
            found.is_ok_and(|(_, node)| node.size >= LONG)
        }
        _ => false,
    }
}
