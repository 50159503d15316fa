//! `cairn doctor`: everything that syncing needs, checked one by one.

use crate::account::Account;
use crate::app::App;
use crate::config::Config;
use crate::failure::{CommandResult, Failure};
use crate::folders::{pairs, spaces};
use crate::output::Style;
use crate::output::text::{clean, count, local_rfc3339, now_ms, size};
use crate::session::{RetryProfile, Session};
use cairn_control::{ProblemGroup, Status, typed};
use cairn_model::{ProblemCode, SyncState};
use cairn_platform::{Disk as _, RealDisk};
use serde::Serialize;
use std::path::Path;

/// A clock that is off by more makes tokens expire at the wrong time.
const MAX_SKEW_MS: i64 = 5 * 60 * 1000;
/// With less, even small downloads fail soon.
const LITTLE_SPACE: u64 = 200 * 1024 * 1024;

/// The check of what the daemon can't sync, whose messages hold names of files.
pub(super) const SYNCING: &str = "syncing";
/// The check of what the system does not report to the daemon, whose messages hold names of folders.
pub(super) const WATCHING: &str = "watching";

/// Check everything that syncing needs
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CheckStatus {
    Ok,
    Warning,
    Failed,
}

/// The result of one check, with the advice in its message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    #[serde(rename = "level")]
    pub(super) status: CheckStatus,
    pub(super) message: String,
}

#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    fn add(&mut self, check: &'static str, status: CheckStatus, message: impl Into<String>) {
        self.0.push(Finding {
            check,
            status,
            message: message.into(),
        });
    }

    /// Adds a failure to the findings, or returns the value.
    fn record<T>(&mut self, check: &'static str, result: CommandResult<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(failure) => {
                self.add(check, CheckStatus::Failed, failure.message);
                None
            }
        }
    }
}

pub(super) async fn run(app: &App, _: Args) -> CommandResult {
    report(app, &check(app).await)
}

/// Checks everything, one by one.
pub(super) async fn check(app: &App) -> Findings {
    let mut findings = Findings::default();
    if findings
        .record("configuration", Config::load(&app.home))
        .is_some()
    {
        findings.add(
            "configuration",
            CheckStatus::Ok,
            app.home.config_file().display().to_string(),
        );
    }
    if let Some(account) = findings.record("account", Account::load(&app.home)) {
        findings.add(
            "account",
            CheckStatus::Ok,
            format!(
                "{} on {}, device {}",
                account.email, account.server, account.device_name
            ),
        );
        if let Some(session) =
            findings.record("keys", Session::open(&app.home, RetryProfile::Interactive))
        {
            findings.add(
                "keys",
                CheckStatus::Ok,
                "this device's secrets open the account's keys",
            );
            server(&mut findings, &session).await;
        }
    }
    folders(app, &mut findings);
    daemon(app, &mut findings).await;
    findings
}

/// Shows the findings, and fails if a check did.
fn report(app: &App, findings: &Findings) -> CommandResult {
    for finding in &findings.0 {
        let word = match finding.status {
            CheckStatus::Ok => app.out.paint(Style::Good, "ok  "),
            CheckStatus::Warning => app.out.paint(Style::Warning, "note"),
            CheckStatus::Failed => app.out.paint(Style::Bad, "FAIL"),
        };
        app.out.line(format_args!(
            "{word}  {:<14} {}",
            finding.check,
            clean(&finding.message)
        ));
    }
    let failed = findings
        .0
        .iter()
        .filter(|finding| finding.status == CheckStatus::Failed)
        .count();
    app.out
        .json(&serde_json::json!({ "healthy": failed == 0, "findings": findings.0 }));
    if failed == 0 {
        return Ok(());
    }
    let message = format!(
        "{failed} of {} checks failed: see above for what to do",
        findings.0.len()
    );
    Err(Failure::failed(message).mark_reported())
}

async fn server(findings: &mut Findings, session: &Session) {
    let info = session.api.account().await.map_err(Failure::from);
    let Some(info) = findings.record("server", info) else {
        return;
    };
    findings.add(
        "server",
        CheckStatus::Ok,
        format!("{} can be reached", session.account.server),
    );
    let skew = info.server_time.0.saturating_sub(now_ms());
    if skew.abs() > MAX_SKEW_MS {
        let message = format!(
            "this machine's clock is {} s away from the server's: set it right",
            skew / 1000
        );
        findings.add("clock", CheckStatus::Warning, message);
    } else {
        findings.add(
            "clock",
            CheckStatus::Ok,
            "this machine's clock agrees with the server's",
        );
    }
    let usage = &info.usage;
    let free = usage.storage_limit.saturating_sub(usage.storage_used);
    let left = usage.bandwidth_limit.saturating_sub(usage.bandwidth_used);
    let status = if free == 0 || left == 0 {
        CheckStatus::Failed
    } else {
        CheckStatus::Ok
    };
    findings.add(
        "quota",
        status,
        format!(
            "{} free on the service, {} of this month's bandwidth left",
            size(free),
            size(left)
        ),
    );
}

