//! Failures of steps, and their effect on the next ones.

use super::*;

#[test]
fn only_if_every_step_met_the_outage_it_is_one() {
    let failed = |status| -> Result<(), EngineError> {
        Err(ApiError::from_status(status, String::new()).into())
    };
    assert!(overload(&[failed(503), failed(429)]).is_some());
    assert!(overload(&[failed(503), Ok(())]).is_none());
    assert!(overload(&[failed(503), failed(500)]).is_none());
    assert!(overload(&[]).is_none());
}
