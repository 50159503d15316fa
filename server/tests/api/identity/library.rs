//! The provider as a client library that others wrote sees it: `openidconnect`.

use super::super::world::World;
use super::browser::{Browser, parameter};
use super::{CALLBACK, post_form};
use axum::Router;
use axum::body::{Body, to_bytes};
use cairn_server::{Options, Server, build_dev};
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreProviderMetadata, CoreUserInfoClaims,
};
use openidconnect::{
    AccessTokenHash, AuthorizationCode, ClientId, CsrfToken, HttpRequest, HttpResponse, IssuerUrl,
    Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, RedirectUrl, Scope, TokenResponse as _,
};
use std::convert::Infallible;
use tower::ServiceExt as _;

async fn send(router: Router, request: HttpRequest) -> Result<HttpResponse, Infallible> {
    let (parts, body) = request.into_parts();
    let host = parts.uri.host().unwrap().to_owned();
    let mut request = axum::http::Request::from_parts(parts, Body::from(body));
    request.headers_mut().insert("host", host.parse().unwrap());
    let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
    Ok(HttpResponse::from_parts(parts, body))
}

fn app() -> Server {
    // The library looks at the machine's clock.
    build_dev(Options {
        public_url: Some("http://cairn.test".into()),
        ..Options::ephemeral()
    })
    .unwrap()
}

#[tokio::test]
async fn a_library_finds_logs_in_checks_refreshes_and_asks_who() {
    let app = app();
    let http = |request| send(app.router(), request);
    let issuer = IssuerUrl::new("http://cairn.test".into()).unwrap();
    let provider = CoreProviderMetadata::discover_async(issuer, &http)
        .await
        .unwrap();
    let client = CoreClient::from_provider_metadata(provider, ClientId::new("cairn".into()), None)
        .set_redirect_uri(RedirectUrl::new(CALLBACK.into()).unwrap());
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (url, state, nonce) = client
        .authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            CsrfToken::new_random,
            Nonce::new_random,
        )
        .add_scope(Scope::new("offline_access".into()))
        .add_scope(Scope::new("email".into()))
        .set_pkce_challenge(challenge)
        .url();

    let world = World::around(app.clone());
    let mut browser = Browser::new(&world);
    let path = url.as_str().strip_prefix("http://cairn.test").unwrap();
    browser.open(path).await.done(200);
    let response = browser.log_in("owner@example.com", "owner").await;
    assert_eq!(parameter(&response, "state"), *state.secret());

    let code = AuthorizationCode::new(parameter(&response, "code"));
    let tokens = client
        .exchange_code(code)
        .unwrap()
        .set_pkce_verifier(verifier)
        .request_async(&http)
        .await
        .unwrap();
    let id = tokens.id_token().unwrap();
    let checker = client.id_token_verifier();
    let claims = id.claims(&checker, &nonce).unwrap();
    assert_eq!(claims.email().unwrap().as_str(), "owner@example.com");
    let hash = AccessTokenHash::from_token(
        tokens.access_token(),
        id.signing_alg().unwrap(),
        id.signing_key(&checker).unwrap(),
    )
    .unwrap();
    assert_eq!(claims.access_token_hash(), Some(&hash));
    assert!(id.claims(&checker, &Nonce::new("other".into())).is_err());

    let next = client
        .exchange_refresh_token(tokens.refresh_token().unwrap())
        .unwrap()
        .request_async(&http)
        .await
        .unwrap();
    let subject = claims.subject().clone();
    let info: CoreUserInfoClaims = client
        .user_info(next.access_token().clone(), Some(subject))
        .unwrap()
        .request_async(&http)
        .await
        .unwrap();
    assert_eq!(info.email().unwrap().as_str(), "owner@example.com");
    let fields = [
        ("token", tokens.refresh_token().unwrap().secret().as_str()),
        ("client_id", "cairn"),
    ];
    post_form(&world.nobody(), "/oauth/revoke", &fields)
        .await
        .done(200);
    assert!(
        client
            .exchange_refresh_token(next.refresh_token().unwrap())
            .unwrap()
            .request_async(&http)
            .await
            .is_err()
    );
}
