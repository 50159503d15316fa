//! The MCP prompts: tasks for a person to pick, with instructions for the assistant.

use crate::selection::Selection;
use crate::toolset;

/// A prompt without arguments.
pub(crate) struct Prompt {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) static ALL: &[Prompt] = &[
    Prompt {
        name: "organize_files",
        title: "Organize files",
        description: "Propose a better folder structure with specific moves",
        text: "Help me organize my files.\n\
            1. Read the resource service://files for the root folder, then call list_files for every folder (all pages) until you have the full folder tree.\n\
            2. Find patterns: file types, naming conventions, clusters of dates, projects.\n\
            3. Propose a reorganised structure as a tree, and the specific move actions that lead to it: for each, the file's name and UUID, where it is and where it goes (create_nested_folders, rename_file, and move_files, which moves up to 100 into one folder in one call).\n\
            4. Highlight duplicates (same name and size) and misplaced files separately.\n\
            Change nothing before I have agreed to the moves.",
    },
    Prompt {
        name: "share_summary",
        title: "Share summary",
        description: "Summarise active share links and flag risky ones",
        text: "Summarise all my active share links.\n\
            1. Read the resource service://shares, and page through list_share_links for the rest.\n\
            2. For each link show file, access count, download count, expiry date, download limit and security status (password, allowed emails, access mode).\n\
            3. Group them: active, expiring soon (within 7 days), expired, at download limit.\n\
            4. Flag every link that has neither expiry nor password, and say what to do about it.",
    },
    Prompt {
        name: "storage_audit",
        title: "Storage audit",
        description: "Compare usage with the quota and find what can go",
        text: "Audit my storage.\n\
            1. Read the resource service://usage and call get_storage_usage: compare usage with the quota, and check the bandwidth trend.\n\
            2. List the 10 largest files (get_storage_usage names them).\n\
            3. List the files that were not modified for 90 days or more (get_storage_usage counts them and names the largest).\n\
            4. Estimate what could be saved; use compute for sums and format_bytes.\n\
            Report in these sections: Usage Overview, Top 10 Largest Files, Stale Files, Recommended Actions. Delete nothing before I agree.",
    },
    Prompt {
        name: "team_overview",
        title: "Team overview",
        description: "List teams with members and roles and find single points of failure",
        text: "Give me an overview of my teams.\n\
            1. Read the resource service://teams, then service://teams/{uuid} (or list_team_members) for each.\n\
            2. List every team with its members, their roles, and the number of shared folders.\n\
            3. Flag teams where I am the only admin or owner.\n\
            4. Recommend whom to make a further admin, and why.",
    },
    Prompt {
        name: "security_check",
        title: "Security check",
        description: "A security scorecard with prioritised recommendations",
        text: "Check the security of my account.\n\
            1. Call check_recovery_key_status and verify_encryption_status: is a recovery key set up?\n\
            2. Read the resource service://notifications for recent security notifications, and call get_encryption_audit_log and list_api_keys.\n\
            3. Check share link hygiene with list_share_links: links without expiry, without password, with public access, unused ones.\n\
            4. Give me a security scorecard (good, needs attention, critical for each area) with prioritised recommendations.",
    },
];

/// Returns the prompts whose tools for looking are all among the offered ones.
pub(crate) fn offered_prompts(selection: &Selection) -> impl Iterator<Item = &'static Prompt> {
    ALL.iter().filter(|prompt| {
        let mut needed = toolset::ALL
            .iter()
            .flat_map(|set| set.tools)
            .filter(|tool| tool.effect.is_read_only() && prompt.text.contains(tool.name));
        needed.all(|tool| selection.find(tool.name).is_some())
    })
}
