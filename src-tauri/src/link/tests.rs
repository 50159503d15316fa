//! The connection against the real protocol server on a socket, with a double of the `cairn` program.

use super::*;
use cairn_control::{EventSource, Failure, Handler, Reply, Status, serve};
use std::sync::Mutex;
use tokio::task::JoinHandle;

struct Answers;

#[async_trait]
impl Handler for Answers {
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
struct Double {
    socket: PathBuf,
    running: Mutex<Option<JoinHandle<()>>>,
    refuses: Mutex<Option<Fault>>,
    starts: Mutex<u32>,
}

impl Double {
    fn kill(&self) {
        if let Some(task) = self.running.lock().unwrap().take() {
            task.abort();
        }
    }
}

#[async_trait]
impl Program for Double {
    async fn run(&self, run: Run) -> Result<Value, Fault> {
        if run.arguments == ["stop"] {
            self.kill();
            return Ok(Value::Null);
        }
        assert_eq!(run.arguments, ["start"]);
        *self.starts.lock().unwrap() += 1;
        if let Some(fault) = self.refuses.lock().unwrap().clone() {
            return Err(fault);
        }
        let listener = cairn_platform::socket::Listener::bind(&self.socket).unwrap();
        let task = tokio::spawn(async move { serve(&listener, Arc::new(Answers)).await });
        *self.running.lock().unwrap() = Some(task);
        Ok(Value::Null)
    }
}

struct World {
    _dir: tempfile::TempDir,
    double: Arc<Double>,
    link: Arc<Link>,
    events: mpsc::Receiver<LinkEvent>,
}

impl World {
    fn new(refuses: Option<Fault>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let double = Arc::new(Double {
            socket: socket.clone(),
            running: Mutex::default(),
            refuses: Mutex::new(refuses),
            starts: Mutex::default(),
        });
        let link = Link::new(socket, double.clone());
        let (sender, events) = mpsc::channel(8);
        let kept = link.clone();
        tokio::spawn(async move { kept.keep(sender).await });
        Self {
            _dir: dir,
            double,
            link,
            events,
        }
    }

    async fn until(&mut self, wanted: impl Fn(&LinkEvent) -> bool) -> LinkEvent {
        loop {
            let event = self.events.recv().await.expect("the link goes on");
            if wanted(&event) {
                return event;
            }
        }
    }

    async fn until_up(&mut self) {
        self.until(|event| *event == LinkEvent::Up).await;
        self.until(|event| matches!(event, LinkEvent::Told(_)))
            .await;
    }
}

#[tokio::test]
async fn a_daemon_is_started_and_after_its_death_started_again() {
    let mut world = World::new(None);
    world.until_up().await;
    assert!(world.link.ask(Request::Status).await.is_ok());
    world.double.kill();
    world.until(|event| *event == LinkEvent::Starting).await;
    world.until_up().await;
    assert_eq!(*world.double.starts.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_daemon_that_does_not_start_is_told_and_tried_again_on_demand() {
    let refused = Fault::new(FaultCode::NotLoggedIn, "not logged in");
    let mut world = World::new(Some(refused.clone()));
    let told = world
        .until(|event| matches!(event, LinkEvent::Down(_)))
        .await;
    assert_eq!(told, LinkEvent::Down(refused));
    let asked = world.link.ask(Request::Status).await;
    assert_eq!(asked.unwrap_err().code, FaultCode::NoDaemon);
    *world.double.refuses.lock().unwrap() = None;
    world.link.release();
    world.until_up().await;
}

#[tokio::test]
async fn while_held_no_daemon_is_started() {
    let mut world = World::new(None);
    world.until_up().await;
    world.link.hold().await.unwrap();
    world.until(|event| *event == LinkEvent::Starting).await;
    assert!(world.link.ask(Request::Status).await.is_err());
    assert_eq!(*world.double.starts.lock().unwrap(), 1);
    world.link.release();
    world.until_up().await;
}
