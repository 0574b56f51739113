//! Looks. A look is one read of a chain from where the one before it ended, the cursor; it is recorded in one transaction:
//! transfers, the tip, and the statuses that follow.

use std::collections::BTreeSet;

use florin_money::Amount;
use jiff::{SignedDuration, Timestamp};
use sqlx::{AnyConnection, Row as _};

use super::invoices::{read, save};
use super::{
    Database, DatabaseError, Result, amount, height, millis, next_number, stored_height, tip_of,
};
use crate::chain::{Chain, Changes, DEPTH, KnownTransfer, Tip, Transfer};
use crate::wire::Status;

/// What the next look needs, as [`Look`](crate::chain::Look) passes it on.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastLook {
    /// Empty before the first.
    pub(crate) cursor: String,
    /// Looks so far: a look is recorded only if no other one was since.
    pub(crate) looks: i64,
    /// Deadlines before this time are not watched. It never decreases: a driver forgets the balance of an address that it
    /// does not watch, and would count its coins again.
    watched_since: i64,
    /// Transfers up to this height do not change. It never decreases, for the same reason.
    final_height: i64,
    pub(crate) next_index: u32,
    pub(crate) open: Vec<u32>,
    pub(crate) known: Vec<KnownTransfer>,
}

/// A status that an invoice or a hosted checkout took.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct StatusChange {
    pub invoice_id: String,
    pub from: Status,
    pub to: Status,
}

/// An address of ours with what arrived at it in one asset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of a transfer")]
pub struct AddressRow {
    pub chain: String,
    pub address_index: u32,
    pub address: String,
    pub code: String,
    /// The sum of its transfers, swept or not.
    pub received: Amount,
    /// `None`: no invoice counts it.
    pub invoice_id: Option<String>,
}

impl Database {
    /// Where the next look at a chain begins. Invoices are open until `watched` after their deadline.
    pub(crate) async fn last_look(
        &self,
        chain: Chain,
        watched: SignedDuration,
        now: Timestamp,
    ) -> Result<LastLook> {
        let mut connection = self.pool.acquire().await?;
        let select = "SELECT cursor, looks, next_index, tip_height, tip_hash, tip_time, watched_since, final_height \
                      FROM chains WHERE name = $1";
        let row = sqlx::query(select).bind(chain.as_str());
        let row = row.fetch_one(&mut *connection).await?;
        let Tip {
            height: tip, time, ..
        } = tip_of(&row)?;
        // A chain that was not read for days still owes an answer about the invoices of those days.
        let since = now.min(time).saturating_sub(watched).unwrap_or(time);
        let watched_since = millis(since).max(row.try_get("watched_since")?);
        let final_height =
            stored_height(tip.saturating_sub(DEPTH)).max(row.try_get("final_height")?);
        let select = "SELECT address_index FROM invoices WHERE chain = $1 AND (expires_at > $2 OR status = 'CHECKING') \
                      ORDER BY address_index";
        let open = sqlx::query(select).bind(chain.as_str()).bind(watched_since);
        let open = open.fetch_all(&mut *connection).await?;
        let select = "SELECT id, block FROM transfers \
                      WHERE chain = $1 AND gone = 0 AND (block IS NULL OR block > $2) ORDER BY number";
        let known = sqlx::query(select).bind(chain.as_str()).bind(final_height);
        let known = known.fetch_all(&mut *connection).await?;
        let known = known.iter().map(|row| {
            let block: Option<i64> = row.try_get("block")?;
            Ok(KnownTransfer {
                id: row.try_get("id")?,
                block: block.map(height).transpose()?,
            })
        });
        Ok(LastLook {
            cursor: row.try_get("cursor")?,
            looks: row.try_get("looks")?,
            watched_since,
            final_height,
            next_index: index(row.try_get("next_index")?),
            open: open
                .iter()
                .map(|row| Ok(index(row.try_get(0)?)))
                .collect::<Result<_>>()?,
            known: known.collect::<Result<_>>()?,
        })
    }

