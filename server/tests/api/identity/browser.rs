//! The part of a browser that a login needs: cookies, forms, no script, no redirect followed.

use super::super::world::{Caller, TestResponse, World};
use axum::http::Method;

/// A person's browser.
pub(crate) struct Browser {
    caller: Caller,
    cookie: Option<String>,
    /// The address that the form of the page leads to, and its hidden field.
    form: Option<(String, String)>,
}

impl Browser {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            caller: world.nobody(),
            cookie: None,
            form: None,
        }
    }

    pub(crate) async fn open(&mut self, path: &str) -> TestResponse {
        let cookie = self.cookie.clone().unwrap_or_default();
        let response = self
            .caller
            .send(Method::GET, path, &[("cookie", &cookie)], "")
            .await;
        self.look(&response);
        response
    }

    pub(crate) async fn authorize(&mut self, request: &[(&str, String)]) -> TestResponse {
        let query = serde_urlencoded::to_string(request).unwrap();
        self.open(&format!("/oauth/authorize?{query}")).await
    }

    /// Sends an authorization request as a form.
    pub(crate) async fn send_request(&mut self, request: &[(&str, String)]) -> TestResponse {
        let body = serde_urlencoded::to_string(request).unwrap();
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let sent = self
            .caller
            .send(Method::POST, "/oauth/authorize", &headers, body);
        let response = sent.await;
        self.look(&response);
        response
    }

    pub(crate) async fn log_in(&mut self, email: &str, password: &str) -> TestResponse {
        self.submit(&[("email", email), ("password", password)])
            .await
    }

    /// Sends the form of the page, with its hidden field.
    pub(crate) async fn submit(&mut self, fields: &[(&str, &str)]) -> TestResponse {
        let (path, hidden) = self.form.clone().unwrap();
        let mut all = vec![("form", hidden.as_str())];
        all.extend_from_slice(fields);
        let body = serde_urlencoded::to_string(&all).unwrap();
        let cookie = self.cookie.clone().unwrap_or_default();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("cookie", cookie.as_str()),
        ];
        let response = self.caller.send(Method::POST, &path, &headers, body).await;
        self.look(&response);
        response
    }

    /// Makes the form of the page lead somewhere else.
    pub(crate) fn lead_form_to(&mut self, path: &str) {
        if let Some((action, _)) = &mut self.form {
            path.clone_into(action);
        }
    }

    pub(crate) fn forget_cookies(&mut self) {
        self.cookie = None;
    }

    fn look(&mut self, response: &TestResponse) {
        let cookie = response.header("set-cookie");
        if !cookie.is_empty() {
            assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
            self.cookie = cookie.split(';').next().map(str::to_owned);
        }
        let html = String::from_utf8_lossy(&response.body);
        let between = |start: &str| {
            let (_, rest) = html.split_once(start)?;
            rest.split_once('"').map(|(value, _)| value.to_owned())
        };
        if let Some(hidden) = between("name=\"form\" value=\"") {
            self.form = between("action=\"").map(|path| (path, hidden));
        }
        if response.header("content-type").starts_with("text/html") {
            let policy = response.header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
            assert_eq!(response.header("cache-control"), "no-store");
            assert!(!html.contains("<script"));
        }
    }
}

/// A parameter of the address that a response leads to.
#[track_caller]
pub(crate) fn parameter(response: &TestResponse, name: &str) -> String {
    response.done(303);
    let location = response.header("location");
    let (address, query) = location.split_once('?').unwrap();
    assert_eq!(address, super::CALLBACK);
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap();
    let found = pairs.into_iter().find(|(key, _)| key == name);
    found.unwrap_or_else(|| panic!("{name}: {location}")).1
}
