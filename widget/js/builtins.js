/** Parts of the browser that pages are known to break, and that the checkout needs. No part is used to test another. */

import { takesMarkup } from './host/trusted_types.js';

/** @type {Record<string, () => boolean>} */
const TRIALS = {
  'Array.from': () => Array.from('ab')[1] === 'b',
  'Array.prototype.filter': () => [1, 2].filter((one) => one > 1)[0] === 2,
  'Array.prototype.find': () => [1, 2].find((one) => one > 1) === 2,
  'Array.prototype.includes': () => [1].includes(1),
  'Array.prototype.map': () => [1].map((one) => one + 1)[0] === 2,
  'Element.prototype.innerHTML': takesMarkup,
  'Function.prototype.bind': () => (/** @param {number} one */ (one) => one).bind(null, 1)() === 1,
  'JSON.stringify': () => JSON.stringify({ a: [1] }) === '{"a":[1]}',
  'Object.entries': () => Object.entries({ a: 1 })[0][1] === 1,
  'Object.fromEntries': () => Object.fromEntries([['a', 1]]).a === 1,
  'Promise.all': () => typeof Promise.all([]).then === 'function',
  'String.prototype.replace': () => 'a'.replace('a', 'b') === 'b',
};

/** The names of the parts that do not work. */
export const brokenBuiltins = () => {
  let names = '';
  for (const name in TRIALS) {
    if (!Object.hasOwn(TRIALS, name)) continue;
    let works = false;
    try {
      works = TRIALS[name]();
    } catch {
      // It does not.
    }
    if (!works) names += (names && ', ') + name;
  }
  return names;
};
