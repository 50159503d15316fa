//! The defaults of an account's new links, and the look of their pages.

use super::AccessMode;
use serde::{Deserialize, Serialize};

/// The defaults of new links: `GET` and `PUT /shares/defaults`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct ShareDefaults {
    /// 0: links don't expire.
    pub default_expiry_days: f64,
    pub default_access_mode: AccessMode,
    pub notify_on_download: bool,
}

/// `PUT /shares/defaults`: only the given fields change.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UpdateShareDefaults {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_expiry_days: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_access_mode: Option<AccessMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify_on_download: Option<bool>,
}

/// The look of the pages of an account's links; empty fields are not shown.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct ShareTheme {
    pub display_name: String,
    pub bio: String,
    pub logo_url: String,
    pub accent_color: String,
    pub background_color: String,
    pub css_class: String,
}

/// `PUT /shares/theme`: only the given fields change; an empty text clears one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UpdateShareTheme {
    /// At most 100 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// At most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bio: Option<String>,
    /// `https://…`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_url: Option<String>,
    /// `#RRGGBB`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accent_color: Option<String>,
    /// `#RRGGBB`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_color: Option<String>,
    /// `theme-dark`, `theme-light`, `theme-minimal`, `theme-bold`, `theme-elegant` or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub css_class: Option<String>,
}
