/**
 * Where the checkout itself is shown, which is the proxy's own page or, inline, the shop's: opens the order, loads
 * program, style and words, and lets the screens begin. Loaded by florin.js, which hands over a `stage`: the element,
 * the signal that ends this run, and what both files know.
 */
const BASE = new URL('..', import.meta.url).href;
const FILES = {
  glue: '%FLORIN:widget.js%',
  wasm: '%FLORIN:widget_bg.wasm%',
  css: '%FLORIN:florin.css%',
  theme: '%FLORIN:theme.js%',
};
/** The languages by tag, each with the hash in its file's name. */
const LANGUAGES = new URLSearchParams('%LANGUAGES%');
const REQUEST_TIMEOUT_MS = 20000;
/** The screens wait no longer for the order before they say that they wait. */
const PATIENCE_MS = 3000;
/** The checkout is on the screen by then. */
const CHECK_AFTER_MS = 2000;
/** For a file of the checkout: at the slowest, a few kilobytes a second. */
const FILE_TIMEOUT_MS = 45000;
/** Each opens one order: exactly one is named. */
const DOORS = ['product', 'donation', 'order-token', 'client-token'];
/** The order of a page that was given a token in its address; the name of the page stays there, beside those of others. */
const GIVEN = 'florin:given:';

/** The asset that was chosen last. */
const LAST = 'florin:asset';

const memory = {};
/** A browser's storage, or memory where it is forbidden in frames of another site. Answers whether a reload finds it. */
const remember = (key, value, storage = 'sessionStorage') => {
  memory[key] = value;
  try {
    if (value) window[storage].setItem(key, value);
    else window[storage].removeItem(key);
    return true;
  } catch {}
};
const recall = (key, storage = 'sessionStorage') => {
  try {
    return memory[key] || window[storage].getItem(key);
  } catch {}
};

const get = async (path) => {
  const answer = await fetch(BASE + path, { signal: AbortSignal.timeout?.(FILE_TIMEOUT_MS) });
  if (!answer.ok) throw new Error(answer.status + ' ' + path);
  return answer;
};

/** Keeps the result of `load` for every element of the page, but not its failure. */
const once = (load) => {
  let kept;
  return (argument) => (kept ||= load(argument).catch((error) => {
    kept = 0;
    throw error;
  }));
};
const loadProgram = once(async (load) => {
  const wasm = get(FILES.wasm);
  wasm.catch(() => {});
  const glue = await load(FILES.glue);
  await glue.default({ module_or_path: wasm });
  return glue;
});
const loadStyle = once(async () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await (await get(FILES.css)).text());
  return sheet;
});
const loadTheme = once((load) => load(FILES.theme));

/** A contrast with which a text could as well not be there. */
const HIDDEN = 2;

/** Where the customer's own choice of a language is kept. */
const CHOSEN = 'florin:locale';

/**
 * The best language for what is wished, as `[file, locale]`: the tag of a file, and the tag by which numbers and times
 * are written, `de-CH` for instance. Its digits are those of the wallets everywhere.
 */
const language = (...wished) => {
  for (const tag of [recall(CHOSEN), ...wished, document.documentElement.lang, ...navigator.languages, 'en']) {
    try {
      const locale = new Intl.Locale(tag, { numberingSystem: 'latn' });
      const { language, script, region } = locale.maximize();
      // Whose writing differs from what the language's own file has.
      const other = { no: 'nb', nn: 'nb', zh: script === 'Hant' && 'zh-TW', pt: region !== 'BR' && 'pt-PT' };
      const file = other[language] || language;
      if (LANGUAGES.has(file)) return [file, '' + locale];
    } catch {
      // Not a tag at all.
    }
  }
};

/** Where else to go, or to send: no text of a checkout says that. */
const LURE = /:\/\/|(?=[a-z]*\d)[a-z\d]{16}/i;

/** The texts of a language, with the shop's own in their places: `own` is JSON, `{"de": {"paid": "…"}}`. */
const loadWords = async (file, own) => {
  const words = await (await get('assets/' + file + '-' + LANGUAGES.get(file) + '.json')).json();
  if (!own) return words;
  const gaps = (text) => JSON.stringify(text.match(/\{\w+\}/g)?.sort());
  let texts = {};
  try {
    texts = JSON.parse(own)[file] || {};
  } catch {
    console.error('florin: words is not JSON like {"' + file + '": {"paid": "' + words.paid + '"}}: ' + own);
  }
  for (const [key, text] of Object.entries(texts)) {
    const known = words[key];
    if (typeof known === 'string' && typeof text === 'string' && gaps(text) === gaps(known) && !LURE.test(text)) words[key] = text;
    else if (known && LURE.test(text)) console.error('florin: words: "' + key + '" is left as it is: a text of the checkout leads nowhere and holds no address');
    else console.error('florin: words: "' + key + '" is left as it is: ' + (known ? 'its text needs the same {…} as "' + (known.other || known) + '"' : 'there is no such text'));
  }
  return words;
};

/** The element whose customer has just chosen a language: its new menu takes the focus of the old one. */
let choosing;

