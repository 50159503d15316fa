//! A link's settings: their limits, and how a change is applied to what is there.

use crate::bounds::{LINK_DAYS, LINK_EMAILS, LINK_LEAST_DAYS, LINK_PASSWORD};
use crate::error::{Error, Result};
use crate::http::text::email_address;
use crate::identity::password::run_bcrypt;
use crate::state::AppState;
use cairn_model::AccountId;
use cairn_store::{Error as StoreError, Result as StoreResult, ShareSettings};
use cairn_wire::shares::{AccessMode, CreateShare, PasswordKdf, ShareDefaults, UpdateShare};
use cairn_wire::{Sealed, Timestamp};

const DAY_MS: f64 = 86_400_000.0;
/// The iteration counts that clients accept (`docs/threat-model.md`).
const ITERATIONS: std::ops::RangeInclusive<u32> = 600_000..=10_000_000;
/// The wrapped secret of a link is far shorter. Whole groups of base64.
pub(crate) const MAX_KEY_BLOB: usize = 1026;

/// Holds what a request says about a link's settings; `None` leaves one as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    is_active: Option<bool>,
    access_mode: Option<AccessMode>,
    password_check: Option<Option<String>>,
    kdf: Option<PasswordKdf>,
    expiry_days: Option<Option<f64>>,
    download_limit: Option<Option<u64>>,
    allowed_emails: Option<Vec<String>>,
    active_from: Option<Option<Timestamp>>,
    active_until: Option<Option<Timestamp>>,
    notify: Option<bool>,
    key_blob: Option<Sealed>,
}

/// Returns the bcrypt of what visitors have to send as the password; `None` for none.
///
/// # Errors
/// 400 for one that is too long, 429 where the account has too many hashed at once.
pub(crate) async fn hash_password_check(
    app: &AppState,
    account: AccountId,
    password: Option<&str>,
) -> Result<Option<String>> {
    let Some(password) = password.filter(|password| !password.is_empty()) else {
        return Ok(None);
    };
    if password.len() > LINK_PASSWORD {
        return Err(Error::invalid(format!(
            "`password` has more than {LINK_PASSWORD} bytes"
        )));
    }
    let _place = app.identity.queue.enter(&account.to_string())?;
    let (password, salt) = (password.to_owned(), app.source.bytes());
    let cost = app.options.password_cost;
    run_bcrypt(app, move || bcrypt::hash_with_salt(password, cost, salt))
        .await?
        .map(|parts| Some(parts.to_string()))
        .map_err(|e| Error::internal(format!("can't hash a link's password: {e}")))
}

/// Returns `true` if a password is the one that was hashed.
pub(crate) async fn password_check_fits(
    app: &AppState,
    password: &str,
    hash: &str,
) -> Result<bool> {
    if password.len() > LINK_PASSWORD {
        return Ok(false);
    }
    let (password, hash) = (password.to_owned(), hash.to_owned());
    run_bcrypt(app, move || bcrypt::verify(password, &hash))
        .await?
        .map_err(|e| Error::internal(format!("can't check a link's password: {e}")))
}

/// An e-mail address in the one form in which addresses are compared.
pub(crate) fn email(field: &str, text: &str) -> Result<String> {
    email_address(text).ok_or_else(|| {
        Error::invalid(format!(
            "`{field}`: `{}` is not a valid e-mail address",
            text.trim()
        ))
    })
}

fn emails(list: &[String]) -> Result<Vec<String>> {
    if list.len() > LINK_EMAILS {
        return Err(Error::invalid(format!(
            "`allowed_emails` has {} addresses; at most {LINK_EMAILS} are allowed",
            list.len()
        )));
    }
    let mut out: Vec<String> = Vec::with_capacity(list.len());
    for text in list {
        let address = email("allowed_emails", text)?;
        if !out.contains(&address) {
            out.push(address);
        }
    }
    Ok(out)
}

/// Returns the time so many days from now.
///
/// # Errors
/// 400 for less or more than a link may have.
fn expiry(days: f64, now: i64) -> StoreResult<i64> {
    if !(LINK_LEAST_DAYS..=f64::from(LINK_DAYS)).contains(&days) {
        return Err(StoreError::invalid(format!(
            "`expiry_days` is {days}; it has to be {LINK_LEAST_DAYS} to {LINK_DAYS}"
        )));
    }
    // At most ten years of milliseconds: exact in an f64.
    Ok(now + (days * DAY_MS) as i64)
}

