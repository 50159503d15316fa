//! The rules by which a failed request is sent again, and after how long.

use crate::entropy::{Entropy, fraction};
use cairn_model::{BackOff, spread};
use http::HeaderMap;
use std::time::Duration;

/// The limits of one call's tries. The caller decides what happens after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most times that a request goes out, at least 1.
    pub tries: u32,
    /// The waits before the second try and each further one.
    pub back_off: BackOff,
    /// A `Retry-After` beyond this is reported instead of waited for.
    pub longest_retry_after: Duration,
    /// True if a request goes out again that the server left without an answer for as long as it may: whoever watches
    /// has waited a minute by then.
    pub after_silence: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 5,
            back_off: BackOff {
                first: Duration::from_millis(300),
                most: Duration::from_secs(15),
            },
            longest_retry_after: Duration::from_secs(60),
            after_silence: true,
        }
    }
}

impl RetryPolicy {
    /// Returns the wait after the `tried`-th try; it is random within bounds, so that clients don't retry together.
    pub(crate) fn wait_after(&self, tried: u32, entropy: &dyn Entropy) -> Duration {
        spread(self.back_off.after(tried), fraction(entropy))
    }
}

/// The right to send again a request that may have been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Sending it twice has the effect of sending it once.
    Idempotent,
    /// Allowed only while it is certain that the server has not acted.
    OnlyUnsent,
}

/// The conclusion from a failed try for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    Never,
    /// The server may have acted: only [`Retry::Idempotent`] requests go out again.
    IfSafe,
    /// Likewise, after a long time without an answer.
    AfterSilence,
    /// The server has not acted.
    Always,
}

/// `Retry-After` in seconds or as an HTTP date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers
        .get(http::header::RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    // The server's own clock is the only one that its date can be compared with.
    let now = headers.get(http::header::DATE)?.to_str().ok()?;
    let now = httpdate::parse_http_date(now).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    struct Fixed(u8);
    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    #[test]
    fn waits_double_and_vary() {
        let policy = RetryPolicy {
            back_off: BackOff {
                first: Duration::from_millis(100),
                most: Duration::from_secs(1),
            },
            ..Default::default()
        };
        assert_eq!(policy.wait_after(1, &Fixed(0)), Duration::from_millis(50));
        assert_eq!(policy.wait_after(3, &Fixed(0)), Duration::from_millis(200));
        assert_eq!(policy.wait_after(40, &Fixed(0)), Duration::from_millis(500));
        assert!(policy.wait_after(1, &Fixed(255)) > Duration::from_millis(99));
        assert!(policy.wait_after(40, &Fixed(255)) <= Duration::from_secs(1));
    }

    #[test]
    fn retry_after_reads_seconds_and_dates() {
        let mut headers = HeaderMap::new();
        assert_eq!(retry_after(&headers), None);
        headers.insert("retry-after", HeaderValue::from_static("7"));
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(7)));
        headers.insert(
            "retry-after",
            HeaderValue::from_static("Wed, 21 Oct 2015 07:28:30 GMT"),
        );
        assert_eq!(retry_after(&headers), None, "no date to compare with");
        headers.insert(
            "date",
            HeaderValue::from_static("Wed, 21 Oct 2015 07:28:00 GMT"),
        );
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(30)));
        headers.insert(
            "date",
            HeaderValue::from_static("Wed, 21 Oct 2015 08:00:00 GMT"),
        );
        assert_eq!(retry_after(&headers), Some(Duration::ZERO));
    }
}
