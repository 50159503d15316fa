//! The command line of the bundled server; stdout carries nothing but what each command promises.

use anyhow::{Context as _, Result, bail};
use cairn_server::{
    LogFormat, Options, Reach, Server, build, build_dev, build_dev_reachable, load_config, openapi,
    receive, refuse_development_data, replace_revoked_keys, serve, start_log,
};
use clap::{Args, Parser, Subcommand};
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::net::TcpListener;

/// The fewest characters of a password.
const MIN_PASSWORD: usize = 8;

/// The bundled storage server: one process, SQLite and a folder of sealed chunks.
#[derive(Parser)]
#[command(name = "cairn-server", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the API (the default).
    Serve(Serve),
    /// Manage accounts.
    #[command(subcommand)]
    User(User),
    /// Make an API key for an account and print it, this once.
    Apikey {
        email: String,
        #[command(flatten)]
        place: Place,
    },
    /// Print an access token for an account, valid for ten minutes.
    Token {
        email: String,
        #[command(flatten)]
        place: Place,
    },
    /// Print the OpenAPI document.
    Openapi {
        /// Only that of one module, such as `nodes`.
        module: Option<String>,
    },
    /// Receive webhooks: check signatures, drop repetitions, print each delivery as a line of JSON.
    WebhookSink {
        /// Address to listen on; port 0 picks a free one.
        #[arg(long, default_value = "127.0.0.1:8788")]
        listen: SocketAddr,
        /// The webhook's secret; without it nothing is checked.
        #[arg(long, env = "CAIRN_WEBHOOK_SECRET", hide_env_values = true)]
        secret: Option<String>,
    },
}

#[derive(Subcommand)]
enum User {
    /// Make an account; the password is asked for, or read from stdin.
    Add {
        email: String,
        /// Read the password from the first line of stdin.
        #[arg(long)]
        password_stdin: bool,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Args)]
struct Place {
    /// Directory of the database and the chunks.
    #[arg(long, env = "CAIRN_SERVER_DATA", default_value = "cairn-server-data")]
    data: PathBuf,
    /// Configuration file (TOML).
    #[arg(long)]
    config: Option<PathBuf>,
}

#[derive(Args)]
struct Serve {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, default_value = "127.0.0.1:8787")]
    listen: SocketAddr,
    /// Keep everything in memory.
    #[arg(long, conflicts_with = "data")]
    ephemeral: bool,
    /// Serve /_dev and make the development accounts, for this machine alone.
    #[arg(long)]
    dev: bool,
    /// Let other machines reach a development server, too: everyone who does can read and delete all.
    #[arg(long, requires = "dev")]
    dev_open: bool,
    /// Let webhooks go to private addresses, without TLS.
    #[arg(long)]
    allow_private_webhooks: bool,
    #[command(flatten)]
    place: Place,
}

impl Place {
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
        start_log(format);
        Ok(options)
    }

    fn server(&self) -> Result<Server> {
        Ok(build(self.options()?)?)
    }
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nowhere left to report a broken stderr.
            drop(writeln!(std::io::stderr(), "cairn-server: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .context("can't write to stdout")
}

fn run(cli: Cli) -> Result<()> {
    match cli.command {
        None => listen(&cli.serve),
        Some(Command::Serve(serve)) => listen(&serve),
        Some(Command::User(User::Add {
            email,
            password_stdin,
            place,
        })) => {
            let password = password(password_stdin)?;
            let id = place.server()?.add_user(&email, &password)?;
            say(&id.to_string())
        }
        Some(Command::Apikey { email, place }) => say(&place.server()?.create_api_key(&email)?),
        Some(Command::Token { email, place }) => say(&place.server()?.issue_token(&email)?),
        Some(Command::WebhookSink { listen, secret }) => {
            start_log(LogFormat::default());
            runtime()?.block_on(sink(listen, secret))
        }
        Some(Command::Openapi { module: None }) => {
            say(&serde_json::to_string_pretty(openapi::document())?)
        }
        Some(Command::Openapi { module: Some(name) }) => {
            let document = openapi::module(&name).with_context(|| {
                let known = openapi::modules().join(", ");
                format!("there is no module {name}; the modules are {known}")
            })?;
            say(&serde_json::to_string_pretty(&document)?)
        }
    }
}

fn password(from_stdin: bool) -> Result<String> {
    let password = if from_stdin || !std::io::stdin().is_terminal() {
        let mut line = String::new();
        std::io::stdin()
            .lock()
            .read_line(&mut line)
            .context("can't read the password from stdin")?;
        line.trim_end_matches(['\r', '\n']).to_owned()
    } else {
        let password =
            rpassword::prompt_password("Password: ").context("can't read the password")?;
        let again =
            rpassword::prompt_password("Password again: ").context("can't read the password")?;
        if password != again {
            bail!("the two passwords differ; try again");
        }
        password
    };
    if password.chars().count() < MIN_PASSWORD {
        bail!("the password has to have at least {MIN_PASSWORD} characters");
    }
    Ok(password)
}

fn listen(serve: &Serve) -> Result<()> {
    let options = Options {
        ephemeral: serve.ephemeral,
        allow_private_webhooks: serve.allow_private_webhooks,
        ..serve.place.options()?
    };
    if options.public_url.is_none() && !serve.dev {
        tracing::warn!(
            "public_url is not configured: share links, addresses for chunks and the issuer of tokens are \
             made from the host that a request names, which whoever sends it can choose; set public_url in \
             the file of --config"
        );
    }
    let server = build_server(serve, options)?;
    let keys = if serve.dev {
        replace_revoked_keys(&server)?
    } else {
        Vec::new()
    };
    runtime()?.block_on(until_asked(serve.listen, server, &keys))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("can't start the runtime")
}

async fn sink(address: SocketAddr, secret: Option<String>) -> Result<()> {
    let stop = stop()?;
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("can't listen on {address}; is something running there?"))?;
    let address = listener.local_addr().context("can't read the address")?;
    say(&format!("webhook-sink listening on http://{address}"))?;
    // A reader that went away ends nothing: deliveries are still answered.
    let print = Box::new(|line: &str| drop(say(line)));
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
        return Ok(build_dev_reachable(options, Reach::Anyone)?);
    }
    if !serve.listen.ip().is_loopback() {
        bail!(
            "--dev with --listen {} would let every machine that reaches this one read and delete all; \
             listen on 127.0.0.1, or add --dev-open",
            serve.listen
        );
    }
    Ok(build_dev(options)?)
}

/// Serves until asked to end. `keys` are API keys of development accounts that were made at this start;
/// they stand on stdout for the developer, and in no log.
async fn until_asked(address: SocketAddr, server: Server, keys: &[(String, String)]) -> Result<()> {
    let stop = stop()?;
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("can't listen on {address}; is another server running there?"))?;
    let address = listener.local_addr().context("can't read the address")?;
    say(&format!("cairn-server listening on http://{address}"))?;
    for (email, key) in keys {
        say(&format!("new API key of {email}: {key}"))?;
    }
    serve(&server, listener, stop).await?;
    Ok(())
}

/// Ends at SIGTERM or SIGINT. The handlers are in place before the server says that it listens.
#[cfg(unix)]
fn stop() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("can't wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("can't wait for SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop() -> Result<impl Future<Output = ()>> {
    Ok(async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "can't wait for Ctrl-C");
            std::future::pending::<()>().await;
        }
    })
}
