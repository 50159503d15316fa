//! Public judges of the tools for assistants: the official Python SDK as a client, the inspector's
//! command line, and the protocol's own conformance scenarios. Everything they need is installed below
//! `target/`.

mod conformance;
mod inspector;
mod sdk;

use crate::run::succeeds;
use crate::running::Running;
use anyhow::Result;

/// An account of the bundled server in its mode for developers.
const KEY: &str = "ck_dev_owner";

pub(crate) fn run() -> Result<()> {
    let service = Running::service()?;
    if !succeeds("npx", &["--version"]) {
        println!("only the SDK judges: there is no npx on this machine");
        return sdk::run(&service.url, None);
    }
    let suite = conformance::Suite::install()?;
    sdk::run(&service.url, Some(&suite.schemas()?))?;
    inspector::run(&service.url)?;
    suite.run(&service.url)
}
