//! Circles of files that import one another.

use crate::modules::Crate;
use crate::{Rule, Violation};

/// A module with its children, or a type with what it is made of; more is one module in many files.
const MAX_FILES: usize = 5;

pub const CIRCLES: Rule = Rule {
    name: "circles",
    rule: "no more than five files of a crate import one another in a circle",
    rationale: "files of one circle can only be read, changed and tested together, and everything \
                that imports one of them depends on all",
    find: |workspace| {
        let mut violations = Vec::new();
        for package in &workspace.packages {
            let src = format!("{}/src/", package.dir);
            let circles = Crate::new(&src, workspace.files.iter()).circles();
            for circle in circles.iter().filter(|circle| circle.len() > MAX_FILES) {
                let names: Vec<_> = circle.iter().filter_map(|f| f.strip_prefix(&src)).collect();
                violations.push(Violation::new(
                    src.clone(),
                    format!("{} files: {}", names.len(), names.join(", ")),
                ));
            }
        }
        violations
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;
    use crate::{SourceFile, Workspace};

    fn ring(files: usize) -> Workspace {
        let file = |n: usize| {
            let next = (n + 1) % files;
            let text = format!("use crate::m{next}::M;\npub struct M;\n");
            SourceFile::new(&format!("a/src/m{n}.rs"), &text)
        };
        Workspace {
            packages: vec![Package {
                name: "a".to_owned(),
                dir: "a".to_owned(),
                dependencies: Vec::new(),
            }],
            files: (0..files).map(file).collect(),
            ..Workspace::default()
        }
    }

    #[test]
    fn a_circle_of_six_files_is_a_violation() {
        assert!(CIRCLES.check(&ring(5)).is_ok());
        assert!(CIRCLES.check(&ring(6)).is_err());
    }
}
