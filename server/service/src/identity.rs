//! The parts of the OAuth and OpenID provider that are no endpoints: clients, forms, pages, signatures, passwords.

pub(crate) mod client;
pub(crate) mod failure;
pub(crate) mod form;
pub(crate) mod links;
pub(crate) mod page;
pub(crate) mod password;
pub(crate) mod qr;
pub(crate) mod queue;
pub(crate) mod second_factor;
pub(crate) mod signer;
pub(crate) mod throttle;
mod totp;

use crate::error::Result;
use crate::options::Options;
use crate::signing_keys;
use cairn_store::Store;
use client::Client;
use form::Forms;
use queue::Queue;
use signer::Signer;
use throttle::Throttle;
use tokio::sync::Semaphore;

/// Passwords checked at once: each takes a core for about 60 ms.
const CHECKS_AT_ONCE: usize = 2;

/// Holds what the provider keeps besides the store.
pub(crate) struct Identity {
    pub(crate) clients: Vec<Client>,
    pub(crate) forms: Forms,
    pub(crate) signer: Signer,
    pub(crate) throttle: Throttle,
    /// Bounds how many password checks wait, in all and of one network.
    pub(crate) queue: Queue,
    /// Bounds the password checks that run at once.
    pub(crate) checks: Semaphore,
}

impl Identity {
    pub(crate) fn new(options: &Options, store: &Store) -> Result<Self> {
        Ok(Self {
            clients: client::all_clients(&options.clients)?,
            forms: Forms::new(store.secret(signing_keys::FORMS)?),
            signer: Signer::default(),
            throttle: Throttle::default(),
            queue: Queue::default(),
            checks: Semaphore::new(CHECKS_AT_ONCE),
        })
    }

    pub(crate) fn client(&self, id: &str) -> Option<&Client> {
        self.clients.iter().find(|client| client.id == id)
    }
}
