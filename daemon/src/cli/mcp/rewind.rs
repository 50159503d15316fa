//! Bringing folders of the logged-in account back to a time, for the tools.

use crate::app::App;
use crate::cli::rewind::rewind_silently;
use crate::output::Out;
use cairn_mcp::{RewindMode, Rewinder};
use cairn_platform::{Home, Zone, dirs};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::runtime::Handle;

pub(super) struct HomeRewinder {
    pub(super) home: Home,
}

impl Rewinder for HomeRewinder {
    fn rewind(
        &self,
        path: String,
        to: String,
        mode: RewindMode,
    ) -> BoxFuture<'static, Result<Value, String>> {
        let app = App {
            home: self.home.clone(),
            out: Out::new(true),
            no_start: true,
            zone: Zone::system(),
        };
        let path = dirs::expand_home(&path).display().to_string();
        let dry_run = mode == RewindMode::Plan;
        async move {
            let handle = Handle::current();
            // The work holds what no other thread may have: it stays on one of its own.
            let work = move || handle.block_on(rewind_silently(&app, &path, &to, dry_run));
            let done = tokio::task::spawn_blocking(work).await;
            let mut document = done
                .map_err(|error| error.to_string())?
                .map_err(|failure| failure.message)?;
            if let Some(session) = document["session"].as_str() {
                document["undo"] = json!(format!("cairn undo --session {session}"));
            }
            Ok(document)
        }
        .boxed()
    }
}
