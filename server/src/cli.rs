//! The words of the command line.

use cairn_server::NewLimits;
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use uuid::Uuid;

/// The bundled storage server: one process, SQLite or PostgreSQL, and a folder of sealed chunks.
#[derive(Parser)]
#[command(name = "cairn-server", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve the API (the default).
    Serve(Serve),
    /// Manage accounts.
    User {
        #[command(subcommand)]
        command: User,
    },
    /// Manage teams.
    Team {
        #[command(subcommand)]
        command: Team,
    },
    /// Manage the API keys of an account; with an address alone, make one and print it, this once.
    #[command(args_conflicts_with_subcommands = true)]
    Apikey {
        #[command(subcommand)]
        command: Option<ApiKey>,
        /// The e-mail address of the account.
        email: Option<String>,
        #[command(flatten)]
        options: DataOptions,
    },
    /// Manage the server's own keys.
    Keys {
        #[command(subcommand)]
        command: Keys,
    },
    /// Read and answer the reports that users made about others.
    Reports {
        #[command(subcommand)]
        command: Reports,
    },
    /// Print an access token for an account, valid for ten minutes.
    Token(Account),
    /// Copy the data of a server, which may be running, into a new directory.
    Backup {
        /// The directory to write; it must not exist, or be empty.
        dir: PathBuf,
        #[command(flatten)]
        options: DataOptions,
    },
    /// Make a new data directory (--data) of a backup.
    Restore {
        /// The directory of the backup.
        dir: PathBuf,
        #[command(flatten)]
        options: DataOptions,
    },
    /// Check that everything the database refers to is there.
    Check {
        /// Read the contents of all objects, too.
        #[arg(long)]
        read_data: bool,
        #[command(flatten)]
        options: DataOptions,
    },
    /// Ask a running server whether it is ready; ends with 1 if it is not. For the health check of a container.
    Health {
        /// The address of the server.
        #[arg(long, default_value = "127.0.0.1:8787")]
        address: SocketAddr,
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
pub(crate) enum User {
    /// Make an account; the password is asked for, or read from stdin.
    Add {
        #[command(flatten)]
        account: Account,
        /// Read the password from the first line of stdin.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Offer an account: mails the address a link, or prints it to hand over where no mail is sent.
    Invite(Account),
    /// List all accounts, with what they use.
    List(DataOptions),
    /// Show one account.
    Show(Account),
    /// Switch an account off: its logins end, its keys and links stop, its data stays.
    Disable(Account),
    /// Switch a disabled account on again.
    Enable(Account),
    /// Show whether an account administers the others over REST, or change it.
    Role {
        #[command(flatten)]
        account: Account,
        /// The role from now on.
        #[arg(long)]
        set: Option<Role>,
    },
    /// Delete an account and its files after 60 days, in which its owner can still cancel it.
    Delete {
        #[command(flatten)]
        account: Account,
        /// Don't ask.
        #[arg(long)]
        yes: bool,
        /// Delete at once: nothing brings the files back.
        #[arg(long)]
        now: bool,
    },
    /// Show what an account may use, or change it: bytes, also as 500MB, 20GiB or 1TB.
    Quota {
        #[command(flatten)]
        account: Account,
        #[command(flatten)]
        quota: NewQuota,
    },
    /// Give an account a new password, which ends its logins; its files stay sealed as they are.
    ResetPassword {
        #[command(flatten)]
        account: Account,
        /// Read the password from the first line of stdin.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Take the second factor away from an account whose owner has lost it; the password alone logs in then.
    #[command(name = "reset-2fa")]
    ResetSecondFactor(Account),
    /// List the logins of an account, or end them.
    Sessions {
        #[command(flatten)]
        account: Account,
        /// End this login.
        #[arg(long, value_name = "ID")]
        end: Option<Uuid>,
        /// End all logins.
        #[arg(long, conflicts_with = "end")]
        end_all: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum Team {
    /// List all teams, with what they use.
    List(DataOptions),
    /// Show what a team may use, or change it: bytes, also as 500MB, 20GiB or 1TB.
    Quota {
        /// The name of the team, or its id.
        team: String,
        #[command(flatten)]
        quota: NewQuota,
        #[command(flatten)]
        options: DataOptions,
    },
}

/// Limits to be changed; what is absent stays as it is.
#[derive(Args)]
pub(crate) struct NewQuota {
    /// Everything that is stored, with all versions and the trash.
    #[arg(long, value_parser = bytes)]
    storage: Option<u64>,
    /// In a month.
    #[arg(long, value_parser = bytes)]
    bandwidth: Option<u64>,
    /// The number of files.
    #[arg(long)]
    files: Option<u64>,
}

impl NewQuota {
    pub(crate) fn limits(&self) -> NewLimits {
        NewLimits {
            storage: self.storage,
            bandwidth: self.bandwidth,
            files: self.files,
        }
    }
}

/// The roles of accounts.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Role {
    /// Administers other accounts.
    Admin,
    /// Has files.
    User,
}

#[derive(Subcommand)]
pub(crate) enum ApiKey {
    /// Make a key and print it, this once.
    Add {
        #[command(flatten)]
        account: Account,
        /// The name that lists show.
        #[arg(long, default_value = crate::accounts::KEY_NAME)]
        name: String,
    },
    /// List the keys of an account.
    List(Account),
    /// Revoke a key, named by its id or its first characters.
    Revoke {
        #[command(flatten)]
        account: Account,
        /// The id of the key, or its first characters.
        key: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum Keys {
    /// Replace records.key, and seal with the new one what lies sealed in the database. The server has to be
    /// stopped; what a crash interrupts, the next call completes.
    Rotate {
        /// Replace the keys that sign tokens instead: access and ID tokens, open login pages and addresses of the
        /// billing portal from before are refused. Logins and API keys stay.
        #[arg(long)]
        signing: bool,
        #[command(flatten)]
        options: DataOptions,
    },
}

#[derive(Subcommand)]
pub(crate) enum Reports {
    /// List the reports that nobody has answered, latest first.
    List {
        /// Show answered ones, too.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        options: DataOptions,
    },
    /// Answer a report; the one who made it gets a notification.
    Answer {
        /// The id of the report.
        id: Uuid,
        /// The decision.
        #[arg(long)]
        status: Decision,
        /// A text for the one who made the report, at most 1000 characters.
        #[arg(long, default_value = "")]
        text: String,
        #[command(flatten)]
        options: DataOptions,
    },
}

/// The decisions about a report.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Decision {
    /// Something was done about it.
    ActionTaken,
    /// There is nothing to be done.
    Dismissed,
}

#[derive(Args)]
pub(crate) struct Account {
    /// The e-mail address of the account.
    pub(crate) email: String,
    #[command(flatten)]
    pub(crate) options: DataOptions,
}

#[derive(Args)]
pub(crate) struct DataOptions {
    /// Directory of the database and the chunks.
    #[arg(long, env = "CAIRN_SERVER_DATA", default_value = "cairn-server-data")]
    pub(crate) data: PathBuf,
    /// A PostgreSQL database (postgres://…) instead of the one in the directory.
    #[arg(
        long,
        value_name = "URL",
        env = "CAIRN_SERVER_DATABASE",
        hide_env_values = true
    )]
    pub(crate) database: Option<String>,
    /// Configuration file (TOML).
    #[arg(long)]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Serve {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, default_value = "127.0.0.1:8787")]
    pub(crate) listen: SocketAddr,
    /// Keep everything in memory.
    #[arg(long, conflicts_with_all = ["data", "database"])]
    pub(crate) ephemeral: bool,
    /// Serve /_dev and make the development accounts, for this machine alone.
    #[arg(long)]
    pub(crate) dev: bool,
    /// Let other machines reach a development server, too: everyone who does can read and delete all.
    #[arg(long, requires = "dev")]
    pub(crate) dev_open: bool,
    /// Let webhooks go to private addresses, without TLS.
    #[arg(long)]
    pub(crate) allow_private_webhooks: bool,
    #[command(flatten)]
    pub(crate) options: DataOptions,
}

/// Moves options about the data from before a command to its end, where commands read them: `cairn-server --data DIR
/// user list` is what people write. Options of `serve` stay, which is the command without a name.
pub(crate) fn with_options_last(mut words: Vec<OsString>) -> Vec<OsString> {
    let mut end = 1;
    while let Some(word) = words.get(end).and_then(|word| word.to_str()) {
        end += match word {
            "--data" | "--database" | "--config" => 2,
            "--json" => 1,
            _ if ["--data=", "--database=", "--config="]
                .iter()
                .any(|option| word.starts_with(option)) =>
            {
                1
            }
            _ => break,
        };
    }
    let has_command = words
        .get(end)
        .is_some_and(|word| !word.to_string_lossy().starts_with('-'));
    if has_command {
        let options: Vec<OsString> = words.drain(1..end).collect();
        words.extend(options);
    }
    words
}

/// Reads a number of bytes.
fn bytes(text: &str) -> Result<u64, String> {
    cairn_model::size::parse(text)
        .ok_or_else(|| format!("`{text}` is not a valid size (try 1000000, 500MB, 20GiB or 1TB)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn options_before_a_command_are_those_of_the_command() {
        let sorted = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            let words = with_options_last(words);
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            words.join(" ")
        };
        for (given, read) in [
            ("s --data d user list", "s user list --data d"),
            (
                "s --json --data=d --config c check --read-data",
                "s check --read-data --json --data=d --config c",
            ),
            ("s user add a@b.c --data d", "s user add a@b.c --data d"),
            ("s --data d --listen 1:2", "s --data d --listen 1:2"),
            ("s --data d", "s --data d"),
            ("s --data", "s --data"),
            ("s", "s"),
        ] {
            assert_eq!(sorted(given), read, "{given}");
        }
        let words = ["s", "--data", "d", "user", "list"].map(OsString::from);
        let cli = Cli::try_parse_from(with_options_last(words.to_vec())).unwrap();
        let Some(Command::User {
            command: User::List(options),
        }) = cli.command
        else {
            panic!("another command");
        };
        assert_eq!(options.data, PathBuf::from("d"));
    }

    #[test]
    fn the_words_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn bytes_have_units() {
        for (text, number) in [
            ("17", 17),
            ("2k", 2000),
            ("1GiB", 1 << 30),
            ("3TiB", 3 << 40),
        ] {
            assert_eq!(bytes(text), Ok(number), "{text}");
        }
        for wrong in ["", "G", "-1", "1X", "99999999999T"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