    /// Records a look whole, or not at all when another process recorded one since. The chain's time is at most `now`: a
    /// block may be ahead.
    pub(crate) async fn record(
        &self,
        chain: Chain,
        last: &LastLook,
        changes: &Changes,
        now: Timestamp,
    ) -> Result<Vec<StatusChange>> {
        let mut transaction = self.begin().await?;
        // The update locks the chain's row in PostgreSQL.
        let select = "UPDATE chains SET looks = looks + 1 WHERE name = $1 AND looks = $2 \
                      RETURNING tip_height, tip_hash, tip_time";
        let row = sqlx::query(select).bind(chain.as_str()).bind(last.looks);
        let Some(row) = row.fetch_optional(&mut *transaction).await? else {
            return Ok(Vec::new());
        };
        let before = tip_of(&row)?;
        let mut touched = BTreeSet::new();
        for transfer in &changes.transfers {
            upsert(&mut transaction, chain, transfer, now).await?;
            touched.insert(i64::from(transfer.index));
        }
        for id in &changes.gone {
            let update = "UPDATE transfers SET gone = 1 WHERE chain = $1 AND id = $2 RETURNING address_index";
            let row = sqlx::query(update).bind(chain.as_str()).bind(id);
            if let Some(row) = row.fetch_optional(&mut *transaction).await? {
                touched.insert(row.try_get(0)?);
            }
        }
        let tip = &Tip {
            time: changes.tip.time.min(now),
            ..changes.tip.clone()
        };
        let beyond = touched.last().map_or(0, |last| last + 1);
        let update = "UPDATE chains SET cursor = $2, tip_height = $3, tip_hash = $4, tip_time = $5, \
                      next_index = CASE WHEN next_index < $6 THEN $6 ELSE next_index END, \
                      watched_since = $7, final_height = $8 WHERE name = $1";
        sqlx::query(update)
            .bind(chain.as_str())
            .bind(&changes.cursor)
            .bind(stored_height(tip.height))
            .bind(&tip.hash)
            .bind(millis(tip.time))
            .bind(beyond)
            .bind(last.watched_since)
            .bind(last.final_height)
            .execute(&mut *transaction)
            .await?;
        touched.extend(moved(&mut transaction, chain, &before, tip).await?);
        let mut statuses = Vec::new();
        for index in touched {
            statuses.extend(transition(&mut transaction, chain, index, tip, now).await?);
        }
        transaction.commit().await?;
        Ok(statuses)
    }

    /// Number of addresses with an asset that no invoice counts.
    pub async fn count_unclaimed(&self) -> Result<u64> {
        let select = "SELECT COUNT(*) FROM (SELECT DISTINCT t.chain, t.address_index, t.code FROM transfers t \
                      WHERE t.gone = 0 AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.chain = t.chain \
                      AND i.address_index = t.address_index AND i.code = t.code)) AS unclaimed";
        let row = sqlx::query(select).fetch_one(&self.pool).await?;
        height(row.try_get(0)?)
    }

    /// The addresses that received something, by chain and index. One without an invoice is unclaimed: its index was never
    /// issued, or its invoice asks for another asset.
    ///
    /// # Errors
    /// The database fails, or a sum has no exact value.
    pub async fn addresses(&self) -> Result<Vec<AddressRow>> {
        let select = "SELECT t.chain, t.address_index, t.address, t.code, t.amount, i.id AS invoice_id \
                      FROM transfers t LEFT JOIN invoices i ON i.chain = t.chain \
                      AND i.address_index = t.address_index AND i.code = t.code \
                      WHERE t.gone = 0 ORDER BY t.chain, t.address_index, t.code, t.number";
        let rows = sqlx::query(select).fetch_all(&self.pool).await?;
        let mut addresses: Vec<AddressRow> = Vec::new();
        for row in &rows {
            let row = AddressRow {
                chain: row.try_get("chain")?,
                address_index: index(row.try_get("address_index")?),
                address: row.try_get("address")?,
                code: row.try_get("code")?,
                received: amount(row.try_get("amount")?)?,
                invoice_id: row.try_get("invoice_id")?,
            };
            let is_same = |last: &&mut AddressRow| {
                (&last.chain, last.address_index, &last.code)
                    == (&row.chain, row.address_index, &row.code)
            };
            match addresses.last_mut().filter(is_same) {
                Some(last) => {
                    let sum = last.received.checked_add(row.received);
                    last.received =
                        sum.map_err(|error| DatabaseError::Unreadable(error.to_string()))?;
                }
                None => addresses.push(row),
            }
        }
        Ok(addresses)
    }
}

fn index(stored: i64) -> u32 {
    u32::try_from(stored).unwrap_or(u32::MAX)
}

