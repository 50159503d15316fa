//! The server of a login, and the place for this device's secrets.

use super::Args;
use crate::account::{Account, SecretsKind};
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::session::{self, Credential, RetryProfile};
use cairn_api::{Api, ApiError};
use cairn_model::DeviceId;
use cairn_wire::account::AccountInfo;
use std::sync::Arc;

/// The parts of a login that are as they were at the last one if they are not given.
pub(super) struct Target {
    pub(super) server: String,
    pub(super) file_server: Option<String>,
    pub(super) secrets: SecretsKind,
}

impl Target {
    /// Returns what the arguments name; the rest is as `before`.
    pub(super) fn new(args: &Args, before: Option<&Account>) -> CommandResult<Self> {
        let (server, file_server) = match (&args.server, before) {
            (Some(server), _) => (server, None),
            (None, Some(before)) => (&before.server, before.file_server.as_ref()),
            (None, None) => {
                return Err(Failure::usage(
                    "no server is named, and this device was never logged in: run `cairn login --server URL`",
                ));
            }
        };
        let kept = before.map(|account| account.secrets);
        Ok(Self {
            server: server.clone(),
            file_server: args.file_server.as_ref().or(file_server).cloned(),
            secrets: args.secrets.or(kept).unwrap_or(SecretsKind::Keyring),
        })
    }

    /// Connects to the server, and asks for the account of a credential.
    pub(super) async fn connect(
        &self,
        credential: &Credential,
        device: DeviceId,
    ) -> CommandResult<(Arc<Api>, AccountInfo)> {
        let api = session::connect(
            &self.server,
            self.file_server.as_deref(),
            credential,
            device,
            RetryProfile::Interactive,
        )?;
        let info = account_info(&api, credential).await?;
        Ok((api, info))
    }

    /// Refuses to send a login to another machine without encryption.
    pub(super) fn check_protection(&self, insecure_http: bool) -> CommandResult {
        if insecure_http {
            return Ok(());
        }
        for address in [Some(&self.server), self.file_server.as_ref()]
            .into_iter()
            .flatten()
        {
            let unprotected = cairn_api::is_unprotected(address).map_err(session::address_error)?;
            if unprotected {
                return Err(Failure::usage(format!(
                    "{address} is not encrypted: anyone on the way could read the login and the names of your files; use https://, or add --insecure-http if you trust the network"
                )));
            }
        }
        Ok(())
    }
}

async fn account_info(api: &Api, credential: &Credential) -> CommandResult<AccountInfo> {
    match api.account().await {
        Err(ApiError::Unauthorized) => {
            let text = match credential {
                Credential::ApiKey(_) => {
                    "can't log in: the server doesn't know this API key, or it has expired: check it, or make a new one"
                }
                Credential::Login(_) => {
                    "can't log in: the server doesn't accept the token that it gave out; check its clock and try again"
                }
            };
            Err(Failure::new(Exit::NotLoggedIn, text))
        }
        result => result.context(format_args!("log in to {}", api.base_url())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn a_first_login_needs_a_server_alone() {
        let target = |given: &[&str]| {
            let words = [&["login"], given].concat();
            Target::new(&Line::parse_from(words).args, None)
        };
        assert_eq!(target(&[]).err().map(|error| error.exit), Some(Exit::Usage));
        let first = target(&["--server", "https://files.test"]).unwrap();
        assert_eq!(first.server, "https://files.test");
        assert_eq!(first.secrets, SecretsKind::Keyring);
    }
}
