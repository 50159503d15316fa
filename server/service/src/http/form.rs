//! Forms (`application/x-www-form-urlencoded`), within bounds, and checked as other bodies are.

use super::{body, check};
use crate::error::{Error, Result};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

/// Forms are short.
const MAX_FORM: usize = 16 * 1024;

/// The refusal of a body that is no form.
pub(crate) const NO_FORM: &str = "the body has to be application/x-www-form-urlencoded";

/// A form that keeps the rules of the OpenAPI document.
pub(crate) struct FormInput<T>(pub(crate) T);

impl<T: DeserializeOwned + ToSchema, S: Send + Sync> FromRequest<S> for FormInput<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        if !is_form(request.headers()) {
            return Err(Error::MediaType(NO_FORM.to_owned()));
        }
        read(request, Some(&T::name())).await.map(Self)
    }
}

/// Returns whether a body says that it is a form.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.split(';').next())
        .is_some_and(|essence| {
            essence
                .trim()
                .eq_ignore_ascii_case("application/x-www-form-urlencoded")
        })
}

/// Reads a form, which has to keep the rules of a schema of the document if one is given.
///
/// # Errors
/// Those of [`body::read_all`]; 400 that names the field and the rule, or says why the form can't be read.
pub(crate) async fn read<T: DeserializeOwned>(request: Request, schema: Option<&str>) -> Result<T> {
    let bytes = body::read_all(request, MAX_FORM).await?;
    let unreadable = |e| Error::invalid(format!("the form can't be read: {e}"));
    let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(&bytes).map_err(unreadable)?;
    check::form(schema, &fields)?;
    serde_urlencoded::from_bytes(&bytes).map_err(unreadable)
}
