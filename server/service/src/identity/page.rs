//! The pages of the OAuth provider (login, consent, messages): plain HTML without a script, and headers that allow
//! nothing else.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use cairn_store::Source;

const STYLE: &str = ":root{color-scheme:light dark;--text:#1c1c1a;--muted:#5d5d57;--surface:#fff;--back:#f6f6f4;\
--line:#8a8a82;--accent:#2f6f4f;--on-accent:#fff;--bad:#a00}\
@media(prefers-color-scheme:dark){:root{--text:#ececea;--muted:#a3a39b;--surface:#20211f;--back:#161715;\
--line:#7d7e77;--accent:#6dbb93;--on-accent:#10110f;--bad:#f88}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:24rem;margin:3rem auto;padding:0 1rem;color:var(--text);\
background:var(--back)}header{display:flex;gap:.6rem;align-items:center;font-weight:600;margin-bottom:1.5rem}\
h1{font-size:1.3rem;margin:0 0 .8rem}p{overflow-wrap:anywhere}label{display:block;margin:.8rem 0 .2rem}\
input{font:inherit;width:100%;box-sizing:border-box;padding:.45rem .6rem;color:inherit;background:var(--surface);\
border:1px solid var(--line);border-radius:7px}button{font:inherit;margin:1rem .5rem 0 0;padding:.45rem 1.2rem;\
border:1px solid var(--line);border-radius:7px;background:var(--surface);color:inherit;cursor:pointer}\
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}\
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}a{color:var(--accent)}.error{color:var(--bad)}\
section{margin-top:2rem;border-top:1px solid var(--line)}h2{font-size:1.05rem;margin:1rem 0 .4rem}\
.muted,time{color:var(--muted)}.rows{list-style:none;padding:0}.rows li{margin:0 0 1rem}\
code{overflow-wrap:anywhere}.qr{display:block;width:100%;max-width:16rem;margin:1rem 0}";

/// The logo, as in `icons/app.svg`, beside the name.
const BRAND: &str = "<header><svg viewBox=\"0 0 64 64\" width=\"32\" height=\"32\" aria-hidden=\"true\">\
<rect width=\"64\" height=\"64\" rx=\"14\" fill=\"#0f3d3e\"/><g fill=\"#e6f4ef\">\
<ellipse cx=\"32\" cy=\"47\" rx=\"20\" ry=\"7.5\"/><ellipse cx=\"34\" cy=\"32.5\" rx=\"14\" ry=\"6\"/></g>\
<ellipse cx=\"31\" cy=\"20\" rx=\"9\" ry=\"5.2\" fill=\"#f2b84b\"/></svg><span>Cairn</span></header>";

/// Marks a response of ours, whose body stands as it is even where it tells of a failure: a page, or the
/// binary response to a commit.
#[derive(Clone, Copy)]
pub(crate) struct OwnPage;

/// Text, fit for HTML and for attribute values.
pub(crate) fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
        out
    })
}

/// A page of already escaped HTML. Its form may lead to this origin and, after the response of the
/// server, to `onward`.
pub(crate) fn page(
    source: &Source,
    status: StatusCode,
    title: &str,
    body: &str,
    onward: Option<&str>,
) -> Response {
    let nonce = hex::encode(source.bytes::<12>());
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title} · Cairn</title>\
         <link rel=\"icon\" href=\"data:,\"><style nonce=\"{nonce}\">{STYLE}</style></head>\
         <body>{BRAND}<main><h1>{title}</h1>{body}</main></body></html>"
    );
    let mut response = (status, Html(html)).into_response();
    response.extensions_mut().insert(OwnPage);
    let onward = onward
        .map(|origin| format!(" {origin}"))
        .unwrap_or_default();
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'nonce-{nonce}'; form-action 'self'{onward}; frame-ancestors 'none'; \
         base-uri 'none'"
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns true for the request of a browser that is to show what comes.
pub(crate) fn accepts_html(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("text/html"))
}

/// A page that says one thing.
pub(crate) fn notice(source: &Source, status: StatusCode, title: &str, text: &str) -> Response {
    let body = format!("<p>{}</p>", escape(text));
    page(source, status, &escape(title), &body, None)
}

/// The line above a form that says what was wrong before, if anything was.
pub(crate) fn error_line(error: Option<&str>) -> String {
    error
        .map(|text| format!("<p class=\"error\" role=\"alert\">{}</p>", escape(text)))
        .unwrap_or_default()
}

/// The two fields that say who somebody is, with what was wrong before.
pub(crate) fn credentials(email: &str, error: Option<&str>) -> String {
    let error = error_line(error);
    format!(
        "{error}<label for=\"email\">Email</label>\
         <input id=\"email\" name=\"email\" type=\"email\" autocomplete=\"username\" required value=\"{}\">\
         <label for=\"password\">Password</label>\
         <input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"current-password\" required>",
        escape(email)
    )
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn what_a_stranger_wrote_is_text() {
        assert_eq!(
            escape("<a href=\"x\" b='y'>&"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;"
        );
    }
}
