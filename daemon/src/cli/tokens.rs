//! `cairn tokens`: AI tokens that are left, and packs of them.

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::output::table::{Align, Table};

/// Show the AI tokens that are left, and what more of them cost
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Show how many tokens are left [default]
    Balance,
    /// Show the packs that can be bought, and where
    Packs,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Some(Action::Balance) | None => balance(app).await,
        Some(Action::Packs) => packs(app).await,
    }
}

async fn balance(app: &App) -> CommandResult {
    let balance = app
        .session()?
        .api
        .token_balance()
        .await
        .context("ask for the token balance")?;
    app.out.line(format_args!(
        "{} AI tokens left: {} of what the plan includes this month, {} bought ({} were bought so far, {} of them used)",
        balance.balance,
        balance.included,
        balance.purchased.saturating_sub(balance.used),
        balance.purchased,
        balance.used
    ));
    app.out.json(&balance);
    Ok(())
}

async fn packs(app: &App) -> CommandResult {
    let response = app
        .session()?
        .api
        .token_packs()
        .await
        .context("ask for the packs of tokens")?;
    let mut table = Table::new(&[
        ("PACK", Align::Left),
        ("TOKENS", Align::Right),
        ("PRICE", Align::Right),
    ]);
    for pack in &response.packs {
        table.row([
            pack.name.clone(),
            pack.tokens.to_string(),
            format!("{} {}", pack.price, pack.currency),
        ]);
    }
    table.print(&app.out, "There are no packs.");
    app.out.line(format_args!(
        "Buy them at {}",
        crate::output::text::clean(&response.checkout_url)
    ));
    app.out.json(&response);
    Ok(())
}
