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

/** A colour's notation, a space, three numbers and what follows, in whatever notation it was written. */
const resolve = (place, color, space) => {
  // Of what stands beside a shadow nothing is computed.
  const probe = (place.shadowRoot || place).appendChild(document.createElement('i'));
  probe.style.color = `color-mix(in ${space}, ${color}, ${color})`;
  const parts = getComputedStyle(probe).color.split(/[ )]/);
  probe.remove();
  return parts;
};

/** Sets those tokens that are what they should be, by the names `prefix` begins, and removes the others. */
export const wear = (element, prefix, tokens) => {
  for (const [name, value] of tokens) {
    element.style.removeProperty(prefix + name);
    if (!value) continue;
    const isPlain = !/[\\;{}]|--|\w\(/.test(value.replace(FUNCTIONS, ''));
    const isShown = () => !SOLID.includes(name) || resolve(element, value, 'srgb')[4] !== '/';
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

/** A token as three numbers. */
const numbers = (place, name, space) => resolve(place, `var(--${name})`, space).slice(1, 4);
const luminance = (place, name) => numbers(place, name, 'srgb-linear').reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
const hex = (place, name) => '#' + numbers(place, name, 'srgb').map((part) => Math.round(part * 255).toString(16).padStart(2, '0')).join('');

/** Dresses `place`, which is on the page, as the store wishes, unless the page wishes otherwise. */
export const dress = (place, wished, { theme, theme_tokens }, isPage) => {
  place.dataset.theme = (wished !== 'auto' && wished) || theme || '';
  wear(place, '--preset-', Object.entries(theme_tokens || {}));
  const ground = (scheme) => {
    place.style.colorScheme = scheme;
    return luminance(place, 'ground');
  };
  // A ground that is the same by day and by night says by itself whether this is a dark checkout.
  const [day, night] = [ground('light'), ground('dark')];
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
  const own = place.style.colorScheme;
  for (const scheme of getComputedStyle(place).colorScheme.split(' ')) {
    place.style.colorScheme = scheme;
    for (const pair of PAIRS) {
      const [dark, light] = pair.map((name) => luminance(place, name)).sort((a, b) => a - b);
      const contrast = (light + 0.05) / (dark + 0.05);
      if (TEXTS.includes(pair[0])) least = Math.min(least, contrast);
      const [text, behind] = pair.map((name) => `--florin-${name} (${hex(place, name)})`);
      if (contrast < READABLE) console.warn(`florin: ${text} on ${behind} has a contrast of ${contrast.toFixed(2)} : 1 in the ${scheme} scheme; text needs ${READABLE} : 1.`);
    }
  }
  place.style.colorScheme = own;
  return least;
};
