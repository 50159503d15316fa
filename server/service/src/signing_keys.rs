//! The keys that sign what the server hands out. Each is made when it is first needed, and kept sealed in the database.

/// Signs access tokens.
pub(crate) const ACCESS_TOKENS: &str = "token_key";
/// Signs ID tokens.
pub(crate) const ID_TOKENS: &str = "id_token_key";
/// Signs what the forms of a login bring back.
pub(crate) const FORMS: &str = "form_key";
/// Signs addresses of the billing portal.
pub(crate) const BILLING: &str = "billing_key";

/// All of them.
pub(crate) const ALL: [&str; 4] = [ACCESS_TOKENS, ID_TOKENS, FORMS, BILLING];
