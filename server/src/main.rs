//! The command line of the bundled server; stdout has only the documented output of each command.

mod accounts;
mod backup;
mod cli;
mod health;
mod keys;
mod output;
mod password;
mod reports;
mod signals;
mod teams;

use anyhow::{Context as _, Result, bail};
use cairn_server::{
    DevAccess, LogFormat, Options, PostgresUrl, Server, build, build_dev, build_dev_reachable,
    load_config, openapi, receive, refuse_development_data, replace_revoked_keys, serve,
    serve_metrics, start_log,
};
use clap::Parser as _;
use cli::{Account, Cli, Command, DataOptions, Serve, with_options_last};
use output::{json, print_line, print_line_once};
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use tokio::net::TcpListener;

impl DataOptions {
    /// Reads the configuration, and starts the log in the form that it asks for.
    fn options(&self) -> Result<Options> {
        let mut options = Options {
            data: self.data.clone(),
            ..Options::default()
        };
        let format = match &self.config {
            Some(config) => load_config(config, &mut options)?,
            None => LogFormat::default(),
        };
        if let Some(url) = &self.database {
            options.database = Some(PostgresUrl(url.clone()));
        }
        start_log(format);
        Ok(options)
    }

    fn server(&self) -> Result<Server> {
        Ok(build(self.options()?)?)
    }

    /// Opens the server's data, which has to be there.
    fn existing_server(&self) -> Result<Server> {
        self.open(self.options()?)
    }

    /// Opens the data of a server with these options, which has to be there.
    fn open(&self, options: Options) -> Result<Server> {
        self.check_data(&options)?;
        Ok(build(options)?)
    }

    /// Refuses a directory without a server's data: a typo must not make a second, empty server.
    fn check_data(&self, options: &Options) -> Result<()> {
        if !self.data.is_dir() {
            bail!(
                "there is no directory {}; check --data. `cairn-server serve` and `cairn-server user add` create it",
                self.data.display()
            );
        }
        if options.database.is_none() && !self.data.join("cairn.db").is_file() {
            bail!(
                "{} holds no data of a server; check --data",
                self.data.display()
            );
        }
        Ok(())
    }
}

impl Account {
    fn server(&self) -> Result<Server> {
        self.options.existing_server()
    }
}

fn main() -> ExitCode {
    match run(Cli::parse_from(with_options_last(
        std::env::args_os().collect(),
    ))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nowhere left to report a broken stderr.
            drop(writeln!(
                std::io::stderr(),
                "cairn-server: {}",
                in_one_line(&error)
            ));
            ExitCode::FAILURE
        }
    }
}

/// Returns an error with its causes, each said once: some errors name their cause themselves.
fn in_one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            let gap = if text.is_empty() { "" } else { ": " };
            text.push_str(gap);
            text.push_str(&cause);
        }
    }
    text
}

fn run(cli: Cli) -> Result<()> {
    match cli.command {
        None => listen(&cli.serve),
        Some(Command::Serve(serve)) => listen(&serve),
        Some(Command::User { command }) => accounts::user(command),
        Some(Command::Team { command }) => teams::teams(command),
        Some(Command::Apikey {
            command: Some(command),
            ..
        }) => accounts::api_key(command),
        Some(Command::Apikey {
            command: None,
            email,
            options,
        }) => {
            let email = email.context(
                "the e-mail address of the account is missing; see `cairn-server apikey --help`",
            )?;
            accounts::add_key(&Account { email, options }, accounts::KEY_NAME)
        }
        Some(Command::Keys { command }) => keys::keys(&command),
        Some(Command::Reports { command }) => reports::reports(command),
        Some(Command::Token(account)) => {
            let token = account.server()?.issue_token(&account.email)?;
            if account.options.json {
                return json(&serde_json::json!({"access_token": token}));
            }
            print_line(&token)
        }
        Some(Command::Backup { dir, options }) => backup::back_up(&options, &dir),
        Some(Command::Restore { dir, options }) => backup::restore_to(&options, &dir),
        Some(Command::Check { read_data, options }) => backup::check(&options, read_data),
        Some(Command::Health { address }) => health::ask(address),
        Some(Command::WebhookSink { listen, secret }) => {
            start_log(LogFormat::default());
            runtime()?.block_on(sink(listen, secret))
        }
        Some(Command::Openapi { module: None }) => json(openapi::document()),
        Some(Command::Openapi { module: Some(name) }) => {
            let document = openapi::module(&name).with_context(|| {
                let known = openapi::modules().join(", ");
                format!("there is no module {name}; the modules are {known}")
            })?;
            json(&document)
        }
    }
}

