//! Calls to a node by JSON-RPC over HTTP: bounded in time and size, each sent once.
//!
//! An amount stays exact: an answer is read into the caller's own type, where a number that may have decimals is a
//! [`RawValue`]. An error names the node's host, and neither user, password nor path, which may be a provider's key.

use core::fmt;
use core::time::Duration;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use reqwest::{RequestBuilder, Response, StatusCode, redirect, retry};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use thiserror::Error;
use url::Url;

/// Largest answer that is read. A full block with its receipts has some megabytes.
const MAX_ANSWER_BYTES: usize = 64 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Of a call that does not search the whole chain.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What opens the node.
#[derive(Clone, Debug)]
pub enum Access {
    /// Nothing, or a key in the address.
    Open,
    /// HTTP's basic authentication.
    User {
        /// `rpcuser`
        name: String,
        /// `rpcpassword`
        password: SecretString,
    },
    /// The file `.cookie` in the node's data folder. It is read for each call: the node writes a new one at each start.
    Cookie(PathBuf),
}

/// A node.
#[derive(Clone)]
pub struct JsonRpc {
    http: reqwest::Client,
    url: Url,
    access: Access,
    timeout: Duration,
}

/// A call without a result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RpcError {
    /// No answer, or one that cannot be read.
    #[error("{node}, {method}: {detail}")]
    Unanswered {
        /// Its scheme, host and port.
        node: String,
        /// The method that was called.
        method: String,
        /// The cause.
        detail: String,
    },
    /// The node's error object.
    #[error("{node}, {method}: error {code}: {message}")]
    Refused {
        /// Its scheme, host and port.
        node: String,
        /// The method that was called.
        method: String,
        /// As the node numbers its errors.
        code: i64,
        /// In the node's words, at most 300 characters.
        message: String,
    },
}

impl RpcError {
    /// The number of the node's error; `None` without one.
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Unanswered { .. } => None,
            Self::Refused { code, .. } => Some(*code),
        }
    }
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Fault>,
    #[serde(default)]
    id: Option<usize>,
}

#[derive(Deserialize)]
struct Fault {
    code: i64,
    #[serde(default)]
    message: String,
}

impl JsonRpc {
    /// A node at `url`. A user and a password in the address count as [`Access::User`].
    ///
    /// # Errors
    /// The address is not one of HTTP, or TLS cannot be set up.
    pub fn new(url: &str, access: Access) -> anyhow::Result<Self> {
        let url = Url::parse(url).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(mut url) = url else {
            bail!("the address of the node must be like http://127.0.0.1:8332");
        };
        let access = match url.password() {
            Some(password) => Access::User {
                name: decoded(url.username()),
                password: decoded(password).into(),
            },
            None => access,
        };
        let without_user = url.set_username("").and_then(|()| url.set_password(None));
        without_user.expect("an address of HTTP has a host");
        // The first provider installed in a process stays; any of them works.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy();
        if url.scheme() == "http" {
            builder = builder.tls_certs_only([]);
        }
        Ok(Self {
            http: builder.build().context("TLS cannot be set up")?,
            url,
            access,
            timeout: TIMEOUT,
        })
    }

    /// The same node at another path: Bitcoin's nodes have one for each wallet.
    pub fn at(&self, path: &str) -> Self {
        let mut node = self.clone();
        node.url.set_path(path);
        node
    }

    /// The same node with another limit of time for a call.
    pub fn within(&self, timeout: Duration) -> Self {
        Self {
            timeout,
            ..self.clone()
        }
    }

