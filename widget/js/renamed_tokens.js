/** Names that tokens had in early versions. */

/** The old name of each, then its name today; `[store.theme]` has the same. */
const RENAMED_TOKENS = [
  ['ground', 'background'],
  ['side', 'surface'],
  ['ink', 'text'],
  ['soft', 'text-muted'],
  ['line', 'border'],
  ['warn', 'warning'],
  ['bad', 'danger'],
];

/**
 * Names the old tokens of an element on the console, each with its new name. They have no effect.
 *
 * @param {Element} element
 */
export const warnOfRenamedTokens = (element) => {
  const style = getComputedStyle(element);
  for (const [old, name] of RENAMED_TOKENS) {
    if (style.getPropertyValue('--florin-' + old)) console.warn(`florin: --florin-${old} is named --florin-${name} now: write --florin-${name}.`);
  }
};
