//! `cairn webhooks`: addresses to which events of the account are posted, and what was sent to them.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::table::{Align, Table};
use crate::output::text::{clean, local_rfc3339};
use cairn_api::{Api, WebhookAction};
use serde_json::{Value, json};

/// Show and change webhooks
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Show all webhooks [default]
    List,
    /// Add one; its secret is shown only this once
    Add {
        /// A public https address
        url: String,
        /// An event such as file.uploaded (may be repeated)
        #[arg(long = "event", value_name = "EVENT", required = true)]
        events: Vec<String>,
    },
    /// Remove one
    Remove { id: String },
    /// Send a delivery to try it out
    Test { id: String },
    /// Send deliveries again
    Enable { id: String },
    /// Send none until it is enabled
    Disable { id: String },
    /// Make a new secret, shown only this once
    Rotate { id: String },
    /// Show the newest deliveries
    Deliveries { id: String },
    /// Send a failed delivery again
    Retry { id: String, delivery: String },
}

/// Removes a webhook that is there: a deletion whose response is lost ends well if it is gone then.
async fn remove(api: &Api, id: &str) -> CommandResult {
    let all = api.webhooks().await.context("list the webhooks")?;
    if all.iter().all(|webhook| webhook["id"] != id) {
        return Err(Failure::failed(format!(
            "there is no webhook `{}`: `cairn webhooks` lists all",
            clean(id)
        )));
    }
    api.delete_webhook(id).await.context("remove the webhook")
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let api = app.session()?.api;
    let response = match args.action {
        None | Some(Action::List) => return list(app, &api.webhooks().await?),
        Some(Action::Deliveries { id }) => {
            return deliveries(app, &api.webhook_deliveries(&id).await?);
        }
        Some(Action::Remove { id }) => {
            remove(&api, &id).await?;
            Value::Null
        }
        Some(Action::Add { url, events }) => api
            .create_webhook(&url, &events)
            .await
            .context(format_args!("add a webhook to {url}"))?,
        Some(Action::Test { id }) => act(&api, &id, WebhookAction::Test).await?,
        Some(Action::Enable { id }) => act(&api, &id, WebhookAction::Enable).await?,
        Some(Action::Disable { id }) => act(&api, &id, WebhookAction::Disable).await?,
        Some(Action::Rotate { id }) => act(&api, &id, WebhookAction::Rotate).await?,
        Some(Action::Retry { id, delivery }) => api
            .retry_delivery(&id, &delivery)
            .await
            .context("send the delivery again")?,
    };
    match response["secret"].as_str() {
        Some(secret) => app.out.line(format_args!(
            "The secret of the signature, shown only this once: {}",
            clean(secret)
        )),
        None => app.out.line("Done."),
    }
    app.out.json(&json!({ "done": true, "webhook": response }));
    Ok(())
}

async fn act(api: &Api, id: &str, action: WebhookAction) -> CommandResult<Value> {
    let what = match action {
        WebhookAction::Test => "test the webhook",
        WebhookAction::Enable => "enable the webhook",
        WebhookAction::Disable => "disable the webhook",
        WebhookAction::Rotate => "make a new secret for the webhook",
    };
    api.act_on_webhook(id, action).await.context(what)
}

fn list(app: &App, webhooks: &[Value]) -> CommandResult {
    let mut table = Table::new(&[
        ("ID", Align::Left),
        ("STATUS", Align::Left),
        ("URL", Align::Left),
        ("EVENTS", Align::Left),
    ]);
    for webhook in webhooks {
        let events = webhook["events"].as_array().into_iter().flatten();
        let events: Vec<_> = events.filter_map(Value::as_str).collect();
        table.row([
            text(&webhook["id"]),
            text(&webhook["status"]),
            text(&webhook["url"]),
            clean(&events.join(", ")),
        ]);
    }
    table.print(&app.out, "There are no webhooks.");
    app.out.json(&json!({ "webhooks": webhooks }));
    Ok(())
}

fn deliveries(app: &App, deliveries: &[Value]) -> CommandResult {
    let mut table = Table::new(&[
        ("ID", Align::Left),
        ("EVENT", Align::Left),
        ("STATE", Align::Left),
        ("ATTEMPTS", Align::Right),
        ("AT", Align::Left),
    ]);
    for delivery in deliveries {
        let attempts = delivery["attempts"].as_array().map_or(0, Vec::len);
        let at = delivery["created_at"].as_str().unwrap_or_default();
        table.row([
            text(&delivery["id"]),
            text(&delivery["event"]),
            text(&delivery["state"]),
            attempts.to_string(),
            local_rfc3339(at, &app.zone),
        ]);
    }
    table.print(&app.out, "Nothing was sent yet.");
    app.out.json(&json!({ "deliveries": deliveries }));
    Ok(())
}

fn text(value: &Value) -> String {
    clean(value.as_str().unwrap_or_default())
}
