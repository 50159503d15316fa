//! The parts that the engines of all spaces have in common: the account, the disk, the limits and the settings.

use crate::config::Config;
use crate::failure::CommandResult;
use crate::folders;
use crate::serve::disk::GuardedDisk;
use crate::serve::halt::Halt;
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
use tokio::sync::Notify;

/// Everything that an engine needs besides its index, its keys and its space.
pub(super) struct Shared {
    pub(super) home: Home,
    session: Mutex<Arc<Session>>,
    /// The account's keys were replaced on another device: nothing is synced before they are taken over here.
    replaced: Mutex<Option<Halt>>,
    /// Notified when that begins or ends.
    pub(super) keys_changed: Notify,
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
            session: Mutex::new(Arc::new(session)),
            replaced: Mutex::new(None),
            keys_changed: Notify::new(),
            disk: Arc::new(GuardedDisk::new(Vec::new())),
            limits: Arc::new(Limits::new(config.limits.up, config.limits.down)),
            config: Mutex::new(config),
            zone,
        }
    }

    /// Returns the session with the keys that are in force here.
    pub(super) fn session(&self) -> Arc<Session> {
        self.session.lock().clone()
    }

    /// Returns the reason to sync nothing, if the account's keys were replaced on another device.
    pub(super) fn replacement(&self) -> Option<Halt> {
        self.replaced.lock().clone()
    }

    /// Lets nothing be synced any more, because the account's keys that a session has were replaced. Returns `false`
    /// if another session has taken its place meanwhile.
    pub(super) fn set_replaced(&self, session: &Arc<Session>, halt: Halt) -> bool {
        let present = self.session.lock();
        let is_present = Arc::ptr_eq(&present, session);
        if is_present {
            *self.replaced.lock() = Some(halt);
            self.keys_changed.notify_waiters();
        }
        is_present
    }

    /// Takes over a session with other keys, or with the same ones in a newer bundle.
    pub(super) fn set_session(&self, session: Session) {
        *self.session.lock() = Arc::new(session);
    }

    /// Lets everything be synced again.
    pub(super) fn end_replaced(&self) {
        *self.replaced.lock() = None;
        self.keys_changed.notify_waiters();
    }

    pub(super) fn zone(&self) -> &Zone {
        &self.zone
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
        let session = self.session();
        let transfer = Transfer::new(
            api.clone(),
            keys.clone(),
            session.account.device,
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
                session.account.device_name.clone(),
                ports,
            )
        };
        Ok(Arc::new(cairn_engine::start(options)?))
    }
}
