//! The trust of this device, for the tools: other people's public keys as pinned in the installation's
//! directory, and the setting `sync.verify`.

use crate::config::Config;
use crate::failure::Failure;
use crate::remote::seen::SeenInHome;
use crate::trust;
use cairn_mcp::DeviceTrust;
use cairn_model::{SpaceId, Verification};
use cairn_platform::Home;
use cairn_space::account_keys::AccountKeys;
use cairn_space::{SeenSeals, Trust};
use std::sync::Arc;

/// The home that the command line and the daemon use, too.
pub(super) struct HomeTrust {
    pub(super) home: Home,
}

impl DeviceTrust for HomeTrust {
    fn update(&self, keys: &AccountKeys, change: &mut dyn FnMut(&mut Trust)) -> Result<(), String> {
        // With an API key there may be no home yet.
        self.home.create().map_err(|error| error.to_string())?;
        let updated = trust::update(&self.home, keys, |trust| {
            change(trust);
            Ok::<_, Failure>(())
        });
        updated.map_err(|failure| failure.message)
    }

    fn verification(&self) -> Result<Verification, String> {
        let config = Config::load(&self.home).map_err(|failure| failure.message)?;
        Ok(config.verify)
    }

    fn seen_seals(&self, team: Option<SpaceId>) -> Option<Arc<dyn SeenSeals>> {
        Some(SeenInHome::of(&self.home, team))
    }
}
