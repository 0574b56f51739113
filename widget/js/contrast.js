/** The contrast of the colours that a theme makes. */
import { PAIRS, TEXTS, luminances, numbers } from './theme.js';

const READABLE = 4.5;
const hex = (/** @type {number[]} */ parts) => '#' + parts.map((part) => Math.round(part * 255).toString(16).padStart(2, '0')).join('');

/**
 * Warns on the console of colours that cannot be read, in each scheme of the checkout. Returns the least contrast of a text
 * with its background.
 *
 * @param {Element} place
 */
export const checkContrast = (place) => {
  // Forced colours are the system's.
  if (matchMedia('(forced-colors: active)').matches) return 21;
  let least = 21;
  for (const scheme of getComputedStyle(place).colorScheme.split(' ')) {
    const found = luminances(place, PAIRS.flat(), scheme);
    PAIRS.forEach((pair, at) => {
      const [dark, light] = found.slice(at * 2, at * 2 + 2).sort((a, b) => a - b);
      const contrast = (light + 0.05) / (dark + 0.05);
      if (TEXTS.includes(pair[0])) least = Math.min(least, contrast);
      if (contrast >= READABLE) return;
      const [text, behind] = numbers(place, 'srgb', pair, scheme).map((parts, which) => `--florin-${pair[which]} (${hex(parts)})`);
      console.warn(`florin: ${text} on ${behind} has a contrast of ${contrast.toFixed(2)} : 1 in the ${scheme} scheme; text needs ${READABLE} : 1.`);
    });
  }
  return least;
};
