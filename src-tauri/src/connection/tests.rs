//! The connection against the real protocol server on a socket, with a fake of the `cairn` program.

use super::*;
use cairn_control::{EventSource, Failure, Handler, Reply, Status, serve};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

struct StatusHandler;

#[async_trait]
impl Handler for StatusHandler {
    async fn handle(&self, _: Request) -> Result<Reply, Failure> {
        Ok(Reply::Status(Status::default()))
    }

    fn events(&self) -> EventSource {
        let first = Event::Status {
            status: Status::default(),
        };
        futures_util::stream::iter([first])
            .chain(futures_util::stream::pending())
            .boxed()
    }

    fn version(&self) -> String {
        "test".into()
    }
}

/// `cairn start` and `cairn stop`, as far as a socket shows them.
struct FakeProgram {
    socket: PathBuf,
    running: Mutex<Option<JoinHandle<()>>>,
    refuses: Mutex<Option<ProgramError>>,
    starts: Mutex<u32>,
}

impl FakeProgram {
    fn kill(&self) {
        if let Some(task) = self.running.lock().take() {
            task.abort();
        }
    }
}

#[async_trait]
impl Program for FakeProgram {
    async fn run_steps(
        &self,
        run: Run,
        _: mpsc::Receiver<String>,
        _: mpsc::Sender<Value>,
    ) -> Result<Value, ProgramError> {
        self.run(run).await
    }

    async fn run(&self, run: Run) -> Result<Value, ProgramError> {
        if run.arguments == ["stop"] {
            self.kill();
            return Ok(Value::Null);
        }
        assert_eq!(run.arguments, ["start"]);
        *self.starts.lock() += 1;
        if let Some(fault) = self.refuses.lock().clone() {
            return Err(fault);
        }
        let listener = cairn_platform::socket::Listener::bind(&self.socket).unwrap();
        let task = tokio::spawn(async move { serve(&listener, Arc::new(StatusHandler)).await });
        *self.running.lock() = Some(task);
        Ok(Value::Null)
    }
}

struct World {
    _dir: tempfile::TempDir,
    fake: Arc<FakeProgram>,
    connection: Arc<Connection>,
    events: mpsc::Receiver<ConnectionEvent>,
}

impl World {
    fn new(refuses: Option<ProgramError>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let fake = Arc::new(FakeProgram {
            socket: socket.clone(),
            running: Mutex::default(),
            refuses: Mutex::new(refuses),
            starts: Mutex::default(),
        });
        let connection = Connection::new(socket, fake.clone());
        let (sender, events) = mpsc::channel(8);
        let kept = connection.clone();
        tokio::spawn(async move { kept.maintain(sender).await });
        Self {
            _dir: dir,
            fake,
            connection,
            events,
        }
    }

    async fn until(&mut self, wanted: impl Fn(&ConnectionEvent) -> bool) -> ConnectionEvent {
        loop {
            let event = self
                .events
                .recv()
                .await
                .expect("the connection is maintained");
            if wanted(&event) {
                return event;
            }
        }
    }

    async fn until_up(&mut self) {
        self.until(|event| *event == ConnectionEvent::Up).await;
        self.until(|event| matches!(event, ConnectionEvent::Event(_)))
            .await;
    }
}

#[tokio::test]
async fn a_daemon_is_started_and_after_its_death_started_again() {
    let mut world = World::new(None);
    world.until_up().await;
    assert!(world.connection.request(Request::Status).await.is_ok());
    world.fake.kill();
    world
        .until(|event| *event == ConnectionEvent::Starting)
        .await;
    world.until_up().await;
    assert_eq!(*world.fake.starts.lock(), 2);
}

#[tokio::test]
async fn a_daemon_that_does_not_start_is_reported_and_tried_again_on_demand() {
    let refused = ProgramError::new(ProgramErrorCode::NotLoggedIn, "not logged in");
    let mut world = World::new(Some(refused.clone()));
    let reported = world
        .until(|event| matches!(event, ConnectionEvent::Down(_)))
        .await;
    assert_eq!(reported, ConnectionEvent::Down(refused));
    let reply = world.connection.request(Request::Status).await;
    assert_eq!(reply.unwrap_err().code, ProgramErrorCode::NoDaemon);
    *world.fake.refuses.lock() = None;
    world.connection.allow();
    world.until_up().await;
}

#[tokio::test]
async fn while_suspended_no_daemon_is_started() {
    let mut world = World::new(None);
    world.until_up().await;
    world.connection.suspend().await.unwrap();
    world
        .until(|event| *event == ConnectionEvent::Starting)
        .await;
    assert!(world.connection.request(Request::Status).await.is_err());
    assert_eq!(*world.fake.starts.lock(), 1);
    world.connection.allow();
    world.until_up().await;
}
