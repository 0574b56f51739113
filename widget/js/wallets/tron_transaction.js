/**
 * Transactions of Tron, as a wallet's builder returns them: compared with the payment before they are signed.
 *
 * Source: protocol/core/Tron.proto and contract/*.proto of tronprotocol/java-tron; developers.tron.network, "Address".
 */

/**
 * A transaction as tronWeb writes it.
 *
 * @typedef {{ txID: string, raw_data_hex: string, raw_data: { contract: { type: string, parameter: { value: Record<string, unknown> }, Permission_id?: number }[], fee_limit?: number, data?: string }, signature?: string[] }} Transaction
 */

/** The most of TRX that a transfer of a token may burn as its fee, in sun: a transfer of USDT to a new account takes a third. */
export const FEE_LIMIT = 100000000;
const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Fields of `raw` beside contract (11) and fee_limit (18): the reference block's (1, 3, 4), expiration (8) and timestamp (14). */
const OTHERS = [1, 3, 4, 8, 14];

/** The account of an address: the byte 0x41 and 20 more, without the checksum; empty for another text. @param {string} address */
export const accountOf = (address) => {
  let value = 0n;
  for (const one of address) {
    const digit = DIGITS.indexOf(one);
    if (digit < 0) return '';
    value = value * 58n + BigInt(digit);
  }
  const text = value.toString(16);
  return text.length === 50 && text.startsWith('41') ? text.slice(0, 42) : '';
};

/** @param {bigint} value */
const varint = (value) => {
  let text = '';
  do {
    const rest = value >> 7n;
    text += Number((value & 127n) | (rest && 128n)).toString(16).padStart(2, '0');
    value = rest;
  } while (value);
  return text;
};

/** A field of bytes behind its tag. @param {string} tag @param {string} hex */
const bytes = (tag, hex) => tag + varint(BigInt(hex.length / 2)) + hex;

/** @param {string} text */
const ascii = (text) => [...text].map((one) => one.charCodeAt(0).toString(16)).join('');

/**
 * The fields of a message: number, and value in hexadecimal digits or as a number; throws for what is none.
 *
 * @param {string} hex @returns {[number, string | bigint][]}
 */
const fieldsOf = (hex) => {
  /** @type {[number, string | bigint][]} */
  const fields = [];
  let at = 0;
  const take = (/** @type {number} */ count) => {
    at += count * 2;
    if (at > hex.length) throw RangeError();
    return hex.slice(at - count * 2, at);
  };
  const next = () => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = BigInt('0x' + take(1));
      value |= (byte & 127n) << shift;
      if (byte < 128n) return value;
    }
  };
  while (at < hex.length) {
    const tag = Number(next());
    const kind = tag & 7;
    if (kind && kind !== 2) throw RangeError();
    const value = next();
    fields.push([tag >> 3, kind ? take(Number(value)) : value]);
  }
  return fields;
};

/**
 * The time by the chain's clock, in milliseconds, from which no block takes a transaction: of several the last. 0 without one.
 *
 * Source: java-tron, `Manager.validateCommon`: it is later than the time of the block before.
 *
 * @param {string} hex The bytes that are signed.
 */
export const expirationOf = (hex) => Math.max(0, ...fieldsOf(hex).flatMap(([number, value]) => (number === 8 ? [Number(value)] : [])));

/**
 * Returns `true` if a transaction is the payment and nothing else: in its JSON, which a wallet shows, and in its bytes, which
 * are signed: one contract, with this sender, receiver or token, amount and call data, no memo, no other permission, and a
 * bounded fee. Throws for bytes that are no transaction, and where the page has no digests.
 *
 * @param {Transaction} transaction @param {{ from: string, to: string, value: string, data: string }} payment
 */
export const isPayment = async ({ txID, raw_data: raw, raw_data_hex: hex }, { from, to, value, data }) => {
  const [owner, receiver] = [accountOf(from), accountOf(to)];
  const isToken = data !== '0x';
  const type = isToken ? 'TriggerSmartContract' : 'TransferContract';
  const amount = BigInt(value);
  /** @type {Record<string, string>} */
  const wanted = isToken
    ? { owner_address: owner, contract_address: receiver, data: data.slice(2) }
    : { owner_address: owner, to_address: receiver, amount: String(amount) };
  const [contract, ...more] = raw.contract;
  const { call_value: coins = 0, ...shown } = contract.parameter.value;
  const names = Object.keys(wanted);
  const isShown = !more.length && contract.type === type && !contract.Permission_id && !raw.data && !coins
    && Object.keys(shown).length === names.length && names.every((name) => String(shown[name]).toLowerCase() === wanted[name]);
  const inner = bytes('0a', owner) + bytes('12', receiver) + (isToken ? bytes('22', wanted.data) : '18' + varint(amount));
  const any = bytes('0a', ascii('type.googleapis.com/protocol.' + type)) + bytes('12', inner);
  const signed = '08' + (isToken ? '1f' : '01') + bytes('12', any);
  const fields = fieldsOf(hex);
  const contracts = fields.filter(([number]) => number === 11);
  const isSigned = contracts.length === 1 && contracts[0][1] === signed
    && fields.every(([number, value]) => number === 11 || OTHERS.includes(number) || (number === 18 && typeof value === 'bigint' && value <= BigInt(FEE_LIMIT)));
  if (!isShown || !isSigned || Number(raw.fee_limit || 0) > FEE_LIMIT) return false;
  // A wallet may sign the id, whatever the bytes are. Only a secure origin has digests: on any other, this throws.
  const digest = await crypto.subtle.digest('SHA-256', Uint8Array.from(hex.match(/../g) || [], (byte) => parseInt(byte, 16)));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('') === txID;
};
