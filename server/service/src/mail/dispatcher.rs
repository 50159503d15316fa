//! Hands waiting mails to the mail server, one after the other.

use super::transport::{Transport, transport};
use crate::error::Result;
use crate::state::AppState;
use cairn_store::DueMail;
use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::transport::smtp::Error as SmtpError;
use lettre::{AsyncTransport as _, Message};
use std::time::Duration;
use tokio::time::timeout;

/// The waits after attempts that failed or broke off, in seconds; then the mail has failed.
const WAITS_S: [i64; 9] = [30, 120, 600, 1_800, 3_600, 10_800, 43_200, 86_400, 86_400];
/// The time for a whole mail. RFC 5321, section 4.5.3.2.6: a server may take ten minutes to accept a text.
const TIMEOUT: Duration = Duration::from_secs(660);
/// After a failing database, and while the mail server takes no mail at all.
const PAUSE: Duration = Duration::from_secs(5);

/// The reason why a mail was not accepted.
struct Failure {
    text: String,
    code: Option<u16>,
    /// Another attempt would end the same.
    is_final: bool,
    /// True if it is about the connection or this server's login, so the next mail would fail, too.
    concerns_all: bool,
}

impl Failure {
    fn of(error: &SmtpError) -> Self {
        let code = error.status().map(u16::from);
        // Commands out of place, an authentication that is missing, weak, refused or wanted over TLS.
        let is_login = code.is_some_and(|code| matches!(code, 502..=504 | 530 | 534 | 535 | 538));
        Self {
            text: error.to_string(),
            code,
            is_final: error.is_permanent() && !is_login,
            concerns_all: is_login || code.is_none(),
        }
    }

    fn of_mail(text: String) -> Self {
        Self {
            text,
            code: None,
            is_final: true,
            concerns_all: false,
        }
    }

    fn no_reply() -> Self {
        Self {
            text: "the mail server did not reply in time".into(),
            code: None,
            is_final: false,
            concerns_all: true,
        }
    }
}

/// Sends what becomes due for as long as it is polled; without a mail server there is nothing to do, ever.
pub(crate) async fn run(app: AppState) {
    let Some(options) = &app.options.mail else {
        return std::future::pending().await;
    };
    let (transport, sender) =
        match transport(options).and_then(|made| Ok((made, options.sender()?))) {
            Ok(made) => made,
            Err(error) => {
                tracing::error!(%error, "mails are not sent");
                return std::future::pending().await;
            }
        };
    loop {
        let wait = match send_due(&app, &transport, &sender).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::warn!(%error, "can't look for mails");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        tokio::select! {
            () = app.store.mail_queue().wait_for_work() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Sends what is due; returns the time until something may be due again.
async fn send_due(app: &AppState, transport: &Transport, sender: &Mailbox) -> Result<Duration> {
    loop {
        app.store.give_up_old_mails()?;
        let due = app.store.due_mails()?;
        if due.is_empty() {
            return until_next(app);
        }
        for mail in due {
            if send(app, transport, sender, &mail).await? {
                tokio::time::sleep(PAUSE).await;
                return until_next(app);
            }
        }
    }
}

fn until_next(app: &AppState) -> Result<Duration> {
    Ok(app.wait_until(app.store.next_mail_at()?))
}

/// Sends one mail and records how it went; returns true if the others would fail, too.
async fn send(
    app: &AppState,
    transport: &Transport,
    sender: &Mailbox,
    mail: &DueMail,
) -> Result<bool> {
    let wait_s = WAITS_S.get(mail.attempts as usize);
    // First of all, so that a failure to record what happened can't send it again and again.
    let next = wait_s.copied().unwrap_or(WAITS_S[WAITS_S.len() - 1]);
    app.store
        .claim_mail(mail.row, app.source.now_ms() + next * 1_000)?;
    let failure = match message(sender, mail) {
        Err(text) => Failure::of_mail(text),
        Ok(message) => match timeout(TIMEOUT, transport.send(message)).await {
            Ok(Ok(_)) => {
                app.store.record_mail_sent(mail.row)?;
                return Ok(false);
            }
            Ok(Err(error)) => Failure::of(&error),
            Err(_) => Failure::no_reply(),
        },
    };
    let is_last = failure.is_final || wait_s.is_none();
    // What the server said may name the address, which is somebody's: it stays in the database.
    tracing::warn!(
        code = failure.code,
        attempts = mail.attempts + 1,
        gave_up = is_last,
        "a mail was not taken"
    );
    app.store
        .record_mail_failed(mail.row, &failure.text, is_last)?;
    Ok(failure.concerns_all)
}

/// Builds a mail of plain text. Line breaks in what strangers chose, such as the name of a file, never reach a
/// header: the library encodes them. Each attempt has the same id, by which receivers drop repetitions.
fn message(sender: &Mailbox, mail: &DueMail) -> Result<Message, String> {
    let to: Mailbox = mail
        .to
        .parse()
        .map_err(|error| format!("the address can't be used: {error}"))?;
    let id = format!("<{}.{}@{}>", mail.row, mail.at_ms, sender.email.domain());
    let message = Message::builder()
        .message_id(Some(id))
        .from(sender.clone())
        .to(to)
        .subject(mail.subject.replace(['\r', '\n'], " "))
        .header(ContentType::TEXT_PLAIN)
        .body(mail.body.clone());
    let mut message = message.map_err(|error| format!("the mail can't be written: {error}"))?;
    // RFC 3834: nobody's absence is answered to it.
    let name = HeaderName::new_from_ascii_str("Auto-Submitted");
    let value = HeaderValue::new(name, "auto-generated".to_owned());
    message.headers_mut().insert_raw(value);
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(subject: &str) -> String {
        let mail = DueMail {
            row: 1,
            to: "a@b.example".into(),
            subject: subject.into(),
            body: "text\n.\nQUIT\n".into(),
            attempts: 0,
            at_ms: 5,
        };
        let sender: Mailbox = "Cairn <c@b.example>".parse().unwrap();
        let text = String::from_utf8(message(&sender, &mail).unwrap().formatted()).unwrap();
        text.split_once("\r\n\r\n").unwrap().0.to_owned()
    }

    #[test]
    fn what_strangers_chose_adds_no_header() {
        let head = headers("x\r\nBcc: everybody@b.example\r\n\r\nhello");
        let mut lines = head.lines();
        assert!(
            !lines.any(|line| line.to_lowercase().starts_with("bcc")),
            "{head}"
        );
    }

    #[test]
    fn every_attempt_has_the_same_id() {
        assert!(headers("a").contains("Message-ID: <1.5@b.example>"));
    }

    #[test]
    fn a_mail_says_that_no_person_wrote_it() {
        assert!(headers("a").contains("Auto-Submitted: auto-generated"));
    }
}
