//! Links that are sent by mail, and what their codes do once.

use super::password;
use crate::error::{Error, Result};
use crate::state::{ServerState, address};
use cairn_store::{Administrator, CodePurpose, Error as StoreError, NewAccount};
use reqwest::Url;

/// The title of the notification about a password that was set through a link.
const CHANGED: &str = "Your password was changed through a link in a mail";

/// The links to the page that sets a password, by what it sets one for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PasswordLink {
    /// A new password for who can't log in.
    Reset,
    /// The first password of an account that an administrator offers.
    Registration,
}

impl PasswordLink {
    const ALL: [Self; 2] = [Self::Reset, Self::Registration];

    /// Returns its name in the address of the page.
    fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Registration => "registration",
        }
    }

    /// Reads its name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|link| link.name() == name)
    }

    /// Returns the purpose of its code.
    pub(crate) fn purpose(self) -> CodePurpose {
        match self {
            Self::Reset => CodePurpose::PasswordReset,
            Self::Registration => CodePurpose::Registration,
        }
    }

    /// Returns how long it is good, in words.
    pub(crate) fn lifetime(self) -> String {
        let minutes = self.purpose().lifetime_ms() / 60_000;
        match minutes / (24 * 60) {
            0 => format!("{minutes} minutes"),
            days => format!("{days} days"),
        }
    }
}

/// Returns the link to the page that sets a password.
fn address_of(page: &Url, link: PasswordLink, email: &str, code: &str) -> String {
    let mut url = page.clone();
    url.query_pairs_mut()
        .append_pair("purpose", link.name())
        .append_pair("email", email)
        .append_pair("code", code);
    url.into()
}

impl ServerState {
    /// Returns the page that sets a password, at the configured address of the server.
    fn password_page(&self) -> Result<Url> {
        let base = self.options.public_url.as_deref().ok_or_else(|| {
            Error::config(
                "links in mails need `public_url` in the configuration: the address at which people reach this server",
            )
        })?;
        Url::parse(&format!("{}/oauth/password", base.trim_end_matches('/')))
            .map_err(|_| Error::config(format!("public_url = \"{base}\" is not an address")))
    }

    /// Checks that links can be made, for a request that asks for one.
    ///
    /// # Errors
    /// A conflict for a server whose address is not configured.
    pub(crate) fn check_links(&self) -> Result<()> {
        if self.options.public_url.is_some() {
            return Ok(());
        }
        Err(Error::conflict(
            "the server has no `public_url` in its configuration, and makes no links without it",
        ))
    }

    /// Mails a link for a new password to the account with an address, if there is one.
    pub(crate) fn send_password_link(&self, email: &str) -> Result<()> {
        let page = self.password_page()?;
        let base = page.origin().ascii_serialization();
        let link = PasswordLink::Reset;
        let (purpose, lifetime) = (link.purpose(), link.lifetime());
        self.store.write(|tx| {
            // To the address as the account has it, not as somebody typed it.
            let Some(account) = tx.whole_account_with_email(email)? else {
                return Ok(());
            };
            let Some(code) = tx.new_code(&purpose, &account.email)? else {
                return Ok(());
            };
            let url = address_of(&page, link, &account.email, &code);
            let body = format!(
                "Somebody, probably you, asked for a new password of your account at {base}.\n\n{url}\n\n\
                 The link is good for {lifetime}. Without it nothing changes. The passphrase of your files is another \
                 secret, and stays as it is.\n"
            );
            tx.send_mail_within(purpose.lifetime_ms(), &account.email, "A new password", &body)
                .map(drop)
        })?;
        Ok(())
    }

    /// Offers an account to an address, by mail. Returns the link where no mail is sent, to hand over.
    ///
    /// # Errors
    /// A conflict if there is an account, or three open offers; a server without `public_url`.
    pub(crate) fn invite(&self, by: Administrator, email: &str) -> Result<Option<String>> {
        let email = &*address(email)?;
        let page = self.password_page()?;
        let base = page.origin().ascii_serialization();
        let link = PasswordLink::Registration;
        let (purpose, lifetime) = (link.purpose(), link.lifetime());
        Ok(self.store.write(|tx| {
            if tx.account_with_email(email)?.is_some() {
                return Err(StoreError::conflict(format!(
                    "an account {email} exists already"
                )));
            }
            let code = tx.new_code(&purpose, email)?.ok_or_else(|| {
                StoreError::conflict(format!("{email} has three invitations that are open"))
            })?;
            tx.note_invitation(by, email)?;
            let url = address_of(&page, link, email, &code);
            let body = format!(
                "You are invited to keep your files in sync with Cairn at {base}.\n\nChoose a password here:\n\n{url}\n\n\
                 The link is good for {lifetime}.\n"
            );
            let sent = tx.send_mail_within(purpose.lifetime_ms(), email, "Your account for Cairn", &body)?;
            Ok((!sent).then_some(url))
        })?)
    }

    /// Uses the code of a link: sets the password of an account, or makes one. Returns false for a code that was
    /// used already or is too old. `from` is the masked address that the request comes from.
    ///
    /// # Errors
    /// A conflict if there is an account where one was to be made; too many wrong codes.
    pub(crate) fn password_from_link(
        &self,
        link: PasswordLink,
        email: &str,
        code: &str,
        password: &str,
        from: &str,
    ) -> Result<bool> {
        let hash = self.password_hash(password)?;
        let limits = self.options.limits;
        let done = self.store.write(|tx| {
            let Some(used) = tx.use_code(&link.purpose(), email, code)? else {
                return Ok(false);
            };
            let account = match link {
                PasswordLink::Registration => {
                    let new = NewAccount {
                        email,
                        password: &hash,
                        limits,
                    };
                    tx.add_account(&new)?.id
                }
                PasswordLink::Reset => {
                    let Some(account) = tx.account_with_email(email)? else {
                        return Ok(false);
                    };
                    tx.set_password(account, &hash, CHANGED)?;
                    account
                }
            };
            if used.mailed {
                tx.verify_email(account)?;
            }
            Ok(true)
        })?;
        if done {
            // Whoever mistyped the old one need not wait.
            let (here, everywhere) = password::subjects(email, from);
            let throttle = &self.identity.throttle;
            throttle.forget_failures(&self.store, &here)?;
            throttle.forget_failures(&self.store, &everywhere)?;
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::PasswordLink;

    #[test]
    fn a_link_says_how_long_it_is_good() {
        assert_eq!(PasswordLink::Reset.lifetime(), "15 minutes");
        assert_eq!(PasswordLink::Registration.lifetime(), "3 days");
    }
}
