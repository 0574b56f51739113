//! Transactions and reads of the storage.

/// Runs a transaction with clones of the named values. Nothing is repeated: the file has one writer, which loses no
/// connection.
macro_rules! transaction {
    ($storage:ident, $on_loss:ident, [$($value:ident),*], |$tx:ident| $work:expr) => {{
        $(let $value = $value.clone();)*
        $crate::sqlite::writer::run(&$storage.writer, move |$tx| Box::pin(async move { $work })).await
    }};
}

/// Reads with a connection of the pool.
macro_rules! read {
    ($storage:ident, |$reader:ident| $work:expr) => {{
        let read = async {
            let mut connection = $storage.connection().await?;
            let $reader = &mut *connection;
            $work.await
        };
        $storage.checked(read.await)
    }};
}
