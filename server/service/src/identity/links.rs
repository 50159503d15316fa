//! Links that are sent by mail, and what their codes do once.

use crate::error::{Error, Result};
use crate::state::{ServerState, address};
use cairn_store::{CodePurpose, Error as StoreError, NewAccount};
use reqwest::Url;

/// The title of the notification about a password that was set through a link.
const CHANGED: &str = "Your password was changed through a link in a mail";

/// Returns the link to the page that sets a password.
fn link(page: &Url, purpose: &str, email: &str, code: &str) -> String {
    let mut url = page.clone();
    url.query_pairs_mut()
        .append_pair("purpose", purpose)
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

    /// Mails a link for a new password to the account with an address, if there is one.
    pub(crate) fn send_password_link(&self, email: &str) -> Result<()> {
        let page = self.password_page()?;
        let base = page.origin().ascii_serialization();
        let purpose = CodePurpose::PasswordReset;
        self.store.write(|tx| {
            // To the address as the account has it, not as somebody typed it.
            let Some(account) = tx.whole_account_with_email(email)? else {
                return Ok(());
            };
            let Some(code) = tx.new_code(&purpose, &account.email)? else {
                return Ok(());
            };
            let url = link(&page, "reset", &account.email, &code);
            let body = format!(
                "Somebody, probably you, asked for a new password of your account at {base}.\n\n{url}\n\n\
                 The link is good for 15 minutes. Without it nothing changes. The passphrase of your files is another \
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
    pub(crate) fn invite(&self, email: &str) -> Result<Option<String>> {
        let email = address(email)?;
        let page = self.password_page()?;
        let base = page.origin().ascii_serialization();
        let purpose = CodePurpose::Registration;
        Ok(self.store.write(|tx| {
            if tx.account_with_email(email)?.is_some() {
                return Err(StoreError::conflict(format!(
                    "an account {email} exists already"
                )));
            }
            let code = tx.new_code(&purpose, email)?.ok_or_else(|| {
                StoreError::conflict(format!("{email} has three invitations that are open"))
            })?;
            let url = link(&page, "registration", email, &code);
            let body = format!(
                "You are invited to keep your files in sync with Cairn at {base}.\n\nChoose a password here:\n\n{url}\n\n\
                 The link is good for three days.\n"
            );
            let sent = tx.send_mail_within(purpose.lifetime_ms(), email, "Your account for Cairn", &body)?;
            Ok((!sent).then_some(url))
        })?)
    }

    /// Uses the code of a link: sets the password of an account, or makes one. Returns false for a code that was
    /// used already or is too old.
    ///
    /// # Errors
    /// A conflict if there is an account where one was to be made; too many wrong codes.
    pub(crate) fn password_from_link(
        &self,
        purpose: &CodePurpose,
        email: &str,
        code: &str,
        password: &str,
    ) -> Result<bool> {
        let hash = self.password_hash(password)?;
        let limits = self.options.limits;
        let done = self.store.write(|tx| {
            let Some(used) = tx.use_code(purpose, email, code)? else {
                return Ok(false);
            };
            let account = match purpose {
                CodePurpose::Registration => {
                    let new = NewAccount {
                        email,
                        password: &hash,
                        limits,
                    };
                    tx.add_account(&new)?.id
                }
                CodePurpose::PasswordReset | CodePurpose::Share(_) => {
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
            self.identity
                .throttle
                .forget_failures(&email.to_lowercase());
        }
        Ok(done)
    }
}
