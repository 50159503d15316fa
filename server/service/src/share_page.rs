//! `/s/{code}`: the page that opens a share link in a browser, and the scripts that it needs.
//!
//! Everything but the owner's logo is in this program, and the content security policy of the page allows
//! nothing else.

use crate::error::{Error, Result};
use crate::http::extract::PathArgs;
use crate::identity::page::OwnPage;
use crate::routes::public_shares::usable_share;
use crate::state::AppState;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

const PAGE: &str = include_str!("share_page/index.html");

/// Name, media type and text of what the page loads.
const ASSETS: [(&str, &str, &str); 11] = [
    (
        "page.css",
        "text/css; charset=utf-8",
        include_str!("share_page/page.css"),
    ),
    (
        "page.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/page.js"),
    ),
    (
        "link.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/link.js"),
    ),
    (
        "blake3.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/blake3.js"),
    ),
    (
        "zstd.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/zstd.js"),
    ),
    (
        "fse.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/fse.js"),
    ),
    (
        "huffman.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/huffman.js"),
    ),
    (
        "service.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/service.js"),
    ),
    (
        "zip.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/zip.js"),
    ),
    (
        "preview.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/preview.js"),
    ),
    (
        "save.js",
        "text/javascript; charset=utf-8",
        include_str!("share_page/save.js"),
    ),
];

/// Returns the content security policy: scripts and styles of this server alone, images and previews from
/// memory, and images of the origin of the owner's logo.
fn policy(logo_origin: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self' blob: data: {logo_origin}; frame-src blob:; object-src blob:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
}

/// `https://host` of an address that was checked when it was set.
fn origin(url: &str) -> &str {
    let host = url.strip_prefix("https://").map_or(0, |rest| {
        "https://".len() + rest.find(['/', '?', '#']).unwrap_or(rest.len())
    });
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-:/".contains(c);
    if url[..host].chars().all(is_plain) {
        &url[..host]
    } else {
        ""
    }
}

pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/s/{code}", get(page))
        .route("/s/assets/{name}", get(asset))
}

fn with_security_headers(mut response: Response, logo_origin: &str) -> Response {
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy(logo_origin)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-cache"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), microphone=(), geolocation=()",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response.extensions_mut().insert(OwnPage);
    response
}

/// The page; its status already tells whether the link opens.
async fn page(State(app): State<AppState>, code: Result<PathArgs<String>>) -> Response {
    let theme = code
        .and_then(|PathArgs(code)| usable_share(&app, &code, false))
        .and_then(|share| Ok(app.store.share_theme(share.account)?));
    let (status, logo) = match theme {
        Ok(theme) => (StatusCode::OK, theme.logo_url),
        Err(error) if error.is_failure() => return error.into_response(),
        Err(error) => (error.status(), String::new()),
    };
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    with_security_headers((status, html, PAGE).into_response(), origin(&logo))
}

async fn asset(PathArgs(name): PathArgs<String>) -> Response {
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, media, text)) => with_security_headers(
            ([(header::CONTENT_TYPE, *media)], *text).into_response(),
            "",
        ),
        None => Error::not_found(format!("the share page has no part {name}")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn only_the_logos_origin_is_let_in() {
        assert_eq!(origin("https://a.example/x.png?y"), "https://a.example");
        assert_eq!(origin("https://a.example:8443"), "https://a.example:8443");
        assert_eq!(origin(""), "");
        // Either would change the rest of the policy, or allow more than one origin.
        for url in [
            "https://b\u{fc}cher.example/x",
            "https://*/x",
            "https://a b/x",
            "https://a;b/x",
        ] {
            assert_eq!(origin(url), "", "{url}");
        }
    }
}
