//! The tools over HTTP on a free port of this machine, for the conformance tests that `cargo xtask test` runs. Key
//! and address of the service come from the environment; content tools have no passphrase here.

#![expect(
    clippy::print_stdout,
    reason = "the conformance tests read the address on stdout"
)]

use cairn_api::ApiKey;
use cairn_crypto::AccountKeys;
use cairn_mcp::{Account, Confirm, DeviceTrust, KeySource, NoFiles, Server, Settings, ToolFilter};
use cairn_model::{DeviceId, Verification};
use cairn_space::Trust;
use std::env;
use std::error::Error;
use std::sync::Arc;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings {
        account: Account {
            auth: Arc::new(ApiKey::new(&env::var("SERVICE_API_KEY")?)),
            url: env::var("SERVICE_API_URL")?,
            file_server: None,
            device: DeviceId::from_random_bytes([7; 16]),
            keys: KeySource::Missing,
        },
        filter: ToolFilter::default(),
        confirm: Confirm::Risky,
        overwrite: false,
        trust: Arc::new(NoTrust),
        files: Arc::new(NoFiles),
        daemon: None,
        sessions: None,
        rewinder: None,
        foreign_texts: cairn_mcp::ForeignTexts::Fenced,
        tasks: None,
    };
    let server = Server::new(settings)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("serving tools at http://{}/mcp", listener.local_addr()?);
    server.serve_http(listener).await?;
    Ok(())
}

/// Without keys nobody's are pinned.
struct NoTrust;

impl DeviceTrust for NoTrust {
    fn update(&self, _: &AccountKeys, _: &mut dyn FnMut(&mut Trust)) -> Result<(), String> {
        Err("nothing is kept here".to_owned())
    }

    fn verification(&self) -> Result<Verification, String> {
        Ok(Verification::Warn)
    }
}
