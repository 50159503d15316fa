//! The notifications of an account, and which of them also go out by mail.

use super::access::{self, Table};
use super::page::read_page;
use super::rows::{fresh_id, id, json, name_of, word};
use super::{Store, Tx};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::Result;
use crate::mails::one_line;
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::account::{EmailPreferences, UpdateEmailPreferences};
use cairn_wire::notifications::{Notification, NotificationKind};
use serde_json::Value;
use uuid::Uuid;

fn notification(row: &Row<'_>) -> db::Result<Notification> {
    let read_at: Option<i64> = row.get(5)?;
    Ok(Notification {
        id: id(row, 0)?,
        kind: word(row, 1)?,
        title: row.get(2)?,
        data: json(row, 3)?,
        read: read_at.is_some(),
        created_at: Timestamp(row.get(4)?),
        read_at: read_at.map(Timestamp),
    })
}

/// Notifications of one kind that an account keeps.
const MAX_OF_A_KIND: u64 = 1_000;

const COLUMNS: &str = "id, kind, title, data, created_at, read_at";

/// Returns true if a notification of this type also goes out by mail. Invitations and alerts send mails of
/// their own.
fn is_mailed(kind: NotificationKind, preferences: &EmailPreferences) -> bool {
    match kind {
        NotificationKind::Comment | NotificationKind::Share => preferences.share_notifications,
        NotificationKind::Follow => preferences.follow_notifications,
        NotificationKind::System | NotificationKind::Security => preferences.system_announcements,
        NotificationKind::ShareInvite
        | NotificationKind::Tip
        | NotificationKind::Team
        | NotificationKind::Payment => false,
    }
}

pub(super) fn preferences(conn: &Connection, account: AccountId) -> Result<EmailPreferences> {
    let known = conn
        .prepare_cached(
            "SELECT share_notifications, follow_notifications, system_announcements, marketing_emails \
             FROM email_preferences WHERE account = ?1",
        )?
        .query_row([account.as_bytes()], |row| {
            Ok(EmailPreferences {
                share_notifications: row.get(0)?,
                follow_notifications: row.get(1)?,
                system_announcements: row.get(2)?,
                marketing_emails: row.get(3)?,
            })
        })
        .optional()?;
    Ok(known.unwrap_or_default())
}

impl Tx<'_> {
    /// Deletes the oldest notifications of a kind beyond those that are kept: strangers cause some of them, as often
    /// as they like.
    fn forget_beyond(&self, account: AccountId, kind: NotificationKind) -> Result<()> {
        self.conn
            .prepare_cached(
                "DELETE FROM notifications WHERE account = ?1 AND kind = ?2 AND row <= \
                 (SELECT row FROM notifications WHERE account = ?1 AND kind = ?2 ORDER BY row DESC LIMIT 1 OFFSET ?3)",
            )?
            .execute(params![account.as_bytes(), name_of(&kind), MAX_OF_A_KIND])?;
        Ok(())
    }

    /// Leaves a notification for an account, and queues a mail where the account wants one. One for an account
    /// that is gone is dropped.
    pub fn notify(
        &self,
        account: AccountId,
        kind: NotificationKind,
        title: &str,
        data: &Value,
    ) -> Result<()> {
        let email: Option<String> = self
            .conn
            .query_row(
                "SELECT email FROM accounts WHERE id = ?1",
                [account.as_bytes()],
                |row| row.get(0),
            )
            .optional()?;
        let Some(email) = email else { return Ok(()) };
        // A title names files and people, and becomes a line of a mail.
        let title = &one_line(title);
        self.conn
            .prepare_cached(
                "INSERT INTO notifications (id, account, kind, title, data, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                fresh_id(self.source).as_bytes(),
                account.as_bytes(),
                name_of(&kind),
                title,
                data.to_string(),
                self.now
            ])?;
        self.forget_beyond(account, kind)?;
        if is_mailed(kind, &preferences(self.conn, account)?)
            && !self.was_just_mailed(&email, title)?
        {
            self.send_mail(&email, title, &format!("{title}\n"))?;
        }
        Ok(())
    }
}

