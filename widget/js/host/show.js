/**
 * Where the checkout itself is shown, which is the proxy's own page or, inline, the shop's: opens the order, loads
 * program, style and words, and lets the screens begin. Loaded by florin.js, which hands over a `stage`: the element,
 * the signal that ends this run, and what both files know.
 */
/** The screens wait no longer for the order before they say that they wait. */
const PATIENCE_MS = 3000;
/** Nor, once it is there, for its prices. */
const PRICES_PATIENCE_MS = 400;
/** The checkout is on the screen by then. */
const CHECK_AFTER_MS = 2000;
/** A contrast with which a text could as well not be there. */
const HIDDEN = 2;
/** The asset that was chosen last. */
const LAST = 'florin:asset';

/** Shows the checkout: as the proxy's own page, or in the element of a shop's page. */
export const start = (stage, isPage) => {
  // Where a policy forbids WebAssembly, this throws, before an order is opened that could not be shown.
  new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  if (!isPage) show(stage, (name) => stage.element.getAttribute(name));
  // Every state on canned answers, where the proxy of a test environment has the file.
  else if (/^#gallery\b/.test(location.hash)) import(BASE + 'gallery/gallery.js').then((gallery) => gallery.start(stage, page, [...LANGUAGES.keys()]), () => page(stage));
  else page(stage);
};

const show = async (stage, read, isPage) => {
  const { element, signal, make } = stage;
  const open = opener(stage, read);
  let first = open(false);
  // Under way before the language is known, since a browser's first look at languages takes long.
  // That of a shop's page counts; the checkout's own has none but what was found here.
  const [file, locale] = language(read('locale'), !isPage && document.documentElement.lang);
  if (isPage) document.documentElement.lang = file;
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
    // Without the order and its prices the screens would begin with less than they soon show, and what is below would move.
    const pause = (time) => new Promise((done) => setTimeout(done, time));
    let known;
    const priced = async () => {
      known = await first;
      await Promise.race([known.quotes, pause(PRICES_PATIENCE_MS)]);
    };
    const opened = Promise.race([priced(), pause(PATIENCE_MS)]).catch(() => {});
    const [words, program, theme] = await Promise.all([spoken, loadProgram(stage.load), style, opened]);
    if (signal.aborted) return;
    waiting = false;
    let dressed = known?.body?.store;
    // Before the screens are in it: what a theme sets changes every style in the place.
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
