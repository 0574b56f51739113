/** Names that a shop's page writes: attributes and custom properties. Texts, since lists take more bytes. */

/** The attributes, each a line of VALID_ATTRIBUTES; in the page's fragment they are written with underscores. */
export const ATTRIBUTES = 'store product quantity donation amount order-token client-token display locale theme asset words'.split(' ');

/** An attribute's value, without blanks around it; empty when it is not set. @param {HTMLElement} element @param {string} name */
export const read = (element, name) => (element.getAttribute(name) || '').trim();

/** The attributes' values, a line each, when all are valid; diagnostics.js has the rules one by one and names the mistakes. */
export const VALID_ATTRIBUTES = /^(.+\n(.+\n([1-9]\d*)?\n\n|\n\n.+\n[\d.]*)\n\n\n|.*\n{5}(.+\n\n|\n.+\n))(frame|inline|modal|redirect)?\n[-\w]*\n(auto|light|dark|contrast|paper|midnight|sorbet)?\n/;

/** Custom properties of the element that reach the frame as well, each after `--florin-`. */
export const TOKENS = 'accent on-accent background surface text text-muted border warning danger radius font density'.split(' ');
