//! Webhooks of the account and their deliveries. The client doesn't read them: it shows the
//! server's JSON as it is.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use cairn_model::percent_encode;
use cairn_wire::Page;
use http::Method;
use serde_json::{Value, json};

/// An action on a webhook.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WebhookAction {
    /// Sends a delivery to try it out.
    Test,
    Enable,
    Disable,
    /// Makes a new secret, which only this response has.
    Rotate,
}

impl WebhookAction {
    fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Rotate => "rotate",
        }
    }
}

fn path(id: &str) -> String {
    format!("/api/v1/webhooks/{}", percent_encode(id))
}

impl Api {
    /// `GET /webhooks`: all webhooks, disabled ones as well.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn webhooks(&self) -> Result<Vec<Value>, ApiError> {
        self.all_pages("/api/v1/webhooks", &[("status", "all")])
            .await
    }

    /// `POST /webhooks`: makes a webhook; only this response has its secret.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] if the address is no public https one, or an event is unknown.
    pub async fn create_webhook(&self, url: &str, events: &[String]) -> Result<Value, ApiError> {
        let body = json!({ "url": url, "events": events });
        self.json(
            self.with_idempotency_key(Call::new(Method::POST, "/api/v1/webhooks").json(&body)?)?,
        )
        .await
    }

    /// `DELETE /webhooks/{id}`.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn delete_webhook(&self, id: &str) -> Result<(), ApiError> {
        self.delete(Call::new(Method::DELETE, path(id))).await
    }

    /// `POST /webhooks/{id}/test|enable|disable|rotate`.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn act_on_webhook(&self, id: &str, action: WebhookAction) -> Result<Value, ApiError> {
        let path = format!("{}/{}", path(id), action.as_str());
        self.json(self.with_idempotency_key(Call::new(Method::POST, path))?)
            .await
    }

    /// `GET /webhooks/{id}/deliveries`: the newest page.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] if the response is no page.
    pub async fn webhook_deliveries(&self, id: &str) -> Result<Vec<Value>, ApiError> {
        let page: Page<Value> = self
            .json(Call::get(format!("{}/deliveries", path(id))))
            .await?;
        Ok(page.content)
    }

    /// `POST /webhooks/{id}/deliveries/{delivery}/retry`.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if the delivery needs no retry.
    pub async fn retry_delivery(&self, id: &str, delivery: &str) -> Result<Value, ApiError> {
        let path = format!("{}/deliveries/{}/retry", path(id), percent_encode(delivery));
        self.json(self.with_idempotency_key(Call::new(Method::POST, path))?)
            .await
    }
}
