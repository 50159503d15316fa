//! Forms that only the browser that was shown one can send back (CSRF), for ten minutes.
//!
//! The subject of the form travels inside it, with a MAC over it and a cookie of the browser: the
//! server keeps nothing for a page that nobody fills in.

use super::page::escape;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cairn_store::Source;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

const COOKIE: &str = "cairn_form";
const LIFETIME_MS: i64 = 600_000;

/// Makes and checks forms.
pub(crate) struct Forms {
    key: [u8; 32],
}

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    content: T,
    until: i64,
}

/// The cookie of a browser: the one that it has, or a new one.
pub(crate) struct Browser(String);

impl Browser {
    pub(crate) fn of(headers: &HeaderMap, source: &Source) -> Self {
        browser_of(headers).unwrap_or_else(|| Self(hex::encode(source.bytes::<16>())))
    }

    /// Gives a page the cookie.
    pub(crate) fn set_cookie(&self, mut page: Response, secure: bool) -> Response {
        if let Some(cookie) = self.cookie(secure) {
            page.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        page
    }

    /// The `Set-Cookie` header.
    fn cookie(&self, secure: bool) -> Option<HeaderValue> {
        let secure = if secure { "; Secure" } else { "" };
        let text = format!(
            "{COOKIE}={}; Path=/oauth; Max-Age={}; HttpOnly; SameSite=Strict{secure}",
            self.0,
            LIFETIME_MS / 1000
        );
        HeaderValue::from_str(&text).ok()
    }
}

/// A form on its way into a page, for the browser that asked for the page.
pub(crate) struct PageForm {
    /// The hidden field, as HTML.
    pub(crate) hidden: String,
    browser: Browser,
}

impl PageForm {
    /// Gives the page the cookie without which the form can't be sent back.
    pub(crate) fn set_cookie(&self, page: Response, secure: bool) -> Response {
        self.browser.set_cookie(page, secure)
    }
}

fn browser_of(headers: &HeaderMap) -> Option<Browser> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, value)| {
            *name == COOKIE && value.len() == 32 && value.bytes().all(|b| b.is_ascii_hexdigit())
        })
        .map(|(_, value)| Browser(value.to_owned()))
}

impl Forms {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    fn mac(&self, browser: &Browser, text: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.update(browser.0.as_bytes());
        mac.update(b".");
        mac.update(text.as_bytes());
        Some(mac)
    }

    /// Makes the form about something for the page that a browser has asked for.
    pub(crate) fn for_page<T: Serialize>(
        &self,
        headers: &HeaderMap,
        source: &Source,
        content: &T,
    ) -> PageForm {
        let browser = Browser::of(headers, source);
        let sealed = escape(&self.seal(&browser, content, source.now_ms()));
        PageForm {
            hidden: format!("<input type=\"hidden\" name=\"form\" value=\"{sealed}\">"),
            browser,
        }
    }

    /// The hidden field of a form about something.
    pub(crate) fn seal<T: Serialize>(&self, browser: &Browser, content: &T, now: i64) -> String {
        let sealed = Sealed {
            content,
            until: now + LIFETIME_MS,
        };
        let text = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&sealed).unwrap_or_default());
        let mac = self.mac(browser, &text);
        let mac = mac.map(|mac| hex::encode(mac.finalize().into_bytes()));
        format!("{text}.{}", mac.unwrap_or_default())
    }

    /// Returns what a form that came back is about; `None` for one of another browser, or an
    /// old one.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        headers: &HeaderMap,
        field: &str,
        now: i64,
    ) -> Option<T> {
        let browser = browser_of(headers)?;
        let (text, mac) = field.rsplit_once('.')?;
        let claimed = hex::decode(mac).ok()?;
        self.mac(&browser, text)?.verify_slice(&claimed).ok()?;
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let sealed: Sealed<T> = serde_json::from_slice(&bytes).ok()?;
        (sealed.until > now).then_some(sealed.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::Clock;

    #[test]
    fn a_form_comes_back_from_its_browser_and_in_time() {
        let source = Source::new(Clock::System, None);
        let forms = Forms::new([1; 32]);
        let headers = |browser: &Browser| {
            let mut headers = HeaderMap::new();
            let cookie = format!("other=1; {COOKIE}={}", browser.0);
            headers.insert(header::COOKIE, HeaderValue::from_str(&cookie).unwrap());
            headers
        };
        let mine = Browser::of(&HeaderMap::new(), &source);
        let other = Browser::of(&HeaderMap::new(), &source);
        assert_eq!(Browser::of(&headers(&mine), &source).0, mine.0);
        let field = forms.seal(&mine, &"content", 1_000);
        let open =
            |headers: &HeaderMap, field: &str, now| forms.open::<String>(headers, field, now);
        assert_eq!(
            open(&headers(&mine), &field, 1_000).as_deref(),
            Some("content")
        );
        assert_eq!(open(&headers(&other), &field, 1_000), None);
        assert_eq!(open(&HeaderMap::new(), &field, 1_000), None);
        assert_eq!(open(&headers(&mine), &field, 601_000), None);
        assert_eq!(open(&headers(&mine), &format!("x{field}"), 1_000), None);
        assert_eq!(open(&headers(&mine), "", 1_000), None);
    }
}
