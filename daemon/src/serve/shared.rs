//! The parts that the engines of all spaces have in common: the account, the disk, the limits and the settings.

use crate::config::Config;
use crate::failure::CommandResult;
use crate::folders;
use crate::serve::disk::GuardedDisk;
use crate::serve::ports::{self, RealClock};
use crate::session::Session;
use cairn_api::Api;
use cairn_engine::{EngineHandle, EngineOptions};
use cairn_index::Index;
use cairn_platform::{Home, Zone};
use cairn_space::SpaceKeys;
use cairn_transfer::{Limits, Transfer};
use parking_lot::Mutex;
use std::sync::Arc;

/// Everything that an engine needs besides its index, its keys and its space.
pub(super) struct Shared {
    pub(super) home: Home,
    pub(super) session: Session,
    pub(super) disk: Arc<GuardedDisk>,
    /// One bandwidth for all spaces.
    pub(super) limits: Arc<Limits>,
    pub(super) config: Mutex<Config>,
    zone: Zone,
}

impl Shared {
    pub(super) fn new(home: Home, session: Session, config: Config, zone: Zone) -> Self {
        Self {
            home,
            session,
            disk: Arc::new(GuardedDisk::new(Vec::new())),
            limits: Arc::new(Limits::new(config.limits.up, config.limits.down)),
            config: Mutex::new(config),
            zone,
        }
    }

    pub(super) fn clock(&self) -> RealClock {
        RealClock::new(self.zone.clone())
    }

    /// Starts the engine of a space.
    pub(super) fn start_engine(
        &self,
        index: &Arc<Index>,
        api: Arc<Api>,
        keys: Arc<SpaceKeys>,
    ) -> CommandResult<Arc<EngineHandle>> {
        let transfer = Transfer::new(
            api.clone(),
            keys.clone(),
            self.session.account.device,
            cairn_transfer::Options {
                limits: self.limits.clone(),
                ..cairn_transfer::Options::default()
            },
        );
        let ports = cairn_engine::ports::Ports {
            disk: self.disk.clone(),
            watch: Arc::new(ports::RealWatch),
            clock: Arc::new(self.clock()),
            random: Arc::new(Mutex::new(cairn_space::SystemRandom)),
            threads: true,
        };
        let options = EngineOptions {
            settings: self.config.lock().engine(),
            own_places: folders::own_places(&self.home, index)?,
            ..EngineOptions::new(
                index.clone(),
                api,
                Arc::new(transfer),
                keys,
                self.session.account.device_name.clone(),
                ports,
            )
        };
        Ok(Arc::new(cairn_engine::start(options)?))
    }
}
