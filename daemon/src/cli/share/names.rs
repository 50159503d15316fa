//! The names of what links share, in private spaces: the server has sealed ones, and lists the links of all spaces.

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::output::text::clean;
use crate::team;
use cairn_api::NameSeal;
use cairn_model::Name;
use cairn_transfer::private_names;
use cairn_wire::shares::Share;
use std::sync::Arc;

/// Stands for a name whose key this device does not have.
const CLOSED: &str = "(a name that can't be opened here)";

/// Puts the name that people read in the place of each sealed one. One whose key is not at hand stays as it is.
pub(super) async fn open(app: &App, shares: &mut [Share]) -> CommandResult {
    if !shares.iter().any(is_sealed) {
        return Ok(());
    }
    let session = app.session()?;
    let teams = session.api.teams().await.context("ask for the teams")?;
    for team in teams.iter().filter(|team| team.space_id.is_private()) {
        if !shares.iter().any(is_sealed) {
            break;
        }
        match team::open(&app.home, &session, team).await {
            Ok(keys) => open_with(private_names(&Arc::new(keys)).as_ref(), shares),
            Err(failure) => {
                tracing::debug!(team = %team.id, error = failure.message, "its names stay sealed");
            }
        }
    }
    Ok(())
}

/// Opens the names that these keys open; those of other spaces stay as they are.
fn open_with(names: &dyn NameSeal, shares: &mut [Share]) {
    for share in shares.iter_mut().filter(|share| is_sealed(share)) {
        if let Some(name) = names.open(&share.file_name) {
            share.file_name = name;
        }
    }
}

fn is_sealed(share: &Share) -> bool {
    Name::of_sealed(&share.file_name).is_some()
}

/// Returns the name of what a link shares, for people.
pub(super) fn text_of(share: &Share) -> String {
    match is_sealed(share) {
        true => CLOSED.to_owned(),
        false => clean(&share.file_name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::SpaceId;
    use cairn_space::SpaceKeys;
    use serde_json::json;

    fn share(name: &str) -> Share {
        let share = json!({
            "id": "00000000-0000-4000-8000-000000000001", "short_code": "abc234", "url": "https://x/s/abc234",
            "file_id": "00000000-0000-4000-8000-000000000002", "file_name": name, "storage_type": "VR_FILE",
            "is_active": true, "status": "active", "access_mode": "download", "has_password": false,
            "expires_at": null, "download_limit": null, "download_count": 0, "access_count": 0,
            "allowed_emails": [], "active_from": null, "active_until": null, "notify_on_download": false,
            "files": 1, "key_blob": null, "kdf": null,
            "created_at": "2026-01-02T03:04:05.000Z", "updated_at": "2026-01-02T03:04:05.000Z",
        });
        serde_json::from_value(share).unwrap()
    }

    fn keys(of: u8) -> Arc<dyn NameSeal> {
        let space = SpaceId::private_from_random_bytes([of; 16]);
        private_names(&Arc::new(SpaceKeys::from_raw(space, 1, &[of; 32]).unwrap()))
    }

    #[test]
    fn a_sealed_name_is_opened_with_the_keys_of_its_space_and_else_put_into_words() {
        let sealed = keys(1).seal(None, "plan.txt").unwrap();
        let mut shares = [share(&sealed), share("~plain")];
        let shown = |shares: &[Share]| shares.iter().map(text_of).collect::<Vec<_>>();
        open_with(keys(2).as_ref(), &mut shares);
        assert_eq!(shown(&shares), [CLOSED, "~plain"]);
        assert_eq!(shares[0].file_name, sealed);
        open_with(keys(1).as_ref(), &mut shares);
        assert_eq!(shown(&shares), ["plan.txt", "~plain"]);
    }
}
