//! The part of the document before the endpoints.

use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cairn storage service",
        description = "End-to-end encrypted file storage: files and folders, uploads, the change feed. \
            Paths work with and without a trailing slash; `/v2/nodes` is `/api/v1/nodes`, `/api/v1/team` is `/api/v1/teams`. \
            Every error has the body `{code, message}`. Requests about files act in the caller's own space, or \
            with `X-Space-Id` in that of one of the caller's teams. Every response has an `X-Request-Id`: the one that \
            the request brought, or a new one."
    ),
    components(schemas(
        cairn_wire::ErrorBody,
        cairn_wire::identity::OAuthErrorBody,
        cairn_wire::ai::ChatDelta,
        cairn_wire::ai::ChatUsage,
        cairn_wire::ai::ChatDone
    )),
    modifiers(&Bearer),
    security(("bearer" = []))
)]
struct Head;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut Document) {
        let mut scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        scheme.description = Some("An API key (`ck_…`) or an access token (JWT).".into());
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}

/// Returns the part of the document before the endpoints.
pub(crate) fn head() -> Document {
    Head::openapi()
}
