//! The steps of the schema in each database.

/// Numbered and never edited once released; `user_version` counts those that ran.
pub(crate) const SQLITE: [&str; 31] = [
    include_str!("../sql/0001_core.sql"),
    include_str!("../sql/0010_webhooks.sql"),
    include_str!("../sql/0011_identity.sql"),
    include_str!("../sql/0012_content.sql"),
    include_str!("../sql/0020_teams.sql"),
    include_str!("../sql/0021_people.sql"),
    include_str!("../sql/0022_payments.sql"),
    include_str!("../sql/0030_trash_index.sql"),
    include_str!("../sql/0031_stored_bytes.sql"),
    include_str!("../sql/0032_ai_tokens.sql"),
    include_str!("../sql/0033_device_use.sql"),
    include_str!("../sql/0034_upload_spaces.sql"),
    include_str!("../sql/0035_account_admin.sql"),
    include_str!("../sql/0036_link_keys.sql"),
    include_str!("../sql/0037_unused_chunks.sql"),
    include_str!("../sql/0038_chunk_objects.sql"),
    include_str!("../sql/0039_mail_delivery.sql"),
    include_str!("../sql/0040_space_logs.sql"),
    include_str!("../sql/0041_space_objects.sql"),
    include_str!("../sql/0050_contents.sql"),
    include_str!("../sql/0051_second_factor.sql"),
    include_str!("../sql/0052_administrators.sql"),
    include_str!("../sql/0053_left_behind.sql"),
    include_str!("../sql/0055_counted_metadata.sql"),
    include_str!("../sql/0056_kept_responses.sql"),
    include_str!("../sql/0057_visit_nodes.sql"),
    include_str!("../sql/0058_search_again.sql"),
    include_str!("../sql/0059_space_log_limits.sql"),
    include_str!("../sql/0060_node_past.sql"),
    include_str!("../sql/0061_copied_revisions.sql"),
    include_str!("../sql/0062_chunk_digests.sql"),
];

/// The migrations of PostgreSQL, which begin with what SQLite's add up to.
pub(crate) const POSTGRES: [&str; 6] = [
    include_str!("../sql/postgres/0001_tables.sql"),
    include_str!("../sql/postgres/0002_triggers.sql"),
    include_str!("../sql/postgres/0003_node_past.sql"),
    include_str!("../sql/postgres/0004_several_servers.sql"),
    include_str!("../sql/postgres/0005_copied_revisions.sql"),
    include_str!("../sql/postgres/0006_chunk_digests.sql"),
];
