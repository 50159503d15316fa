//! The account's page and the ones beside it, as HTML.

use super::super::new_password;
use super::{LoginForm, Visit};
use crate::error::Result;
use crate::http::address::Address;
use crate::identity::form::Browser;
use crate::identity::page::{credentials, error_line, escape, notice, page};
use crate::identity::password::MIN_PASSWORD;
use crate::identity::qr;
use crate::identity::second_factor::in_groups;
use crate::state::AppState;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cairn_wire::Timestamp;
use cairn_wire::admin::Session;
use cairn_wire::second_factor::{BegunSecondFactor, RecoveryCodes};

/// Logins that the page lists; more of them can be ended together.
const LISTED: u64 = 50;

/// The line above the page.
pub(super) enum Note<'a> {
    Nothing,
    Done(&'a str),
    Wrong(&'a str),
}

impl Note<'_> {
    fn html(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Done(text) => format!("<p role=\"status\"><strong>{}</strong></p>", escape(text)),
            Self::Wrong(text) => error_line(Some(text)),
        }
    }
}

/// Returns the day of a time, for people to read.
pub(super) fn day(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

/// Returns a time to the minute, for people and programs to read.
fn minute(time: Timestamp) -> String {
    let text = time.to_string();
    let shown: String = text.chars().take(16).collect();
    format!(
        "<time datetime=\"{text}\">{} UTC</time>",
        shown.replace('T', " ")
    )
}

/// Shows the login page, with the address that was typed and what was wrong.
pub(super) fn login_page(
    app: &AppState,
    headers: &HeaderMap,
    address: &Address,
    status: StatusCode,
    error: Option<(&str, &str)>,
) -> Response {
    let content = LoginForm {
        log_in_to_account: true,
    };
    let forms = &app.identity.forms;
    let form = forms.for_page(headers, &app.source, &content);
    let (email, error) = error.map_or(("", None), |(email, text)| (email, Some(text)));
    let body = format!(
        "<p>Log in to see where your account is in use, to set up a second factor, or to change the password.</p>\
         <form method=\"post\" action=\"/oauth/account\">{}{}\
         <button class=\"main\">Log in</button></form>{}",
        form.hidden,
        credentials(email, error),
        new_password::forgotten_link(app),
    );
    let response = page(&app.source, status, "Your account", &body, None);
    form.set_cookie(response, address.is_secure())
}

impl Visit<'_> {
    /// Returns a page whose forms carry on the login: `body` is made with the hidden field that each of them has.
    fn page(
        &self,
        status: StatusCode,
        title: &str,
        body: impl FnOnce(&Forms) -> String,
    ) -> Response {
        let app = self.app;
        let forms = &app.identity.forms;
        let form = forms.for_page(self.headers, &app.source, &self.signed_in);
        let body = body(&Forms {
            hidden: form.hidden.clone(),
        });
        let response = page(&app.source, status, title, &body, None);
        form.set_cookie(response, self.address.is_secure())
    }

    /// Shows the account: its logins, the second factor, the password.
    pub(super) fn overview(&self, status: StatusCode, note: Note<'_>) -> Result<Response> {
        let (store, account) = (&self.app.store, &self.account);
        let (logins, count) = store.sessions_page(account.id, 0, LISTED)?;
        let factor = store.second_factor_status(account.id)?;
        Ok(self.page(status, "Your account", |forms| {
            let factor = match factor.confirmed_at {
                Some(since) => forms.second_factor_in_force(since, factor.recovery_codes_left),
                None => forms.no_second_factor(),
            };
            format!(
                "{}<p>{}</p>{}{factor}{}{}",
                note.html(),
                escape(&account.email),
                forms.logins(self, &logins, count),
                forms.password(&account.email),
                forms.form("<button name=\"action\" value=\"log-out\">Log out</button>"),
            )
        }))
    }

    /// Shows the secret of a second factor, for the app to take.
    pub(super) fn set_up_page(
        &self,
        status: StatusCode,
        begun: &BegunSecondFactor,
        error: Option<&str>,
    ) -> Response {
        self.page(status, "Second factor", |forms| {
            let uri = escape(&begun.otpauth_uri);
            let image = qr::svg(&begun.otpauth_uri, "QR code with the secret").unwrap_or_default();
            let fields = "<label for=\"code\">Code that the app shows</label>\
                <input id=\"code\" name=\"code\" autocomplete=\"one-time-code\" inputmode=\"numeric\" required autofocus>\
                <button class=\"main\" name=\"action\" value=\"confirm\">Switch on</button>\
                <button name=\"action\" value=\"show\" formnovalidate>Cancel</button>";
            format!(
                "{}<p>Scan this with your authenticator app, or <a href=\"{uri}\">open it in the app</a> on this \
                 device.</p>{image}<p>Or type the secret into the app: <code>{}</code></p>\
                 <p>Then type the code that the app shows. Logins ask for one from then on.</p>{}",
                error_line(error),
                escape(&in_groups(&begun.secret).replace('-', " ")),
                forms.form(fields),
            )
        })
    }

    /// Shows the recovery codes, this once.
    pub(super) fn recovery_page(&self, codes: &RecoveryCodes) -> Response {
        self.page(StatusCode::OK, "Recovery codes", |forms| {
            let codes: String = codes
                .recovery_codes
                .iter()
                .map(|code| format!("<li><code>{}</code></li>", escape(code)))
                .collect();
            format!(
                "<p role=\"status\"><strong>The second factor is switched on.</strong></p>\
                 <p>Each of these codes stands in for the app, once. Print them or write them down now: they are not \
                 shown again.</p><ul>{codes}</ul>{}",
                forms.form(
                    "<button class=\"main\" name=\"action\" value=\"show\">I have kept them</button>"
                ),
            )
        })
    }

    /// Ends the page. The browser gets another cookie, so that the forms that it was shown are none of its own any
    /// more.
    pub(super) fn logged_out_page(&self) -> Response {
        let response = notice(
            &self.app.source,
            StatusCode::OK,
            "Logged out",
            "The logins of your devices go on.",
        );
        let other = Browser::of(&HeaderMap::new(), &self.app.source);
        other.set_cookie(response, self.address.is_secure())
    }

    /// Returns the name of the application that a login is for.
    fn client_name<'a>(&'a self, login: &'a Session) -> &'a str {
        let known = self.app.identity.client(&login.client);
        known.map_or(login.client.as_str(), |client| client.name.as_str())
    }
}

