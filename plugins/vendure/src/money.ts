/**
 * Returns an amount of Vendure as the proxy's decimal. Vendure's integers have `precision` decimals, whatever the currency; the
 * proxy's amounts have at most those of the currency.
 *
 * @throws A `RangeError`: the amount has a part that the currency does not have.
 */
export const toDecimal = (amount: number, currency: string, precision: number): string => {
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  const text = String(amount).padStart(precision + 1, '0');
  const point = text.length - precision;
  const [whole, fraction] = [text.slice(0, point), text.slice(point)];
  if (/[^0]/.test(fraction.slice(digits))) throw new RangeError(`${whole}.${fraction} is no amount of ${currency}.`);
  return digits === 0 ? whole : `${whole}.${fraction.slice(0, digits).padEnd(digits, '0')}`;
};

const withoutZeros = (decimal: string) => (decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal);

export const isSameAmount = (left: string, right: string) => withoutZeros(left) === withoutZeros(right);
