//! One request to the identity provider, and its response.

use crate::ApiError;
use crate::error::quote;
use crate::transport::{Request, Response, Transport, TransportError};
use cairn_wire::identity::OAuthErrorBody;
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Tokens and discovery documents are short.
const MAX_RESPONSE: usize = 256 * 1024;

/// A refused request: the code of RFC 6749, and the failure that it is elsewhere.
pub(super) struct Refusal {
    pub(super) code: String,
    pub(super) error: ApiError,
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self {
            code: String::new(),
            error,
        }
    }
}

/// 256 bits that nobody can guess, as text: the thread's generator is a cryptographic one.
pub(super) fn form<T: Serialize>(endpoint: &str, fields: &T) -> Result<Request, ApiError> {
    let body = serde_urlencoded::to_string(fields)
        .map_err(|e| ApiError::Protocol(format!("the form can't be written: {e}")))?;
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/x-www-form-urlencoded"),
    );
    Ok(Request {
        method: Method::POST,
        base: endpoint.to_owned(),
        path: String::new(),
        headers,
        body: body.into(),
    })
}

pub(super) async fn post<B: Serialize, T: DeserializeOwned>(
    transport: &dyn Transport,
    endpoint: &str,
    body: &B,
) -> Result<T, Refusal> {
    send(transport, form(endpoint, body)?).await
}

pub(super) async fn open(
    transport: &dyn Transport,
    request: Request,
) -> Result<Response, ApiError> {
    transport.send(request).await.map_err(|error| match error {
        TransportError::Connect(text)
        | TransportError::Interrupted(text)
        | TransportError::Silent(text) => ApiError::Offline(text),
        TransportError::Invalid(text) => ApiError::Protocol(text),
    })
}

pub(super) async fn send<T: DeserializeOwned>(
    transport: &dyn Transport,
    request: Request,
) -> Result<T, Refusal> {
    let response = open(transport, request).await?;
    if !response.status.is_success() {
        return Err(refusal(response).await);
    }
    let body = read(response).await?;
    let value = serde_json::from_slice(&body);
    Ok(value
        .map_err(|e| ApiError::Protocol(format!("its login sent an unexpected response: {e}")))?)
}

async fn read(mut response: Response) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(part) = response.body.next().await {
        body.extend_from_slice(&part.map_err(|e| ApiError::Offline(e.to_string()))?);
        if body.len() > MAX_RESPONSE {
            let text = format!("its login sent more than {MAX_RESPONSE} bytes");
            return Err(ApiError::Protocol(text));
        }
    }
    Ok(body)
}

pub(super) async fn refusal(response: Response) -> Refusal {
    let status = response.status;
    let body = read(response).await.unwrap_or_default();
    let reported = serde_json::from_slice::<OAuthErrorBody>(&body).ok();
    let code = reported.as_ref().map_or("", |body| &body.error).to_owned();
    let message = reported
        .and_then(|body| body.error_description)
        .map_or_else(|| status.to_string(), |text| quote(&text));
    let error = if code == "invalid_grant" {
        ApiError::Unauthorized
    } else {
        ApiError::from_status(status.as_u16(), message)
    };
    Refusal { code, error }
}
