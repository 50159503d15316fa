//! The engine of the account's own space. It runs while the keys of this home are those of the account.
//!
//! The daemon checks now and then whether the account's keys were replaced. Then nothing is sealed under the former
//! ones any more: the engines stop, and the status shows why. Another engine starts after a command has taken the
//! new keys over in this home.

use crate::account::Account;
use crate::failure::CommandResult;
use crate::serve::checks::Checks;
use crate::serve::engine_slot::{EngineSlot, Totals};
use crate::serve::events::Signals;
use crate::serve::halt::Halt;
use crate::serve::shared::Shared;
use crate::serve::team_engine::{CHECK_INTERVAL, WAIT_PAUSE};
use crate::session::{RetryProfile, Session};
use cairn_engine::{EngineError, EngineHandle, WaitResult};
use cairn_index::{Index, IndexError};
use cairn_space::account_keys::{self, Comparison};
use std::sync::Arc;
use std::time::Duration;

/// The longest wait for the server before the engines start, and of somebody who waits for them: without it they work
/// offline.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

/// The engine of the account's own space, or the reason why none runs.
pub(super) struct OwnEngine {
    slot: EngineSlot,
    checks: Checks,
}

/// Asks the server whether the account's keys were replaced, before anything is sealed under those of this home.
pub(super) async fn check_before_start(shared: &Shared) {
    let checking = look_for_replacement(shared);
    if tokio::time::timeout(CHECK_TIMEOUT, checking).await.is_err() {
        tracing::debug!("the server doesn't say in time whether the keys were replaced");
    }
}

/// Returns the reason to sync nothing, if the account's keys were replaced: as it is known, or as the server says now.
/// Then the engines of all spaces stop.
pub(super) async fn look_for_replacement(shared: &Shared) -> Option<Halt> {
    let known = shared.replacement();
    if known.is_some() {
        return known;
    }
    let session = shared.session();
    let halt = find_replacement(shared, &session).await?;
    if !shared.set_replaced(&session, halt.clone()) {
        return None;
    }
    if let Some(problem) = &halt.problem {
        tracing::warn!(reason = problem.message, "nothing is synced");
    }
    Some(halt)
}

/// Returns the reason to stop, if the server says that the keys of a session are not the account's any more.
async fn find_replacement(shared: &Shared, session: &Session) -> Option<Halt> {
    match account_keys::compare_with_service(&session.api, &session.keys).await {
        Ok(Comparison::Replaced(by)) => Some(Halt::keys_replaced(by.as_ref(), shared.zone())),
        Ok(Comparison::Refused(error)) => {
            tracing::warn!(%error, "the server's copy of the account's keys is refused");
            None
        }
        // A running engine meets the same failure, and reports it.
        Ok(Comparison::Same) | Err(_) => None,
    }
}

impl OwnEngine {
    /// Starts the engine, unless the account's keys were replaced, and begins to check whether they are.
    pub(super) async fn start(
        index: Arc<Index>,
        shared: Arc<Shared>,
        signals: Signals,
    ) -> CommandResult<Arc<Self>> {
        let own = Arc::new(Self {
            slot: EngineSlot::new(index, shared, signals),
            checks: Checks::default(),
        });
        match own.slot.shared.replacement() {
            Some(halt) => {
                own.slot.count_once().await;
                own.slot.stop(halt).await;
            }
            None => own.run().await?,
        }
        let task = tokio::spawn(check_regularly(own.clone()));
        own.checks.keep(task);
        Ok(own)
    }

    /// Starts the engine with the keys of the session.
    async fn run(&self) -> CommandResult {
        let session = self.slot.shared.session();
        let (api, keys) = (session.api.clone(), session.keys.space.clone());
        self.slot.run(api, keys).await
    }

    /// Returns the index of the space.
    pub(super) fn index(&self) -> &Arc<Index> {
        self.slot.index()
    }

    /// Returns the running engine, or the reason why none runs.
    pub(super) fn engine(&self) -> Result<Arc<EngineHandle>, Halt> {
        self.slot.engine()
    }

