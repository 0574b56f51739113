/** The proxy's responses, canned: what `fetch` says of one state. */

const realFetch = window.fetch;
const CHECKOUT = '/v1/checkout';
/** A state is complete after so long without a change. */
const QUIET_MS = 60;
const realMedia = window.matchMedia.bind(window);
/** Requests that are still to be answered. */
let pending = 0;

/** RFC 7396: what is named replaces, `null` removes. */
const patched = (whole, patch) => {
  const result = { ...whole };
  for (const [name, value] of Object.entries(patch || {})) {
    if (value === null) delete result[name];
    else result[name] = typeof value === 'object' && !Array.isArray(value) ? patched(whole[name], value) : value;
  }
  return result;
};

/** The order of a state, whole. Its pictures are the gallery's own, wherever its proxy is. */
const orderOf = (table, state) => {
  const order = patched(table.order, state.order);
  const own = (path) => path && new URL('..' + path, import.meta.url).href;
  order.store.logo_url = own(order.store.logo_url);
  for (const line of order.lines || []) line.image_url = own(line.image_url);
  return state.attempt ? { ...order, attempt: patched(table.attempt, state.attempt) } : order;
};

/** Members of the contract with fixed values, which the widget compares. Only the proxy writes them. */
const WORDS = ['as_of', 'blocked_reason', 'code', 'crypto_code', 'currency', 'environment', 'failure_reason', 'flow', 'glyph', 'badge', 'id', 'kind', 'late_payment', 'local_currency_code', 'marks', 'paid_at', 'reason', 'status', 'wallet'];

/** The same with `text` in place of every text in it: amounts and the contract's words stay. */
const filled = (value, text, name) => {
  if (typeof value === 'string') return WORDS.includes(name) || /^\d+(\.\d+)?$/.test(value) ? value : text;
  if (Array.isArray(value)) return value.map((one) => filled(one, text, name));
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, text, name)]));
  return value;
};

/** The same response; it counts as pending until its body is complete. */
const counted = async (response) => {
  pending += 1;
  try {
    const got = await response;
    got.clone().arrayBuffer().catch(() => {}).finally(() => (pending -= 1));
    return got;
  } catch (error) {
    pending -= 1;
    throw error;
  }
};

const never = (signal) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

