//! The input of a tool server, which gives memory back while nothing comes. Assistants' programs start a server for each
//! window, and keep it.

use cairn_platform::memory;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The time without input after which memory is given back, once until the next input.
const RESTS_AFTER: Duration = Duration::from_secs(1);

/// An input that does something when nothing has come for a while.
pub(super) struct RestingInput<R> {
    input: R,
    rest: fn(),
    timer: Option<Pin<Box<Sleep>>>,
    rests: bool,
}

impl<R> RestingInput<R> {
    /// Makes an input during whose pauses the process takes little memory.
    pub(super) fn new(input: R) -> Self {
        Self::with(input, give_memory_back)
    }

    fn with(input: R, rest: fn()) -> Self {
        Self {
            input,
            rest,
            timer: None,
            rests: false,
        }
    }
}

fn give_memory_back() {
    memory::release_free_memory();
    if let Err(error) = memory::release_code() {
        tracing::debug!(%error, "the program's code stays in memory");
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for RestingInput<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = Pin::new(&mut this.input).poll_read(cx, buf);
        if read.is_ready() {
            (this.timer, this.rests) = (None, false);
        } else if !this.rests {
            let timer = this
                .timer
                .get_or_insert_with(|| Box::pin(sleep(RESTS_AFTER)));
            if timer.as_mut().poll(cx).is_ready() {
                (this.timer, this.rests) = (None, true);
                (this.rest)();
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    static RESTS: AtomicU32 = AtomicU32::new(0);

    /// Waits for input for some time; returns how often there was a rest.
    async fn rests_within(input: &mut (impl AsyncRead + Unpin), time: Duration) -> u32 {
        let before = RESTS.load(Ordering::Relaxed);
        let waited = tokio::time::timeout(time, input.read_u8()).await;
        assert!(waited.is_err());
        RESTS.load(Ordering::Relaxed) - before
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_one_rest_in_each_pause() {
        let (mut sender, receiver) = duplex(16);
        let count = || {
            RESTS.fetch_add(1, Ordering::Relaxed);
        };
        let mut input = RestingInput::with(receiver, count);
        let half = RESTS_AFTER / 2;
        assert_eq!(rests_within(&mut input, half).await, 0);
        // Another wait for the same input goes on with the pause.
        assert_eq!(rests_within(&mut input, RESTS_AFTER).await, 1);
        assert_eq!(rests_within(&mut input, RESTS_AFTER * 100).await, 0);
        sender.write_u8(7).await.unwrap();
        assert_eq!(input.read_u8().await.unwrap(), 7);
        assert_eq!(rests_within(&mut input, half).await, 0);
        assert_eq!(rests_within(&mut input, RESTS_AFTER).await, 1);
    }
}
