/** Links out of all frames, also where the sandbox of a frame around this page forbids them. */

/**
 * Follows a pressed link out of all frames by a script: where a sandbox forbids that, it throws, and the link opens a new tab.
 * The browser itself would do nothing, silently. A link with its own referrer policy is left to the browser.
 * Source: HTML, "Location-object navigate": a SecurityError if the sandbox does not allow it.
 *
 * @param {Event} event
 * @param {() => void} report Called when a press has met a sandbox.
 */
export const followTopLink = (event, report) => {
  if (top === window) return;
  for (const link of /** @type {HTMLAnchorElement[]} */ (event.composedPath())) {
    if (link.target !== '_top' || !/^http/.test(link.href) || link.referrerPolicy) continue;
    try {
      /** @type {Window} */ (top).location.href = link.href;
      event.preventDefault();
    } catch {
      link.target = '_blank';
      setTimeout(() => (link.target = '_top'));
      // Without a press, every browser forbids it.
      if (event.isTrusted) report();
    }
    return;
  }
};
