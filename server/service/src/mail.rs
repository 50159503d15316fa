//! Mail: the server that takes it, and the task that hands it over.
//!
//! The store's queue alone holds what is to be sent; an attempt is recorded after it. A crash in between repeats
//! one mail, and loses none.

mod dispatcher;
mod transport;

pub(crate) use dispatcher::run;

use crate::error::{Error, Result};
use lettre::message::Mailbox;

/// The mail server, and the sender of all mails.
#[derive(Clone, PartialEq, Eq)]
pub struct MailOptions {
    /// `smtps://USER:PASSWORD@HOST`, or `smtp://HOST?tls=required` for STARTTLS. Without TLS to this machine only.
    pub url: String,
    /// `Cairn <cairn@example.com>`, or the address alone.
    pub from: String,
}

impl std::fmt::Debug for MailOptions {
    /// Leaves the password out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MailOptions")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

impl MailOptions {
    /// Returns the sender.
    ///
    /// # Errors
    /// A configuration whose `from` is no address.
    pub(crate) fn sender(&self) -> Result<Mailbox> {
        self.from.parse().map_err(|_| {
            Error::config(format!(
                "[mail] from = \"{}\" is not an address; write \"Cairn <cairn@example.com>\"",
                self.from
            ))
        })
    }

    /// Checks what can be checked without the mail server.
    ///
    /// # Errors
    /// A configuration with an address that can't be used, or that would send mails in clear over a network.
    pub(crate) fn check(&self) -> Result<()> {
        self.sender()?;
        transport::check(self).map(drop)
    }
}