/**
 * The menu of languages, each by its own name. Until somebody reaches for it, it has its own alone: the names of all take
 * longer than everything else that is shown first.
 */
const menu = ({ element, make, restart }, label, file) => {
  const named = (tag) => {
    const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag);
    return make('option', { value: tag, lang: tag }, name[0].toLocaleUpperCase(tag) + name.slice(1));
  };
  const select = make('select', { className: 'language', ariaLabel: label }, named(file));
  select.onfocus = select.onpointerdown = () => {
    select.onfocus = select.onpointerdown = null;
    const options = [...LANGUAGES.keys()].map(named).sort((a, b) => a.text.localeCompare(b.text));
    select.replaceChildren(...options);
    select.value = file;
  };
  select.onchange = () => {
    remember(CHOSEN, select.value);
    choosing = element;
    restart();
  };
  select.setAttribute('part', 'language');
  return select;
};

/** Shows the checkout: as the proxy's own page, or in the element of a shop's page. */
export const start = (stage, isPage) => {
  // Where a policy forbids WebAssembly, this throws, before an order is opened that could not be shown.
  new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  if (!isPage) show(stage, (name) => stage.element.getAttribute(name));
  // Every state on canned answers, where the proxy of a test environment has the file.
  else if (/^#gallery\b/.test(location.hash)) import(BASE + 'gallery/gallery.js').then((gallery) => gallery.start(stage, page, [...LANGUAGES.keys()]), () => page(stage));
  else page(stage);
};

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
  document.documentElement.lang = language(told.get('locale'))[0];
  document.documentElement.dataset.theme = told.get('theme') || '';
  show(stage, (name) => (name in given ? given[name] : told.get(name.replace('-', '_'))), true);
};

const show = async (stage, read, isPage) => {
  const { element, signal, make } = stage;
  const [file, locale] = language(read('locale'));
  const open = opener(stage, read);
  let first = open(false);
  // A page that the proxy does not admit reads no answer, or this one.
  first.then(({ body }) => !isPage && body?.error?.code === 'origin_not_allowed' && stage.doubt(true), () => isPage || stage.doubt());
  const themed = (...children) => {
    const place = make('div', { className: 'theme' }, ...children);
    place.dataset.theme = read('theme') || '';
    return place;
  };
  /** `store` is missing where the order is yet to come. */
  const appear = (place, { dress, ahead }, store) => {
    stage.show(place);
    if (store || isPage) dress(place, read('theme'), store || ahead(), isPage);
  };
  const place = themed();
  const bar = () => make('div', { className: 'bar' });
  const skeleton = make('div', { className: 'florin' }, make('aside', { className: 'summary' }, bar(), bar()), make('section', { className: 'main' }, bar(), bar(), bar(), bar()));
  skeleton.setAttribute('aria-busy', 'true');
  const spoken = loadWords(file, read('words'));
  spoken.catch(() => {});
  let waiting = true;
  const style = Promise.all([loadStyle(), loadTheme(stage.load)]).then(([sheet, theme]) => {
    // The loader's own looks come first.
    element.shadowRoot.adoptedStyleSheets = [element.shadowRoot.adoptedStyleSheets[0], sheet];
    if (!signal.aborted && waiting) appear(themed(skeleton), theme);
    return theme;
  });
  let wide;
  const observer = new ResizeObserver(([{ contentRect: { width, height } }]) => {
    // What has grown inline does not shrink again, as long as it is as wide as it was: what is below stays there.
    if (!isPage) place.style.setProperty('--florin-min-height', width === wide ? height + 'px' : '');
    wide = width;
    stage.emit('resize', { height: Math.ceil(height) });
  });
  observer.observe(place);
  signal.addEventListener('abort', () => observer.disconnect());
  try {
    // Without the order the screens would begin with less than they soon show, and what is below would move.
    const opened = Promise.race([first, new Promise((done) => setTimeout(done, PATIENCE_MS))]).catch(() => {});
    const [words, program, theme, known] = await Promise.all([spoken, loadProgram(stage.load), style, opened]);
    if (signal.aborted) return;
    waiting = false;
    let dressed = known?.body?.store;
    // Before the screens are in it: each scheme that is looked at changes every style in the place.
    appear(place, theme, dressed);
    const isAlone = isPage && parent === window;
    const look = () => {
      // Anybody can send a link: colours of one that hide the text are not worn.
      if (!signal.aborted && theme.check(place) < HIDDEN && isAlone) theme.wear(element, '--florin-', stage.TOKENS.map((name) => [name.slice(9)]));
    };
    // Nobody waits for what a merchant is told, and it takes long.
    const check = () => (isAlone ? look() : setTimeout(look, CHECK_AFTER_MS));
    if (dressed) check();
    const languages = menu(stage, words.language, file);
    const mounted = program.mount(place, {
      base: BASE,
      words,
      locale,
      menu: languages,
      asset: read('asset') || '',
      recall: () => recall(LAST, 'localStorage') || '',
      remember: (code) => remember(LAST, code, 'localStorage'),
      heading: isPage ? 'h1' : 'p',
      repeatable: !read('client-token') && !read('order-token'),
      embed: !!isPage && parent !== window && read('display') !== 'redirect',
      open: (again, amount) => {
        const answer = first || open(again, amount);
        first = 0;
        answer.then(({ body }) => {
          if (dressed || signal.aborted || !body.store) return;
          dressed = body.store;
          theme.dress(place, read('theme'), dressed, isPage);
          check();
        }, () => {});
        return answer;
      },
      emit: stage.emit,
      // By then the screens show what they were told last.
      print: () => requestAnimationFrame(() => printAlone(element)),
    });
    signal.addEventListener('abort', () => program.unmount(mounted));
    stage.onRefresh(() => program.refresh(mounted));
    if (choosing === element) languages.focus();
    choosing = 0;
    // What the doctor said of an earlier try is over.
    element.shadowRoot.querySelector('.fl-doctor')?.remove();
    stage.emit('ready');
  } catch (error) {
    waiting = false;
    stage.fail(error, await spoken.catch(() => {}), locale);
  }
};