/// The forms of a page: all have the same hidden field.
struct Forms {
    hidden: String,
}

impl Forms {
    fn form(&self, fields: &str) -> String {
        format!(
            "<form method=\"post\" action=\"/oauth/account/change\">{}{fields}</form>",
            self.hidden
        )
    }

    fn logins(&self, visit: &Visit<'_>, logins: &[Session], count: u64) -> String {
        let items: String = logins
            .iter()
            .map(|login| self.login(visit, login))
            .collect();
        let list = match count {
            0 => "<p>Nothing is logged in.</p>".to_owned(),
            _ => format!("<ul class=\"rows\">{items}</ul>"),
        };
        let more = match count.saturating_sub(LISTED) {
            0 => String::new(),
            more => format!("<p>And {more} more.</p>"),
        };
        let all = match count {
            0 => String::new(),
            _ => self.form("<button name=\"action\" value=\"end-all\">End all logins</button>"),
        };
        format!(
            "<section><h2>Logins</h2>{list}{more}{all}<p class=\"muted\">API keys and service accounts are no \
             logins, and go on.</p></section>"
        )
    }

    fn login(&self, visit: &Visit<'_>, login: &Session) -> String {
        let name = escape(visit.client_name(login));
        let since = minute(login.created_at);
        let used = login
            .last_used_at
            .map(|at| format!(", last used {}", minute(at)))
            .unwrap_or_default();
        let fields = format!(
            "<strong>{name}</strong><br>since {since}{used}\
             <input type=\"hidden\" name=\"session\" value=\"{}\">\
             <button name=\"action\" value=\"end\" aria-label=\"End the login of {name} from {}\">End</button>",
            login.id,
            day(login.created_at),
        );
        format!("<li>{}</li>", self.form(&fields))
    }

    fn no_second_factor(&self) -> String {
        let fields = "<label for=\"proof\">Password</label>\
            <input id=\"proof\" name=\"password\" type=\"password\" autocomplete=\"current-password\" required>\
            <button name=\"action\" value=\"set-up\">Set up</button>";
        format!(
            "<section><h2>Second factor</h2><p>Logins ask for the password alone. With a second factor they also ask \
             for a code that an app on your phone shows.</p>{}</section>",
            self.form(fields)
        )
    }

    fn second_factor_in_force(&self, since: Timestamp, codes_left: u64) -> String {
        let fields = "<label for=\"code\">Code of the app, or a recovery code</label>\
            <input id=\"code\" name=\"code\" autocomplete=\"one-time-code\" required>\
            <button name=\"action\" value=\"remove\">Switch off</button>";
        format!(
            "<section><h2>Second factor</h2><p>Logins ask for a code since {}. Recovery codes left: \
             {codes_left}. For new ones, switch it off and set it up again.</p>{}</section>",
            minute(since),
            self.form(fields)
        )
    }

    fn password(&self, email: &str) -> String {
        let fields = format!(
            "<input type=\"hidden\" autocomplete=\"username\" value=\"{}\">\
             <label for=\"password\">Current password</label>\
             <input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"current-password\" required>\
             <label for=\"new\">New password</label>\
             <input id=\"new\" name=\"new_password\" type=\"password\" autocomplete=\"new-password\" minlength=\"{MIN_PASSWORD}\" required>\
             <label for=\"again\">The same again</label>\
             <input id=\"again\" name=\"again\" type=\"password\" autocomplete=\"new-password\" required>\
             <button name=\"action\" value=\"change-password\">Change the password</button>",
            escape(email)
        );
        format!(
            "<section><h2>Password</h2><p>For logging in. The passphrase of your files is another secret, and stays as \
             it is. A new password ends all logins.</p>{}</section>",
            self.form(&fields)
        )
    }
}
