//! The rights of a team's members: one table from roles to rights.
//!
//! Handlers and the store ask it; nothing else decides by role.

use cairn_wire::teams::TeamRole;
use std::collections::BTreeMap;

/// An action that somebody may be allowed in a team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Right {
    /// See the team, its members, its figures and its files.
    View,
    Upload,
    /// Rename, move, describe and copy files, and go back to older versions.
    Edit,
    /// Put files into the trash and take them out of it.
    Delete,
    Share,
    /// Delete for good what lies in the trash.
    EmptyTrash,
    Invite,
    Remove,
    Offboard,
    ChangeRoles,
    /// See how much each member stores.
    ViewStorage,
    /// Hand members the key to the team's files.
    ManageKeys,
    /// See and revoke the share links of all members.
    ManageShares,
    EditTeam,
    DeleteTeam,
}

/// Each right with its name on the wire, what it lets one do, and the least role that has it.
const TABLE: [(Right, &str, &str, TeamRole); 15] = [
    (Right::View, "view", "see the team", TeamRole::Member),
    (Right::Upload, "upload", "upload files", TeamRole::Member),
    (Right::Edit, "edit", "change files", TeamRole::Member),
    (Right::Delete, "delete", "delete files", TeamRole::Member),
    (Right::Share, "share", "share files", TeamRole::Member),
    (
        Right::EmptyTrash,
        "empty_trash",
        "delete files for good",
        TeamRole::Admin,
    ),
    (Right::Invite, "invite", "invite people", TeamRole::Admin),
    (Right::Remove, "remove", "remove members", TeamRole::Admin),
    (
        Right::Offboard,
        "offboard",
        "offboard members",
        TeamRole::Admin,
    ),
    (
        Right::ChangeRoles,
        "change_roles",
        "change roles",
        TeamRole::Admin,
    ),
    (
        Right::ViewStorage,
        "view_storage",
        "see what each member stores",
        TeamRole::Admin,
    ),
    (
        Right::ManageKeys,
        "manage_keys",
        "hand out the team's key",
        TeamRole::Admin,
    ),
    (
        Right::ManageShares,
        "manage_shares",
        "see and revoke the links of others",
        TeamRole::Admin,
    ),
    (
        Right::EditTeam,
        "edit_team",
        "rename the team",
        TeamRole::Admin,
    ),
    (
        Right::DeleteTeam,
        "delete_team",
        "delete the team",
        TeamRole::Owner,
    ),
];

fn rank(role: TeamRole) -> u8 {
    match role {
        TeamRole::Owner => 2,
        TeamRole::Admin => 1,
        TeamRole::Member => 0,
    }
}

/// Returns true if a role has a right.
pub fn allows(role: TeamRole, right: Right) -> bool {
    TABLE
        .iter()
        .any(|(its, _, _, least)| *its == right && rank(role) >= rank(*least))
}

/// Returns the text of a refusal, such as `only the team's owner and admins may invite people`.
pub fn refusal(right: Right) -> String {
    TABLE
        .iter()
        .find(|(its, ..)| *its == right)
        .map(|(_, _, what, least)| match least {
            TeamRole::Owner => format!("only the team's owner may {what}"),
            TeamRole::Admin => format!("only the team's owner and admins may {what}"),
            TeamRole::Member => format!("only members of the team may {what}"),
        })
        .unwrap_or_default()
}

/// All rights by name, with whether a role has them.
pub fn matrix(role: TeamRole) -> BTreeMap<String, bool> {
    TABLE
        .iter()
        .map(|(right, name, ..)| ((*name).to_owned(), allows(role, *right)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_higher_role_has_every_right_of_a_lower_one() {
        for (right, name, ..) in TABLE {
            let member = allows(TeamRole::Member, right);
            let admin = allows(TeamRole::Admin, right);
            assert!(admin || !member, "{name}");
            assert!(allows(TeamRole::Owner, right), "{name}");
            assert!(!refusal(right).is_empty());
        }
        assert_eq!(matrix(TeamRole::Owner).len(), TABLE.len());
    }

    #[test]
    fn members_work_with_files_and_admins_with_people() {
        let member = matrix(TeamRole::Member);
        let may: Vec<&str> = member
            .iter()
            .filter(|(_, may)| **may)
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(may, ["delete", "edit", "share", "upload", "view"]);
        assert!(!allows(TeamRole::Admin, Right::DeleteTeam));
    }
}
