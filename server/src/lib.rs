//! The bundled server: the whole REST API over SQLite and a folder of objects (blobs of chunks that clients encrypted).
//!
//! [`build`] makes a [`Server`] of [`Options`], [`build_dev`] one for development; its router serves
//! over TCP ([`serve`]) or in-process. The server never sees a key or plaintext and depends on no
//! crate that could open anything.

mod config;
mod logging;

pub use cairn_dev::{
    DevAccess, Print, build as build_dev, build_reachable as build_dev_reachable, receive,
    refuse_development_data, replace_revoked_keys,
};
pub use cairn_service::{
    Backup, Checked, ConnectionLimits, CorsOptions, Error, MailOptions, MetricsOptions, Options,
    RateLimits, RegisteredClient, Result, Server, TelemetryOptions, build, check_password, openapi,
    restore, serve, serve_metrics,
};
pub use cairn_store::{
    AccountCondition, AccountOverview, AnswerReport, Clock, Expiry, KeptRevisions, Limits,
    NewLimits, ObjectLocation, PostgresUrl, ReportDecision, ReportOverview, Rotated, Session,
    Source, TeamOverview, rotate_records_key,
};
pub use config::load as load_config;
pub use logging::{LogFormat, start_log};
