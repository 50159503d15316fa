//! AI tokens: what is left, and what can be bought.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use cairn_wire::payments::{TokenBalance, TokenPacks};

impl Api {
    /// `GET /payment/tokens/balance`.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn token_balance(&self) -> Result<TokenBalance, ApiError> {
        self.json(Call::get("/api/v1/payment/tokens/balance")).await
    }

    /// `GET /payment/tokens/packs`: the packs, and where to pay for them.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn token_packs(&self) -> Result<TokenPacks, ApiError> {
        self.json(Call::get("/api/v1/payment/tokens/packs")).await
    }
}
