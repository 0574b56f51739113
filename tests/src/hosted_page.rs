//! A customer on the gateway's hosted page.

use serde_json::{Value, json};

use crate::answer::Answer;

/// The requests of a hosted page to the gateway.
#[derive(Clone, Debug)]
pub struct HostedPage {
    pub(crate) http: reqwest::Client,
    /// Where the page is, without its query.
    pub(crate) base: String,
    /// The session, which is the id of its invoice as well.
    pub session: String,
}

impl HostedPage {
    /// The page at a `payment_process_url`.
    pub(crate) fn at(http: reqwest::Client, url: &str) -> Self {
        let (base, session) = url
            .split_once("?id=")
            .expect("the page's address ends in its session");
        Self {
            http,
            base: base.to_owned(),
            session: session.to_owned(),
        }
    }

    /// The customer picks an asset, and is shown a code.
    pub async fn pick(&self, crypto_code: &str) {
        let choice = json!({ "id": self.session, "crypto_code": crypto_code });
        self.post("choose", &choice).await;
    }

    /// Pays what is missing.
    pub async fn pay(&self) {
        self.post("pay", &json!({ "id": self.session })).await;
    }

    /// Closes the page.
    pub async fn close(&self) {
        self.post("close", &json!({ "id": self.session })).await;
    }

    async fn post(&self, path: &str, body: &Value) {
        let request = self.http.post(format!("{}/{path}", self.base)).json(body);
        let answer = request.send().await.expect("the sandbox answers");
        Answer::read(answer).await.with(200);
    }
}