async fn upsert(
    connection: &mut AnyConnection,
    chain: Chain,
    transfer: &Transfer,
    now: Timestamp,
) -> Result<()> {
    let block = transfer.block.map(stored_height);
    let update = "UPDATE transfers SET block = $3, low_fee = $4, amount = $5, gone = 0 WHERE chain = $1 AND id = $2";
    let updated = sqlx::query(update)
        .bind(chain.as_str())
        .bind(&transfer.id)
        .bind(block)
        .bind(i64::from(transfer.low_fee))
        .bind(transfer.amount.to_string())
        .execute(&mut *connection)
        .await?;
    if updated.rows_affected() > 0 {
        return Ok(());
    }
    let number = next_number(connection, "transfers").await?;
    let insert = "INSERT INTO transfers (chain, id, number, address_index, address, code, amount, transaction_hash, \
                  block, low_fee, gone, seen_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11)";
    sqlx::query(insert)
        .bind(chain.as_str())
        .bind(&transfer.id)
        .bind(number)
        .bind(i64::from(transfer.index))
        .bind(&transfer.address)
        .bind(transfer.code.as_str())
        .bind(transfer.amount.to_string())
        .bind(&transfer.transaction_hash)
        .bind(block)
        .bind(i64::from(transfer.low_fee))
        .bind(millis(now))
        .execute(connection)
        .await?;
    Ok(())
}

/// Indexes of the invoices whose status the tip alone may change: it passed their deadline, or their payments have other
/// confirmations.
async fn moved(
    connection: &mut AnyConnection,
    chain: Chain,
    before: &Tip,
    tip: &Tip,
) -> Result<Vec<i64>> {
    let expired = "SELECT address_index FROM invoices WHERE chain = $1 AND status = 'CHECKING' AND expires_at <= $2";
    let expired = sqlx::query(expired)
        .bind(chain.as_str())
        .bind(millis(tip.time));
    let mut rows = expired.fetch_all(&mut *connection).await?;
    if (before.height, &before.hash) != (tip.height, &tip.hash) {
        let deepest = before.height.min(tip.height).saturating_sub(DEPTH);
        let confirming = "SELECT DISTINCT address_index FROM transfers WHERE chain = $1 AND gone = 0 AND block > $2";
        let confirming = sqlx::query(confirming)
            .bind(chain.as_str())
            .bind(stored_height(deepest));
        rows.extend(confirming.fetch_all(connection).await?);
    }
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Records the status that follows from an invoice's payments, and its callback.
async fn transition(
    connection: &mut AnyConnection,
    chain: Chain,
    index: i64,
    tip: &Tip,
    now: Timestamp,
) -> Result<Option<StatusChange>> {
    let lock = "UPDATE invoices SET id = id WHERE chain = $1 AND address_index = $2 RETURNING id";
    let row = sqlx::query(lock).bind(chain.as_str()).bind(index);
    let Some(row) = row.fetch_optional(&mut *connection).await? else {
        return Ok(None);
    };
    let id: String = row.try_get("id")?;
    let Some(mut invoice) = read(connection, &id).await? else {
        return Ok(None);
    };
    let Some((from, to)) = invoice.transition(tip, now) else {
        return Ok(None);
    };
    save(connection, &invoice).await?;
    if to.has_callback() {
        let url = invoice.callback_url();
        super::callbacks::insert(connection, &invoice.id, to, url).await?;
    }
    Ok(Some(StatusChange {
        invoice_id: invoice.id,
        from,
        to,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invoice::tests::{at, invoice};

    /// A driver has forgotten the balances of an address that was not watched, and would count its coins again.
    #[tokio::test]
    async fn an_address_that_is_not_watched_any_more_is_never_watched_again() {
        let database = Database::open("sqlite::memory:").await.unwrap();
        let (chain, now) = (Chain::Bitcoin, at(100_000));
        database.add_chain(chain, "key").await.unwrap();
        let mut paid = invoice();
        let transfer = Transfer {
            id: "ab:0".to_owned(),
            code: paid.coin.code.clone(),
            index: 0,
            address: String::new(),
            amount: Amount::from(&paid.terms.crypto),
            transaction_hash: "ab".to_owned(),
            block: Some(150),
            low_fee: false,
        };
        let mut changes = Changes {
            cursor: String::new(),
            tip: Tip {
                height: 250,
                hash: String::new(),
                time: now,
            },
            transfers: vec![transfer],
            gone: Vec::new(),
            is_caught_up: true,
        };
        let days = |count: i64| SignedDuration::from_hours(24 * count);
        paid.transition(&changes.tip, now);
        database.insert_invoice(&paid).await.unwrap();
        let watched = async |watched| database.last_look(chain, watched, now).await.unwrap();

        let before = watched(days(7)).await;
        database
            .record(chain, &before, &changes, now)
            .await
            .unwrap();
        let last = watched(days(7)).await;
        assert_eq!((last.open, last.known.len()), (vec![0], 0));

        let shorter = watched(days(1)).await;
        assert_eq!(shorter.open, Vec::<u32>::new());
        changes.transfers.clear();
        changes.tip.height = 249;
        database
            .record(chain, &shorter, &changes, now)
            .await
            .unwrap();
        let longer = watched(days(7)).await;
        assert_eq!((longer.open, longer.known.len()), (Vec::<u32>::new(), 0));
    }
}