    /// Calls a method.
    ///
    /// # Errors
    /// [`RpcError::Unanswered`] without an answer that is a `T`; [`RpcError::Refused`] for the node's own error.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<T, RpcError> {
        let request = request(0, method, params);
        let (status, body) = self.send(method, &request).await?;
        match serde_json::from_slice::<Answer<'_>>(&body) {
            Ok(answer) => self.result(method, answer),
            Err(error) => Err(self.no_answer(method, status, &error)),
        }
    }

    /// Calls a method once with each of the parameters, in one request. The results have the order of the parameters.
    ///
    /// # Errors
    /// As [`Self::call`], for the request as a whole; each call has its own result.
    pub async fn batch<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &[Value],
    ) -> Result<Vec<Result<T, RpcError>>, RpcError> {
        if params.is_empty() {
            return Ok(Vec::new());
        }
        let requests = params.iter().enumerate();
        let requests: Vec<Value> = requests
            .map(|(id, params)| request(id, method, params))
            .collect();
        let count = requests.len();
        let (status, body) = self.send(method, &requests.into()).await?;
        if let Ok(answer) = serde_json::from_slice::<Answer<'_>>(&body) {
            let whole: Result<Value, RpcError> = self.result(method, answer);
            whole?;
        }
        let mut answers: Vec<Answer<'_>> = serde_json::from_slice(&body)
            .map_err(|error| self.no_answer(method, status, &error))?;
        answers.sort_by_key(|answer| answer.id);
        if !answers
            .iter()
            .map(|answer| answer.id)
            .eq((0..count).map(Some))
        {
            return Err(
                self.unanswered(method, format!("not one answer for each of {count} calls"))
            );
        }
        Ok(answers
            .into_iter()
            .map(|answer| self.result(method, answer))
            .collect())
    }

    fn result<T: DeserializeOwned>(&self, method: &str, answer: Answer<'_>) -> Result<T, RpcError> {
        if let Some(fault) = answer.error {
            return Err(RpcError::Refused {
                node: self.place(),
                method: method.to_owned(),
                code: fault.code,
                message: fault.message.chars().take(300).collect(),
            });
        }
        serde_json::from_str(answer.result.map_or("null", RawValue::get))
            .map_err(|error| self.unanswered(method, format!("the answer cannot be read: {error}")))
    }

    async fn send(&self, method: &str, body: &Value) -> Result<(StatusCode, Vec<u8>), RpcError> {
        let request = self.http.post(self.url.clone()).timeout(self.timeout);
        let request = self.authorized(method, request)?.json(body);
        let failed = |error: reqwest::Error| self.unanswered(method, cause(&error));
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status();
        match read(&mut response).await.map_err(failed)? {
            Some(body) => Ok((status, body)),
            None => Err(self.unanswered(method, format!("over {MAX_ANSWER_BYTES} bytes"))),
        }
    }

    fn authorized(
        &self,
        method: &str,
        request: RequestBuilder,
    ) -> Result<RequestBuilder, RpcError> {
        Ok(match &self.access {
            Access::Open => request,
            Access::User { name, password } => {
                request.basic_auth(name, Some(password.expose_secret()))
            }
            Access::Cookie(path) => {
                let cookie = std::fs::read_to_string(path).map_err(|error| {
                    let detail = format!("cookie file {}: {error}", path.display());
                    self.unanswered(method, detail)
                })?;
                let (name, password) = cookie.trim().split_once(':').unwrap_or_default();
                request.basic_auth(name, Some(password))
            }
        })
    }

    fn no_answer(&self, method: &str, status: StatusCode, error: &serde_json::Error) -> RpcError {
        let detail = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                format!(
                    "HTTP status {status}: check user and password, and that the node allows this host"
                )
            }
            StatusCode::OK => format!("the answer is not one of JSON-RPC: {error}"),
            _ => format!("HTTP status {status}"),
        };
        self.unanswered(method, detail)
    }

    fn unanswered(&self, method: &str, detail: String) -> RpcError {
        RpcError::Unanswered {
            node: self.place(),
            method: method.to_owned(),
            detail,
        }
    }

    fn place(&self) -> String {
        self.url.origin().ascii_serialization()
    }
}

impl fmt::Debug for JsonRpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonRpc")
            .field("node", &self.place())
            .finish_non_exhaustive()
    }
}

