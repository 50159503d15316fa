//! `cairn add`: pairs a local folder with one on the service.

mod counts;
mod existing;
mod only;
mod preview;
mod private;
mod walk;
mod whole_account;

use crate::account::Account;
use crate::app::App;
use crate::cli::enum_values::values;
use crate::cli::prompt;
use crate::config::{Config, parse_gate};
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::folders::spaces::SpaceIndex;
use crate::folders::{self, pairs, spaces};
use crate::local_path;
use crate::output::text::clean;
use crate::remote::Within;
use crate::team;
use cairn_control::{Folder, NewFolder, TeamSpace, typed};
use cairn_index::FolderSettings;
use cairn_model::{DeletionGate, SpaceId, SyncMode, SyncState};
use std::path::{Path, PathBuf};

/// Keep a folder in sync with one on the service, of your own space or of a team's
///
/// Works with or without a running daemon, and does not start one. Files that are there already are
/// merged: equal ones without a transfer, and of differing ones both are kept. Run again for an existing
/// pair to change its options; those that are not given stay.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The folder on this machine; it is made if it is missing
    local: PathBuf,
    /// The folder on the service; it is made if it is missing [default: that of the pair, for a new one /, which is the
    /// whole account]
    #[arg(long, value_name = "/PATH")]
    remote: Option<String>,
    /// Sync with a folder of a team's space: the team's name, or its id
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
    /// Sync with your private space, in which the server sees no names; with --space, take no other one
    ///
    /// The server has sealed names of files and folders, no times of change and no types. It sees sizes, and which
    /// folder is in which. The space is made the first time.
    #[arg(long)]
    private: bool,
    /// Direction of the changes [default: two-way]
    #[arg(long, value_parser = values(SyncMode::ALL, SyncMode::as_str, help_of_mode))]
    mode: Option<SyncMode>,
    /// Leave out what matches, on this device only (gitignore syntax; may be repeated)
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Leave out nothing any more of what --exclude named before
    #[arg(long, conflicts_with = "exclude")]
    no_exclude: bool,
    /// Take only this subfolder, or / for the whole folder again (may be repeated)
    #[arg(long, value_name = "SUBFOLDER", value_parser = subfolder)]
    only: Vec<String>,
    /// Deletions of more than N% of the files, and at least M, wait for `cairn confirm`, and so do those of MOST
    /// files [default: the setting sync.deletion_gate]
    #[arg(long, value_name = "off|N%:M[:MOST]", value_parser = gate)]
    deletion_gate: Option<GateArg>,
    /// Show what the first merge would transfer and keep twice, or what other options of a pair would do, and change
    /// nothing
    #[arg(long)]
    dry_run: bool,
    /// Don't ask before a whole disk, a whole home folder, a network file system or a whole account is synced, nor
    /// before another mode deletes something
    #[arg(long)]
    yes: bool,
}

/// The number of deletions from which a person is asked, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct GateArg(Option<DeletionGate>);