impl Store {
    /// One page of an account's notifications, latest first, and their number.
    pub fn notifications(
        &self,
        account: AccountId,
        unread_only: bool,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Notification>, u64)> {
        let filter = "account = ?1 AND (read_at IS NULL OR ?2 = 0)";
        self.read(|conn| {
            let count = format!("SELECT count(*) FROM notifications WHERE {filter}");
            let list = format!(
                "SELECT {COLUMNS} FROM notifications WHERE {filter} ORDER BY row DESC LIMIT ?4 OFFSET ?3"
            );
            let which = params![account.as_bytes(), unread_only];
            read_page(conn, (&count, &list), which, (skip, take), notification)
        })
    }

    /// Marks a notification as read; one that is stays as it is.
    ///
    /// # Errors
    /// 404, 403 for another account's.
    pub fn read_notification(&self, account: AccountId, wanted: Uuid) -> Result<Notification> {
        self.write(|tx| {
            tx.conn
                .query_row(
                    &format!(
                        "UPDATE notifications SET read_at = coalesce(read_at, ?3) \
                         WHERE account = ?1 AND id = ?2 RETURNING {COLUMNS}"
                    ),
                    params![account.as_bytes(), wanted.as_bytes(), tx.now],
                    notification,
                )
                .optional()?
                .ok_or_else(|| {
                    let what = format!("notification {wanted}");
                    access::absent_error(tx.conn, Table::Notifications, wanted.as_bytes(), &what)
                })
        })
    }

    /// Returns what an account wants by mail.
    pub fn email_preferences(&self, account: AccountId) -> Result<EmailPreferences> {
        self.read(|conn| preferences(conn, account))
    }

    /// Changes what an account wants by mail.
    pub fn update_email_preferences(
        &self,
        account: AccountId,
        change: &UpdateEmailPreferences,
    ) -> Result<EmailPreferences> {
        self.write(|tx| {
            let known = preferences(tx.conn, account)?;
            let keep = !change.unsubscribe_all.unwrap_or(false);
            let new = EmailPreferences {
                share_notifications: keep
                    && change.share_notifications.unwrap_or(known.share_notifications),
                follow_notifications: keep
                    && change
                        .follow_notifications
                        .unwrap_or(known.follow_notifications),
                system_announcements: keep
                    && change
                        .system_announcements
                        .unwrap_or(known.system_announcements),
                marketing_emails: keep
                    && change.marketing_emails.unwrap_or(known.marketing_emails),
            };
            tx.conn.execute(
                "INSERT INTO email_preferences (account, share_notifications, follow_notifications, \
                 system_announcements, marketing_emails) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (account) DO UPDATE SET \
                 share_notifications = excluded.share_notifications, \
                 follow_notifications = excluded.follow_notifications, \
                 system_announcements = excluded.system_announcements, \
                 marketing_emails = excluded.marketing_emails",
                params![
                    account.as_bytes(),
                    new.share_notifications,
                    new.follow_notifications,
                    new.system_announcements,
                    new.marketing_emails
                ],
            )?;
            Ok(new)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{add_account, open};
    use crate::{Clock, Source};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn the_preferences_decide_what_goes_out_by_mail() {
        let preferences = EmailPreferences {
            share_notifications: true,
            follow_notifications: false,
            system_announcements: true,
            marketing_emails: false,
        };
        for (kind, mailed) in [
            (NotificationKind::Comment, true),
            (NotificationKind::Share, true),
            (NotificationKind::Follow, false),
            (NotificationKind::System, true),
            (NotificationKind::Security, true),
            (NotificationKind::Team, false),
            (NotificationKind::ShareInvite, false),
        ] {
            assert_eq!(is_mailed(kind, &preferences), mailed, "{kind:?}");
        }
    }

    #[test]
    fn the_oldest_notifications_of_a_kind_go_and_those_of_others_stay() {
        let clock = Clock::Virtual { start_ms: 1_000 };
        let store = open(Arc::new(Source::new(clock, Some(1))));
        let account = add_account(&store, "a@example.com").id;
        let note = |kind, title: &str| {
            store
                .write(|tx| tx.notify(account, kind, title, &json!({})))
                .unwrap();
        };
        note(NotificationKind::Security, "a login");
        note(NotificationKind::Share, "the first");
        for _ in 0..1_000 {
            note(NotificationKind::Share, "another");
        }
        let (all, count) = store.notifications(account, true, 0, 2_000).unwrap();
        assert_eq!(count, 1_001);
        let titles: Vec<&str> = all.iter().map(|one| one.title.as_str()).collect();
        assert!(titles.contains(&"a login") && !titles.contains(&"the first"));
    }
}
