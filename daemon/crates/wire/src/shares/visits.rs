//! The access log of a share link, as its owner sees it: each visit is an opening, a download, or an attempt that was
//! refused. An access is an opening, in all numbers.

use crate::{Page, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of a visit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum VisitAction {
    Opened,
    Downloaded,
    Denied,
}

/// One visit of a link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccessEntry {
    /// The address that the visitor gave, or `anonymous`.
    pub email: String,
    /// The last octet (IPv4) or the last four groups (IPv6) are masked; nothing else is kept.
    pub masked_ip: String,
    pub bytes_served: u64,
    pub action: VisitAction,
    pub at: Timestamp,
}

/// Query of `GET /shares/{id}/audit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct AuditQuery {
    /// Visits from this time on; a day alone, such as `2026-01-31`, begins at midnight UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>, format = DateTime))]
    pub date_from: Option<String>,
    /// Visits up to this time; a day alone is meant to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>, format = DateTime))]
    pub date_to: Option<String>,
    /// Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_summary: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}

/// One visit in an audit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    #[serde(flatten)]
    pub entry: AccessEntry,
    /// Such as `1.5 MiB`.
    pub bytes_formatted: String,
}

/// The sums of an audit's entries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditSummary {
    /// The number of times that the link was opened; over all time it is the link's `access_count`.
    pub total_accesses: u64,
    /// The number of downloads that were begun; over all time it is the link's `download_count`.
    #[serde(default)]
    pub total_downloads: u64,
    /// Attempts that were refused, such as with a wrong password. They are no accesses, and nobody of them a visitor.
    #[serde(default)]
    pub total_denied: u64,
    pub unique_visitors_by_email: u64,
    /// Masked addresses, so that neighbours count as one.
    pub unique_visitors_by_ip: u64,
    pub total_bytes_served: u64,
    pub total_bytes_formatted: String,
    /// `2026-01-31` → accesses of that day, UTC.
    pub accesses_by_day: BTreeMap<String, u64>,
}

/// Response of `GET /shares/{id}/audit`, newest first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Audit {
    #[serde(flatten)]
    pub page: Page<AuditEntry>,
    /// The summary of all entries, not of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<AuditSummary>,
}
