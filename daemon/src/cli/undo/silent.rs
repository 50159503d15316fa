//! Taking a command back for a tool, without a word to a person: the tool has asked them.

use super::outcome::{end, take_all_back};
use super::remote::UndoingRemote;
use crate::account::Account;
use crate::app::App;
use crate::failure::{CommandResult, Failure};
use crate::remote::journal::Journal;
use crate::remote::{Remote, Within};
use serde_json::{Value, json};

/// Takes a command of this device back by the whole id of its session.
pub(crate) async fn undo_silently(app: &App, id: &str) -> CommandResult<Value> {
    let account = Account::load(&app.home)?;
    let sessions = Journal::sessions(&app.home, account.account)?;
    let mut sessions = sessions
        .iter()
        .filter_map(|entries| Some((entries, entries.first()?)));
    let found = sessions.find(|(_, first)| first.session.to_string() == id);
    let (entries, first) =
        found.ok_or_else(|| Failure::failed("nothing of it is left to take back"))?;
    let within = Within {
        team: first.team.clone(),
    };
    let remote = Remote::open(app, &within).await?;
    let own = Journal::own_versions(&app.home, first.session)?;
    let outcome = take_all_back(&UndoingRemote::new(&remote, own), entries).await?;
    end(&remote, first, &outcome)?;
    Ok(json!({ "taken_back": outcome.taken, "left": outcome.left }))
}
