//! Calls for tests, of tools whose service nobody reaches.

use crate::call::Call;
use crate::counted_transport::CountedTransport;
use crate::device_trust::DeviceTrust;
use crate::local_paths::LocalPaths;
use crate::no_files::NoFiles;
use crate::progress::Reporter;
use crate::services::{Account, KeySource, Services};
use crate::session_link_tools::LinkTools;
use crate::subject::Subject;
use cairn_api::{Api, ApiKey, Request, Response, Transport, TransportError};
use cairn_crypto::AccountKeys;
use cairn_model::{DeviceId, Verification};
use cairn_space::Trust;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;
use std::future::pending;
use std::sync::Arc;

/// A device that trusts nobody.
struct NoDevice;

impl DeviceTrust for NoDevice {
    fn update(&self, _: &AccountKeys, _: &mut dyn FnMut(&mut Trust)) -> Result<(), String> {
        Err("there is nothing to change".to_owned())
    }

    fn verification(&self) -> Result<Verification, String> {
        Ok(Verification::Strict)
    }
}

/// A network on which no answer ever comes.
struct Silence;

impl Transport for Silence {
    fn send<'a, 'b>(&'a self, _: Request) -> BoxFuture<'b, Result<Response, TransportError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(pending())
    }
}

/// The status and body of the answer to a request.
type Answer = dyn Fn(&Request) -> (u16, Value) + Send + Sync;

/// A service that gives these answers.
struct Stub(Box<Answer>);

impl Transport for Stub {
    fn send<'a, 'b>(&'a self, request: Request) -> BoxFuture<'b, Result<Response, TransportError>>
    where
        'a: 'b,
        Self: 'b,
    {
        let (status, body) = (self.0)(&request);
        let body = stream::iter([Ok(body.to_string().into())]).boxed();
        let status = status.try_into().expect("it is a status");
        let headers = Default::default();
        let response = Response {
            status,
            headers,
            body,
        };
        async { Ok(response) }.boxed()
    }
}

// No program listens there.
const URL: &str = "http://127.0.0.1:1";
const DEVICE: [u8; 16] = [7; 16];

/// Returns services of an account with these keys.
pub(crate) fn services(keys: KeySource) -> Services {
    let account = Account {
        auth: Arc::new(ApiKey::new("ck_nobody")),
        url: URL.to_owned(),
        file_server: None,
        device: DeviceId::from_random_bytes(DEVICE),
        keys,
    };
    let (trust, files) = (Arc::new(NoDevice), Arc::new(NoFiles));
    Services::new(account, trust, files, false, None, None, LinkTools::ALL)
        .expect("the settings are good")
}

/// Returns services of an account with these keys, to which no answer ever comes.
pub(crate) fn silent_services(keys: KeySource) -> Services {
    services_over(Silence, keys)
}

/// Returns services of an account without keys, whose service gives these answers.
pub(crate) fn stub_services(
    answer: impl Fn(&Request) -> (u16, Value) + Send + Sync + 'static,
) -> Services {
    services_over(Stub(Box::new(answer)), KeySource::Missing)
}

fn services_over(transport: impl Transport + 'static, keys: KeySource) -> Services {
    let auth = Arc::new(ApiKey::new("ck_nobody"));
    let device = DeviceId::from_random_bytes(DEVICE);
    let mut services = services(keys);
    let counted = CountedTransport::new(transport, services.changes_sent.clone());
    let api = Api::new(Arc::new(counted), URL, None, auth, device).expect("the address is one");
    let api = Arc::new(api);
    services.reads = api.clone();
    services.writes = api;
    services
}

/// Returns a call with these arguments, which nothing has checked.
pub(crate) fn call(arguments: Value) -> Call {
    call_of(services(KeySource::Missing), arguments)
}

/// Returns a call with these arguments, which nothing has checked.
pub(crate) fn call_of(services: Services, arguments: Value) -> Call {
    Call {
        services: Arc::new(services),
        arguments: serde_json::from_value(arguments).expect("they are an object"),
        progress: Reporter::new().0,
        paths: LocalPaths::default(),
        may_replace: false,
        is_confirmed: false,
        has_no_question: false,
        subject: Subject::default(),
    }
}
