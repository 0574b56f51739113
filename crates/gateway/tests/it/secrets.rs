//! Secrets stay inside.

use std::io::Write;
use std::sync::{Arc, Mutex};

use florin_gateway::{InvoiceId, PaymentGateway as _, Priority};
use tracing_subscriber::filter::LevelFilter;

use crate::calls::invoice_request;
use crate::server::{API_KEY, API_SECRET, Server, Then, client, raw_server, settings};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .expect("no test panics in here")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_most_talkative_log_and_every_error_keep_the_secrets() {
    let log = Log::default();
    let writer = log.clone();
    // For the whole process: the connection's own tasks talk as well.
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .init();
    let server = Server::json(200, r#"{"data":{}}"#).await;
    let (client, _) = client(&server.base);
    let id = InvoiceId::parse("inv_canary_55").unwrap();
    client.invoice(&id, Priority::Watched).await.unwrap();
    let mut output = format!("{client:?} {:?}", settings(&server.base));
    let mut errors = Vec::new();
    let (address, _) = raw_server(b"", Then::Close);
    for base in [
        &server.base,
        &format!("http://{address}/api"),
        "http://127.0.0.1:1/api",
    ] {
        let (client, _) = crate::server::client(base);
        let error = client.create_invoice(&invoice_request()).await.unwrap_err();
        errors.push(format!("{error} {error:?}"));
        if let Err(error) = client.invoice(&id, Priority::Watched).await {
            errors.push(format!("{error} {error:?}"));
        }
    }
    output += &errors.concat();
    output += &String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let ours: Vec<_> = output
        .lines()
        .filter(|line| line.contains("gateway called"))
        .collect();
    assert!(
        ours.iter()
            .any(|line| line.contains("path=\"/invoice\" status=200 elapsed_ms=")),
        "{ours:#?}"
    );
    assert!(
        ours.iter()
            .any(|line| line.contains("method=Post path=\"/invoice\" error=the gateway"))
    );
    assert!(!ours.iter().any(|line| line.contains("inv_canary_55")));
    let signature = server.seen()[0].headers["signature"]
        .to_str()
        .unwrap()
        .to_owned();
    for secret in [API_KEY, API_SECRET, &signature] {
        assert!(!output.contains(secret), "{secret}");
    }
}
