//! The selection of tools that this server offers, fixed at start by flags or the environment.

use crate::tool::Tool;
use crate::toolset::{self, Toolset};

/// The user's choice of tools; empty lists select everything.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    /// Groups by id.
    pub toolsets: Vec<String>,
    /// Single tools, in addition to the groups.
    pub tools: Vec<String>,
    /// Tools to leave out.
    pub exclude: Vec<String>,
    /// Selects only tools that change nothing.
    pub read_only: bool,
}

/// An invalid filter.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ToolFilterError {
    #[error("there is no toolset `{0}`: choose from {known}", known = known_sets())]
    Toolset(String),
    #[error("there is no tool `{0}`: docs/tools.md lists them")]
    Tool(String),
    #[error("no tool is left: change --toolsets, --tools, --exclude-tools or --read-only")]
    Nothing,
    #[error(
        "the tools for sync need an account on this machine, and CAIRN_MCP_SYNC not `off`: run `cairn login`"
    )]
    NoSync,
}

fn known_sets() -> String {
    let ids: Vec<_> = toolset::ALL.iter().map(|set| set.id).collect();
    ids.join(", ")
}

/// The offered tools, in the order of the catalogue.
#[derive(Clone)]
pub(crate) struct Selection {
    pub(crate) tools: Vec<&'static Tool>,
    pub(crate) sets: Vec<&'static Toolset>,
}

impl Selection {
    /// # Errors
    /// [`ToolFilterError`] for unknown names, and if no tool is left.
    pub(crate) fn new(filter: &ToolFilter, offers_sync: bool) -> Result<Self, ToolFilterError> {
        let all = || toolset::ALL.iter().flat_map(|set| set.tools);
        for id in &filter.toolsets {
            if !toolset::ALL.iter().any(|set| set.id == id) {
                return Err(ToolFilterError::Toolset(id.clone()));
            }
        }
        for name in filter.tools.iter().chain(&filter.exclude) {
            if !all().any(|tool| tool.name == name) {
                return Err(ToolFilterError::Tool(name.clone()));
            }
        }
        let selection = Self::of(filter, offers_sync);
        if !selection.tools.is_empty() {
            return Ok(selection);
        }
        // Then not the filter is at fault.
        if !offers_sync && !Self::of(filter, true).tools.is_empty() {
            return Err(ToolFilterError::NoSync);
        }
        Err(ToolFilterError::Nothing)
    }

    /// Selects the tools of a filter whose names are known.
    fn of(filter: &ToolFilter, offers_sync: bool) -> Self {
        let everything = filter.toolsets.is_empty() && filter.tools.is_empty();
        let chosen = |set: &Toolset, tool: &Tool| {
            (everything
                || filter.toolsets.iter().any(|id| id == set.id)
                || filter.tools.iter().any(|name| name == tool.name))
                && !filter.exclude.iter().any(|name| name == tool.name)
                && (!filter.read_only || tool.effect.is_read_only())
                && (offers_sync || set.id != toolset::SYNC)
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
        selection
    }

    pub(crate) fn find(&self, name: &str) -> Option<&'static Tool> {
        self.tools.iter().copied().find(|tool| tool.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(toolsets: &[&str], tools: &[&str], exclude: &[&str], read_only: bool) -> ToolFilter {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ToolFilter {
            toolsets: owned(toolsets),
            tools: owned(tools),
            exclude: owned(exclude),
            read_only,
        }
    }

    fn count(filter: &ToolFilter, daemon: bool) -> usize {
        Selection::new(filter, daemon).unwrap().tools.len()
    }

    #[test]
    fn without_a_choice_it_is_the_whole_catalogue() {
        let all: usize = toolset::ALL.iter().map(|set| set.tools.len()).sum();
        let sync = toolset::ALL.last().map_or(0, |set| set.tools.len());
        assert_eq!(count(&ToolFilter::default(), false), all - sync);
        assert_eq!(count(&ToolFilter::default(), true), all);
    }

    #[test]
    fn groups_single_tools_and_exceptions_add_up() {
        let files = toolset::ALL.iter().find(|set| set.id == "files");
        let files = files.unwrap().tools.len();
        assert_eq!(count(&filter(&["files"], &[], &[], false), true), files);
        assert_eq!(
            count(&filter(&["files"], &["compute"], &[], false), true),
            files + 1
        );
        assert_eq!(count(&filter(&[], &["compute"], &[], false), true), 1);
        assert_eq!(
            count(&filter(&["files"], &[], &["copy_file"], false), true),
            files - 1
        );
        let reading = Selection::new(&filter(&[], &[], &[], true), true).unwrap();
        assert!(reading.tools.iter().all(|tool| tool.effect.is_read_only()));
        assert!(reading.find("delete_file").is_none() && reading.find("list_files").is_some());
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for bad in [
            filter(&["file"], &[], &[], false),
            filter(&[], &["nope"], &[], false),
            filter(&[], &[], &["nope"], false),
            filter(&[], &["delete_file"], &[], true),
        ] {
            assert!(Selection::new(&bad, true).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn tools_of_sync_alone_without_an_account_are_no_fault_of_the_filter() {
        let refused = |filter: &ToolFilter| Selection::new(filter, false).err();
        let sync = filter(&["sync"], &[], &[], false);
        assert_eq!(refused(&sync), Some(ToolFilterError::NoSync));
        let contradiction = filter(&[], &["delete_file"], &[], true);
        assert_eq!(refused(&contradiction), Some(ToolFilterError::Nothing));
    }
}
