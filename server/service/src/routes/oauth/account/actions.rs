//! The things that somebody does on the page of their account.

use super::super::second_factor::name_password;
use super::pages::{Note, day};
use super::{AccountAction, AccountChange, Visit};
use crate::error::{Error, Result, add_header};
use crate::identity::password::{check, check_new, run_bcrypt};
use axum::http::StatusCode;
use axum::response::Response;
use cairn_wire::Timestamp;
use uuid::Uuid;

/// The title of the notification about a password that was changed here.
const CHANGED: &str = "Your password was changed on the page of your account";
const WRONG_CODE: &str =
    "The code is wrong, or was used before. The app shows another one every 30 seconds.";

impl Visit<'_> {
    /// Does what a form asks for; returns the page that shows the result.
    pub(super) async fn carry_out(&mut self, sent: &AccountChange, from: &str) -> Result<Response> {
        match sent.action.unwrap_or(AccountAction::Show) {
            AccountAction::Show => self.overview(StatusCode::OK, Note::Nothing),
            AccountAction::LogOut => Ok(self.logged_out_page()),
            AccountAction::End => {
                self.end_login(sent.session)?;
                self.overview(StatusCode::OK, Note::Done("The login has ended."))
            }
            AccountAction::EndAll => {
                self.app.store.end_own_sessions(self.account.id, None)?;
                self.overview(StatusCode::OK, Note::Done("All logins have ended."))
            }
            AccountAction::SetUp => self.set_up(&sent.password, from).await,
            AccountAction::Confirm => self.confirm(&sent.code),
            AccountAction::Remove => self.remove(&sent.code),
            AccountAction::ChangePassword => self.change_password(sent, from).await,
        }
    }

    /// Ends a login; one that has ended already is as good as that.
    fn end_login(&self, session: Option<Uuid>) -> Result<()> {
        let Some(session) = session else {
            return Err(Error::invalid("The form names no login."));
        };
        let ended = self
            .app
            .store
            .end_own_sessions(self.account.id, Some(session));
        match ended.map_err(Error::from) {
            Ok(()) => Ok(()),
            Err(error) if error.status() == StatusCode::NOT_FOUND => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Refuses to change an account that is about to be deleted.
    ///
    /// # Errors
    /// 403 for one that is.
    fn check_changeable(&self) -> Result<()> {
        match self.app.store.deletion_due(self.account.id)? {
            Some(due) => Err(Error::forbidden(format!(
                "The account is to be deleted on {}, and can't be changed until then.",
                day(Timestamp(due))
            ))),
            None => Ok(()),
        }
    }

    /// Checks the password in force, as the login does.
    async fn prove(&self, password: &str, from: &str) -> Result<()> {
        check(self.app, &self.account.email, from, password)
            .await?
            .map(drop)
            .ok_or_else(|| Error::forbidden("The password is wrong."))
    }

    async fn set_up(&self, password: &str, from: &str) -> Result<Response> {
        self.check_changeable()?;
        self.prove(password, from).await?;
        let begun = self.app.begin_second_factor(&self.account)?;
        Ok(self.set_up_page(StatusCode::OK, &begun, None))
    }

    fn confirm(&self, code: &str) -> Result<Response> {
        self.check_changeable()?;
        match self.app.confirm_second_factor(self.account.id, code) {
            Ok(codes) => Ok(self.recovery_page(&codes)),
            Err(error) if error.status() == StatusCode::FORBIDDEN => {
                match self.app.begun_second_factor(&self.account)? {
                    Some(begun) => Ok(self.set_up_page(error.status(), &begun, Some(WRONG_CODE))),
                    None => Err(error),
                }
            }
            Err(error) if error.status() == StatusCode::CONFLICT => Err(Error::conflict(
                "There is no second factor to confirm, or it was begun more than 15 minutes ago. Begin again.",
            )),
            Err(error) => Err(error),
        }
    }

    fn remove(&self, code: &str) -> Result<Response> {
        self.check_changeable()?;
        match self.app.remove_second_factor(self.account.id, code) {
            Ok(()) => {
                let text = "The second factor is switched off: the password alone logs in.";
                self.overview(StatusCode::OK, Note::Done(text))
            }
            Err(error) if error.status() == StatusCode::FORBIDDEN => {
                Err(Error::forbidden(WRONG_CODE))
            }
            Err(error) => Err(error),
        }
    }

    async fn change_password(&mut self, sent: &AccountChange, from: &str) -> Result<Response> {
        self.check_changeable()?;
        check_new(&sent.new_password, &sent.again, &self.account.email).map_err(Error::invalid)?;
        self.prove(&sent.password, from).await?;
        let (app, new) = (self.app.clone(), sent.new_password.clone());
        let hash = run_bcrypt(self.app, move || app.password_hash(&new)).await??;
        let account = self.account.id;
        self.app
            .store
            .write(|tx| tx.set_password(account, &hash, CHANGED))?;
        // The page goes on with the new one; pages that are open elsewhere end.
        self.signed_in.password = name_password(self.app, &self.account)?.unwrap_or_default();
        let text = "The password is changed, and all logins have ended. Log in with the new one on your devices.";
        self.overview(StatusCode::OK, Note::Done(text))
    }

    /// Shows the page with the reason why something was not done.
    pub(super) fn refuse(&self, error: &Error) -> Result<Response> {
        let mut response = self.overview(error.status(), Note::Wrong(&error.to_string()))?;
        add_header(&mut response, error.header());
        Ok(response)
    }
}
