//! Nodes of the service whose names are not possible on this disk: they stay on the service only, and a person
//! is told so.

use crate::engine::Engine;
use crate::error::{EngineError, name_cause, name_values};
use cairn_model::{FolderId, NodeId, Problem};

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
        let problem = Problem::new(
            path.to_string(),
            name_cause(&problem),
            problem.to_string(),
            "it stays on the service and on the devices that can have the name",
        )
        .with(name_values(&problem));
        health.refuse(id, node, problem);
    }
    Ok(())
}
