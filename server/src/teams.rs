//! The commands about teams.

use crate::cli::{DataOptions, NewQuota, Team};
use crate::output::{json, properties, table, used_of};
use anyhow::Result;
use cairn_model::size::binary;

/// Runs a command about teams.
pub(crate) fn teams(command: Team) -> Result<()> {
    match command {
        Team::List(options) => list(&options),
        Team::Quota {
            team,
            quota,
            options,
        } => change(&options, &team, &quota),
    }
}

fn list(options: &DataOptions) -> Result<()> {
    let all = options.existing_server()?.all_teams()?;
    if options.json {
        return json(&all);
    }
    let rows = all.iter().map(|team| {
        vec![
            team.id.to_string(),
            team.name.clone(),
            team.owner.clone(),
            team.members.to_string(),
            used_of(team.storage_used, team.storage_limit),
            team.file_count.to_string(),
        ]
    });
    table(
        &["ID", "NAME", "OWNER", "MEMBERS", "STORAGE", "FILES"],
        rows,
    )
}

fn change(options: &DataOptions, team: &str, quota: &NewQuota) -> Result<()> {
    let shown = options
        .existing_server()?
        .change_team_limits(team, quota.limits())?;
    if options.json {
        return json(&shown);
    }
    let rows = [
        ("team", shown.name.clone()),
        ("id", shown.id.to_string()),
        ("owner", shown.owner.clone()),
        ("members", shown.members.to_string()),
        ("storage", used_of(shown.storage_used, shown.storage_limit)),
        (
            "bandwidth",
            format!("{} a month", binary(shown.bandwidth_limit)),
        ),
        (
            "files",
            format!("{} of {}", shown.file_count, shown.file_count_limit),
        ),
    ];
    properties(&rows)
}
