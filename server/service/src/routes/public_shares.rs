//! Actions of visitors of a share link, who have no account: view it, give the password, fetch encrypted chunks.
//!
//! Passwords, limits and times are policy of this server, checked here. The content opens with the
//! link's secret alone, which never comes here.

use super::shares::settings::{email, password_check_fits};
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::visitor::MaskedIp;
use crate::state::AppState;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cairn_model::{AccountId, ChunkId, NodeId};
use cairn_store::{CodePurpose, ShareRow, Visitor, may_view, shown_name};
use cairn_wire::headers::SHARE_ACCESS;
use cairn_wire::shares::{
    BegunDownload, OpenShare, OpenedShare, PublicShare, ShareCodeSent, ShareIssue,
};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(describe))
        .routes(routes!(open))
        .routes(routes!(download))
        .routes(routes!(chunk))
}

/// Refuses a link that does not open now.
fn refuse(issue: ShareIssue) -> Error {
    match issue {
        ShareIssue::Deactivated => Error::forbidden("the owner has switched this link off"),
        ShareIssue::FileGone | ShareIssue::MakerLeft | ShareIssue::NoFiles => {
            Error::not_found("there is no such share link; ask who sent it to you")
        }
        ShareIssue::NotYetActive => Error::forbidden("this link does not open yet"),
        ShareIssue::Expired => Error::gone("this link has expired"),
        ShareIssue::ActiveWindowEnded => Error::gone("the time in which this link opens is over"),
        ShareIssue::AtDownloadLimit => Error::gone("the link's download limit is reached"),
    }
}

/// Returns a link that can be opened now. While `downloading`, a reached download limit doesn't matter: the
/// download that reached it may finish.
pub(crate) fn usable_share(app: &AppState, code: &str, downloading: bool) -> Result<ShareRow> {
    let share = app.store.public_share(code)?;
    let issue = share
        .issues(app.source.now_ms())
        .into_iter()
        .find(|issue| !downloading || *issue != ShareIssue::AtDownloadLimit);
    match issue {
        Some(issue) => Err(refuse(issue)),
        None => Ok(share),
    }
}

fn access(headers: &HeaderMap) -> &str {
    headers
        .get(SHARE_ACCESS)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// Returns what a link asks for, and how its page looks.
#[utoipa::path(
    get, path = "/api/v1/public/shares/{code}", tag = "public-shares", security(()),
    params(("code" = String, Path, description = "The short code")),
    responses(
        (status = 200, description = "What the link asks for, and its theme", body = PublicShare),
        (status = 403, description = "It is switched off, or does not open yet"),
        (status = 404, description = "There is no such link; it was deleted, what it carries is in the trash, or who made it has left the team or was disabled"),
        (status = 410, description = "It has expired, or its download limit is reached")
    )
)]
async fn describe(
    State(app): State<AppState>,
    PathArgs(code): PathArgs<String>,
) -> Result<Json<PublicShare>> {
    let row = usable_share(&app, &code, false)?;
    let theme = app.store.share_theme(row.account)?;
    let share = row.share;
    Ok(Json(PublicShare {
        id: share.id,
        storage_type: share.storage_type,
        access_mode: share.access_mode,
        has_password: share.has_password,
        kdf: share.kdf,
        asks_email: !share.allowed_emails.is_empty(),
        verifies_email: !share.allowed_emails.is_empty() && app.store.mail_queue().is_enabled(),
        expires_at: share.expires_at,
        theme,
    }))
}

