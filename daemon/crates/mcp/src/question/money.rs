//! The questions before money is spent or paid out.

use super::{Asking, quote, text};
use crate::call::Call;
use crate::tool::Verb;
use futures_util::FutureExt as _;
use serde_json::Value;

pub(crate) fn subscribe(call: &Call) -> Asking<'_> {
    async move {
        let id = call.arguments.text("plan_uuid").unwrap_or_default();
        let path = ["payment", "creator", "plans", id];
        let plan = call.request(Verb::Get, &path, &[], None).await;
        let plan = plan.unwrap_or_default();
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
        let holder = call.request(Verb::Get, &path, &[], None).await;
        let holder = display_name(&holder.unwrap_or_default());
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
        let of = wallet
            .ok()
            .and_then(|wallet| text(&wallet, "token_balance"))
            .map_or_else(String::new, |balance| {
                format!(" of the {balance} in your wallet")
            });
        Ok(Some(format!(
            "Pay out {amount} tokens{of}? It can't be undone."
        )))
    }
    .boxed()
}

fn display_name(profile: &Value) -> Option<String> {
    text(profile, "display_name").filter(|name| !name.is_empty())
}
