/**
 * The policy of the proxy's page for Trusted Types. The page demands them of scripts and markup (proxy/src/http/checkout_page.rs);
 * the screens set static markup through a template's `innerHTML`, and nothing else does. Where a browser has no Trusted
 * Types, nothing is demanded.
 */

/** A tag as the screens' compiler writes it: attributes in double quotes, one blank before each. A comment, or none. */
const TAG = /<(?:!(?:--[^<>]*--)?|\/[a-z][a-z0-9]*|[a-z][a-z0-9]*(?: [a-z][a-z0-9:-]*(?:="[^"<>]*")?)* ?\/?)>/gi;
/** Elements that run or load something, or change what others do. */
const ACTIVE_TAG = /<(?:script|style|link|meta|base|iframe|frame|object|embed|applet|template|portal|form|animate\w*|set|foreignobject|use)\b/i;
/** Attributes that run or load something. */
const ACTIVE_ATTRIBUTE = / (?:on[a-z]*|style|srcdoc|src|srcset|data|href|xlink:href|action|formaction|background|ping|is|nonce)\b/i;

/** Whether this markup runs nothing, loads nothing and leads nowhere. @param {string} html */
export const isInert = (html) => {
  const tags = (html.match(TAG) || []).join('');
  return !html.replace(TAG, '').includes('<') && !ACTIVE_TAG.test(tags) && !ACTIVE_ATTRIBUTE.test(tags.replace(/"[^"]*"/g, ''));
};

/** Static markup as the screens set it. */
const MARKUP = '<p hidden=""><!----></p>';

/** Whether this page takes the markup of the screens: its Trusted Types may refuse or change it. */
export const takesMarkup = () => {
  const template = document.createElement('template');
  try {
    template.innerHTML = MARKUP;
    return template.innerHTML === MARKUP;
  } catch {
    return false;
  }
};

/** Lets inert markup into the page. Must run before the screens are mounted. */
export const createPolicy = () => {
  const { trustedTypes } = /** @type {any} */ (window);
  trustedTypes?.createPolicy?.('default', {
    // Without a response, the browser refuses the markup.
    createHTML: (/** @type {string} */ html) => (isInert(html) ? html : undefined),
  });
};
