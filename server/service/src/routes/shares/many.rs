//! Links by mail, and many at once.

use super::settings::{Change, email};
use crate::auth::Caller;
use crate::bounds::LINKS;
use crate::error::{Error, Result};
use crate::http::address::Address;
use crate::http::extract::Input;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use cairn_store::{NewShare, one_line, shown_name};
use cairn_wire::notifications::NotificationKind;
use cairn_wire::shares::{
    AccessMode, BulkShare, BulkShares, CreateShare, CreateShares, ShareByEmail, SharedByEmail,
};
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(by_email))
        .routes(routes!(bulk))
}

/// Makes a link that only one address may open, and mails it there.
///
/// The mail has the address of the page without the link's secret: that never reaches the server, so
/// the owner's client shows it and the owner hands it over.
#[utoipa::path(
    post, path = "/api/v1/shares/email", tag = "shares", request_body = ShareByEmail,
    responses(
        (status = 201, description = "The link, and whether the mail is on its way", body = SharedByEmail),
        (status = 400, description = "`email` is not a valid address, or a setting is out of range"),
        (status = 403, description = "The file is somebody else's, or who has the address blocks the caller"),
        (status = 404, description = "There is no such file or folder")
    )
)]
async fn by_email(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    Input(new): Input<ShareByEmail>,
) -> Result<Response> {
    let address = email("email", &new.email)?;
    let change = Change::of_new(
        CreateShare {
            expiry_days: new.expiry_days,
            allowed_emails: vec![address.clone()],
            access_mode: new.view_only.map(|view_only| {
                if view_only {
                    AccessMode::ViewOnly
                } else {
                    AccessMode::Download
                }
            }),
            key_blob: new.key_blob.clone(),
            ..CreateShare::default()
        },
        None,
    )?;
    let row = app.store.write(|tx| {
        tx.refuse_blocked_at(caller.account, &address)?;
        let settings = change.new_settings(&tx.share_defaults(caller.account)?, tx.now)?;
        let made = NewShare {
            id: new.id,
            node: new.file_id,
            storage_type: None,
            settings,
        };
        tx.create_share(&caller.actor(), &made)
    })?;
    let share = row.show(app.source.now_ms(), &base);
    let mailed = app.store.write(|tx| {
        let from = one_line(&tx.display_name(caller.account)?);
        let name = one_line(shown_name(&share.file_name));
        let url = &share.url;
        let subject = format!("{from} shares “{name}” with you");
        let body = format!(
            "{from} shares “{name}” with you:\n\n{url}\n\nTo open it you also need the part of the address after \
             the #, which {from} sends you another way: it is the key, and we never have it.\n"
        );
        let sending = tx.send_mail_for(caller.account, &address, &subject, &body)?;
        if let Some(invited) = tx.account_with_email(&address)?
            && invited != caller.account
        {
            let data = json!({"share_id": share.id, "url": url, "file_name": name, "from": from});
            tx.notify(invited, NotificationKind::ShareInvite, &subject, &data)?;
        }
        Ok(sending)
    });
    let email_sent = mailed.unwrap_or_else(|error| {
        tracing::warn!(%error, "a share link could not be mailed");
        false
    });
    let body = SharedByEmail { share, email_sent };
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

/// Makes a link with the account's defaults for each of up to 20 files; each succeeds or fails alone.
#[utoipa::path(
    post, path = "/api/v1/shares/bulk", tag = "shares", request_body = CreateShares,
    responses(
        (status = 200, description = "What became of each, in the order of the request", body = BulkShares),
        (status = 400, description = "There are none, or more than 20")
    )
)]
async fn bulk(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    Input(new): Input<CreateShares>,
) -> Result<Json<BulkShares>> {
    if new.file_ids.is_empty() || new.file_ids.len() > LINKS {
        return Err(Error::invalid(format!(
            "`file_ids` has {} elements; it has to have 1 to {LINKS}",
            new.file_ids.len()
        )));
    }
    let change = Change::of_new(CreateShare::default(), None)?;
    let mut results = Vec::with_capacity(new.file_ids.len());
    for file_id in new.file_ids {
        let made = app.store.write(|tx| {
            let settings = change.new_settings(&tx.share_defaults(caller.account)?, tx.now)?;
            let new = NewShare {
                id: None,
                node: file_id,
                storage_type: None,
                settings,
            };
            tx.create_share(&caller.actor(), &new)
        });
        let (share, error) = match made.map_err(Error::from) {
            Ok(row) => (Some(row.show(app.source.now_ms(), &base)), None),
            Err(error) if error.is_failure() => return Err(error),
            Err(error) => (None, Some(error.body())),
        };
        results.push(BulkShare {
            file_id,
            share,
            error,
        });
    }
    let total = results.len() as u64;
    let succeeded = results
        .iter()
        .filter(|result| result.share.is_some())
        .count() as u64;
    Ok(Json(BulkShares {
        results,
        total,
        succeeded,
        failed: total - succeeded,
    }))
}