/// Refuses a new end of the time in which a link opens that has passed already: the link would never open.
fn check_window(change: &Change, old: &ShareSettings, now: i64) -> StoreResult<()> {
    let Some(Some(until)) = change.active_until else {
        return Ok(());
    };
    if until.0 <= now && old.active_until != Some(until.0) {
        return Err(StoreError::invalid(format!(
            "`active_until` is {until}, which has passed; give a later time, or switch the link off with `is_active`"
        )));
    }
    Ok(())
}

impl Change {
    pub(super) fn of_new(new: CreateShare, password_check: Option<String>) -> Result<Self> {
        Self {
            is_active: Some(true),
            access_mode: new.access_mode,
            password_check: Some(password_check),
            kdf: new.kdf,
            expiry_days: new.expiry_days.map(Some),
            download_limit: new.download_limit.map(Some),
            allowed_emails: Some(new.allowed_emails),
            active_from: new.active_from.map(Some),
            active_until: new.active_until.map(Some),
            notify: new.notify_on_download,
            key_blob: new.key_blob,
        }
        .check()
    }

    pub(super) fn of_update(
        change: UpdateShare,
        password_check: Option<Option<String>>,
    ) -> Result<Self> {
        Self {
            is_active: change.is_active,
            access_mode: change.access_mode,
            password_check,
            kdf: change.kdf,
            expiry_days: change.expiry_days,
            download_limit: change.download_limit,
            allowed_emails: change.allowed_emails,
            active_from: change.active_from,
            active_until: change.active_until,
            notify: change.notify_on_download,
            key_blob: change.key_blob,
        }
        .check()
    }

    fn check(mut self) -> Result<Self> {
        if let Some(list) = &self.allowed_emails {
            self.allowed_emails = Some(emails(list)?);
        }
        if self.download_limit == Some(Some(0)) {
            return Err(Error::invalid("`download_limit` has to be at least 1"));
        }
        if let Some(kdf) = &self.kdf {
            if !ITERATIONS.contains(&kdf.iterations) || kdf.salt.0.len() != 32 {
                return Err(Error::invalid(format!(
                    "`kdf` has to have a salt of 32 bytes and {} to {} iterations",
                    ITERATIONS.start(),
                    ITERATIONS.end()
                )));
            }
            if !matches!(self.password_check, Some(Some(_))) {
                return Err(Error::invalid("`kdf` belongs to a `password`"));
            }
        }
        if self
            .key_blob
            .as_ref()
            .is_some_and(|blob| blob.0.len() > MAX_KEY_BLOB)
        {
            return Err(Error::invalid(format!(
                "`key_blob` has more than {MAX_KEY_BLOB} bytes"
            )));
        }
        Ok(self)
    }

    /// The settings of a new link.
    pub(super) fn new_settings(
        &self,
        defaults: &ShareDefaults,
        now: i64,
    ) -> StoreResult<ShareSettings> {
        let days = defaults.default_expiry_days;
        let start = ShareSettings {
            is_active: true,
            access_mode: defaults.default_access_mode,
            expires_at: (days > 0.0)
                .then(|| expiry(days.max(LINK_LEAST_DAYS), now))
                .transpose()?,
            notify: defaults.notify_on_download,
            ..ShareSettings::default()
        };
        self.apply(start, now)
    }

    /// The settings after this change.
    pub(super) fn apply(&self, old: ShareSettings, now: i64) -> StoreResult<ShareSettings> {
        check_window(self, &old, now)?;
        let change = self.clone();
        let at = |new: Option<Option<Timestamp>>, old: Option<i64>| {
            new.map_or(old, |at| at.map(|at| at.0))
        };
        let new = ShareSettings {
            is_active: change.is_active.unwrap_or(old.is_active),
            access_mode: change.access_mode.unwrap_or(old.access_mode),
            // A password and how its key is derived change together.
            kdf: if change.password_check.is_some() {
                change.kdf
            } else {
                old.kdf
            },
            password_check: change.password_check.unwrap_or(old.password_check),
            expires_at: match change.expiry_days {
                None => old.expires_at,
                Some(None) => None,
                Some(Some(days)) => Some(expiry(days, now)?),
            },
            download_limit: change.download_limit.unwrap_or(old.download_limit),
            allowed_emails: change.allowed_emails.unwrap_or(old.allowed_emails),
            active_from: at(change.active_from, old.active_from),
            active_until: at(change.active_until, old.active_until),
            notify: change.notify.unwrap_or(old.notify),
            key_blob: change.key_blob.or(old.key_blob),
        };
        if let (Some(from), Some(until)) = (new.active_from, new.active_until)
            && from >= until
        {
            return Err(StoreError::invalid(
                "`active_until` has to be after `active_from`",
            ));
        }
        Ok(new)
    }
}