fn request(id: usize, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A user or a password of an address, where `%40` is `@`.
fn decoded(text: &str) -> String {
    let text = text.replace('+', "%2B").replace('&', "%26");
    url::form_urlencoded::parse(text.as_bytes())
        .map(|(name, _)| name.into_owned())
        .next()
        .unwrap_or_default()
}

/// The body, or `None` if it is too large.
async fn read(response: &mut Response) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The cause at the bottom: the layers above it repeat the address.
fn cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::{HeaderMap, StatusCode};

    use super::*;

    /// A node that gives one answer to every call with the password `p&+@ss`.
    async fn node(status: u16, answer: &'static str) -> String {
        let answer = async move |headers: HeaderMap| {
            let authorization = headers.get("authorization").cloned();
            // base64 of `user:p&+@ss`
            let is_known = authorization.is_some_and(|value| value == "Basic dXNlcjpwJitAc3M=");
            let status = StatusCode::from_u16(status).unwrap();
            let refused = (StatusCode::UNAUTHORIZED, "");
            if is_known { (status, answer) } else { refused }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, Router::new().fallback(answer)).into_future());
        address.to_string()
    }

    fn rpc(address: &str) -> JsonRpc {
        JsonRpc::new(&format!("http://user:p&+%40ss@{address}/key"), Access::Open).unwrap()
    }

    #[tokio::test]
    async fn answers_are_read_or_refused() {
        for (status, answer, expected) in [
            (200, r#"{"result":7,"error":null,"id":0}"#, "Ok(7)"),
            (200, r#"{"jsonrpc":"2.0","result":7,"id":0}"#, "Ok(7)"),
            (200, r#"{"result":"x","id":0}"#, "Unanswered"),
            (200, "<html>", "not one of JSON-RPC"),
            (
                500,
                r#"{"result":null,"error":{"code":-28,"message":"Loading"},"id":0}"#,
                "code: -28",
            ),
            (503, "Work queue depth exceeded", "503"),
            (403, "", "user and password"),
        ] {
            let rpc = rpc(&node(status, answer).await);
            let result = rpc.call::<u64>("method", &json!([])).await;
            let result = format!("{result:?}");
            assert!(result.contains(expected), "{answer}: {result}");
            assert!(
                !result.contains("ss@") && !result.contains("key"),
                "{result}"
            );
        }
    }

    #[tokio::test]
    async fn batch_has_the_order_of_its_parameters_and_misses_none() {
        let second = r#"{"id":1,"error":{"code":-5,"message":"no"}}"#;
        let both: &str = format!(r#"[{second},{{"id":0,"result":"a"}}]"#).leak();
        let rpc_of = async |answer| rpc(&node(200, answer).await);
        let params = [json!(["a"]), json!(["b"])];
        let results = rpc_of(both).await.batch::<String>("method", &params).await;
        let results = results.unwrap();
        assert_eq!(results[0], Ok("a".to_owned()));
        assert!(matches!(
            results[1],
            Err(RpcError::Refused { code: -5, .. })
        ));
        for answer in [
            r#"[{"id":0,"result":"a"}]"#,
            r#"[{"id":1},{"id":1}]"#,
            "[]",
            "7",
        ] {
            let result = rpc_of(answer).await.batch::<Value>("method", &params).await;
            assert!(
                matches!(result, Err(RpcError::Unanswered { .. })),
                "{answer}"
            );
        }
        let whole = rpc_of(second).await.batch::<Value>("method", &params).await;
        assert!(matches!(whole, Err(RpcError::Refused { code: -5, .. })));
    }

    #[tokio::test]
    async fn node_that_is_away_or_refuses_the_password_is_an_error_without_it() {
        let url = format!("http://user:other@{}", node(200, "").await);
        let wrong = JsonRpc::new(&url, Access::Open).unwrap();
        let error = wrong.call::<Value>("method", &json!([])).await.unwrap_err();
        assert!(
            error.to_string().contains("check user and password"),
            "{error}"
        );
        assert!(!format!("{error} {wrong:?}").contains("other"));
        let away = rpc("127.0.0.1:1").call::<Value>("method", &json!([])).await;
        assert!(matches!(away, Err(RpcError::Unanswered { .. })));
        let cookie = Access::Cookie("/nowhere/.cookie".into());
        let cookie = JsonRpc::new("http://127.0.0.1:1", cookie).unwrap();
        let error = cookie
            .call::<Value>("method", &json!([]))
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("cookie file /nowhere/.cookie"),
            "{error}"
        );
    }
}
