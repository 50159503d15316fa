//! A confirmation before everything in the account is synced to a folder that is new or empty: most often another
//! folder was meant, and `--remote` was forgotten.
//!
//! Only a person is asked: scripts rely on `cairn add FOLDER`, which pairs with the top of the account.

use super::within;
use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Exit, Failure};
use crate::folders::{pairs, spaces};
use crate::output::text::clean;
use crate::remote::Remote;
use cairn_control::{NewFolder, TeamSpace};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::Duration;

/// The longest wait for the service: the pair is made without it as well.
const LIMIT: Duration = Duration::from_secs(10);

/// Asks, if somebody is there to answer and the account has something.
pub(super) async fn ask(app: &App, new: &NewFolder, space: Option<&TeamSpace>) -> CommandResult {
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !can_ask || new.remote != "/" || !is_empty(Path::new(&new.local)) || is_paired(app, new)? {
        return Ok(());
    }
    let counted = tokio::time::timeout(LIMIT, count_at_top(app, space)).await;
    match counted.ok().and_then(Result::ok) {
        None | Some(0) => Ok(()),
        Some(entries) => {
            let what = in_words(&new.local, space, entries);
            if prompt::confirm(&format!("{what}. Sync all of it? [y/N] "))? {
                return Ok(());
            }
            Err(Failure::new(
                Exit::Decision,
                format!("{what}: name a folder of it with --remote /NAME, or add --yes"),
            ))
        }
    }
}

fn in_words(local: &str, space: Option<&TeamSpace>, entries: usize) -> String {
    let whole = match space {
        None => "the whole account".to_owned(),
        Some(space) => format!("everything of the team {}", clean(&space.name)),
    };
    let entries = match entries {
        1 => "1 file or folder".to_owned(),
        more => format!("{more} files and folders"),
    };
    format!(
        "{whole} ({entries} at its top) would come to {}",
        clean(local)
    )
}

async fn count_at_top(app: &App, space: Option<&TeamSpace>) -> CommandResult<usize> {
    let remote = Remote::open(app, &within(space)).await?;
    Ok(remote.children(None).await?.len())
}

fn is_paired(app: &App, new: &NewFolder) -> CommandResult<bool> {
    let all = spaces::open_all(&app.home)?;
    Ok(pairs::find(&all, &new.local).is_ok())
}

/// Returns whether a folder has nothing in it; one that can't be read counts as having something.
fn is_empty(local: &Path) -> bool {
    std::fs::read_dir(local).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_says_how_much_would_come_and_where() {
        let what = in_words("/home/me/help", None, 3);
        assert!(what.contains("3 files and folders") && what.contains("/home/me/help"));
    }

    #[test]
    fn a_folder_with_anything_in_it_was_meant() {
        let dir = tempfile::tempdir().unwrap();
        assert!(is_empty(dir.path()));
        std::fs::write(dir.path().join("x"), "").unwrap();
        assert!(!is_empty(dir.path()));
        assert!(!is_empty(&dir.path().join("none")));
    }
}