/** Answers from here on as the proxy would in this state. */
export const response = (table, state, params) => {
  const text = params.get('text');
  const json = (body, status = 200) => {
    const shown = text === null ? body : filled(body, text);
    return new Response(status === 304 ? null : JSON.stringify(shown), { status, headers: { 'content-type': 'application/json', etag: '"gallery"' } });
  };
  const refused = ({ status, error }) => json({ error }, status);
  let order = orderOf(table, state);
  let opened = false;
  const changed = (patch, attempt) => {
    order = { ...patched(order, patch), version: order.version + 1 };
    if (attempt) order.attempt = patched(order.attempt || table.attempt, attempt);
    return json(order);
  };
  /** The customer's actions. Each succeeds, unless the state names its error. */
  const actions = {
    '/attempt': () => changed({ status: 'awaiting_payment' }, { expires_in_seconds: 900 }),
    '': async () => json({ client_token: 'gallery', order: await actions['/attempt']().json() }),
    '/paid': async (asked) => {
      const { transaction_hash: hash } = await asked.json();
      return changed({ status: 'checking' }, { marked_as_paid: true, transaction_hint: hash });
    },
    '/email': () => changed({ email_kept: true, email_required: false }),
    '/refund-address': async (asked) => {
      const { address } = await asked.json();
      return /^tb1/.test(address) ? changed({ refund_address: address }) : refused({ status: 400, error: { code: 'invalid_request', message: 'It is no address.', field: 'address' } });
    },
    '/session': () => changed({ status: 'awaiting_payment', payment_process_url: 'http://127.0.0.1:9/checkout/gallery' }),
  };
  const open = (asked) => {
    switch (state.open) {
      case 'never': return never(asked.signal);
      case 'fails': throw new TypeError('the network of the gallery is gone');
      case 'unreadable': return json({ client_token: 'gallery', order: { id: 'of another version' } });
      case undefined: break;
      default: return refused(state.open);
    }
    opened = true;
    return json(order);
  };
  const offer = (asked) => {
    const { environment, store, title, lines, amount, currency } = order;
    const unpriced = state.quotes === 'refused';
    const opening = open(asked);
    return state.open ? opening : json({ environment, store, title, lines, amount, currency, quotes: unpriced ? undefined : table.quotes[state.quotes || 'usual'] });
  };
  const quotes = (asked) => {
    const wanted = state.quotes || 'usual';
    if (wanted === 'never') return never(asked.signal);
    return wanted === 'refused' ? json({ error: { code: 'gateway_unavailable', message: 'The payment service cannot be reached.' } }, 503) : json(table.quotes[wanted]);
  };
  const payment = (asked) => {
    if (state.payment === 'never') return never(asked.signal);
    if (state.payment === 'fails') throw new TypeError('the network of the gallery is gone');
    return json({}, 404);
  };
  const answered = (path, asked) => {
    if (state.lost && opened) throw new TypeError('the network of the gallery is gone');
    if (path === '/offer' && state.source && !new URL(asked.url).searchParams.get('amount')) return json(patched(table.donation, state.donation));
    const isAction = asked.method === 'POST' || (path === '/offer' && state.source);
    if (isAction && state.action) return state.action === 'never' ? never(asked.signal) : refused(state.action);
    if (actions[path] && isAction) return actions[path](asked);
    if (path === '/events') return never(asked.signal);
    if (path === '/offer') return offer(asked);
    if (path === '/quotes') return quotes(asked);
    if (path === '/receipt') return json(table.receipt);
    return asked.headers.get('if-none-match') ? json(null, 304) : open(asked);
  };
  // On a phone, whatever shows the gallery.
  window.matchMedia = (query) => (query === '(pointer: coarse)' && state.phone ? { matches: true } : realMedia(query));
  window.fetch = async (request, options) => {
    const asked = new Request(request, options);
    const { pathname } = new URL(asked.url);
    const at = pathname.indexOf(CHECKOUT);
    if (at >= 0) return answered(pathname.slice(at + CHECKOUT.length), asked);
    // The texts of the screens after the asset choice, which come with the payment module.
    if (state.payment && /\.payment-[0-9a-f]{8}\.json$/.test(pathname)) return payment(asked);
    const real = await counted(realFetch(asked));
    if (!params.get('dir') || !/\/assets\/[a-zA-Z-]+-[0-9a-f]{8}\.json$/.test(pathname)) return real;
    return new Response(JSON.stringify({ ...(await real.json()), direction: params.get('dir') }));
  };
};

/** Does what makes the state: presses what the customer would press, types (`field=text`), or takes the network away. */
export const act = (context, state) => {
  const { element, signal } = context;
  const wanted = [...(state.press || [])];
  let losses = state.lost ? 3 : 0;
  let isThere = false;
  let changedAt = performance.now();
  delete element.dataset.shown;
  element.addEventListener('florin-ready', () => (isThere = true), { signal });
  const observer = new MutationObserver(() => (changedAt = performance.now()));
  observer.observe(element.shadowRoot, { attributes: true, characterData: true, childList: true, subtree: true });
  const isMoving = () => element.shadowRoot.getAnimations().some((one) => one.playState === 'running' && one.effect.getComputedTiming().iterations !== Infinity);
  const timer = setInterval(() => {
    if (!isThere) return;
    const [name, text] = wanted.length ? wanted[0].split('=') : [];
    const found = name && element.shadowRoot.querySelector(`[data-testid="${name}"]`);
    if (found) {
      wanted.shift();
      if (text) {
        found.value = text;
        found.dispatchEvent(new Event('input'));
      } else {
        // The program of a link does not open from the gallery.
        if (found.protocol && !found.protocol.startsWith('http')) found.addEventListener('click', (event) => event.preventDefault(), { once: true });
        found.click();
      }
    } else if (losses && element.shadowRoot.querySelector('h2')) {
      losses -= 1;
      // The widget asks at once when it receives this, and fails.
      dispatchEvent(new Event('offline'));
    }
    // How far the payment by a wallet is.
    const walletState = element.shadowRoot.querySelector('[data-testid=wallet-status]')?.dataset.state;
    if (state.wallet_state && state.wallet_state !== walletState) return;
    const isAwaited = state.awaits && !element.shadowRoot.querySelector(`[data-testid="${state.awaits}"]`)?.checkVisibility();
    if (found || wanted.length || losses || isAwaited) return;
    // Tests and pictures wait until everything that was pressed is answered and shown.
    if (pending || isMoving() || performance.now() - changedAt < QUIET_MS) return;
    clearInterval(timer);
    element.dataset.shown = state.name;
  }, 20);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    observer.disconnect();
  });
};
