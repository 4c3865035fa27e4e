//! reqwest under a limit around the whole.

use crate::error::Error;

pub async fn fetch(url: &str, limit: tokio::time::Duration) -> Result<String, Error> {
    let text = async {
        let answer = reqwest::Client::new().get(url).send().await?;
        answer.error_for_status()?.text().await
    };
    Ok(tokio::time::timeout(limit, text).await??)
}
