/**
 * What a checkout looks like: which tokens are taken from elsewhere, and whether what comes of them can be read. The
 * rest is florin.css, where a theme's presets are, and where text finds its own colour on the accent.
 */

/** A token's value is one that this property takes; the others are colours. Density is a number, radius a length. */
const PROPERTIES = { radius: 'padding-top', font: 'font-family', density: 'flex-grow' };
/** Functions that compute a colour or a number. None reads another property, and none fetches. */
const FUNCTIONS = /\b(rgba?|hsla?|hwb|(ok)?(lab|lch)|color|color-mix|light-dark|calc|min|max|clamp)\(/g;
/** Text and what is behind it. Source: WCAG 2.2, 1.4.3 Contrast (Minimum). */
const TEXTS = ['ink', 'soft', 'warn', 'bad'];
const PAIRS = [...TEXTS.map((name) => [name, 'ground']), ['accent', 'ground'], ['on-accent', 'accent']];
const READABLE = 4.5;
/** What lets nothing through: with what is behind it, nobody could say how well it can be read. */
const SOLID = PAIRS.flat();

/**
 * Each colour as its notation, a space, three numbers and what follows, in whatever notation it was written. All at once:
 * a browser that is asked for a style first finds every other that has changed. `light-dark()` in a token is found for
 * `scheme`, since no token is a registered property, whose value would be that of the place.
 */
const resolve = (place, space, colors, scheme = '') => {
  const probes = colors.map((color) => {
    const probe = document.createElement('i');
    Object.assign(probe.style, { colorScheme: scheme, color: `color-mix(in ${space}, ${color}, ${color})` });
    return probe;
  });
  // Of what stands beside a shadow nothing is computed.
  (place.shadowRoot || place).append(...probes);
  const found = probes.map((probe) => getComputedStyle(probe).color.split(/[ )]/));
  for (const probe of probes) probe.remove();
  return found;
};

/** Sets those tokens that are what they should be, by the names `prefix` begins, and removes the others. */
export const wear = (element, prefix, tokens) => {
  for (const [name, value] of tokens) {
    element.style.removeProperty(prefix + name);
    if (!value) continue;
    const isPlain = !/[\\;{}]|--|\w\(/.test(value.replace(FUNCTIONS, ''));
    const isShown = () => !SOLID.includes(name) || resolve(element, 'srgb', [value])[0][4] !== '/';
    if (isPlain && CSS.supports(PROPERTIES[name] || 'color', value) && isShown()) element.style.setProperty(prefix + name, value);
    else console.warn(`florin: --florin-${name} cannot be ${JSON.stringify(value)}, and is left out.`);
  }
};

/** What the store of this page wishes, before its order has arrived; see proxy/src/http/page.rs. */
export const ahead = () => {
  const told = performance.getEntriesByType('navigation')[0]?.serverTiming?.find(({ name }) => name === 'theme')?.description;
  const { theme, ...theme_tokens } = Object.fromEntries(new URLSearchParams(told));
  return { theme, theme_tokens };
};

/** Tokens in a scheme, each as three numbers. */
const numbers = (place, space, names, scheme) => resolve(place, space, names.map((name) => `var(--${name})`), scheme).map((parts) => parts.slice(1, 4));
const luminances = (place, names, scheme) => numbers(place, 'srgb-linear', names, scheme).map(([red, green, blue]) => red * 0.2126 + green * 0.7152 + blue * 0.0722);
const hex = (parts) => '#' + parts.map((part) => Math.round(part * 255).toString(16).padStart(2, '0')).join('');

/** Dresses `place`, which is on the page, as the store wishes, unless the page wishes otherwise. */
export const dress = (place, wished, { theme, theme_tokens }, isPage) => {
  place.dataset.theme = (wished !== 'auto' && wished) || theme || '';
  wear(place, '--preset-', Object.entries(theme_tokens || {}));
  // A ground that is the same by day and by night says by itself whether this is a dark checkout.
  const [[day], [night]] = ['light', 'dark'].map((scheme) => luminances(place, ['ground'], scheme));
  place.style.colorScheme = day !== night ? '' : day < 0.179 ? 'dark' : 'light';
  if (!isPage) return;
  const style = getComputedStyle(place);
  const { style: page } = document.documentElement;
  page.colorScheme = style.colorScheme;
  page.background = style.getPropertyValue('--side');
};

/**
 * Says on the console which colours cannot be read, in each scheme that the checkout can be seen in. Answers the least
 * contrast of a text with its ground.
 */
export const check = (place) => {
  // Forced colours are the system's own.
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
