/** The proxy's own page, alone in its window or framed by a shop's. */
/** The order of a page that was given a token in its address; the name of the page stays there, beside those of others. */
const GIVEN = 'florin:given:';

/** The checkout page: what to open stands in the fragment, which keeps a token only where storage does not. */
const page = (stage, told = new URLSearchParams(location.hash.slice(1))) => {
  const { element, signal, TOKENS, EVENTS } = stage;
  // Whoever frames this page was let in as the store of its address: it sells for no other.
  const store = new URLSearchParams(location.search).get('store');
  if (store) told.set('store', store);
  const origin = told.get('origin');
  const given = { 'client-token': told.get('client_token'), 'order-token': told.get('order_token') };
  const token = given['client-token'] || given['order-token'];
  const name = told.get('page') || Math.random();
  if (token && remember(GIVEN + name, token)) {
    told.delete('client_token');
    told.delete('order_token');
    told.set('page', name);
    history.replaceState(null, '', '#' + told);
  } else if (!token && !told.get('product') && !told.get('donation')) {
    // Of the two, an order token alone has dots.
    const kept = recall(GIVEN + name) || '';
    given[kept.includes('.') ? 'order-token' : 'client-token'] = kept;
  }
  const isModal = told.get('display') === 'modal';
  // A window and a dialog have their height; another frame has what it has grown to, and does not shrink again.
  element.style.setProperty('--florin-min-height', '100vh');
  // Until another frame has grown, its scroll bar would make everything narrower for a moment.
  if (parent !== window && !isModal) document.documentElement.style.scrollbarWidth = 'none';
  // Only the store's own pages frame this one, but anybody can send a link to it: no stranger words a checkout.
  if (parent === window) told.delete('words');
  else if (origin) {
    const tell = (type, detail) => parent.postMessage({ florin: 1, type, detail }, origin);
    // A key that is pressed in a frame is not heard around it.
    if (isModal) addEventListener('keydown', (event) => event.key === 'Escape' && !event.defaultPrevented && tell('escape'), { signal });
    EVENTS.forEach((type) => element.addEventListener('florin-' + type, (event) => tell(type, event.detail), { signal }));
    addEventListener('message', ({ data, source, origin: from }) => {
      if (source === parent && from === origin && data?.florin === 1 && data.type === 'refresh') element.refresh();
    }, { signal });
  }
  addEventListener('hashchange', stage.restart, { signal });
  loadTheme(stage.load).then(({ wear }) => wear(element, '--florin-', TOKENS.map((name) => [name.slice(9), told.get(name)])), () => {});
  document.documentElement.dataset.theme = told.get('theme') || '';
  show(stage, (name) => (name in given ? given[name] : told.get(name.replace('-', '_'))), true);
};
