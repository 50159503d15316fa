//! The questions before money is spent or paid out.

use super::{Asking, known, quote, text};
use crate::call::Call;
use crate::error::ToolError;
use crate::tool::Verb;
use cairn_wire::Amount;
use futures_util::FutureExt as _;
use serde_json::Value;

pub(crate) fn subscribe(call: &Call) -> Asking<'_> {
    async move {
        let id = call.arguments.text("plan_uuid").unwrap_or_default();
        let path = ["payment", "creator", "plans", id];
        let plan = known::look_up(call, &path, ("plan_uuid", id)).await?;
        let (Some(name), Some(price)) = (text(&plan, "name"), text(&plan, "price_monthly")) else {
            return Ok(Some(format!(
                "Subscribe to the plan {} and pay its price, which the service doesn't tell, every 30 days until you cancel it?",
                quote(id)
            )));
        };
        let creator = text(&plan, "creator_id").unwrap_or_default();
        let path = ["social", "profiles", &creator];
        let profile = call.request(Verb::Get, &path, &[], None).await;
        let creator_name = display_name(&profile.unwrap_or_default());
        Ok(Some(format!(
            "Subscribe to {} of {} and pay {price} {} every 30 days until you cancel it?",
            quote(&name),
            quote(creator_name.as_deref().unwrap_or(&creator)),
            text(&plan, "currency").unwrap_or_default().to_uppercase()
        )))
    }
    .boxed()
}

pub(crate) fn send_tip(call: &Call) -> Asking<'_> {
    async move {
        let id = call.arguments.text("tip_jar_uuid").unwrap_or_default();
        let path = ["social", "tip-jars", id];
        let holder = known::look_up(call, &path, ("tip_jar_uuid", id)).await?;
        let holder = display_name(&holder);
        let to = match holder {
            Some(name) => quote(&name),
            None => format!("the holder of the tip jar {}", quote(id)),
        };
        let amount = match call.arguments.get("token_amount") {
            Some(cents) if call.arguments.text("currency_type") == Some("tokens") => {
                format!("tokens worth {cents} cents from your wallet")
            }
            Some(_) | None => {
                let amount = call.arguments.text("amount").unwrap_or_default();
                format!("{amount} USD from your card")
            }
        };
        let anonymously = if call.arguments.flag("is_anonymous") == Some(true) {
            ", without your name"
        } else {
            ""
        };
        let message = call
            .arguments
            .text("message")
            .filter(|text| !text.is_empty());
        let message = message.map_or_else(String::new, |text| format!(" It says {}.", quote(text)));
        Ok(Some(format!(
            "Tip {to} with {amount}{anonymously}? It can't be undone.{message}"
        )))
    }
    .boxed()
}

pub(crate) fn withdraw(call: &Call) -> Asking<'_> {
    async move {
        let amount = call.arguments.text("amount").unwrap_or_default();
        let wallet = call
            .request(Verb::Get, &["payment", "wallet"], &[], None)
            .await;
        let balance = wallet
            .ok()
            .and_then(|wallet| text(&wallet, "token_balance"));
        let balance = balance.unwrap_or_default();
        if exceeds(amount, &balance) {
            return Err(ToolError::refused(format!(
                "your wallet has {balance} tokens, which is less than {amount}"
            )));
        }
        let of = if balance.is_empty() {
            balance
        } else {
            format!(" of the {balance} in your wallet")
        };
        Ok(Some(format!(
            "Pay out {amount} tokens{of}? It can't be undone."
        )))
    }
    .boxed()
}

/// Returns true if an amount is more than there is, as far as both are known.
fn exceeds(amount: &str, balance: &str) -> bool {
    let amounts = amount.parse::<Amount>().ok().zip(balance.parse().ok());
    amounts.is_some_and(|(wanted, there)| wanted > there)
}

fn display_name(profile: &Value) -> Option<String> {
    text(profile, "display_name").filter(|name| !name.is_empty())
}
