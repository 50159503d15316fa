//! The recovery key of an account whose keys were replaced: the former one opens nothing any more.

use crate::app::App;
use crate::cli::passphrase;
use crate::keys;
use crate::session::Session;
use cairn_space::account_keys::{self, AuthValue};
use zeroize::Zeroizing;

const MAKE_ANOTHER: &str = "run `cairn recovery-key setup`";

/// A recovery key that was made in place of another one.
pub(super) struct NewRecoveryKey {
    pub(super) text: Zeroizing<String>,
    /// False: nobody knows whether it is in force.
    pub(super) is_confirmed: bool,
}

/// Makes a new recovery key if the account had one, and shows it to people. `auth` is the authentication value of the
/// passphrase in force, for an account that had one.
pub(super) async fn renew(
    app: &App,
    session: &Session,
    auth: Option<&AuthValue>,
) -> Option<NewRecoveryKey> {
    let bundle = keys::from_wire(&session.account.keys);
    let Some(auth) = auth else {
        if bundle.recovery.is_none() {
            app.out.line(format_args!(
                "No recovery key is set up, and one from before opens nothing any more: {MAKE_ANOTHER}."
            ));
        }
        return None;
    };
    let made = account_keys::make_recovery_key(&session.api, &bundle, &session.keys, auth).await;
    let made = match made {
        Ok(made) => made,
        Err(error) => {
            app.out.note(format_args!(
                "no new recovery key could be made ({error}), and the former one opens nothing any more: {MAKE_ANOTHER}"
            ));
            return None;
        }
    };
    let text = made.key.reveal();
    let is_confirmed = made.unconfirmed.is_none();
    show(app, &text);
    match made.unconfirmed {
        None => passphrase::keep_changed(app, session, made.bundle),
        Some(error) => app.out.note(format_args!(
            "the new recovery key may be in force or not ({error}): {MAKE_ANOTHER} again for one that certainly works"
        )),
    }
    Some(NewRecoveryKey { text, is_confirmed })
}

fn show(app: &App, key: &str) {
    let shown = format!(
        "Your new recovery key, shown only this once:\n\n    {key}\n\n\
         Store it in a safe place, not on this machine. The former one no longer works."
    );
    if let Err(error) = app.out.show_people_once(&shown) {
        app.out.note(format_args!(
            "can't write the new recovery key to the standard output: {error}; the former one opens nothing any more: {MAKE_ANOTHER}"
        ));
    }
}
