//! Header names of our own, and where they are used.

/// The device that makes a change; comes back as `device_id` in the feed.
pub const DEVICE_ID: &str = "x-device-id";
/// On every response; quoted in reports.
pub const REQUEST_ID: &str = "x-request-id";
/// Makes a creating POST safe to repeat for 24 hours.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// RFC 9530 digest of a body: `sha-256=:BASE64:` or `sha-512=:BASE64:`.
pub const CONTENT_DIGEST: &str = "content-digest";
/// The node seal of a DELETE, which has no body (base64).
pub const NODE_SEAL: &str = "x-node-seal";
/// The space that a request acts in; the caller's own where it is absent.
pub const SPACE_ID: &str = "x-space-id";
/// The token of a share link's visit or download.
pub const SHARE_ACCESS: &str = "x-share-access";
