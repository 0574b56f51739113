//! Invoices with their payments.

use jiff::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::{Database, Result, amount, from_json, height, millis, next_number, time, to_json};
use crate::chain::Chain;
use crate::invoice::{Invoice, Payment};

impl Database {
    pub(crate) async fn insert_invoice(&self, invoice: &Invoice) -> Result<()> {
        let mut transaction = self.begin().await?;
        let number = next_number(&mut transaction, "invoices").await?;
        let insert = "INSERT INTO invoices (id, number, chain, address_index, code, status, expires_at, body) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        sqlx::query(insert)
            .bind(&invoice.id)
            .bind(number)
            .bind(invoice.coin.chain.as_str())
            .bind(i64::from(invoice.address_index))
            .bind(invoice.coin.code.as_str())
            .bind(invoice.status().as_str())
            .bind(millis(invoice.expires_at))
            .bind(to_json(invoice))
            .execute(&mut *transaction)
            .await?;
        if invoice.hosted.is_some() {
            let update = sqlx::query("UPDATE sessions SET status = 'INVOICED' WHERE id = $1");
            let update = update.bind(&invoice.id);
            update.execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// The invoice of this id.
    pub async fn invoice(&self, id: &str) -> Result<Option<Invoice>> {
        let mut connection = self.pool.acquire().await?;
        read(&mut connection, id).await
    }

    /// The newest invoices, newest first.
    pub async fn newest_invoices(&self, limit: u32) -> Result<Vec<Invoice>> {
        let mut connection = self.pool.acquire().await?;
        let select = "SELECT id FROM invoices ORDER BY number DESC LIMIT $1";
        let rows = sqlx::query(select).bind(i64::from(limit));
        let rows = rows.fetch_all(&mut *connection).await?;
        let mut invoices = Vec::with_capacity(rows.len());
        for row in &rows {
            invoices.extend(read(&mut connection, row.try_get("id")?).await?);
        }
        Ok(invoices)
    }

    /// Number of invoices.
    pub async fn count_invoices(&self) -> Result<u64> {
        let select = "SELECT COUNT(*) FROM invoices";
        let row = sqlx::query(select).fetch_one(&self.pool).await?;
        height(row.try_get(0)?)
    }

    /// Returns `true` if an open invoice is past its deadline.
    pub async fn has_overdue_invoice(&self, now: Timestamp) -> Result<bool> {
        let select =
            "SELECT 1 FROM invoices WHERE status = 'CHECKING' AND expires_at <= $1 LIMIT 1";
        let row = sqlx::query(select).bind(millis(now));
        Ok(row.fetch_optional(&self.pool).await?.is_some())
    }

    /// Open invoices of a chain without a payment.
    pub(crate) async fn count_unpaid(&self, chain: Chain) -> Result<u64> {
        let select = "SELECT COUNT(*) FROM invoices i WHERE i.chain = $1 AND i.status = 'CHECKING' \
                      AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.chain = i.chain \
                      AND t.address_index = i.address_index AND t.gone = 0)";
        let row = sqlx::query(select).bind(chain.as_str());
        height(row.fetch_one(&self.pool).await?.try_get(0)?)
    }

    /// Changes an invoice, but not its payments or its status; `None` when there is none of this id.
    pub async fn change_invoice(
        &self,
        id: &str,
        change: impl FnOnce(&mut Invoice) + Send,
    ) -> Result<Option<Invoice>> {
        let mut transaction = self.begin().await?;
        // An update locks the row in PostgreSQL, so that the body is read as it is written.
        let lock = sqlx::query("UPDATE invoices SET id = id WHERE id = $1").bind(id);
        lock.execute(&mut *transaction).await?;
        let Some(mut invoice) = read(&mut transaction, id).await? else {
            return Ok(None);
        };
        change(&mut invoice);
        save(&mut transaction, &invoice).await?;
        transaction.commit().await?;
        Ok(Some(invoice))
    }
}

pub(super) async fn save(connection: &mut AnyConnection, invoice: &Invoice) -> Result<()> {
    let update = "UPDATE invoices SET status = $2, expires_at = $3, body = $4 WHERE id = $1";
    sqlx::query(update)
        .bind(&invoice.id)
        .bind(invoice.status().as_str())
        .bind(millis(invoice.expires_at))
        .bind(to_json(invoice))
        .execute(connection)
        .await?;
    Ok(())
}

/// An invoice with what the chain has of it, as of one moment: one statement reads both, so that a payment is never shown
/// with the status before it.
pub(super) async fn read(connection: &mut AnyConnection, id: &str) -> Result<Option<Invoice>> {
    let select = "SELECT i.body, c.tip_height, t.transaction_hash, t.amount, t.block, t.low_fee, t.seen_at \
                  FROM invoices i JOIN chains c ON c.name = i.chain LEFT JOIN transfers t ON t.chain = i.chain \
                  AND t.address_index = i.address_index AND t.code = i.code AND t.gone = 0 \
                  WHERE i.id = $1 ORDER BY t.number";
    let rows = sqlx::query(select).bind(id).fetch_all(connection).await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let invoice: Invoice = from_json(first.try_get("body")?)?;
    let tip = height(first.try_get("tip_height")?)?;
    let mut payments = Vec::new();
    for row in &rows {
        if row.try_get::<Option<String>, _>("amount")?.is_some() {
            payments.push(payment(row)?);
        }
    }
    Ok(Some(invoice.with_payments(payments, tip)))
}

fn payment(row: &AnyRow) -> Result<Payment> {
    let block: Option<i64> = row.try_get("block")?;
    Ok(Payment {
        transaction_hash: row.try_get("transaction_hash")?,
        amount: amount(row.try_get("amount")?)?,
        seen_at: time(row.try_get("seen_at")?)?,
        block: block.map(height).transpose()?,
        low_fee: row.try_get::<i64, _>("low_fee")? == 1,
    })
}
