//! Batch requests in which each item has its own result.

use crate::error::TransferError;

/// Makes one request for the inputs of many items and returns each item with its own result. The request
/// returns results in the order of the inputs, as the server's batches do; nothing else counts on positions.
/// An item without a result fails.
pub async fn each<K, I, O, E: From<TransferError>>(
    items: Vec<(K, I)>,
    request: impl AsyncFnOnce(Vec<I>) -> Vec<Result<O, E>>,
) -> Vec<(K, Result<O, E>)> {
    let (items, inputs): (Vec<K>, Vec<I>) = items.into_iter().unzip();
    let mut results = request(inputs).await.into_iter();
    let missing = || {
        let text = "the server left an item of a batch out";
        Err(TransferError::protocol(text).into())
    };
    items
        .into_iter()
        .map(|item| (item, results.next().unwrap_or_else(missing)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_item_has_its_own_result_and_none_goes_without() {
        let items = vec![("a", 1), ("b", 2), ("c", 3)];
        let halves = async |inputs: Vec<i32>| {
            let odd = |n: i32| TransferError::protocol(format!("{n} is odd"));
            let halve = |n: i32| if n % 2 == 0 { Ok(n / 2) } else { Err(odd(n)) };
            inputs.into_iter().take(2).map(halve).collect()
        };
        let results: Vec<_> = each(items, halves)
            .await
            .into_iter()
            .map(|(item, result)| (item, result.map_err(|error| error.to_string())))
            .collect();
        assert_eq!(results[0].0, "a");
        assert!(results[0].1.as_ref().is_err_and(|e| e.contains("1 is odd")));
        assert_eq!(results[1], ("b", Ok(1)));
        assert!(
            results[2]
                .1
                .as_ref()
                .is_err_and(|e| e.contains("left an item"))
        );
    }
}
