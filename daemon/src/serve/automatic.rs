//! Automatic pauses: on battery, or on a metered network, where the configuration says so.

use crate::serve::handler::Daemon;
use cairn_platform::power::{Network, PowerSource, network, power_source};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// Plugging in or changing the network is noticed within this time.
const CHECK_INTERVAL: Duration = Duration::from_secs(20);
/// Key in the index: the pause was made here and is to be ended here, also after a restart.
const MARK: &str = "paused_automatically";

/// Checks power source and network at intervals, for as long as the daemon runs.
pub(super) async fn watch_power(daemon: Arc<Daemon>) {
    let mut ticks = interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let config = daemon.config();
        let found = tokio::task::spawn_blocking(move || {
            let battery = config.pause_on_battery && power_source() == PowerSource::Battery;
            let metered = config.pause_on_metered && network() == Network::Metered;
            (battery, metered)
        });
        let Ok((battery, metered)) = found.await else {
            return;
        };
        if let Err(error) = apply(&daemon, battery || metered) {
            tracing::warn!(%error, "can't pause or resume by itself");
        }
    }
}

fn apply(daemon: &Daemon, wanted: bool) -> Result<(), cairn_engine::EngineError> {
    let engines = daemon.engines();
    let index = engines.own_index();
    let ours = index
        .read(|db| db.meta(MARK))?
        .is_some_and(|mark| mark == b"1");
    let paused = engines.status().state == cairn_model::SyncState::Paused;
    match (wanted, ours) {
        // A person's own pause is left alone.
        (true, false) if !paused => {
            tracing::info!("pausing: on battery or on a metered network");
            index.write(|db| db.set_meta(MARK, b"1"))?;
            engines.set_paused(None, true, None)
        }
        (false, true) => {
            index.write(|db| db.set_meta(MARK, b"0"))?;
            engines.set_paused(None, false, None)
        }
        (true, true | false) | (false, false) => Ok(()),
    }
}