/// The result of checking a visitor's address.
enum AddressCheck {
    Fits,
    /// A code was sent to this address, if it is one of the link's.
    CodeSent(String),
    Refused(&'static str),
}

/// Checks the visitor's address against those that the link is for. A server that sends mail asks for a code, which proves that the
/// address is the visitor's; whether it is one of the link's is not told to who can't read its mails.
fn check_address(
    app: &AppState,
    share: &ShareRow,
    who: &Visitor,
    code: Option<&str>,
) -> Result<AddressCheck> {
    const OTHERS: &str =
        "this link is for other e-mail addresses; give the one that it was sent to";
    let allowed = &share.share.allowed_emails;
    if allowed.is_empty() {
        return Ok(AddressCheck::Fits);
    }
    let Some(email) = &who.email else {
        return Ok(AddressCheck::Refused(OTHERS));
    };
    let fits = allowed.contains(email);
    if !app.store.mail_queue().is_enabled() {
        return Ok(if fits {
            AddressCheck::Fits
        } else {
            AddressCheck::Refused(OTHERS)
        });
    }
    let purpose = CodePurpose::Share(share.share.id);
    if let Some(code) = code.filter(|code| !code.trim().is_empty()) {
        // As for an address that is not the link's: the responses don't differ.
        let used = app.store.write(|tx| tx.use_code(&purpose, email, code))?;
        return Ok(if fits && used.is_some() {
            AddressCheck::Fits
        } else {
            AddressCheck::Refused(
                "the code is wrong or too old; open the link again for another one",
            )
        });
    }
    app.store.write(|tx| {
        let code = tx.new_code(&purpose, email)?;
        let Some(code) = code.filter(|_| fits) else {
            return Ok(());
        };
        let minutes = purpose.lifetime_ms() / 60_000;
        let body = format!(
            "{code} is the code for opening a link to files that was sent to you.\n\nIt is good for {minutes} minutes. If you \
             didn't open a link, somebody else knows it, but can't open it without this code.\n"
        );
        tx.send_mail_within(purpose.lifetime_ms(), email, "Your code", &body)
            .map(drop)
    })?;
    Ok(AddressCheck::CodeSent(email.clone()))
}

/// Opens a link: its sealed files, and a token for their chunks.
#[utoipa::path(
    post, path = "/api/v1/public/shares/{code}/open", tag = "public-shares", security(()),
    request_body = OpenShare, params(("code" = String, Path, description = "The short code")),
    responses(
        (status = 200, description = "What the link carries", body = OpenedShare),
        (status = 202, description = "A code was sent to the address, if the link is for it; send `email_code`, too", body = ShareCodeSent),
        (status = 401, description = "The password is missing or wrong"),
        (status = 403, description = "The e-mail address is not on the list, the code is wrong or too old, or the link does not open"),
        (status = 404, description = "There is no such link; it was deleted, what it carries is in the trash, or who made it has left the team or was disabled"),
        (status = 410, description = "It has expired, or its download limit is reached"),
        (status = 429, description = "Too many wrong passwords or codes"),
        (status = 507, description = "The owner's bandwidth of this month is used up")
    )
)]
async fn open(
    State(app): State<AppState>,
    PathArgs(code): PathArgs<String>,
    MaskedIp(masked_ip): MaskedIp,
    Input(asked): Input<OpenShare>,
) -> Result<Response> {
    let share = usable_share(&app, &code, false)?;
    let who = Visitor {
        email: asked
            .email
            .as_deref()
            .filter(|text| !text.trim().is_empty())
            .map(|text| email("email", text))
            .transpose()?,
        masked_ip,
    };
    let gate = asked.gate.as_deref().filter(|text| !text.is_empty());
    if share.password_check.is_some() && gate.is_none() {
        return Err(Error::unauthorized("this link has a password"));
    }
    let _place = match share.password_check {
        Some(_) => Some(app.identity.queue.enter(&who.masked_ip)?),
        None => None,
    };
    // Before anything is checked: of many attempts at once, each is counted before the next.
    let is_gated = share.password_check.is_some() || !share.share.allowed_emails.is_empty();
    let attempt = if is_gated {
        Some(app.store.write(|tx| tx.begin_attempt(&share, &who))?)
    } else {
        None
    };
    match pass_gate(&app, &share, &who, gate, asked.email_code.as_deref()).await? {
        AddressCheck::Fits => {}
        AddressCheck::CodeSent(email) => {
            app.store.write(|tx| tx.withdraw_attempt(&share, attempt))?;
            let sent = ShareCodeSent {
                code_sent_to: email,
            };
            return Ok((StatusCode::ACCEPTED, Json(sent)).into_response());
        }
        AddressCheck::Refused(why) => return Err(Error::forbidden(why)),
    }
    // The length of the list is known when it is written, which is too late to refuse the visit.
    app.bandwidth.admit(&app.store, share.account, 1)?;
    let files = app.store.shared_files(&share)?;
    let access = app.store.write(|tx| {
        tx.withdraw_attempt(&share, attempt)?;
        tx.open_visit(&share, &who)
    })?;
    let opened = OpenedShare {
        access,
        may_view: may_view(&share),
        name: shown_name(&share.share.file_name).to_owned(),
        files,
    };
    counted_response(&app, share.account, &opened)
}

