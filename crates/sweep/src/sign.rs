//! The transactions of a plan.

use anyhow::ensure;

use crate::address::Address;
use crate::delegate;
use crate::keys::{Account, Key};
use crate::plan::{Plan, Source};
use crate::rlp::{bytes, list, number};

/// Most gas of one transaction. Ethereum allows 16,777,216. Source: EIP-7825.
const MAX_GAS: u64 = 10_000_000;
/// The creation took 96,152 on anvil.
const CREATION_GAS: u64 = 100_000;
/// Source: the Yellow Paper of Ethereum, appendix G, `Gtransaction`.
const TRANSACTION_GAS: u64 = 21_000;
/// Source: EIP-7702, `PER_EMPTY_ACCOUNT_COST`.
const AUTHORIZATION_GAS: u64 = 25_000;
/// What a move takes beside an ordinary transfer: its pair in the list, two calls, the question for the balance, and for
/// coins an account that does not exist yet. An ordinary transfer has the 21,000 of a transaction, which are free here.
const MOVE_GAS: u64 = 30_000;

/// The addresses of each transaction after the one that creates the contract.
pub(crate) fn batches(plan: &Plan) -> Vec<&[Source]> {
    let mut batches = Vec::new();
    let mut rest = plan.sources.as_slice();
    while !rest.is_empty() {
        let fits = |count: &usize| gas_of(&rest[..*count]) <= MAX_GAS;
        let count = (2..=rest.len()).take_while(fits).last().unwrap_or(1);
        let (batch, others) = rest.split_at(count);
        batches.push(batch);
        rest = others;
    }
    batches
}

fn gas_of(batch: &[Source]) -> u64 {
    let moves = batch.iter().flat_map(|source| &source.holds);
    let moves = moves.map(|holding| u64::from(holding.gas) + MOVE_GAS);
    TRANSACTION_GAS + AUTHORIZATION_GAS * batch.len() as u64 + moves.sum::<u64>()
}

/// What everything costs at most, in the chain's coins.
pub(crate) fn highest_cost(plan: &Plan) -> String {
    const WEI: u128 = 1_000_000_000_000_000_000;
    let moves = batches(plan).into_iter().map(gas_of);
    let gas = CREATION_GAS + moves.sum::<u64>();
    let cost = u128::from(gas) * u128::from(plan.max_fee_per_gas);
    format!("{}.{:018}", cost / WEI, cost % WEI)
}

/// The transactions, as nodes read them.
pub(crate) fn sign(plan: &Plan, account: &Account, sponsor: &Key) -> anyhow::Result<Vec<String>> {
    let (found, expected) = (sponsor.address(), plan.sponsor);
    ensure!(
        found == expected,
        "this key belongs to {found}, and {expected} pays the gas of the plan: type the key of {expected}, or ask for a plan \
         with --sponsor {found}"
    );
    let chain_id = number(&plan.chain_id.to_be_bytes());
    // Source: the Yellow Paper of Ethereum, section 7.
    let creator = [
        bytes(&expected.0),
        number(&plan.sponsor_nonce.to_be_bytes()),
    ];
    let contract = Address::hashed(&list(&creator));
    let transaction = |later: u64, gas: u64, to: &[u8], data: &[u8], authorizations: &[Vec<u8>]| {
        let mut fields = vec![
            chain_id.clone(),
            number(&(plan.sponsor_nonce + later).to_be_bytes()),
            number(&plan.max_priority_fee_per_gas.to_be_bytes()),
            number(&plan.max_fee_per_gas.to_be_bytes()),
            number(&gas.to_be_bytes()),
            bytes(to),
            // No coins, and no list of accesses.
            number(&[]),
            bytes(data),
            list(&[]),
        ];
        // Sources of the forms: EIP-1559, EIP-7702.
        let mut form = 2;
        if !authorizations.is_empty() {
            form = 4;
            fields.push(list(authorizations));
        }
        sponsor.sign(form, &mut fields);
        format!("0x{form:02x}{}", hex::encode(list(&fields)))
    };
    let code = delegate::creation(contract, expected, plan.destination);
    let mut signed = vec![transaction(0, CREATION_GAS, &[], &code, &[])];
    for (later, batch) in (1..).zip(batches(plan)) {
        let mut pairs = Vec::new();
        let mut authorizations = Vec::with_capacity(batch.len());
        for source in batch {
            let nonce = number(&source.nonce.to_be_bytes());
            let mut fields = vec![chain_id.clone(), bytes(&contract.0), nonce];
            let key = account.key(source.index, source.address)?;
            key.sign(5, &mut fields);
            authorizations.push(list(&fields));
            for holding in &source.holds {
                pairs.extend(delegate::pair(source.address, holding.contract));
            }
        }
        let gas = gas_of(batch);
        signed.push(transaction(
            later,
            gas,
            &contract.0,
            &pairs,
            &authorizations,
        ));
    }
    Ok(signed)
}
