//! As much of a browser as a login needs: cookies, forms, no script, no redirect followed.

use super::super::world::{Answer, Caller, World};
use axum::http::Method;

/// A person's browser.
pub(super) struct Browser {
    caller: Caller,
    cookie: Option<String>,
    /// The address that the form of the page leads to, and its hidden field.
    form: Option<(String, String)>,
}

impl Browser {
    pub(super) fn new(world: &World) -> Self {
        Self {
            caller: world.nobody(),
            cookie: None,
            form: None,
        }
    }

    pub(super) async fn open(&mut self, path: &str) -> Answer {
        let cookie = self.cookie.clone().unwrap_or_default();
        let answer = self
            .caller
            .send(Method::GET, path, &[("cookie", &cookie)], "")
            .await;
        self.look(&answer);
        answer
    }

    pub(super) async fn authorize(&mut self, request: &[(&str, String)]) -> Answer {
        let query = serde_urlencoded::to_string(request).unwrap();
        self.open(&format!("/oauth/authorize?{query}")).await
    }

    pub(super) async fn log_in(&mut self, email: &str, password: &str) -> Answer {
        self.submit(&[("email", email), ("password", password)])
            .await
    }

    /// Sends the form of the page, with its hidden field.
    pub(super) async fn submit(&mut self, fields: &[(&str, &str)]) -> Answer {
        let (path, hidden) = self.form.clone().unwrap();
        let mut all = vec![("form", hidden.as_str())];
        all.extend_from_slice(fields);
        let body = serde_urlencoded::to_string(&all).unwrap();
        let cookie = self.cookie.clone().unwrap_or_default();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("cookie", cookie.as_str()),
        ];
        let answer = self.caller.send(Method::POST, &path, &headers, body).await;
        self.look(&answer);
        answer
    }

    pub(super) fn forget_cookies(&mut self) {
        self.cookie = None;
    }

    fn look(&mut self, answer: &Answer) {
        let cookie = answer.header("set-cookie");
        if !cookie.is_empty() {
            assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
            self.cookie = cookie.split(';').next().map(str::to_owned);
        }
        let html = String::from_utf8_lossy(&answer.body);
        let between = |start: &str| {
            let (_, rest) = html.split_once(start)?;
            rest.split_once('"').map(|(value, _)| value.to_owned())
        };
        if let Some(hidden) = between("name=\"form\" value=\"") {
            self.form = between("action=\"").map(|path| (path, hidden));
        }
        if answer.header("content-type").starts_with("text/html") {
            let policy = answer.header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
            assert_eq!(answer.header("cache-control"), "no-store");
            assert!(!html.contains("<script"));
        }
    }
}

/// A parameter of the address that an answer leads to.
#[track_caller]
pub(super) fn parameter(answer: &Answer, name: &str) -> String {
    answer.done(303);
    let location = answer.header("location");
    let (address, query) = location.split_once('?').unwrap();
    assert_eq!(address, super::CALLBACK);
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap();
    let found = pairs.into_iter().find(|(key, _)| key == name);
    found.unwrap_or_else(|| panic!("{name}: {location}")).1
}