/// Refuses an empty one, as an unset variable of a shell gives it, which would be the whole folder.
fn subfolder(text: &str) -> Result<String, String> {
    match text.is_empty() {
        true => Err("name a subfolder, or / for the whole folder".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn gate(text: &str) -> Result<GateArg, String> {
    parse_gate(text).map(GateArg)
}

fn help_of_mode(mode: SyncMode) -> &'static str {
    match mode {
        SyncMode::TwoWay => "",
        SyncMode::Upload => "This device only sends",
        SyncMode::Download => "This device only receives",
    }
}

pub(super) async fn run(app: &App, mut args: Args) -> CommandResult {
    drop(Account::load(&app.home)?);
    if let Some(remote) = &mut args.remote {
        *remote = folders::remote_path(remote)?;
    }
    let default_gate = Config::load(&app.home)?.deletion_gate;
    let is_own_private = args.private && args.space.is_none();
    if args.private {
        local_path::folder(&args.local)?;
        args.space = Some(private::choose(app, &args).await?.id.to_string());
    }
    if args.dry_run {
        return preview::run(app, &args).await;
    }
    let space = find_space(app, &args).await?;
    let space_id = space.as_ref().map(|space| space.id);
    let all = spaces::open_all(&app.home)?;
    let local = local_path::folder(&args.local)?;
    let remote = remote_path(&args, &all, space_id, &local)?;
    let pair = pairs::find_in_space(&all, space_id, &local)?;
    drop(all);
    if let Some(pair) = pair.filter(|pair| pair.row.remote_path == remote && !args.yes) {
        existing::ask(app, &pair, &args.settings_over(&pair.row.settings))?;
    }
    let is_made = !args.local.exists();
    if is_made {
        std::fs::create_dir(&args.local).map_err(|e| {
            Failure::usage(format!(
                "can't make the folder {}: {e}",
                args.local.display()
            ))
        })?;
    }
    let new = NewFolder {
        local: local_path::folder(&args.local)?,
        remote,
        mode: args.mode.unwrap_or_default(),
        exclude: args.exclude.clone(),
        only: args.only.clone(),
        gate: args.deletion_gate.map_or(default_gate, |gate| gate.0),
    };
    let local = new.local.clone();
    let (added, missing) = match confirm_and_pair(app, &args, new, space).await {
        Err(refused) if is_made && matches!(refused.exit, Exit::Usage | Exit::Decision) => {
            // Only an empty one goes: somebody may have begun to use it.
            drop(std::fs::remove_dir(local));
            return Err(refused);
        }
        other => other?,
    };
    report(app, &added, &missing, is_own_private).await
}

/// Returns the folder on the service that is meant: where none is given, that of the pair that there is.
fn remote_path(
    args: &Args,
    all: &[SpaceIndex],
    space: Option<SpaceId>,
    local: &str,
) -> CommandResult<String> {
    if let Some(given) = &args.remote {
        return Ok(given.clone());
    }
    let pair = pairs::find_in_space(all, space, local)?;
    Ok(pair.map_or_else(|| "/".to_owned(), |pair| pair.row.remote_path))
}

/// Returns the team's space that `--space` names, and notes if its key is not at hand yet.
async fn find_space(app: &App, args: &Args) -> CommandResult<Option<TeamSpace>> {
    let Some(wanted) = &args.space else {
        return Ok(None);
    };
    let session = app.session()?;
    let team = team::find(&session.api, wanted).await?;
    if args.private {
        private::check(team.space_id)?;
    }
    if let Err(failure) = team::open(&app.home, &session, &team).await {
        let why = failure.message;
        app.out.note(format_args!("nothing is synced yet: {why}"));
    }
    Ok(Some(TeamSpace {
        id: team.space_id,
        team: team.id,
        name: team.name,
    }))
}

/// Says that a pair was made, and what a person should know of it.
async fn report(
    app: &App,
    added: &Folder,
    missing: &[String],
    is_own_private: bool,
) -> CommandResult {
    let whose = match &added.space {
        None => String::new(),
        Some(_) if is_own_private => " of your private space".to_owned(),
        Some(space) => format!(" of the team {}", clean(&space.name)),
    };
    app.out.line(format_args!(
        "{} is synced with {}{} from now on.",
        clean(&added.local),
        clean(&added.remote),
        whose
    ));
    for place in own_places_in(app, added) {
        app.out.note(format_args!(
            "{} is left out: Cairn keeps files of its own there",
            clean(&place.display().to_string())
        ));
    }
    for sub in missing {
        app.out.note(format_args!(
            "`{sub}` is neither in {} nor in {} on the service: nothing of it is synced until one side has it",
            clean(&added.local),
            clean(&added.remote),
            sub = clean(sub)
        ));
    }
    match app.running_daemon().await? {
        None => app
            .out
            .note("the daemon is not running: run `cairn start` to begin syncing"),
        Some(client) => {
            let status = client.send(typed::Status {}).await?;
            let mut folders = status.folders.iter();
            if folders.any(|f| f.local == added.local && f.state == SyncState::Paused) {
                app.out
                    .note("syncing is paused: run `cairn resume` to begin");
            }
        }
    }
    app.out.json(added);
    Ok(())
}

/// Returns the places of Cairn's own files that a pair leaves out, without those that lie in another one.
fn own_places_in(app: &App, added: &Folder) -> Vec<PathBuf> {
    let mut places = app.home.own_places();
    places.retain(|place| place.starts_with(&added.local) && place.exists());
    let all = places.clone();
    let is_in_other = |place: &PathBuf| {
        let mut others = all.iter().filter(|other| *other != place);
        others.any(|other| place.starts_with(other))
    };
    places.retain(|place| !is_in_other(place));
    places
}

/// Asks where that is needed, and makes the pair. Returns it with the chosen subfolders that neither side has.
async fn confirm_and_pair(
    app: &App,
    args: &Args,
    new: NewFolder,
    space: Option<TeamSpace>,
) -> CommandResult<(Folder, Vec<String>)> {
    if !args.yes {
        ask(&new)?;
        if args.remote.is_none() {
            whole_account::ask(app, &new, space.as_ref()).await?;
        }
    }
    let missing = only::missing_subfolders(app, &new, space.as_ref()).await;
    Ok((pair(app, args, new, space).await?, missing))
}

/// Makes the pair, or changes the options of the one that exists, through the daemon if one runs.
async fn pair(
    app: &App,
    args: &Args,
    new: NewFolder,
    space: Option<TeamSpace>,
) -> CommandResult<Folder> {
    let what = format!("add {}", new.local);
    match app.running_daemon().await? {
        Some(client) => {
            let folder = new;
            let added = match space {
                Some(space) => client.send(typed::AddTeamFolder { folder, space }).await,
                None => client.send(typed::AddFolder { folder }).await,
            };
            let added = added.context(&what)?;
            match args.changed_options(&added) {
                Some(folder) => {
                    note_narrowing(app, &added, &folder);
                    let request = typed::ChangeFolder { folder };
                    Ok(client.send(request).await.context(what)?)
                }
                None => Ok(added),
            }
        }
        None => {
            let all = spaces::open_all(&app.home)?;
            let added = pairs::add(&app.home, &all, space.as_ref(), &new).context(&what)?;
            let added = added.to_control();
            match args.changed_options(&added) {
                Some(folder) => {
                    note_narrowing(app, &added, &folder);
                    // With that of a team whose first folder this is.
                    let all = spaces::open_all(&app.home)?;
                    Ok(pairs::change(&all, &folder).context(what)?.to_control())
                }
                None => Ok(added),
            }
        }
    }
}

/// Says what becomes of files that a pair leaves out from now on.
fn note_narrowing(app: &App, before: &Folder, after: &NewFolder) {
    let is_new = |pattern| !before.exclude.contains(pattern);
    if before.only != after.only || after.exclude.iter().any(is_new) {
        app.out.note(
            "what is left out from now on stays where it is, here and on the service, and is not synced any more",
        );
    }
}

/// Asks before something is synced that a person may not mean.
fn ask(new: &NewFolder) -> CommandResult {
    match folders::reason_to_ask(Path::new(&new.local))? {
        Some(reason) if !prompt::confirm(&format!("{reason}. Sync it anyway? [y/N] "))? => {
            Err(Failure::new(
                Exit::Decision,
                format!("{reason}: add --yes to sync it anyway"),
            ))
        }
        Some(_) | None => Ok(()),
    }
}

impl Args {
    /// Returns settings of a pair with the options that are given.
    fn settings_over(&self, has: &FolderSettings) -> FolderSettings {
        FolderSettings {
            mode: self.mode.unwrap_or(has.mode),
            exclude: self.exclude_over(&has.exclude),
            only: or(&self.only, &has.only),
            gate: self.deletion_gate.map_or(has.gate, |gate| gate.0),
            ..has.clone()
        }
    }

    fn exclude_over(&self, has: &[String]) -> Vec<String> {
        match self.no_exclude {
            true => Vec::new(),
            false => or(&self.exclude, has),
        }
    }

    /// Returns the new options of a pair that exists already, if they differ.
    fn changed_options(&self, added: &Folder) -> Option<NewFolder> {
        let wanted = Folder {
            mode: self.mode.unwrap_or(added.mode),
            exclude: self.exclude_over(&added.exclude),
            only: or(&self.only, &added.only),
            gate: self.deletion_gate.map_or(added.gate, |gate| gate.0),
            ..added.clone()
        };
        (wanted != *added).then_some(NewFolder {
            local: wanted.local,
            remote: wanted.remote,
            mode: wanted.mode,
            exclude: wanted.exclude,
            only: wanted.only,
            gate: wanted.gate,
        })
    }
}

/// Returns a list that is given, or else the one that there is.
fn or(given: &[String], has: &[String]) -> Vec<String> {
    if given.is_empty() { has } else { given }.to_vec()
}

/// Returns the space that a command works in for a pair.
fn within(space: Option<&TeamSpace>) -> Within {
    Within {
        team: space.map(|space| space.team.to_string()),
    }
}
