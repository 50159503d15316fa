//! Sends deliveries to their addresses, when they are due on the server's clock.
//!
//! The store alone holds what is due, and an attempt is recorded after its response: a crash in
//! between repeats the attempt under the same delivery id, and loses nothing.

use super::signature::{NEXT_SIGNATURE, SIGNATURE, sign};
use super::target::{self, AddressPolicy, Guard};
use super::turns::InFlight;
use crate::error::{Error, Result};
use crate::state::AppState;
use cairn_store::{AfterAttempt, AttemptResult, Due, Error as StoreError, Outgoing};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, redirect};
use std::error::Error as _;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The time-out of an attempt, as the API documents it.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest part of a response that is kept.
const EXCERPT: usize = 1024;
/// After a failing database.
const PAUSE: Duration = Duration::from_secs(5);

struct Dispatcher {
    app: AppState,
    client: Client,
    in_flight: InFlight,
    running: JoinSet<(Due, Result<Option<AfterAttempt>>)>,
}

fn client(policy: AddressPolicy) -> Result<Client> {
    Client::builder()
        .user_agent(concat!("cairn-server/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .timeout(TIMEOUT)
        // A connection is checked when it is made, so each attempt makes its own.
        .pool_max_idle_per_host(0)
        .dns_resolver(Guard { policy })
        .build()
        .map_err(|e| Error::config(format!("can't set up HTTP for webhooks: {e}")))
}

/// Delivers whatever is due until nothing is; returns the number of attempts.
pub(crate) async fn deliver_due(app: &AppState) -> Result<usize> {
    let mut dispatcher = Dispatcher::new(app.clone())?;
    let mut attempts = 0;
    loop {
        dispatcher.fill()?;
        match dispatcher.next().await {
            Some(done) => attempts += usize::from(done?.is_some()),
            None => return Ok(attempts),
        }
    }
}

/// Delivers what becomes due for as long as it is polled.
pub(crate) async fn run(app: AppState) {
    let mut dispatcher = match Dispatcher::new(app.clone()) {
        Ok(dispatcher) => dispatcher,
        Err(error) => {
            tracing::error!(%error, "webhooks are not delivered");
            return;
        }
    };
    loop {
        let wait = match dispatcher.fill().and_then(|()| dispatcher.until_next()) {
            Ok(wait) => wait,
            Err(error) => {
                tracing::warn!(%error, "can't look for webhook deliveries");
                PAUSE
            }
        };
        tokio::select! {
            Some(done) = dispatcher.next() => {
                if let Err(error) = done {
                    tracing::warn!(%error, "a webhook delivery can't be attempted or recorded");
                    tokio::time::sleep(PAUSE).await;
                }
            }
            () = app.store.outbox().wait_for_work() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

impl Dispatcher {
    fn new(app: AppState) -> Result<Self> {
        Ok(Self {
            client: client(AddressPolicy::of(app.options.allow_private_webhooks))?,
            app,
            in_flight: InFlight::default(),
            running: JoinSet::new(),
        })
    }

    /// Starts attempts for what is due and not on its way.
    fn fill(&mut self) -> Result<()> {
        for due in self.in_flight.choose(self.app.store.due_deliveries()?) {
            let (app, client) = (self.app.clone(), self.client.clone());
            self.running
                .spawn(async move { (due, attempt(&app, &client, due).await) });
        }
        Ok(())
    }

    /// Waits for an attempt to end; `None` if there is none.
    async fn next(&mut self) -> Option<Result<Option<AfterAttempt>>> {
        let ended = self.running.join_next().await?;
        Some(match ended {
            Ok((due, outcome)) => {
                self.in_flight.end(due);
                outcome
            }
            Err(error) => Err(Error::internal(format!("an attempt ended early: {error}"))),
        })
    }

    fn until_next(&self) -> Result<Duration> {
        Ok(self.app.wait_until(self.app.store.next_delivery_at()?))
    }
}

async fn attempt(app: &AppState, client: &Client, due: Due) -> Result<Option<AfterAttempt>> {
    let outgoing = match app.store.open_delivery(due) {
        Ok(Some(outgoing)) => outgoing,
        Ok(None) => return Ok(None),
        Err(StoreError::Unopenable(reason)) => {
            tracing::warn!(webhook = %due.webhook, reason, "gave a webhook delivery up");
            app.store.give_up_delivery(due, &reason)?;
            return Ok(Some(AfterAttempt::Failed));
        }
        Err(error) => return Err(error.into()),
    };
    let began = app.source.now_ms();
    let clock = Instant::now();
    let policy = AddressPolicy::of(app.options.allow_private_webhooks);
    let sent = match tokio::time::timeout(TIMEOUT, send(client, policy, &outgoing)).await {
        Ok(sent) => sent,
        Err(_) => Err(format!("no response within {} s", TIMEOUT.as_secs())),
    };
    let latency_ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
    let outcome = match sent {
        Ok((status, response)) => AttemptResult {
            status: Some(status),
            latency_ms,
            error: None,
            response: Some(response),
        },
        Err(error) => AttemptResult {
            status: None,
            latency_ms,
            error: Some(error),
            response: None,
        },
    };
    let after = app.store.record_attempt(due, began, &outcome)?;
    tracing::debug!(
        delivery = %outgoing.delivery, webhook = %due.webhook, status = outcome.status, ?after,
        "attempted a webhook delivery"
    );
    Ok(Some(after))
}

/// Posts a delivery; returns the status and the first KiB of the response.
async fn send(
    client: &Client,
    policy: AddressPolicy,
    outgoing: &Outgoing,
) -> std::result::Result<(u16, Vec<u8>), String> {
    let url = target::check(&outgoing.url, policy).map_err(|e| e.to_string())?;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // The secret that goes out of force comes last.
    for (name, secret) in [SIGNATURE, NEXT_SIGNATURE]
        .into_iter()
        .zip(outgoing.secrets.iter().rev())
    {
        let value = HeaderValue::from_str(&sign(secret, &outgoing.body));
        headers.insert(
            HeaderName::from_static(name),
            value.map_err(|e| e.to_string())?,
        );
    }
    headers.insert(
        HeaderName::from_static("x-service-event"),
        HeaderValue::from_static(outgoing.event.as_str()),
    );
    if let Ok(id) = HeaderValue::from_str(&outgoing.delivery.to_string()) {
        headers.insert(HeaderName::from_static("x-service-delivery"), id);
    }
    let mut response = client
        .post(url)
        .headers(headers)
        .body(outgoing.body.clone())
        .send()
        .await
        .map_err(|e| describe(&e))?;
    let status = response.status().as_u16();
    let mut start = Vec::new();
    // The status decides; a body that breaks off after it does no harm.
    while start.len() < EXCERPT
        && let Ok(Some(part)) = response.chunk().await
    {
        start.extend_from_slice(&part[..part.len().min(EXCERPT - start.len())]);
    }
    Ok((status, start))
}

/// The innermost cause: the outer layers only repeat the address.
fn describe(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no response within {} s", TIMEOUT.as_secs());
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}
