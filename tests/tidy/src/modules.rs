//! The imports between the files of one crate, and the circles that they form.
//!
//! Reads `use` declarations and paths that begin with `crate`, `super`, `self` or a child module; a
//! name that a module only passes on counts as an import of the file that defines it.

mod uses;

use crate::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use uses::{Use, inline_paths, single_words, uses};

/// Re-exports of re-exports that are followed.
const MAX_HOPS: usize = 8;

/// A module's path within its crate; empty for the root.
type ModulePath = Vec<String>;

/// One file with what it imports.
struct Module {
    file: String,
    uses: Vec<Use>,
    inline: Vec<Vec<String>>,
    /// The single words of the code, without declarations of imports and modules.
    words: BTreeSet<String>,
}

/// The modules of one crate.
pub struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

impl Crate {
    /// Reads a crate from its sources below `src`, tests left out.
    #[must_use]
    pub fn new<'a>(src: &str, files: impl Iterator<Item = &'a SourceFile>) -> Self {
        let mut modules = BTreeMap::new();
        for file in files.filter(|file| file.is_rust() && !file.is_test()) {
            let Some(inside) = file.path.strip_prefix(src) else {
                continue;
            };
            let code = file.code_without_tests();
            let (uses, rest) = uses(&code);
            let module = Module {
                file: file.path.clone(),
                uses,
                inline: inline_paths(&rest),
                words: single_words(&rest),
            };
            let path = module_path(inside);
            // Of a package with both, the library is the root; the program is a user of it.
            if inside != "main.rs" || !modules.contains_key(&path) {
                modules.insert(path, module);
            }
        }
        Self { modules }
    }

    /// Returns each file with the files that it imports names from.
    #[must_use]
    pub fn imports(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        self.modules
            .iter()
            .map(|(path, module)| (&*module.file, self.imports_of(path, module)))
            .collect()
    }

    /// Returns the largest groups of files that import one another in a circle, at least two each.
    #[must_use]
    pub fn circles(&self) -> Vec<Vec<String>> {
        let imports = self.imports();
        let reached: BTreeMap<&str, BTreeSet<&str>> = imports
            .keys()
            .map(|file| (*file, reachable_files(file, &imports)))
            .collect();
        let mut done = BTreeSet::new();
        let mut circles = Vec::new();
        for (file, reaches) in &reached {
            if done.contains(file) || !reaches.contains(file) {
                continue;
            }
            let circle: Vec<&str> = reaches
                .iter()
                .copied()
                .filter(|other| reached[other].contains(file))
                .collect();
            done.extend(circle.iter().copied());
            circles.push(circle.into_iter().map(str::to_owned).collect());
        }
        circles
    }

    fn imports_of(&self, path: &[String], module: &Module) -> BTreeSet<&str> {
        let declared = module
            .uses
            .iter()
            .filter(|import| module.names(import))
            .map(|import| &import.path);
        declared
            .chain(&module.inline)
            .filter_map(|import| self.resolve(path, import, MAX_HOPS))
            .filter(|file| *file != module.file)
            .collect()
    }

    /// Returns the file that defines the last name of a path, as seen from the module `from`.
    fn resolve(&self, from: &[String], path: &[String], hops: usize) -> Option<&str> {
        let (mut at, mut rest) = self.start(from, path)?;
        while let Some((first, others)) = rest.split_first() {
            let mut child = at.clone();
            child.push(first.clone());
            if !self.modules.contains_key(&child) {
                break;
            }
            (at, rest) = (child, others);
        }
        let module = self.modules.get(&at)?;
        // A private import is seen by the module itself and by those below it.
        let is_inside = from.starts_with(&at);
        let passed_on = rest.first().filter(|_| hops > 0).and_then(|name| {
            let mut visible = module.uses.iter().filter(|u| u.is_public || is_inside);
            visible.find(|import| import.name == *name)
        });
        match passed_on {
            Some(import) => {
                let mut whole = import.path.clone();
                whole.extend(rest.iter().skip(1).cloned());
                self.resolve(&at, &whole, hops - 1)
            }
            None => Some(&module.file),
        }
    }

    /// Returns the module at which a path starts, and what follows.
    fn start<'p>(&self, from: &[String], path: &'p [String]) -> Option<(ModulePath, &'p [String])> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            "self" => Some((from.to_vec(), rest)),
            "super" => self.start_above(from, path),
            name => {
                let module = self.modules.get(from)?;
                let imported = module.uses.iter().any(|import| import.name == name);
                let mut child = from.to_vec();
                child.push(name.to_owned());
                let is_child = self.modules.contains_key(&child);
                (is_child || imported).then(|| (from.to_vec(), path))
            }
        }
    }

    fn start_above<'p>(
        &self,
        from: &[String],
        path: &'p [String],
    ) -> Option<(ModulePath, &'p [String])> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let depth = from.len().checked_sub(ups)?;
        Some((from[..depth].to_vec(), &path[ups..]))
    }
}

