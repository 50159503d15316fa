//! `If-Match`: a change is made only if what it changes is as its author has seen it.
//!
//! A version in quotes is enough; the whole `ETag` is as good, and so is a list of either. A weak tag counts as
//! a strong one: proxies that compress make them weak.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::routes::node_tag;
use crate::state::AppState;
use axum::http::{HeaderMap, header};
use cairn_model::NodeId;
use cairn_store::Error as StoreError;

/// The version of something, and the content of its `ETag`.
pub(crate) type VersionAndTag = (u64, String);

/// Returns the version that a change of a node was decided on; any without `If-Match`.
///
/// # Errors
/// 400 for a header that is no list of tags, 412 if none of them is the present one's, those of finding the node.
pub(crate) fn node_if_match(
    app: &AppState,
    caller: &Caller,
    id: NodeId,
    headers: &HeaderMap,
) -> Result<Option<u64>> {
    if_match(headers, || {
        let node = app.store.node(caller.space, id)?;
        Ok((node.version, node_tag(&node)))
    })
}

/// Returns the version that a change was decided on; any without `If-Match`. `present` is asked for only if the
/// header has more than one version: the change itself compares that.
///
/// # Errors
/// 400 for a header that is no list of tags, 412 if none of them is the present one's, those of `present`.
pub(crate) fn if_match(
    headers: &HeaderMap,
    present: impl FnOnce() -> Result<VersionAndTag>,
) -> Result<Option<u64>> {
    let Some(wanted) = tags(headers)? else {
        return Ok(None);
    };
    if let [one] = wanted.as_slice()
        && let Ok(version) = one.parse()
    {
        return Ok(Some(version));
    }
    let (version, tag) = present()?;
    let plain = version.to_string();
    if wanted.iter().any(|one| *one == plain || *one == tag) {
        return Ok(Some(version));
    }
    // Another version is for the change to refuse, which knows a repetition of itself: that names the one before.
    let others = wanted.iter().filter_map(|one| version_of(one));
    let other = others.filter(|other| *other != version);
    let other = other.max_by_key(|other| other.saturating_add(1) == version);
    other.map(Some).ok_or_else(|| {
        let message = format!(
            "`If-Match` names another state than the present one, which has the version {version}; read it again"
        );
        Error::Store(StoreError::Stale { message, version })
    })
}

/// Returns the version with which a tag of ours begins.
fn version_of(tag: &str) -> Option<u64> {
    tag.split('.').next()?.parse().ok()
}

/// Returns the form of the header, for the OpenAPI document.
pub(crate) fn pattern() -> String {
    let tag = r#"(W/)?("[\t !#-~]*"|[0-9]{1,19})"#;
    format!(r"^[\t ]*(\*|{tag}([\t ]*,[\t ]*{tag})*[\t ]*,?)[\t ]*$")
}

/// Reads the tags of `If-Match`; `None` without the header, and for `*`.
fn tags(headers: &HeaderMap) -> Result<Option<Vec<String>>> {
    let invalid =
        || Error::invalid("`If-Match` has to be a version in quotes, or tags as `ETag` gave them");
    let mut tags = Vec::new();
    for value in headers.get_all(header::IF_MATCH) {
        let mut rest = value.to_str().map_err(|_| invalid())?.trim();
        if rest == "*" {
            return Ok(None);
        }
        while !rest.is_empty() {
            let (tag, after) = first_tag(rest).ok_or_else(invalid)?;
            tags.push(tag.to_owned());
            rest = after;
        }
    }
    if tags.is_empty() {
        return if headers.contains_key(header::IF_MATCH) {
            Err(invalid())
        } else {
            Ok(None)
        };
    }
    Ok(Some(tags))
}

/// Splits the first tag off a list. Quotes may be missing around a number.
fn first_tag(list: &str) -> Option<(&str, &str)> {
    let strong = list.strip_prefix("W/").unwrap_or(list);
    let (tag, after) = match strong.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => {
            let end = strong.find(',').unwrap_or(strong.len());
            let (number, after) = strong.split_at(end);
            let number = number.trim_end();
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse::<u64>().ok().filter(|_| is_number)?;
            (number, after)
        }
    };
    let after = after.trim_start();
    match after.strip_prefix(',') {
        Some(next) => Some((tag, next.trim_start())),
        None if after.is_empty() => Some((tag, "")),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderValue, StatusCode};

    /// Asks for a change of what is at version 3 and has the tag `3.9`.
    fn ask(values: &[&str]) -> std::result::Result<Option<u64>, StatusCode> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::IF_MATCH, HeaderValue::from_str(value).unwrap());
        }
        if_match(&headers, || Ok((3, "3.9".to_owned()))).map_err(|error| error.status())
    }

    #[test]
    fn versions_and_tags_are_read_alone_and_in_lists() {
        assert_eq!(ask(&[]), Ok(None));
        assert_eq!(ask(&["*"]), Ok(None));
        for present in [
            "\"3\"",
            "3",
            "W/\"3\"",
            "\"3.9\"",
            "W/\"3.9\"",
            "\"2\", \"3\"",
            "\"x,y\",\"3.9\"",
            "2 , 3",
        ] {
            assert_eq!(ask(&[present]), Ok(Some(3)), "{present}");
        }
        assert_eq!(ask(&["\"1\"", "\"3\""]), Ok(Some(3)));
        // The change itself refuses these.
        for (other, version) in [
            ("\"2\"", 2),
            ("\"2.5\"", 2),
            ("\"2\", \"1\"", 2),
            ("\"1\", \"2\", \"9\"", 2),
        ] {
            assert_eq!(ask(&[other]), Ok(Some(version)), "{other}");
        }
        // The same version in another state, and tags of others.
        for stale in ["\"3.8\"", "\"3.9.trashed\"", "\"abc\"", "\"\""] {
            assert_eq!(
                ask(&[stale]),
                Err(StatusCode::PRECONDITION_FAILED),
                "{stale}"
            );
        }
        for bad in BAD {
            assert_eq!(ask(&[bad]), Err(StatusCode::BAD_REQUEST), "{bad}");
        }
    }

    const BAD: [&str; 9] = [
        "latest",
        "",
        "\"3",
        "\"3\" \"4\"",
        "3x",
        "+3",
        "\"3\", *",
        "\"3\",,\"4\"",
        "W/ \"3\"",
    ];

    #[test]
    fn the_described_form_is_the_one_that_is_read() {
        let form = regex::Regex::new(&pattern()).unwrap();
        for good in [
            "*",
            "3",
            "\"3\"",
            "\"\"",
            "W/3",
            "2 , 3",
            "\"x,y\",\"3.9\"",
            "W/\"3.9\",",
            " \"3\"\t",
        ] {
            assert!(form.is_match(good), "{good}");
            assert_ne!(ask(&[good]), Err(StatusCode::BAD_REQUEST), "{good}");
        }
        for bad in BAD {
            assert!(!form.is_match(bad), "{bad}");
        }
    }
}
