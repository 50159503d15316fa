//! The part of a web browser that a login needs: pages, one form at a time, cookies.

use anyhow::{Context, Result, ensure};
use std::time::Duration;
use ureq::Agent;

/// A person's browser. It follows no redirect by itself.
#[derive(Debug)]
pub struct Browser {
    agent: Agent,
    cookie: String,
}

/// The response to a request.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    /// The target of a redirect.
    pub location: Option<String>,
    pub html: String,
    origin: String,
}

impl Default for Browser {
    fn default() -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(30)))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .build();
        Self {
            agent: config.into(),
            cookie: String::new(),
        }
    }
}

impl Browser {
    /// # Errors
    /// No answer.
    pub fn open(&mut self, url: &str) -> Result<Page> {
        let request = self.agent.get(url).header("cookie", &self.cookie);
        let response = request
            .call()
            .with_context(|| format!("{url} does not answer"))?;
        self.look(url, response)
    }

    /// Fills in the form of a page with e-mail and password, and sends it.
    ///
    /// # Errors
    /// The page has no form, or nothing answers.
    pub fn log_in(&mut self, page: &Page, email: &str, password: &str) -> Result<Page> {
        let between = |start: &str| -> Result<&str> {
            let (_, rest) = page.html.split_once(start).with_context(|| {
                format!("the page has no {start}: {} {}", page.status, page.html)
            })?;
            Ok(rest.split('"').next().unwrap_or_default())
        };
        let url = format!("{}{}", page.origin, between("action=\"")?);
        let fields = [
            ("form", between("name=\"form\" value=\"")?),
            ("email", email),
            ("password", password),
            ("action", "login"),
        ];
        let response = self
            .agent
            .post(&url)
            .header("cookie", &self.cookie)
            .send_form(fields)
            .with_context(|| format!("{url} does not answer"))?;
        self.look(&url, response)
    }

    fn look(&mut self, url: &str, mut response: ureq::http::Response<ureq::Body>) -> Result<Page> {
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        if let Some(cookie) = header("set-cookie") {
            self.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        }
        let location = header("location");
        let origin: Vec<&str> = url.splitn(4, '/').take(3).collect();
        ensure!(origin.len() == 3, "{url} is no address");
        Ok(Page {
            status: response.status().as_u16(),
            location,
            origin: origin.join("/"),
            html: response.body_mut().read_to_string()?,
        })
    }
}