impl Module {
    /// Returns `true` if an import is for this file's own code, and not only passed on or the start
    /// of longer paths. A public import of a type is for both if the code has its name.
    fn names(&self, import: &Use) -> bool {
        let is_start = self.inline.iter().any(|path| path[0] == import.name);
        // A field or a variable may have the name of a function; types have names of their own.
        let is_type = import.name.starts_with(char::is_uppercase);
        let is_passed_on = import.is_public && !(is_type && self.words.contains(&import.name));
        !is_passed_on && !is_start
    }
}

fn reachable_files<'a>(
    from: &str,
    imports: &BTreeMap<&'a str, BTreeSet<&'a str>>,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(file) = open.pop() {
        for next in imports.get(file).into_iter().flatten() {
            if found.insert(*next) {
                open.push(next);
            }
        }
    }
    found
}

fn module_path(inside: &str) -> ModulePath {
    let path = inside.trim_end_matches(".rs");
    if path == "lib" || path == "main" {
        return Vec::new();
    }
    path.split('/').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| SourceFile::new(&format!("x/src/{path}"), text))
            .collect();
        Crate::new("x/src/", files.iter()).circles()
    }

    #[test]
    fn files_that_import_one_another_are_a_circle() {
        let found = circles(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("a.rs", "use crate::b::B;\npub struct A;\n"),
            ("b.rs", "fn f(x: super::c::C) {}\n"),
            ("c.rs", "use crate::a::{self, A};\n"),
        ]);
        assert_eq!(found, [["x/src/a.rs", "x/src/b.rs", "x/src/c.rs"]]);
    }

    #[test]
    fn a_name_that_is_passed_on_belongs_to_its_own_file() {
        let found = circles(&[
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n"),
            ("a.rs", "pub struct A;\n"),
            ("b.rs", "use crate::A;\npub struct B;\n"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_name_that_is_passed_on_and_used_ties_a_circle() {
        let found = circles(&[
            (
                "lib.rs",
                "mod a;\npub use a::A;\nstruct Root {\n    a: A,\n}\n",
            ),
            ("a.rs", "use crate::Root;\npub struct A;\n"),
        ]);
        assert_eq!(found, [["x/src/a.rs", "x/src/lib.rs"]]);
    }

    #[test]
    fn a_parent_and_its_child_can_be_a_circle() {
        let found = circles(&[
            ("lib.rs", "mod a;\n"),
            ("a.rs", "mod b;\npub struct A;\nfn f() { b::g() }\n"),
            ("a/b.rs", "use super::A;\n"),
        ]);
        assert_eq!(found, [["x/src/a.rs", "x/src/a/b.rs"]]);
    }

    #[test]
    fn a_path_through_an_imported_module_leads_to_its_end() {
        let found = circles(&[
            ("lib.rs", "mod a;\nmod c;\n"),
            ("a.rs", "pub mod b;\nuse crate::c::C;\n"),
            ("a/b.rs", ""),
            (
                "c.rs",
                "use crate::a;\npub struct C;\nfn f() { a::b::g() }\n",
            ),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn tests_tie_no_circle() {
        let found = circles(&[
            ("lib.rs", "mod a;\nmod b;\n"),
            (
                "a.rs",
                "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n",
            ),
            ("b.rs", "use crate::a::A;\n"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