/** The door that the attributes name: the members of POST /v1/checkout. */
const doorOf = (read) => {
  if (read('order-token')) return { order_token: read('order-token') };
  const door = {};
  for (const name of ['store', 'product', 'quantity', 'donation', 'amount']) {
    const value = read(name);
    if (value) door[name] = name === 'quantity' ? +value : value;
  }
  return door;
};

const ask = async (path, method, headers, body) => {
  const answer = await fetch(BASE + 'v1/checkout' + path, { method, headers, body, cache: 'no-store', signal: AbortSignal.timeout?.(REQUEST_TIMEOUT_MS) });
  return [answer, await answer.json()];
};

const refuse = (message) => {
  console.error('florin: ' + message);
  return { body: { error: { code: 'not_found', message } } };
};

/** An order whose asset is yet to be chosen has its prices asked for while the program is still on its way. */
const ahead = (token, body) => {
  const prices = async () => {
    const [answer, quotes] = await ask('/quotes', 'GET', { authorization: 'Bearer ' + token });
    return answer.ok && quotes;
  };
  return { token, body, quotes: body.status === 'open' && body.flow !== 'hosted' && prices().catch(() => {}) };
};

/**
 * Opens the order: the one whose token is known, else a new one. Answers `{token, body, quotes}`; without a token,
 * `body` is a refusal, or with `asks` the donation whose amount the customer has yet to name.
 */
const opener = (stage, read) => {
  const door = doorOf(read);
  const given = read('client-token');
  const store = read('store');
  /** A page that names its store shows no other's order, which would wear this one's words. */
  const known = (token, body) => (!store || body.store.id === store ? ahead(token, body) : refuse('This order is not of the store ' + store + '.'));
  const key = 'florin:' + JSON.stringify(door);
  const named = DOORS.filter(read);
  return async (again, amount) => {
    if (named.length !== 1 || ((door.product || door.donation) && !door.store)) {
      return refuse('Name exactly one of ' + DOORS.join(', ') + ', the first two with a store; named: ' + (named.join(', ') || 'none') + '.');
    }
    if (again) remember(key);
    const token = given || recall(key);
    if (token) {
      const [answer, body] = await ask('', 'GET', { authorization: 'Bearer ' + token });
      if (answer.ok) return known(token, body);
      if (given || answer.status !== 404) return { body };
      remember(key);
    }
    if (door.donation && !door.amount && !amount) {
      const [answer, body] = await ask('/donation?' + new URLSearchParams(door), 'GET');
      return { asks: answer.ok, body };
    }
    const sent = JSON.stringify(amount ? { ...door, amount } : door);
    // Kept before it is sent: an answer that is lost, or a page that is loaded again, makes no second order.
    const slot = 'idempotency:' + sent;
    const proof = recall(slot) || crypto.getRandomValues(new Uint8Array(16)).join('');
    remember(slot, proof);
    const [answer, body] = await ask('', 'POST', { 'content-type': 'application/json', 'idempotency-key': proof }, sent);
    if (answer.ok) remember(key, body.client_token);
    // Done, or refused for good: what is asked next is another request.
    if (answer.status < 409 || answer.status === 422) remember(slot);
    return answer.ok ? known(body.client_token, body.order) : { body };
  };
};

const PRINTED = 'data-florin-printed';
/** On paper nothing of a shop's page but what leads to the checkout. */
const PAPER = `@media print{body :not([${PRINTED}]){display:none!important}[${PRINTED}]{position:static!important;overflow:visible!important;height:auto!important;max-height:none!important;border:0!important;box-shadow:none!important;background:#fff!important}}`;

/** Prints the element without the page around it. */
const printAlone = (element) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PAPER);
  const printed = [];
  for (let at = element; at; at = at.parentNode || at.host) if (at.toggleAttribute) printed.push(at);
  const mark = (isPrinted) => printed.forEach((at) => at.toggleAttribute(PRINTED, isPrinted));
  const sheets = document.adoptedStyleSheets;
  mark(true);
  document.adoptedStyleSheets = [...sheets, sheet];
  addEventListener('afterprint', () => {
    mark(false);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  }, { once: true });
  print();
};
