//! The configuration file (`--config FILE`, TOML): what rarely changes.

use crate::logging::LogFormat;
use cairn_service::{
    Error, MailOptions, MetricsOptions, Options, RateLimits, RegisteredClient, Result,
    TelemetryOptions,
};
use cairn_store::{Expiry, KeptRevisions, ObjectLocation, PostgresUrl};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    public_url: Option<String>,
    database: Option<String>,
    objects: ObjectsPart,
    limits: LimitsPart,
    rate_limits: RatePart,
    connections: ConnectionsPart,
    clients: Vec<ClientPart>,
    revisions: RevisionsPart,
    scrub: ScrubPart,
    expiry: ExpiryPart,
    behind_proxy: Option<bool>,
    access_log: Option<bool>,
    metrics: MetricsPart,
    telemetry: Option<TelemetryPart>,
    cors: CorsPart,
    mail: Option<MailPart>,
    log_format: LogFormat,
    signed_logs: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MetricsPart {
    listen: Option<SocketAddr>,
    token: Option<String>,
}

impl MetricsPart {
    fn options(self) -> MetricsOptions {
        MetricsOptions {
            listen: self.listen,
            // An empty token would let everybody in who sends an empty one.
            token: self.token.filter(|token| !token.is_empty()),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CorsPart {
    origins: Vec<String>,
}

/// No `Debug`: the address holds a password.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MailPart {
    url: String,
    from: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ObjectsPart {
    url: Option<String>,
    endpoint: Option<String>,
    region: Option<String>,
    allow_http: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsPart {
    storage: Option<u64>,
    bandwidth: Option<u64>,
    files: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RatePart {
    read: Option<u32>,
    write: Option<u32>,
    content: Option<u32>,
    logs: Option<u32>,
    open: Option<u32>,
}

impl RatePart {
    fn apply(&self, rate: &mut RateLimits) {
        rate.read = self.read.unwrap_or(rate.read);
        rate.write = self.write.unwrap_or(rate.write);
        rate.content = self.content.unwrap_or(rate.content);
        rate.logs = self.logs.unwrap_or(rate.logs);
        rate.open = self.open.unwrap_or(rate.open);
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ConnectionsPart {
    most: Option<usize>,
    /// Seconds; files from before call it `patience`.
    #[serde(alias = "patience")]
    timeout: Option<u64>,
    streams: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientPart {
    id: String,
    name: Option<String>,
    redirect_uris: Vec<String>,
    secret: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RevisionsPart {
    newest: Option<u32>,
    days: Option<u32>,
}

impl RevisionsPart {
    fn apply(&self, kept: &mut KeptRevisions) {
        kept.newest = self.newest.or(kept.newest);
        kept.days = self.days.or(kept.days);
    }
}

/// Days; 0 for never.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ExpiryPart {
    trash: Option<u32>,
    shares: Option<u32>,
    notifications: Option<u32>,
}

impl ExpiryPart {
    fn apply(&self, expiry: &mut Expiry) {
        expiry.trash_days = self.trash.unwrap_or(expiry.trash_days);
        expiry.share_days = self.shares.unwrap_or(expiry.share_days);
        expiry.notification_days = self.notifications.unwrap_or(expiry.notification_days);
    }
}

/// The collector of traces.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TelemetryPart {
    endpoint: String,
    /// 0 to 1.
    ratio: Option<f64>,
}

impl TelemetryPart {
    fn options(self) -> TelemetryOptions {
        TelemetryOptions {
            endpoint: self.endpoint,
            ratio: self.ratio.unwrap_or(1.0),
        }
    }
}

/// The check of all that is stored.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ScrubPart {
    /// 0 for never.
    days: Option<u32>,
}

/// Reads a configuration file into the options; what it does not name stays as it is. Returns the
/// form of the log.
///
/// # Errors
/// A file that can't be read; one that is not valid, with line and column.
pub fn load(path: &Path, options: &mut Options) -> Result<LogFormat> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::io(format!("can't read {}", path.display()), source))?;
    apply(&text, options).map_err(|e| Error::config(format!("{}: {e}", path.display())))
}

fn apply(text: &str, options: &mut Options) -> Result<LogFormat, toml::de::Error> {
    let file: File = toml::from_str(text)?;
    if file.public_url.is_some() {
        options.public_url = file.public_url;
    }
    if let Some(url) = file.database {
        options.database = Some(PostgresUrl(url));
    }
    let connections = &mut options.connections;
    connections.most = file.connections.most.unwrap_or(connections.most);
    let streams = file.connections.streams;
    connections.streams = streams.unwrap_or(connections.streams);
    if let Some(seconds) = file.connections.timeout {
        connections.head = Duration::from_secs(seconds);
        connections.body = connections.head;
    }
    options.clients = file
        .clients
        .into_iter()
        .map(|client| RegisteredClient {
            id: client.id,
            name: client.name,
            redirect_uris: client.redirect_uris,
            secret: client.secret,
        })
        .collect();
    if let Some(url) = file.objects.url {
        let ObjectsPart {
            endpoint,
            region,
            allow_http,
            ..
        } = file.objects;
        options.objects = ObjectLocation::S3 {
            url,
            endpoint,
            region,
            allow_http,
        };
    }
    let limits = &mut options.limits;
    limits.storage = file.limits.storage.unwrap_or(limits.storage);
    limits.bandwidth = file.limits.bandwidth.unwrap_or(limits.bandwidth);
    limits.files = file.limits.files.unwrap_or(limits.files);
    file.revisions.apply(&mut options.revisions);
    file.expiry.apply(&mut options.expiry);
    options.scrub_days = file.scrub.days.unwrap_or(options.scrub_days);
    options.behind_proxy = file.behind_proxy.unwrap_or(options.behind_proxy);
    options.access_log = file.access_log.unwrap_or(options.access_log);
    options.signed_logs = file.signed_logs.unwrap_or(options.signed_logs);
    options.metrics = file.metrics.options();
    options.telemetry = file.telemetry.map(TelemetryPart::options);
    options.cors.origins = file.cors.origins;
    options.mail = file
        .mail
        .map(|MailPart { url, from }| MailOptions { url, from });
    file.rate_limits.apply(&mut options.rate_limits);
    Ok(file.log_format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_what_it_names() {
        let mut options = Options::default();
        let text = "[limits]\nstorage = 5\n[rate_limits]\nread = 7\n[objects]\nurl = 's3://b/p'\nallow_http = true\n";
        apply(text, &mut options).unwrap();
        assert_eq!((options.limits.storage, options.rate_limits.read), (5, 7));
        assert_eq!(options.limits.files, Options::default().limits.files);
        let text = "[connections]\nmost = 7\nstreams = 5\ntimeout = 9\n[[clients]]\nid = 'a'\nredirect_uris = ['https://a.test/']\n";
        apply(text, &mut options).unwrap();
        assert_eq!(options.connections.most, 7);
        assert_eq!(options.connections.streams, 5);
        assert_eq!(options.connections.body, Duration::from_secs(9));
        assert_eq!(options.clients[0].redirect_uris, ["https://a.test/"]);
        assert!(matches!(
            options.objects,
            ObjectLocation::S3 {
                allow_http: true,
                ..
            }
        ));
    }

    #[test]
    fn signed_logs_are_kept_where_the_file_says_so_alone() {
        let mut options = Options::default();
        apply("", &mut options).unwrap();
        assert!(!options.signed_logs);
        let text = "signed_logs = true\n[rate_limits]\nlogs = 7\n";
        apply(text, &mut options).unwrap();
        assert!(options.signed_logs);
        assert_eq!(options.rate_limits.logs, 7);
    }

    #[test]
    fn the_password_of_a_database_is_not_shown() {
        let mut options = Options::default();
        apply(
            "database = 'postgres://cairn:secret@db/cairn'\n",
            &mut options,
        )
        .unwrap();
        assert!(options.database.is_some());
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn origins_of_pages_are_a_list() {
        let mut options = Options::default();
        let text = "[cors]\norigins = ['https://app.example.com']\n";
        apply(text, &mut options).unwrap();
        assert_eq!(options.cors.origins, ["https://app.example.com"]);
        assert!(!options.cors.loopback);
    }

    #[test]
    fn what_goes_by_itself_can_be_kept_for_ever() {
        let mut options = Options::default();
        apply("[expiry]\nshares = 7\n", &mut options).unwrap();
        assert_eq!(
            (options.expiry.trash_days, options.expiry.share_days),
            (30, 7)
        );
        apply("[expiry]\ntrash = 0\n", &mut options).unwrap();
        assert_eq!(
            (options.expiry.trash_days, options.expiry.share_days),
            (0, 7)
        );
    }

    #[test]
    fn the_check_of_what_is_stored_and_the_collector_of_traces_are_chosen() {
        let mut options = Options::default();
        assert_eq!((options.scrub_days, &options.telemetry), (30, &None));
        let text = "[scrub]\ndays = 0\n[telemetry]\nendpoint = 'http://c'\nratio = 0.25\n";
        apply(text, &mut options).unwrap();
        assert_eq!(options.scrub_days, 0);
        let telemetry = options.telemetry.unwrap();
        assert_eq!(
            (telemetry.endpoint.as_str(), telemetry.ratio),
            ("http://c", 0.25)
        );
        let error = apply("[telemetry]\nratio = 0.5\n", &mut Options::default());
        assert!(error.unwrap_err().to_string().contains("endpoint"));
    }

    #[test]
    fn a_typo_is_named_with_its_line() {
        let error = apply("[limits]\nstorrage = 5\n", &mut Options::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2") && error.contains("storrage"),
            "{error}"
        );
    }
}
