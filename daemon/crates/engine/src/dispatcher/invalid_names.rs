//! Nodes of the service whose names are not possible on this disk: they stay on the service only, and a person
//! is told so.

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_model::{FolderId, NodeId, Problem, ProblemCode};

/// Reports those of some dirty nodes of a folder, which no step and no wait mentions, that have such names. The
/// report ends when the service sends another state of the node.
pub(super) fn report(engine: &Engine, id: FolderId, nodes: &[NodeId]) -> Result<(), EngineError> {
    let invalid = engine.index.read(|db| {
        let mut invalid = Vec::new();
        let Some(folder) = db.folder(id)? else {
            return Ok(invalid);
        };
        for node in nodes.iter().copied() {
            let Some(row) = db.remote_row(node)? else {
                continue;
            };
            if let Err(problem) = engine.ports.disk.check_name(&row.name)
                && let Some(path) = db.remote_path_in(&folder, node)?
            {
                invalid.push((node, path, problem));
            }
        }
        Ok(invalid)
    })?;
    let mut health = engine.health();
    for (node, path, problem) in invalid {
        let problem = Problem {
            path: path.to_string(),
            code: ProblemCode::Name,
            message: problem.to_string(),
            hint: "it stays on the service and on the devices that can have the name".into(),
        };
        health.refuse(id, node, problem);
    }
    Ok(())
}