fn folders(app: &App, findings: &mut Findings) {
    let Some((all, broken)) = findings.record("index", spaces::open_usable(&app.home)) else {
        return;
    };
    for one in broken {
        findings.add("index", CheckStatus::Failed, one.message);
    }
    for path in all.iter().filter_map(|one| one.set_aside.as_ref()) {
        let message = format!(
            "it was unreadable and set aside as {}; it is built again, and the folder pairs are restored from their backup",
            path.display()
        );
        findings.add("index", CheckStatus::Warning, message);
    }
    let Some(pairs) = findings.record("index", pairs::list(&all)) else {
        return;
    };
    if pairs.is_empty() {
        findings.add(
            "folders",
            CheckStatus::Warning,
            "no folder is synced yet: add one with `cairn add FOLDER`",
        );
    }
    for pair in pairs {
        let row = pair.row;
        let root = Path::new(&row.root);
        match RealDisk::new()
            .list(root)
            .and_then(|_| RealDisk::new().free_space(root))
        {
            Err(e) => findings.add("folder", CheckStatus::Failed, format!("{}: {e}", row.root)),
            Ok(free) if free < LITTLE_SPACE => {
                findings.add(
                    "folder",
                    CheckStatus::Warning,
                    format!("{}: only {} free on its disk", row.root, size(free)),
                );
            }
            Ok(free) => findings.add(
                "folder",
                CheckStatus::Ok,
                format!(
                    "{} ⇄ {}{}, {} free",
                    row.root,
                    row.remote_path,
                    pair.space
                        .map_or_else(String::new, |team| format!(" of the team {}", team.name)),
                    size(free)
                ),
            ),
        }
    }
}

/// Adds what keeps the daemon from syncing: for everything, or for a folder.
fn add_sync_findings(findings: &mut Findings, status: &Status) {
    if status.state == SyncState::Error
        && let Some(message) = &status.message
    {
        findings.add(SYNCING, CheckStatus::Failed, message);
    }
    for folder in &status.folders {
        let level = match folder.state {
            SyncState::Error => CheckStatus::Failed,
            SyncState::Idle
            | SyncState::Syncing
            | SyncState::Paused
            | SyncState::Offline
            | SyncState::Attention => CheckStatus::Warning,
        };
        let is_news = |group: &&ProblemGroup| {
            !matches!(
                group.code,
                // Reported as "watching", or nothing is to be done.
                ProblemCode::Watch
                    | ProblemCode::Symlink
                    | ProblemCode::Special
                    | ProblemCode::Changing
            )
        };
        for group in folder.problems.iter().filter(is_news) {
            let message = format!("{}: {}: {}", folder.local, group.message, group.hint);
            findings.add(SYNCING, level, message);
        }
        if folder.conflicts > 0 {
            let conflicts = count(folder.conflicts, "conflict");
            let message = format!("{}: {conflicts}: see `cairn conflicts`", folder.local);
            findings.add(SYNCING, CheckStatus::Warning, message);
        }
    }
}

async fn daemon(app: &App, findings: &mut Findings) {
    let client = match app.running_daemon().await {
        Ok(Some(client)) => client,
        Ok(None) => {
            findings.add(
                "daemon",
                CheckStatus::Warning,
                "it is not running: run `cairn start`",
            );
            return;
        }
        Err(failure) => {
            findings.add("daemon", CheckStatus::Failed, failure.message);
            return;
        }
    };
    let info = client.send(typed::Doctor {}).await.map_err(Failure::from);
    let Some(info) = findings.record("daemon", info) else {
        return;
    };
    if info.version == env!("CARGO_PKG_VERSION") {
        findings.add(
            "daemon",
            CheckStatus::Ok,
            format!(
                "process {}, since {}",
                info.pid,
                local_rfc3339(&info.started_at, &app.zone)
            ),
        );
    } else {
        let message = format!(
            "it is Cairn {}, this is {}: run `cairn restart`",
            info.version,
            env!("CARGO_PKG_VERSION")
        );
        findings.add("daemon", CheckStatus::Warning, message);
    }
    let status = client.send(typed::Status {}).await.map_err(Failure::from);
    if let Some(status) = findings.record(SYNCING, status) {
        add_sync_findings(findings, &status);
    }
    for problem in info.watch_problems {
        findings.add(
            WATCHING,
            CheckStatus::Warning,
            format!("{}: {}", problem.message, problem.hint),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::FolderStatus;

    fn found(state: SyncState, code: ProblemCode, conflicts: u64) -> Vec<(CheckStatus, String)> {
        let group = ProblemGroup {
            code,
            count: 1,
            message: "it was deleted on the service".into(),
            hint: "run something".into(),
            ..ProblemGroup::default()
        };
        let folder = FolderStatus {
            local: "/f".into(),
            state,
            problems: vec![group],
            conflicts,
            ..FolderStatus::default()
        };
        let mut findings = Findings::default();
        let status = Status {
            folders: vec![folder],
            ..Status::default()
        };
        add_sync_findings(&mut findings, &status);
        let found = findings.0.into_iter();
        found.map(|found| (found.status, found.message)).collect()
    }

    #[test]
    fn what_the_daemon_can_not_sync_is_a_finding() {
        let gone = found(SyncState::Error, ProblemCode::FolderGone, 0);
        let says = "/f: it was deleted on the service: run something".to_owned();
        assert_eq!(gone, [(CheckStatus::Failed, says.clone())]);
        let held = found(SyncState::Attention, ProblemCode::DeletionsHeld, 2);
        let conflicts = "/f: 2 conflicts: see `cairn conflicts`".to_owned();
        let expected = [
            (CheckStatus::Warning, says),
            (CheckStatus::Warning, conflicts),
        ];
        assert_eq!(held, expected);
        assert_eq!(found(SyncState::Idle, ProblemCode::Symlink, 0), []);
    }
}
