//! `/diagnostics`: why an upload would fail, and whether the account's keys are in order.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::QueryParams;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_model::size::binary;
use cairn_wire::diagnostics::{CheckResult, DiagnosticCheck, EncryptionDiagnosis, UploadDiagnosis};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// From here on, in percent of a limit, it is time to say so.
const NEARLY_FULL: u64 = 90;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(upload))
        .routes(routes!(encryption))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct UploadQuery {
    /// The file that is to be uploaded; without it the state as it is.
    file_size_bytes: Option<u64>,
}

fn check(name: &str, used: u64, more: u64, limit: u64, show: fn(u64) -> String) -> DiagnosticCheck {
    let after = used.saturating_add(more);
    let share = u128::from(after) * 100 / u128::from(limit.max(1));
    let status = if after > limit || (more == 0 && used >= limit) {
        CheckResult::Fail
    } else if share >= u128::from(NEARLY_FULL) {
        CheckResult::Warn
    } else {
        CheckResult::Pass
    };
    let message = format!("{} of {} used", show(used), show(limit));
    DiagnosticCheck {
        name: name.to_owned(),
        status,
        message: if more > 0 {
            format!("{message}, {} more needed", show(more))
        } else {
            message
        },
    }
}

/// Checks a file of a given size against the limits.
#[utoipa::path(
    get, path = "/api/v1/diagnostics/upload", tag = "diagnostics", params(UploadQuery),
    responses(
        (status = 200, description = "Each check, and what follows from them", body = UploadDiagnosis),
        (status = 400, description = "`file_size_bytes` is not a valid size")
    )
)]
async fn upload(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<UploadQuery>,
) -> Result<Json<UploadDiagnosis>> {
    app.bandwidth.flush(&app.store, caller.account)?;
    let quota = app.store.quota(caller.account)?;
    let size = query.file_size_bytes.unwrap_or(0);
    if i64::try_from(size).is_err() {
        return Err(Error::invalid("`file_size_bytes` is too large"));
    }
    let one = u64::from(query.file_size_bytes.is_some());
    let checks = vec![
        check(
            "storage_quota",
            quota.storage_used,
            size,
            quota.storage_limit,
            binary,
        ),
        check(
            "bandwidth",
            quota.bandwidth_used,
            size,
            quota.bandwidth_limit,
            binary,
        ),
        check(
            "file_count",
            quota.file_count,
            one,
            quota.file_count_limit,
            |count| format!("{count} files"),
        ),
    ];
    let any = |wanted| checks.iter().any(|check| check.status == wanted);
    let diagnosis = if any(CheckResult::Fail) {
        "upload_blocked"
    } else if any(CheckResult::Warn) {
        "warning"
    } else {
        "ready"
    };
    Ok(Json(UploadDiagnosis {
        diagnosis: diagnosis.to_owned(),
        checks,
    }))
}

/// Checks that the account has its keys, and a way back to them.
#[utoipa::path(
    get, path = "/api/v1/diagnostics/encryption", tag = "diagnostics",
    responses((status = 200, description = "Each check, and what to do", body = EncryptionDiagnosis))
)]
async fn encryption(
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<EncryptionDiagnosis>> {
    let keys = app.store.key_status(caller.account)?;
    let mut checks = Vec::new();
    let mut recommendations = Vec::new();
    let mut add =
        |name: &str, good: bool, otherwise: CheckResult, yes: &str, no: &str, todo: &str| {
            if !good {
                recommendations.push(todo.to_owned());
            }
            checks.push(DiagnosticCheck {
                name: name.to_owned(),
                status: if good { CheckResult::Pass } else { otherwise },
                message: if good { yes } else { no }.to_owned(),
            });
        };
    add(
        "key_bundle",
        keys.bundle,
        CheckResult::Fail,
        "the account's wrapped keys are stored",
        "the account has no keys yet",
        "set a passphrase: log in with a client (`cairn login`) to make the account's keys",
    );
    add(
        "recovery_key",
        keys.recovery,
        CheckResult::Warn,
        "a recovery key is set up",
        "there is no recovery key: a forgotten passphrase loses everything",
        "set up a recovery key (`cairn recovery-key`) and keep it in a safe place",
    );
    add(
        "sealed_content",
        keys.unsealed_files == 0,
        CheckResult::Fail,
        "every file has a wrapped content key",
        "there are files without a content key",
        "upload the files without a key again with a client that has the passphrase",
    );
    Ok(Json(EncryptionDiagnosis {
        encryption_ready: keys.bundle && keys.unsealed_files == 0,
        recovery_key_configured: keys.recovery,
        checks,
        recommendations,
    }))
}
