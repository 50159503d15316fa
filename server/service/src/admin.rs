//! Accounts and teams as the one who runs the server manages them: by addresses and names, beside a running server.

use crate::auth::api_key;
use crate::error::{Error, Result};
use crate::server::Server;
use crate::signing_keys;
use cairn_model::AccountId;
use cairn_store::{AccountOverview, Administrator, NewLimits, Session, TeamOverview};
use cairn_wire::account::{AccountStatus, ApiKey};
use cairn_wire::admin::{AnswerReport, ReportOverview};
use uuid::Uuid;

/// The log's name for what is done here.
const BY: Administrator = Administrator::CommandLine;
/// Keys that a list shows.
const ALL: u64 = u32::MAX as u64;

impl Server {
    fn account(&self, email: &str) -> Result<AccountId> {
        Ok(self.state.store.account_by_email(email)?.id)
    }

    /// Lists all accounts, by their addresses.
    ///
    /// # Errors
    /// A database that fails.
    pub fn users(&self) -> Result<Vec<AccountOverview>> {
        Ok(self.state.store.accounts()?)
    }

    /// Returns one account.
    ///
    /// # Errors
    /// Not found for an unknown account, as all that follow.
    pub fn user(&self, email: &str) -> Result<AccountOverview> {
        Ok(self.state.store.account_overview(self.account(email)?)?)
    }

    /// Switches an account off, which ends its logins, or on again; its data stays.
    pub fn set_user_disabled(&self, email: &str, disabled: bool) -> Result<AccountOverview> {
        let account = self.account(email)?;
        self.state.store.set_disabled(BY, account, disabled)?;
        self.user(email)
    }

    /// Begins the 60 days after which an account is deleted.
    ///
    /// # Errors
    /// A conflict if they have begun already.
    pub fn request_user_deletion(&self, email: &str) -> Result<AccountStatus> {
        Ok(self.state.store.begin_deletion(BY, self.account(email)?)?)
    }

    /// Deletes an account with all that only it has, at once.
    pub async fn delete_user(&self, email: &str) -> Result<()> {
        let account = self.account(email)?;
        let purged = self.state.store.delete_account(BY, account)?;
        self.state.objects.delete(&purged.objects).await;
        Ok(())
    }

    /// Changes what an account may use.
    pub fn change_user_limits(&self, email: &str, new: NewLimits) -> Result<AccountOverview> {
        self.state
            .store
            .change_limits(BY, self.account(email)?, new)?;
        self.user(email)
    }

    /// Lists all teams, by their names.
    ///
    /// # Errors
    /// A database that fails.
    pub fn all_teams(&self) -> Result<Vec<TeamOverview>> {
        Ok(self.state.store.all_teams()?)
    }

    /// Changes what a team may use, which is named by its id or its name.
    ///
    /// # Errors
    /// Not found for an unknown team, an invalid request for a name of several.
    pub fn change_team_limits(&self, team: &str, new: NewLimits) -> Result<TeamOverview> {
        let store = &self.state.store;
        let found = store.team_called(team)?;
        store.change_team_limits(BY, found.id, new)?;
        Ok(store.team_called(&found.id.to_string())?)
    }

    /// Replaces the password of an account, which ends its logins.
    ///
    /// # Errors
    /// An invalid request for a password that can't be one.
    pub fn reset_user_password(&self, email: &str, password: &str) -> Result<()> {
        let hash = self.state.password_hash(password)?;
        let account = self.account(email)?;
        Ok(self.state.store.reset_password(BY, account, &hash)?)
    }

    /// Removes the second factor of an account whose owner has lost it.
    ///
    /// # Errors
    /// Not found for an account that has none.
    pub fn reset_user_second_factor(&self, email: &str) -> Result<()> {
        let account = self.account(email)?;
        Ok(self.state.store.reset_second_factor(BY, account)?)
    }

    /// Lets an account administer the others over REST, or no more.
    pub fn set_user_admin(&self, email: &str, admin: bool) -> Result<AccountOverview> {
        let account = self.account(email)?;
        self.state.store.set_admin(BY, account, admin)?;
        self.user(email)
    }

    /// Offers an account to an address: by mail, or with the link that is returned where no mail is sent.
    ///
    /// # Errors
    /// A conflict if there is an account, or three open offers; a server without `public_url`.
    pub fn invite_user(&self, email: &str) -> Result<Option<String>> {
        self.state.invite(BY, email)
    }

    /// Lists the logins of an account that have not ended.
    pub fn user_sessions(&self, email: &str) -> Result<Vec<Session>> {
        Ok(self.state.store.sessions(self.account(email)?)?)
    }

    /// Ends one login of an account, or all of them.
    pub fn end_user_sessions(&self, email: &str, only: Option<Uuid>) -> Result<()> {
        Ok(self
            .state
            .store
            .end_sessions(BY, self.account(email)?, only)?)
    }

    /// Lists the reports that users made about others, latest first; all, or those that nobody has answered.
    pub fn reports(&self, only_open: bool) -> Result<Vec<ReportOverview>> {
        Ok(self.state.store.reports_page(only_open, 0, ALL)?.0)
    }

    /// Records the answer to a report, and notifies the one who made it.
    ///
    /// # Errors
    /// Not found for an unknown report; invalid for a text of more than 1000 characters.
    pub fn answer_report(&self, report: Uuid, answer: &AnswerReport) -> Result<ReportOverview> {
        self.state.answer_report(BY, report, answer)
    }

    /// Makes an API key and returns its text, which can't be read again, with what lists show of it.
    ///
    /// # Errors
    /// A conflict for an account with ten keys.
    pub fn add_user_key(&self, email: &str, name: &str) -> Result<(String, ApiKey)> {
        let account = self.account(email)?;
        let key = self.state.fresh_key();
        let shown = self.state.store_key(account, name, &key, None)?;
        Ok((key, shown))
    }

    /// Lists the API keys of an account.
    pub fn user_keys(&self, email: &str) -> Result<Vec<ApiKey>> {
        Ok(self.state.store.api_keys(self.account(email)?, 0, ALL)?.0)
    }

    /// Revokes an API key, which is named by its id, by the characters that lists show of it, or by itself.
    ///
    /// # Errors
    /// Not found for a key that the account has not, an invalid request if several are meant.
    pub fn revoke_user_key(&self, email: &str, which: &str) -> Result<ApiKey> {
        let account = self.account(email)?;
        let (keys, _) = self.state.store.api_keys(account, 0, ALL)?;
        let shown = api_key::visible_prefix(which);
        let named = |key: &ApiKey| key.id == which || key.prefix == shown;
        let mut found: Vec<ApiKey> = keys.into_iter().filter(named).collect();
        // Of several that look alike, one that is in force is meant.
        if found.len() > 1 {
            found.retain(|key| key.active);
        }
        let (Some(mut key), true) = (found.pop(), found.is_empty()) else {
            return Err(Error::not_found(format!(
                "the account {email} has no one API key `{shown}`; `apikey list {email}` lists those it has"
            )));
        };
        let id = Uuid::parse_str(&key.id)
            .map_err(|e| Error::internal(format!("the id of a key can't be read: {e}")))?;
        self.state.store.revoke_api_key(account, id)?;
        key.active = false;
        Ok(key)
    }

    /// Deletes the keys that sign what the server hands out, so that the next start makes new ones, and returns their
    /// number. A server that runs goes on with those that it has.
    ///
    /// # Errors
    /// A database that fails.
    pub fn delete_signing_keys(&self) -> Result<usize> {
        Ok(self.state.store.delete_secrets(&signing_keys::ALL)?)
    }
}
