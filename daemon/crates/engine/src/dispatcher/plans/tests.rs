//! Folders that can not be planned.

use super::*;
use crate::testing::TestEngine;
use tokio::sync::mpsc;

#[tokio::test(start_paused = true)]
async fn a_folder_that_can_not_be_planned_waits_alone_and_longer_and_longer() {
    let test = TestEngine::new();
    let (tuning, id) = (test.options.tuning(), test.folder.id);
    let (engine, _dir) = test.into_engine();
    let (_, inbox) = mpsc::unbounded_channel();
    let mut dispatcher = Dispatcher::new(engine, inbox, tuning).unwrap();
    dispatcher.poll_due = false;
    for whole in [500, 1000, 2000].map(Duration::from_millis) {
        assert!(!dispatcher.schedule_plan_retry(id, &EngineError::ReplanExhausted));
        assert!(dispatcher.is_reachable(), "all others go on");
        let wait = dispatcher.folders[&id].next_plan - Instant::now();
        assert!((whole / 2..=whole).contains(&wait), "{wait:?} of {whole:?}");
        assert_eq!(dispatcher.due_scope(id), None);
    }
    assert_eq!(dispatcher.engine.health().problems(id).len(), 1);
}
