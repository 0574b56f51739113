//! Transactions and reads of the storage.

/// Runs a transaction with clones of the named values: it is a separate task, and may run several times.
macro_rules! transaction {
    ($storage:ident, $on_loss:ident, [$($value:ident),*], |$tx:ident| $work:expr) => {{
        $(let $value = $value.clone();)*
        let on_loss = $crate::postgres::transaction::OnLoss::$on_loss;
        $crate::postgres::transaction::run($storage.writers(), on_loss, move |$tx| {
            $(let $value = $value.clone();)*
            Box::pin(async move { $work })
        })
        .await
    }};
}

/// Reads with a connection that is closed if its response is missing.
macro_rules! read {
    ($storage:ident, |$reader:ident| $work:expr) => {{
        let mut tries = 0;
        loop {
            let read = async {
                let mut reading = $crate::postgres::dead_connections::Reading::begin(&$storage.reader, $storage.pooler.as_ref()).await?;
                let $reader = reading.connection();
                let found = $crate::postgres::dead_connections::in_time($storage.patience, $work).await?;
                reading.end().await;
                Ok::<_, $crate::StorageError>(found)
            };
            let found = read.await;
            tries += 1;
            match found {
                // Its connection was closed; each other one may have prepared statements of that schema too.
                Err(error) if $crate::postgres::failure::is_of_old_schema(&error) && tries < $storage.patience.tries => {
                    $crate::postgres::dead_connections::close_idle(&$storage.reader);
                }
                found => break found.map_err(|error| $storage.timeouts.counted(error)),
            }
        }
    }};
}
