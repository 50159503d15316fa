//! Diagnostics: `/api/v1/diagnostics`.

use serde::{Deserialize, Serialize};

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckResult {
    Pass,
    Warn,
    Fail,
}

/// One check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DiagnosticCheck {
    pub name: String,
    pub status: CheckResult,
    pub message: String,
}

/// Response of `GET /diagnostics/upload`: `storage_quota`, `bandwidth`, `file_count`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UploadDiagnosis {
    /// `ready`, `warning` or `upload_blocked`.
    pub diagnosis: String,
    pub checks: Vec<DiagnosticCheck>,
}

/// Response of `GET /diagnostics/encryption`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct EncryptionDiagnosis {
    pub encryption_ready: bool,
    pub recovery_key_configured: bool,
    pub checks: Vec<DiagnosticCheck>,
    pub recommendations: Vec<String>,
}
