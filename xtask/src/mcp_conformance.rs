//! Third-party checks of the tools for assistants: the official Python SDK as a client, the inspector's
//! command line, and the protocol's conformance scenarios. Everything they need is installed below
//! `target/`.

mod inspector;
mod sdk;
mod suite;

use crate::run::succeeds;
use crate::served_program::ServedProgram;
use anyhow::Result;

pub(crate) fn run() -> Result<()> {
    let service = ServedProgram::dev_server()?;
    if !succeeds("npx", &["--version"]) {
        println!("only the SDK's checks run: there is no npx on this machine");
        return sdk::run(&service.url, None);
    }
    let suite = suite::Suite::install()?;
    sdk::run(&service.url, Some(&suite.schemas()?))?;
    inspector::run(&service.url)?;
    suite.run(&service.url)
}
