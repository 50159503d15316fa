//! Batch calls, in which each item has an outcome of its own.

use cairn_transfer::TransferError;

/// Makes one call for the inputs of many items and returns each item with its own outcome. The call returns
/// outcomes in the order of the inputs; this is the only place that counts on it.
pub(crate) async fn each<K, I, O>(
    items: Vec<(K, I)>,
    call: impl AsyncFnOnce(Vec<I>) -> Vec<Result<O, TransferError>>,
) -> Vec<(K, Result<O, TransferError>)> {
    let (items, inputs): (Vec<K>, Vec<I>) = items.into_iter().unzip();
    let mut outcomes = call(inputs).await.into_iter();
    let missing = || {
        let text = "the server left an item of a batch out";
        Err(TransferError::protocol(text))
    };
    items
        .into_iter()
        .map(|item| (item, outcomes.next().unwrap_or_else(missing)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_item_has_its_own_outcome_and_none_goes_without() {
        let items = vec![("a", 1), ("b", 2), ("c", 3)];
        let halves = async |inputs: Vec<i32>| {
            let odd = |n: i32| TransferError::protocol(format!("{n} is odd"));
            let halve = |n: i32| if n % 2 == 0 { Ok(n / 2) } else { Err(odd(n)) };
            inputs.into_iter().take(2).map(halve).collect()
        };
        let outcomes: Vec<_> = each(items, halves)
            .await
            .into_iter()
            .map(|(item, outcome)| (item, outcome.map_err(|error| error.to_string())))
            .collect();
        assert_eq!(outcomes[0].0, "a");
        assert!(
            outcomes[0]
                .1
                .as_ref()
                .is_err_and(|e| e.contains("1 is odd"))
        );
        assert_eq!(outcomes[1], ("b", Ok(1)));
        assert!(
            outcomes[2]
                .1
                .as_ref()
                .is_err_and(|e| e.contains("left an item"))
        );
    }
}
