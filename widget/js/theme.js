/** Themes: the tokens that a shop sets. Presets, and the text's colour on the accent, are in florin.css. */
/** @import { Store } from './types.d.ts' */

/**
 * A token's value is one that this property takes; the others are colours. Density is a number, radius a length.
 *
 * @type {Record<string, string>}
 */
const PROPERTIES = { radius: 'padding-top', font: 'font-family', density: 'flex-grow' };
/** Functions that compute a colour or a number. None reads another property, and none fetches. */
const FUNCTIONS = /\b(rgba?|hsla?|hwb|(ok)?(lab|lch)|color|color-mix|light-dark|calc|min|max|clamp)\(/g;
/** Text and what is behind it. Source: WCAG 2.2, 1.4.3 Contrast (Minimum). */
export const TEXTS = ['text', 'text-muted', 'warning', 'danger'];
export const PAIRS = [...TEXTS.map((name) => [name, 'background']), ['accent', 'background'], ['on-accent', 'accent']];
/** Tokens that must be opaque: the contrast of others depends on what is behind them. */
const SOLID = PAIRS.flat();

/**
 * Each colour as its notation, a space, three numbers and what follows, in whatever notation it was written. All at once:
 * a browser that computes a style first computes every other that has changed. `light-dark()` in a token is computed for
 * `scheme`, since no token is a registered property, whose value would be that of the place.
 *
 * @param {Element} place @param {string} space @param {string[]} colors
 */
const resolve = (place, space, colors, scheme = '') => {
  const probes = colors.map((color) => {
    const probe = document.createElement('i');
    Object.assign(probe.style, { colorScheme: scheme, color: `color-mix(in ${space}, ${color}, ${color})` });
    return probe;
  });
  // Beside a shadow root nothing is computed.
  (place.shadowRoot || place).append(...probes);
  const found = probes.map((probe) => getComputedStyle(probe).color.split(/[ )]/));
  for (const probe of probes) probe.remove();
  return found;
};

/**
 * Sets the tokens that are valid, and removes the others.
 *
 * @param {HTMLElement} element @param {string} prefix Comes before each name.
 * @param {(string | null | undefined)[][]} tokens Name and value of each.
 */
export const applyTheme = (element, prefix, tokens) => {
  for (const [token, value] of tokens) {
    const name = String(token);
    element.style.removeProperty(prefix + name);
    if (!value) continue;
    const isPlain = !/[\\;{}]|--|\w\(/.test(value.replace(FUNCTIONS, ''));
    const isShown = () => !SOLID.includes(name) || resolve(element, 'srgb', [value])[0][4] !== '/';
    if (isPlain && CSS.supports(PROPERTIES[name] || 'color', value) && isShown()) element.style.setProperty(prefix + name, value);
    else console.warn(`florin: --florin-${name} cannot be ${JSON.stringify(value)}, and is left out.`);
  }
};

/**
 * Tokens in a scheme, each as three numbers.
 *
 * @param {Element} place @param {string} space @param {string[]} names @param {string} scheme
 */
export const numbers = (place, space, names, scheme) => resolve(place, space, names.map((name) => `var(--${name})`), scheme).map((parts) => parts.slice(1, 4).map(Number));
/** @param {Element} place @param {string[]} names @param {string} scheme */
export const luminances = (place, names, scheme) => numbers(place, 'srgb-linear', names, scheme).map(([red, green, blue]) => red * 0.2126 + green * 0.7152 + blue * 0.0722);

/**
 * Applies the store's theme to `place`, which is on the page, unless the page names another.
 *
 * @param {HTMLElement} place @param {string | null | undefined} wished The page's theme.
 * @param {Partial<Store>} store @param {boolean} isPage Whether this is the proxy's page.
 */
export const applyStoreTheme = (place, wished, { theme, theme_tokens }, isPage) => {
  place.dataset.theme = (wished !== 'auto' && wished) || theme || '';
  applyTheme(place, '--preset-', Object.entries(theme_tokens || {}));
  // A preset names its scheme. A background of the shop's own that is the same in both decides whether this is a dark checkout.
  const { host } = /** @type {{ host: HTMLElement }} */ (/** @type {unknown} */ (place.getRootNode()));
  const style = isPage ? host.style : getComputedStyle(host);
  if (theme_tokens?.background || style.getPropertyValue('--florin-background')) {
    const [[day], [night]] = ['light', 'dark'].map((scheme) => luminances(place, ['background'], scheme));
    place.style.colorScheme = day !== night ? '' : day < 0.179 ? 'dark' : 'light';
  }
  // Once the checkout is painted: to compute a style takes a slow phone long.
  if (isPage) requestAnimationFrame(() => setTimeout(() => paintPage(place)));
};

/** The page's own background, beside the scroll bar: see page.css. @param {HTMLElement} place */
const paintPage = (place) => {
  const style = getComputedStyle(place);
  const { style: page } = document.documentElement;
  page.colorScheme = style.colorScheme;
  for (const name of ['--background', '--surface']) page.setProperty(name, style.getPropertyValue(name));
};