    /// Returns the size of the folders while no engine runs.
    pub(super) fn totals(&self) -> Arc<Totals> {
        self.slot.totals()
    }

    /// Makes the next check due.
    pub(super) fn request_check(&self) {
        self.checks.request();
    }

    /// Compares the keys of this home with those of a command and of the server, and stops or replaces the engine
    /// accordingly.
    pub(super) async fn check(self: &Arc<Self>) {
        let own = self.clone();
        Checks::finish("the account's keys", async move { own.check_now().await }).await;
    }

    async fn check_now(&self) {
        let _one_at_a_time = self.checks.lock().await;
        if let Some(session) = self.newer_session().await {
            self.take_over(session).await;
        }
        let shared = &self.slot.shared;
        let is_new = shared.replacement().is_none();
        if let Some(halt) = look_for_replacement(shared).await
            && (is_new || self.slot.engine().is_ok())
        {
            self.slot.stop(halt).await;
        }
    }

    /// Checks the keys, and goes on with that until new ones that a command has stored in this home are taken over, or
    /// refused.
    pub(super) async fn finish_take_over(self: &Arc<Self>) {
        loop {
            // It goes on by itself if the server doesn't answer in time.
            let is_checked = tokio::time::timeout(CHECK_TIMEOUT, self.check())
                .await
                .is_ok();
            if is_checked || !self.has_newer_keys().await {
                return;
            }
        }
    }

    /// Returns the session of this home, if a command has stored another bundle since this one was opened.
    async fn newer_session(&self) -> Option<Session> {
        if !self.has_newer_keys().await {
            return None;
        }
        let home = self.slot.shared.home.clone();
        let reading = tokio::task::spawn_blocking(move || {
            match Session::open(&home, RetryProfile::Background) {
                Ok(session) => Some(session),
                Err(error) => {
                    tracing::warn!(%error, "the account's new keys can't be opened");
                    None
                }
            }
        });
        reading.await.ok().flatten()
    }

    /// Returns `true` if a command has stored another bundle in this home since the session was opened.
    async fn has_newer_keys(&self) -> bool {
        let home = self.slot.shared.home.clone();
        // Logged out, or being written: there is nothing to take over.
        let reading = tokio::task::spawn_blocking(move || Account::load(&home).ok());
        let account = reading.await.ok().flatten();
        account.is_some_and(|account| account.keys != self.slot.shared.session().account.keys)
    }

    /// Goes on with the keys that this home has now.
    async fn take_over(&self, next: Session) {
        let shared = &self.slot.shared;
        let present = shared.session();
        if let Err(error) = present.keys.check_successor(&next.keys) {
            tracing::warn!(%error, "keys in the home are not taken over");
            return;
        }
        if present.keys.is_same(&next.keys) {
            shared.set_session(next);
            return;
        }
        if !(self.slot.stop(Halt::at_start()).await && self.slot.release().await) {
            return;
        }
        shared.set_session(next);
        if let Err(failure) = self.run().await {
            self.slot.stop(Halt::of_failure(failure.message)).await;
        }
        shared.end_replaced();
        tracing::info!("the account's new keys were taken over");
    }

    /// Returns `true` if folders are in the space.
    pub(super) fn has_folders(&self) -> Result<bool, IndexError> {
        self.slot.has_folders()
    }

    /// Waits until the space is in sync, or can't be; [`Self::finish_take_over`] comes before.
    pub(super) async fn wait_until_idle(self: &Arc<Self>) -> Result<WaitResult, EngineError> {
        loop {
            if let Some(end) = self.slot.wait_until_idle().await {
                return end;
            }
            tokio::time::sleep(WAIT_PAUSE).await;
            self.finish_take_over().await;
        }
    }

    /// Ends the engine, and checks no more.
    pub(super) async fn shutdown(&self) {
        self.checks.end();
        self.slot.close().await;
    }
}

async fn check_regularly(own: Arc<OwnEngine>) {
    while !own.slot.is_closed() {
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            () = own.checks.wait_for_request() => {}
            () = own.slot.shared.keys_changed.notified() => {}
        }
        own.check().await;
    }
}