/// Checks the link's password, then the visitor's address.
///
/// # Errors
/// 401 for a wrong password.
async fn pass_gate(
    app: &AppState,
    share: &ShareRow,
    who: &Visitor,
    gate: Option<&str>,
    code: Option<&str>,
) -> Result<AddressCheck> {
    if let Some(hash) = &share.password_check
        && !password_check_fits(app, gate.unwrap_or_default(), hash).await?
    {
        return Err(Error::unauthorized("the password is wrong"));
    }
    check_address(app, share, who, code)
}

/// Returns the list of a link's files, which counts towards its owner's bandwidth: it has megabytes for a large
/// folder, and whoever knows the link can ask for it again and again.
fn counted_response(app: &AppState, owner: AccountId, opened: &OpenedShare) -> Result<Response> {
    let body = serde_json::to_vec(opened)
        .map_err(|e| Error::internal(format!("can't write a link's files: {e}")))?;
    app.bandwidth.add(&app.store, owner, body.len() as u64)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

#[derive(Deserialize, utoipa::ToSchema)]
struct BeginDownload {
    /// The file, or a folder with those in it; all of the link's if absent. The token fetches no others.
    #[serde(default)]
    file_id: Option<NodeId>,
}

/// Begins a download: it counts, and its token fetches chunks.
#[utoipa::path(
    post, path = "/api/v1/public/shares/{code}/downloads", tag = "public-shares", security(()),
    request_body = BeginDownload,
    params(
        ("code" = String, Path, description = "The short code"),
        ("X-Share-Access" = String, Header, description = "From `open`")
    ),
    responses(
        (status = 200, description = "The download's token", body = BegunDownload),
        (status = 401, description = "The visit is over; open the link again"),
        (status = 403, description = "The link is for viewing"),
        (status = 404, description = "The file is not in the link"),
        (status = 410, description = "The download limit is reached")
    )
)]
async fn download(
    State(app): State<AppState>,
    PathArgs(code): PathArgs<String>,
    headers: HeaderMap,
    Input(asked): Input<BeginDownload>,
) -> Result<Json<BegunDownload>> {
    usable_share(&app, &code, false)?;
    let access = app
        .store
        .write(|tx| tx.begin_download(&code, access(&headers), asked.file_id))?;
    Ok(Json(BegunDownload { access }))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ChunkQuery {
    /// The file that the chunk belongs to.
    #[param(value_type = String, format = Uuid)]
    node: NodeId,
}

/// One sealed chunk of a file that the link carries.
#[utoipa::path(
    get, path = "/api/v1/public/shares/{code}/chunks/{chunk}", tag = "public-shares", security(()),
    params(
        ("code" = String, Path, description = "The short code"),
        ("chunk" = String, Path, description = "64 hexadecimal digits"), ChunkQuery,
        ("X-Share-Access" = String, Header, description = "From `open` or `downloads`")
    ),
    responses(
        (status = 200, description = "The sealed bytes", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 401, description = "The visit is over; open the link again"),
        (status = 403, description = "A download has to be begun first"),
        (status = 404, description = "The link has no such chunk"),
        (status = 410, description = "The link has expired"),
        (status = 507, description = "The owner's bandwidth of this month is used up")
    )
)]
async fn chunk(
    State(app): State<AppState>,
    PathArgs((code, chunk)): PathArgs<(String, ChunkId)>,
    QueryParams(query): QueryParams<ChunkQuery>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response> {
    let share = usable_share(&app, &code, true)?;
    let (place, visit) = app
        .store
        .shared_chunk(&share, access(&headers), query.node, chunk)?;
    if method == Method::HEAD {
        // Nothing is read, and nothing counts.
        app.stored_chunks().check_one(&place).await?;
        let mut response = chunk_response(Body::empty());
        let length = HeaderValue::from(place.size);
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length);
        return Ok(response);
    }
    app.bandwidth.admit(&app.store, share.account, place.size)?;
    let bytes = app.stored_chunks().read_one(&place).await?;
    let length = bytes.len() as u64;
    app.store.write(|tx| tx.add_served(visit, length))?;
    app.bandwidth.add(&app.store, share.account, length)?;
    Ok(chunk_response(Body::from(bytes)))
}

/// Returns a response with the headers of a chunk, whose body may be left out.
fn chunk_response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
