//! The retry rules, against a transport that plays a script on a paused clock.

use super::*;
use crate::transport::{Request, TransportError};
use async_trait::async_trait;
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

enum Play {
    Respond(u16, Vec<(&'static str, &'static str)>, &'static str),
    Fail(TransportError),
    CutBody(&'static str),
}

#[derive(Default)]
struct Script {
    plays: Mutex<VecDeque<Play>>,
    seen: Mutex<Vec<Request>>,
}

#[async_trait]
impl Transport for Script {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        self.seen.lock().unwrap().push(request);
        let play = self
            .plays
            .lock()
            .unwrap()
            .pop_front()
            .expect("one request too many");
        let (status, headers, parts) = match play {
            Play::Respond(status, headers, body) => (
                status,
                headers,
                vec![Ok(Bytes::from_static(body.as_bytes()))],
            ),
            Play::Fail(error) => return Err(error),
            Play::CutBody(body) => {
                let cut = Err(TransportError::Interrupted("reset".into()));
                (
                    200,
                    vec![],
                    vec![Ok(Bytes::from_static(body.as_bytes())), cut],
                )
            }
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(name, HeaderValue::from_static(value));
        }
        Ok(Response {
            status: StatusCode::from_u16(status).unwrap(),
            headers: map,
            body: futures_util::stream::iter(parts).boxed(),
        })
    }
}

struct Tokens(Mutex<Vec<&'static str>>);

#[async_trait]
impl Auth for Tokens {
    async fn bearer(&self) -> Result<String, ApiError> {
        Ok((*self.0.lock().unwrap().last().unwrap()).to_owned())
    }
    async fn refresh(&self, _refused: &str) -> Result<bool, ApiError> {
        let mut tokens = self.0.lock().unwrap();
        if tokens.len() > 1 {
            tokens.pop();
            return Ok(true);
        }
        Ok(false)
    }
}

fn api(plays: Vec<Play>) -> (Api, Arc<Script>) {
    let script = Arc::new(Script {
        plays: Mutex::new(plays.into()),
        ..Default::default()
    });
    let auth = Arc::new(Tokens(Mutex::new(vec!["fresh", "stale"])));
    let device = DeviceId::from_random_bytes([7; 16]);
    let api = Api::new(
        script.clone(),
        "http://server.test/",
        Some("http://files.test"),
        auth,
        device,
    )
    .unwrap();
    (api, script)
}

fn ok() -> Play {
    Play::Respond(200, vec![], "{}")
}

fn post() -> Call {
    Call::new(Method::POST, "/once")
}

#[tokio::test(start_paused = true)]
async fn a_get_outlives_cut_bodies_and_server_errors() {
    let (api, script) = api(vec![
        Play::Fail(TransportError::Connect("refused".into())),
        Play::Respond(500, vec![], "{\"code\":500,\"message\":\"oh\"}"),
        Play::CutBody("{\"half\":"),
        ok(),
    ]);
    let value: serde_json::Value = api.json(Call::get("/x")).await.unwrap();
    assert_eq!(value, serde_json::json!({}));
    assert_eq!(script.seen.lock().unwrap().len(), 4);
    assert_eq!(api.counters().snapshot().requests, 4);
}

#[tokio::test(start_paused = true)]
async fn what_may_have_happened_is_not_sent_twice() {
    for play in [
        Play::Fail(TransportError::Interrupted("reset".into())),
        Play::Respond(500, vec![], ""),
        Play::CutBody("{"),
    ] {
        let (api, script) = api(vec![play]);
        assert!(api.bytes(post()).await.unwrap_err().is_transient());
        assert_eq!(script.seen.lock().unwrap().len(), 1);
    }
    let (api, script) = api(vec![
        Play::Fail(TransportError::Connect("refused".into())),
        ok(),
    ]);
    api.bytes(post()).await.unwrap();
    assert_eq!(script.seen.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_post_carries_the_same_idempotency_key() {
    let (api, script) = api(vec![
        Play::Fail(TransportError::Interrupted("reset".into())),
        ok(),
    ]);
    let call = api.with_idempotency_key(post()).unwrap();
    api.bytes(call).await.unwrap();
    let seen = script.seen.lock().unwrap();
    let keys: Vec<_> = seen
        .iter()
        .map(|r| r.headers.get(headers::IDEMPOTENCY_KEY).cloned())
        .collect();
    assert!(keys[0].is_some());
    assert_eq!(keys[0], keys[1]);
}

async fn post_json(api: &Api) -> Result<serde_json::Value, crate::CallFailure> {
    let body = serde_json::json!({ "amount": "1" });
    api.call_under("/api/v1", Method::POST, &["tips"], &[], Some(&body))
        .await
}

#[tokio::test(start_paused = true)]
async fn a_json_post_whose_response_is_lost_is_repeated_with_its_key() {
    let (api, script) = api(vec![
        Play::Respond(502, vec![], ""),
        Play::CutBody("{"),
        ok(),
    ]);
    assert_eq!(post_json(&api).await, Ok(serde_json::json!({})));
    let seen = script.seen.lock().unwrap();
    let keys: Vec<_> = seen
        .iter()
        .map(|request| request.headers[headers::IDEMPOTENCY_KEY].clone())
        .collect();
    assert_eq!(keys, [keys[0].clone(), keys[0].clone(), keys[0].clone()]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_tells_whether_the_call_may_have_been_carried_out() {
    let interrupted = || Play::Fail(TransportError::Interrupted("reset".into()));
    let refused = || Play::Fail(TransportError::Connect("refused".into()));
    let two_tries = |plays: Vec<Play>| {
        let retry = RetryPolicy {
            tries: 2,
            ..RetryPolicy::default()
        };
        api(plays).0.with_retry(retry)
    };
    for (plays, may_be_done) in [
        (vec![interrupted(), interrupted()], true),
        (vec![interrupted(), refused()], true),
        (vec![refused(), refused()], false),
        (vec![Play::Respond(404, vec![], "")], false),
        // The refusal may be about what the first try has made.
        (vec![interrupted(), Play::Respond(409, vec![], "")], true),
        (vec![interrupted(), Play::Respond(403, vec![], "")], true),
        (vec![Play::Respond(409, vec![], "")], false),
        (vec![Play::Respond(200, vec![], "no JSON")], true),
    ] {
        let failure = post_json(&two_tries(plays)).await.unwrap_err();
        assert_eq!(failure.may_be_done, may_be_done, "{failure:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_for_even_by_a_post() {
    let (api, _) = api(vec![
        Play::Respond(429, vec![("retry-after", "20")], ""),
        ok(),
    ]);
    let start = Instant::now();
    api.bytes(post()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(20));
    assert!(start.elapsed() < Duration::from_secs(22));
}

#[tokio::test(start_paused = true)]
async fn a_long_rate_limit_is_the_callers_to_wait_for() {
    let (api, _) = api(vec![Play::Respond(429, vec![("retry-after", "3600")], "")]);
    let error = api.bytes(Call::get("/x")).await.unwrap_err();
    assert_eq!(
        error,
        ApiError::RateLimited {
            retry_after: Duration::from_secs(3600)
        }
    );
}

#[tokio::test(start_paused = true)]
async fn an_outage_says_when_it_may_be_over() {
    let plays = vec![Play::Respond(503, vec![("retry-after", "3600")], "")];
    let (api, _) = api(plays);
    let error = api.bytes(Call::get("/x")).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
}

#[tokio::test(start_paused = true)]
async fn a_server_without_room_is_not_asked_again_at_once() {
    let body =
        r#"{"code": 503, "message": "the server's disk is full: its operator has to make room"}"#;
    let plays = vec![Play::Respond(503, vec![("retry-after", "30")], body)];
    let (api, _) = api(plays);
    let began = tokio::time::Instant::now();
    let error = api.bytes(Call::get("/x")).await.unwrap_err();
    assert!(error.is_service_full(), "{error}");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn tries_are_bounded() {
    let plays = (0..5)
        .map(|_| Play::Fail(TransportError::Connect("refused".into())))
        .collect();
    let (api, script) = api(plays);
    assert_eq!(
        api.bytes(Call::get("/x")).await.unwrap_err(),
        ApiError::Offline("refused".into())
    );
    assert_eq!(script.seen.lock().unwrap().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn whoever_watches_waits_for_a_silent_server_only_once() {
    let silent = || Play::Fail(TransportError::Silent("no response within 60 s".into()));
    let (api, script) = api(vec![silent(), silent(), ok()]);
    api.bytes(Call::get("/x")).await.unwrap();
    assert_eq!(script.seen.lock().unwrap().len(), 3);

    let (api, script) = self::api(vec![silent()]);
    let api = api.with_retry(RetryPolicy {
        after_silence: false,
        ..RetryPolicy::default()
    });
    let error = api.bytes(Call::get("/x")).await.unwrap_err();
    assert_eq!(error, ApiError::Offline("no response within 60 s".into()));
    assert_eq!(script.seen.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_401_refreshes_the_token_once() {
    let (fresh, script) = api(vec![Play::Respond(401, vec![], ""), ok()]);
    fresh.bytes(post()).await.unwrap();
    let tokens: Vec<_> = script
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|r| r.headers["authorization"].clone())
        .collect();
    assert_eq!(tokens, ["Bearer stale", "Bearer fresh"]);
    let (api, _) = api(vec![
        Play::Respond(401, vec![], ""),
        Play::Respond(401, vec![], ""),
    ]);
    assert_eq!(api.bytes(post()).await.unwrap_err(), ApiError::Unauthorized);
}

#[tokio::test(start_paused = true)]
async fn statuses_become_what_a_caller_can_do() {
    let body = "{\"code\":0,\"message\":\"why\\u0007\"}";
    let head = "\"00000000-0000-4000-8000-000000000001\"";
    let message = || "why".to_owned();
    let cases = [
        (403, ApiError::Forbidden { message: message() }),
        (404, ApiError::NotFound { message: message() }),
        (
            409,
            ApiError::Conflict {
                head: head.trim_matches('"').parse().ok(),
                message: message(),
            },
        ),
        (412, ApiError::PreconditionFailed { message: message() }),
        (410, ApiError::Gone { message: message() }),
        (413, ApiError::TooLarge { message: message() }),
        (507, ApiError::QuotaFull { message: message() }),
        (
            418,
            ApiError::Rejected {
                status: 418,
                message: message(),
            },
        ),
    ];
    for (status, expected) in cases {
        let (api, _) = api(vec![Play::Respond(status, vec![("etag", head)], body)]);
        assert_eq!(api.bytes(Call::get("/x")).await.unwrap_err(), expected);
    }
}

#[test]
fn what_follows_the_server_s_address_is_put_behind_the_file_server_s_as_whole_segments() {
    let device = DeviceId::from_random_bytes([7; 16]);
    let base = |named: &str| {
        let api = Api::new(
            Arc::new(Script::default()),
            "https://server.test/cairn",
            Some("https://files.test"),
            Arc::new(Tokens(Mutex::new(vec![]))),
            device,
        );
        api.unwrap().chunk_base(named).map(|base| base.text)
    };
    for (named, expected) in [
        (
            "https://server.test/cairn/api/v1",
            "https://files.test/api/v1",
        ),
        ("https://server.test/cairn", "https://files.test"),
        ("https://files.test/other", "https://files.test/other"),
    ] {
        assert_eq!(base(named).unwrap(), expected);
    }
    for outside in [
        "https://server.test/cairn.evil.test",
        "https://server.test/cairn@evil.test/",
        "https://server.test/api/v1",
    ] {
        assert!(
            matches!(base(outside), Err(ApiError::Protocol(_))),
            "{outside}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_never_followed() {
    let (api, script) = api(vec![Play::Respond(
        307,
        vec![("location", "http://evil.test/")],
        "",
    )]);
    let error = api.bytes(Call::get("/x")).await.unwrap_err();
    assert!(
        matches!(&error, ApiError::Protocol(text) if text.contains("evil.test")),
        "{error}"
    );
    assert_eq!(script.seen.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tokens_and_chunks_stay_inside_the_configured_origins() {
    let (api, script) = api(vec![ok(), ok()]);
    let (upload, chunk) = (
        cairn_model::UploadId::from_random_bytes([1; 16]),
        cairn_model::ChunkId([2; 32]),
    );
    for base in ["http://server.test/api/v1", "http://files.test/api/v1/"] {
        let sealed = (Bytes::from_static(b"sealed"), [3; 32]);
        api.put_chunk(base, upload, chunk, sealed).await.unwrap();
    }
    for base in [
        "http://evil.test/",
        "https://server.test/",
        "http://server.test:81/",
        "http://u@server.test/",
        "file:///etc",
    ] {
        let error = api
            .put_chunk(base, upload, chunk, (Bytes::new(), [3; 32]))
            .await
            .unwrap_err();
        assert!(matches!(error, ApiError::Protocol(_)), "{base}");
    }
    let seen = script.seen.lock().unwrap();
    for sent in seen.iter() {
        assert_eq!(
            format!("{}{}", sent.base, sent.path),
            format!("http://files.test/api/v1/uploads/{upload}/chunks/{chunk}"),
            "chunks go to the file server that was configured"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_oversized_response_is_refused() {
    let (api, _) = api(vec![Play::Respond(200, vec![], "123456789")]);
    let error = api.bytes(Call::get("/x").limit(8)).await.unwrap_err();
    assert!(matches!(error, ApiError::Protocol(_)));
}

#[tokio::test(start_paused = true)]
async fn a_list_of_deliveries_that_is_no_page_is_no_empty_list() {
    let (api, _script) = api(vec![Play::Respond(200, vec![], "{\"items\":[]}")]);
    let failed = api.webhook_deliveries("w").await.unwrap_err();
    assert!(matches!(failed, ApiError::Protocol(_)), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_list_without_end_is_an_error() {
    const FULL: &str = "{\"content\":[1],\"totalElements\":1,\"totalPages\":18446744073709551615,\
        \"page\":1,\"pageSize\":100}";
    let plays = (0..10_000).map(|_| Play::Respond(200, vec![], FULL));
    let (endless, _) = api(plays.collect());
    let read: Result<Vec<u64>, _> = endless.pages_from(0, "/x", &()).await;
    assert!(matches!(read, Err(ApiError::Protocol(why)) if why.contains("too many pages")));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_longer_than_any_is_an_error() {
    for (items, is_honest) in [(1_000, true), (1_001, false)] {
        let content = vec!["1"; items].join(",");
        let page = format!(
            "{{\"content\":[{content}],\"totalElements\":1,\"totalPages\":1,\"page\":1,\"pageSize\":100}}"
        );
        let page: &'static str = page.leak();
        let (api, _script) = api(vec![Play::Respond(200, vec![], page)]);
        let read: Result<Vec<u64>, _> = api.pages_from(1, "/x", &()).await;
        assert_eq!(read.is_ok(), is_honest, "{items} items");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_may_count_its_pages_from_0() {
    const FULL: &str =
        "{\"content\":[1],\"totalElements\":2,\"totalPages\":2,\"page\":1,\"pageSize\":1}";
    for first in [0, 1] {
        let plays = (0..2).map(|_| Play::Respond(200, vec![], FULL));
        let (two_pages, script) = api(plays.collect());
        let read: Vec<u64> = two_pages.pages_from(first, "/x", &()).await.unwrap();
        assert_eq!(read, [1, 1]);
        let seen = script.seen.lock().unwrap();
        let last = format!("/x?page={}&page_size=100", first + 1);
        assert_eq!(seen[1].path, last);
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_is_the_callers_and_not_sent() {
    let (api, script) = api(vec![]);
    let error = api.search(&"x".repeat(70_000)).await.unwrap_err();
    assert!(error.is_too_long_to_send(), "{error}");
    assert_eq!(error.class(), crate::ErrorClass::Limit);
    let text = error.to_string();
    assert!(
        text.starts_with("the request is too long") && !text.contains("server"),
        "{text}"
    );
    assert!(script.seen.lock().unwrap().is_empty());
    let of_server = ApiError::from_status(413, "10 GiB at most".into());
    assert!(!of_server.is_too_long_to_send());
}