fn listen(serve: &Serve) -> Result<()> {
    if serve.options.json {
        bail!(
            "--json can't be used with `serve`; for a log in JSON, set log_format = \"json\" in the configuration \
             file (--config)"
        );
    }
    let options = Options {
        ephemeral: serve.ephemeral,
        serving: true,
        allow_private_webhooks: serve.allow_private_webhooks,
        ..serve.options.options()?
    };
    if options.public_url.is_none() && !serve.dev {
        tracing::warn!(
            "public_url is not configured: share links, addresses for chunks and the issuer of tokens are \
             built from the host name in each request, which its sender can choose; set public_url in the \
             configuration file (--config)"
        );
    }
    let server = build_server(serve, options)?;
    let keys = if serve.dev {
        replace_revoked_keys(&server)?
    } else {
        Vec::new()
    };
    runtime()?.block_on(serve_until_stopped(serve.listen, server, &keys))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("can't start the runtime")
}

async fn sink(address: SocketAddr, secret: Option<String>) -> Result<()> {
    let stop = signals::stop()?;
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("can't listen on {address}; is something running there?"))?;
    let address = listener.local_addr().context("can't read the address")?;
    print_line(&format!("webhook-sink listening on http://{address}"))?;
    // If stdout is closed, deliveries are still answered.
    let print = Box::new(|line: &str| drop(print_line(line)));
    receive(listener, secret, print, stop).await?;
    Ok(())
}

fn build_server(serve: &Serve, options: Options) -> Result<Server> {
    if !serve.dev {
        let server = build(options)?;
        refuse_development_data(&server)?;
        return Ok(server);
    }
    if serve.dev_open {
        return Ok(build_dev_reachable(options, DevAccess::Anyone)?);
    }
    if !serve.listen.ip().is_loopback() {
        bail!(
            "--dev with --listen {} would let every machine that reaches this one read and delete everything; \
             listen on 127.0.0.1, or add --dev-open",
            serve.listen
        );
    }
    Ok(build_dev(options)?)
}

/// Serves until a stop signal. `keys` are pairs of e-mail address and API key of the development accounts, made
/// at this start; they are printed to stdout and not logged.
async fn serve_until_stopped(
    address: SocketAddr,
    server: Server,
    keys: &[(String, String)],
) -> Result<()> {
    let stop = signals::stop()?;
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("can't listen on {address}; is another server running there?"))?;
    let address = listener.local_addr().context("can't read the address")?;
    let metrics = match server.state().options().metrics.listen {
        Some(address) => Some(TcpListener::bind(address).await.with_context(|| {
            format!("can't serve metrics on {address}; is something running there?")
        })?),
        None => None,
    };
    print_line(&format!("cairn-server listening on http://{address}"))?;
    if let Some(listener) = metrics {
        let address = listener.local_addr().context("can't read the address")?;
        print_line(&format!("metrics at http://{address}/metrics"))?;
        tokio::spawn(serve_metrics(server.clone(), listener));
    }
    for (email, key) in keys {
        print_line_once(&format!("new API key of {email}: {key}"))?;
    }
    serve(&server, listener, stop).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_shown_once() {
        let error = anyhow::anyhow!("no such file")
            .context("can't read a.toml: no such file")
            .context("can't start");
        assert_eq!(
            in_one_line(&error),
            "can't start: can't read a.toml: no such file"
        );
    }
}
