//! Which tools this server offers: fixed when it starts, by flags or the environment.

use crate::tool::Tool;
use crate::toolset::{self, Toolset};

/// What a person chose; empty lists choose everything.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Groups, by id.
    pub toolsets: Vec<String>,
    /// Single tools, besides those of the groups that are named.
    pub tools: Vec<String>,
    /// Tools that are left out in any case.
    pub exclude: Vec<String>,
    /// Only tools that change nothing.
    pub read_only: bool,
}

/// A choice that can't be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChoiceError {
    #[error("there is no toolset `{0}`: choose from {known}", known = known_sets())]
    Toolset(String),
    #[error("there is no tool `{0}`: docs/tools.md lists them")]
    Tool(String),
    #[error("no tool is left: loosen --toolsets, --tools, --exclude-tools or --read-only")]
    Nothing,
}

fn known_sets() -> String {
    let ids: Vec<_> = toolset::ALL.iter().map(|set| set.id).collect();
    ids.join(", ")
}

/// The tools that are offered, in the order of the catalogue.
#[derive(Clone)]
pub(crate) struct Selection {
    pub(crate) tools: Vec<&'static Tool>,
    pub(crate) sets: Vec<&'static Toolset>,
}

impl Selection {
    /// # Errors
    /// [`ChoiceError`] for names that mean nothing, and if nothing is left.
    pub(crate) fn new(choice: &Choice, daemon_runs: bool) -> Result<Self, ChoiceError> {
        let all = || toolset::ALL.iter().flat_map(|set| set.tools);
        for id in &choice.toolsets {
            if !toolset::ALL.iter().any(|set| set.id == id) {
                return Err(ChoiceError::Toolset(id.clone()));
            }
        }
        for name in choice.tools.iter().chain(&choice.exclude) {
            if !all().any(|tool| tool.name == name) {
                return Err(ChoiceError::Tool(name.clone()));
            }
        }
        let everything = choice.toolsets.is_empty() && choice.tools.is_empty();
        let chosen = |set: &Toolset, tool: &Tool| {
            (everything
                || choice.toolsets.iter().any(|id| id == set.id)
                || choice.tools.iter().any(|name| name == tool.name))
                && !choice.exclude.iter().any(|name| name == tool.name)
                && (!choice.read_only || tool.effect.reads_only())
                && (daemon_runs || set.id != toolset::SYNC)
        };
        let mut selection = Self {
            tools: Vec::new(),
            sets: Vec::new(),
        };
        for set in toolset::ALL {
            let before = selection.tools.len();
            let fitting = set.tools.iter().filter(|tool| chosen(set, tool));
            selection.tools.extend(fitting);
            if selection.tools.len() > before {
                selection.sets.push(set);
            }
        }
        if selection.tools.is_empty() {
            return Err(ChoiceError::Nothing);
        }
        Ok(selection)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&'static Tool> {
        self.tools.iter().copied().find(|tool| tool.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(toolsets: &[&str], tools: &[&str], exclude: &[&str], read_only: bool) -> Choice {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Choice {
            toolsets: owned(toolsets),
            tools: owned(tools),
            exclude: owned(exclude),
            read_only,
        }
    }

    fn count(choice: &Choice, daemon: bool) -> usize {
        Selection::new(choice, daemon).unwrap().tools.len()
    }

    #[test]
    fn without_a_choice_it_is_the_whole_catalogue() {
        assert_eq!(count(&Choice::default(), false), 104);
        assert_eq!(count(&Choice::default(), true), 110);
    }

    #[test]
    fn groups_single_tools_and_exceptions_add_up() {
        assert_eq!(count(&choice(&["files"], &[], &[], false), true), 8);
        assert_eq!(
            count(&choice(&["files"], &["compute"], &[], false), true),
            9
        );
        assert_eq!(count(&choice(&[], &["compute"], &[], false), true), 1);
        assert_eq!(
            count(&choice(&["files"], &[], &["copy_file"], false), true),
            7
        );
        let reading = Selection::new(&choice(&[], &[], &[], true), true).unwrap();
        assert!(reading.tools.iter().all(|tool| tool.effect.reads_only()));
        assert!(reading.find("delete_file").is_none() && reading.find("list_files").is_some());
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for bad in [
            choice(&["file"], &[], &[], false),
            choice(&[], &["nope"], &[], false),
            choice(&[], &[], &["nope"], false),
            choice(&[], &["delete_file"], &[], true),
        ] {
            assert!(Selection::new(&bad, true).is_err(), "{bad:?}");
        }
        assert!(Selection::new(&choice(&["sync"], &[], &[], false), false).is_err());
    }
}
