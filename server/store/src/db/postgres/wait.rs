//! The thread that carries the bytes of all connections, and waiting for what it brings.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use tokio::runtime::{Builder, Handle, Runtime};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future, on any thread.
pub(super) fn wait<F: Future>(future: F) -> F::Output {
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Sends what a future has to send, and leaves the answer.
pub(super) fn send_only<F: Future>(future: F) {
    let mut context = Context::from_waker(std::task::Waker::noop());
    let _ = pin!(future).poll(&mut context);
}

/// Returns the runtime of the thread that carries the bytes.
///
/// # Errors
/// A machine that gives no thread.
pub(super) fn runtime_handle() -> std::io::Result<&'static Handle> {
    static CARRIER: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = CARRIER.get() {
        return Ok(runtime.handle());
    }
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("postgres")
        .enable_all()
        .build()?;
    Ok(CARRIER.get_or_init(|| runtime).handle())
}

/// Runs a future on the thread that carries the bytes, and waits for it.
pub(super) fn run<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> std::io::Result<T> {
    let (done, is_done) = mpsc::channel();
    runtime_handle()?.spawn(async move {
        let _ = done.send(future.await);
    });
    is_done.recv().map_err(std::io::Error::other)
}
