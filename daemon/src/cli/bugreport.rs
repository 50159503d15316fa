//! `cairn bugreport`: what somebody needs who looks for a fault, in one archive, without the names of files.

mod scrub;

use crate::account::Account;
use crate::app::App;
use crate::cli::{doctor, logs};
use crate::config::{Config, SETTINGS};
use crate::failure::{CommandResult, Context as _, Failure};
use crate::folders::{pairs, spaces};
use crate::output::text::{now_ms, rfc3339, size};
use cairn_control::{DoctorInfo, FolderStatus, Status, typed};
use scrub::Scrub;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Lines of the log that go into a report.
const LINES: usize = 5_000;

/// Collect versions, settings, state and logs for a bug report
///
/// Names of files and folders, addresses and accounts are left out unless --names is given; keys,
/// passwords and contents are never in it. Read it before you share it.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// With names, paths, the account and the server's address
    #[arg(long)]
    names: bool,
    /// The archive to write [default: cairn-bugreport-TIME.zip, here]
    #[arg(long, short, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let scrub = match args.names {
        true => Scrub::nothing(),
        false => Scrub::names(known_names(app)),
    };
    let report = collect(app, &scrub).await;
    let report = serde_json::to_vec_pretty(&report)
        .map_err(|e| Failure::failed(format!("can't write the report: {e}")))?;
    let log = log(app, &scrub);
    let archive = archive(&[("report.json", &report), ("log.txt", log.as_bytes())])
        .map_err(|e| Failure::failed(format!("can't pack the report: {e}")))?;
    let path = args.out.unwrap_or_else(|| {
        let at = rfc3339(now_ms()).replace([':', '.'], "-");
        PathBuf::from(format!("cairn-bugreport-{at}.zip"))
    });
    // Never over a file that is there.
    let what = || format!("write {}", path.display());
    let mut file = File::create_new(&path).context(what())?;
    if let Err(error) = file.write_all(&archive).and_then(|()| file.sync_all()) {
        drop(file);
        // A torn archive is of use to nobody. If it can't be deleted either, the failure says where it is.
        let _ = std::fs::remove_file(&path);
        return Err(error).context(what());
    }
    let path = std::path::absolute(&path).unwrap_or(path);
    app.out.line(format_args!(
        "{} ({}): read it before you share it.",
        path.display(),
        size(archive.len() as u64)
    ));
    app.out
        .json(&json!({ "path": path, "bytes": archive.len(), "names": args.names }));
    Ok(())
}

fn archive(entries: &[(&str, &[u8])]) -> zip::result::ZipResult<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default())?;
        zip.write_all(content)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Collects everything but the log. Missing parts are named in their place: a report is wanted most where
/// something fails.
async fn collect(app: &App, scrub: &Scrub) -> Value {
    let names = scrub.keeps_names();
    let account = match (Account::load(&app.home), names) {
        (Ok(account), true) => json!({
            "logged_in": true,
            "email": account.email,
            "server": account.server,
            "device": account.device_name,
            "secrets": account.secrets,
        }),
        (Ok(account), false) => json!({ "logged_in": true, "secrets": account.secrets }),
        (Err(_), _) => json!({ "logged_in": false }),
    };
    let settings = match Config::load(&app.home) {
        Ok(config) => {
            let all = SETTINGS.iter();
            all.map(|setting| {
                let value = setting.show(&config);
                // As TOML writes it, which is JSON for all but times.
                let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
                (setting.key.to_owned(), value)
            })
            .collect::<Map<_, _>>()
            .into()
        }
        Err(failure) => json!({ "error": scrub.message(&failure.message) }),
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "system": cairn_platform::process::SYSTEM,
        "processor": std::env::consts::ARCH,
        "at": rfc3339(now_ms()),
        "names": names,
        "account": account,
        "settings": settings,
        "doctor": findings(app, scrub).await,
        "daemon": daemon(app, scrub).await,
    })
}

async fn findings(app: &App, scrub: &Scrub) -> Vec<Value> {
    let findings = doctor::check(app).await.0;
    let view = |finding: &doctor::Finding| {
        let mut view = json!({ "check": finding.check, "verdict": finding.status });
        // Of what is well, the message holds hardly more than names; of what the daemon can't sync or watch, names
        // that nobody could find in it, and the codes are among the daemon's figures.
        let has_names = finding.status == doctor::CheckStatus::Ok
            || [doctor::SYNCING, doctor::WATCHING].contains(&finding.check);
        if scrub.keeps_names() || !has_names {
            view["message"] = json!(scrub.message(&finding.message));
        }
        view
    };
    findings.iter().map(view).collect()
}

async fn daemon(app: &App, scrub: &Scrub) -> Value {
    let client = match app.running_daemon().await {
        Ok(Some(client)) => client,
        Ok(None) => return json!({ "running": false }),
        Err(failure) => return json!({ "error": scrub.message(&failure.message) }),
    };
    let info: Option<DoctorInfo> = client.send(typed::Doctor {}).await.ok();
    let status: Option<Status> = client.send(typed::Status {}).await.ok();
    json!({
        "running": true,
        "version": info.as_ref().map(|info| &info.version),
        "started_at": info.as_ref().map(|info| &info.started_at),
        "online": info.as_ref().map(|info| info.online),
        "status": status.map(|status| status_view(&status, scrub.keeps_names())),
    })
}

fn status_view(status: &Status, names: bool) -> Value {
    if names {
        return json!(status);
    }
    let folders: Vec<_> = status.folders.iter().map(folder_view).collect();
    json!({
        "state": status.state,
        "pending": status.pending,
        "transfers": status.transfers.len(),
        "progress": status.progress,
        "open_conflicts": status.open_conflicts,
        "counters": status.counters,
        "folders": folders,
    })
}

fn folder_view(folder: &FolderStatus) -> Value {
    let mut problems: BTreeMap<String, u64> = BTreeMap::new();
    for group in &folder.problems {
        *problems.entry(group.code.to_string()).or_default() += group.count;
    }
    json!({
        "state": folder.state,
        "mode": folder.mode,
        "pending": folder.pending,
        "files": folder.files,
        "bytes": folder.bytes,
        "conflicts": folder.conflicts,
        "problems": problems,
        "questions": folder.confirmations,
    })
}

/// Lists the names that this installation knows of its own: those of its folders, here and on the service, of teams,
/// and of the account.
fn known_names(app: &App) -> Vec<String> {
    let places = app.home.own_places();
    let mut known: Vec<String> = places
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    if let Ok(account) = Account::load(&app.home) {
        known.extend([account.email, account.server, account.device_name]);
    }
    let opened = spaces::open_usable(&app.home).map(|(all, _)| all);
    for pair in opened.and_then(|all| pairs::list(&all)).unwrap_or_default() {
        known.extend([pair.row.root, pair.row.remote_path]);
        known.extend(pair.space.map(|team| team.name));
    }
    known
}

fn log(app: &App, scrub: &Scrub) -> String {
    match logs::tail(&app.home.logs_dir(), LINES) {
        Ok(tail) => {
            let lines = tail.lines.iter().map(|line| scrub.log_line(line));
            lines.collect::<Vec<_>>().join("\n") + "\n"
        }
        Err(failure) => scrub.message(&failure.message) + "\n",
    }
}
