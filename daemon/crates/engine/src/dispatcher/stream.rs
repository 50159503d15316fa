//! The feed's stream of events, which tells when to poll.

use super::Dispatcher;
use super::retry_pause::RETRIES;
use crate::feed;
use std::sync::Arc;

impl Dispatcher {
    /// Keeps the feed's stream open.
    pub(super) fn open_stream(&mut self) {
        let open = self.stream.as_ref().is_some_and(|s| !s.is_finished());
        if !self.tuning.stream || open {
            return;
        }
        let engine = Arc::clone(&self.engine);
        let news = self.feed_sender.clone();
        self.stream = Some(tokio::spawn(async move {
            use futures_util::StreamExt as _;
            let Ok(from) = feed::cursor(&engine) else {
                return;
            };
            match engine.api.stream(from.as_ref()).await {
                Ok(mut stream) => {
                    while let Some(Ok(_)) = stream.next().await {
                        if news.send(()).is_err() {
                            return;
                        }
                    }
                    tracing::debug!("the feed's stream has ended; it is opened again");
                }
                Err(error) => {
                    tracing::debug!(%error, "the feed's stream can't be opened");
                    tokio::time::sleep(RETRIES.first).await;
                }
            }
            // Whatever came in between is polled; that opens the stream again.
            if news.send(()).is_err() {
                tracing::debug!("the dispatcher has stopped");
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::TestEngine;

    #[tokio::test]
    async fn a_dispatcher_that_goes_takes_its_stream_with_it() {
        let (mut dispatcher, _, _dir) = TestEngine::new().into_dispatcher();
        let (kept, dropped) = tokio::sync::oneshot::channel::<()>();
        dispatcher.stream = Some(tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(kept);
        }));
        drop(dispatcher);
        assert!(dropped.await.is_err(), "its task is gone");
    }
}
