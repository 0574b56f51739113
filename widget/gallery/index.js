/** The gallery's own page: all states by group, and one of them in a frame of the wanted size and look. */

const WIDTHS = [1270, 768, 390, 320];
/** What a text can do to a screen. */
const TEXTS = {
  'As usual': '',
  Long: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft, and a good deal more of the same kind',
  Markup: '"><img src=x onerror=alert(1)><b>bold</b> {store}',
  'Right to left': 'متجر الهدوء للكتب والهدايا',
  Emoji: '👩‍👩‍👧‍👦🏳️‍🌈☕️📚',
};

/** What had the focus before the page was built anew. */
let focused;

const languageName = (code) => {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(code);
  } catch {
    return code;
  }
};

/** Shows the page; the fragment holds what is chosen, so that a link leads back to it. */
export const index = (context, table, languages) => {
  const { make, signal } = context;
  document.title = 'Florin · States';
  document.documentElement.lang = 'en';
  const params = new URLSearchParams(location.hash.slice(1));
  const chosen = (name, usual) => params.get(name) || usual;
  const address = (changes, base = params) => {
    const next = new URLSearchParams(base);
    for (const [name, value] of Object.entries(changes)) {
      if (value) next.set(name, value);
      else if (name !== 'gallery') next.delete(name);
    }
    return '#' + next;
  };
  const go = (changes) => location.assign(address(changes));
  const states = table.states;
  const at = Math.max(0, states.findIndex((state) => state.name === params.get('show')));
  const state = states[at];
  const width = +chosen('width', 1270);

  const list = make('nav', { className: 'states' });
  list.setAttribute('aria-label', 'States');
  for (const group of new Set(states.map((state) => state.group))) {
    const links = states.filter((one) => one.group === group).map((one) => {
      const link = make('a', { href: address({ show: one.name }) }, one.title);
      if (one === state) link.setAttribute('aria-current', 'page');
      return make('li', {}, link);
    });
    list.append(make('h2', {}, group), make('ul', {}, ...links));
  }

  const named = (label, control) => {
    const words = make('span', {}, label);
    words.setAttribute('aria-hidden', 'true');
    return make('div', { className: 'named' }, words, control);
  };
  /** One of a few, as buttons. */
  const few = (label, name, usual, values) => {
    const buttons = values.map((value) => {
      const button = make('button', { type: 'button', onclick: () => go({ [name]: value === usual ? '' : value }) }, String(value));
      button.setAttribute('aria-pressed', String(chosen(name, String(usual)) === String(value)));
      return button;
    });
    const group = make('div', { className: 'few' }, ...buttons);
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', label);
    return named(label, group);
  };
  /** One of many, as a list. */
  const many = (label, name, values) => {
    const options = Object.entries(values).map(([text, value]) => new Option(text, value, false, chosen(name, '') === value));
    const select = make('select', { onchange: () => go({ [name]: select.value }) }, ...options);
    select.setAttribute('aria-label', label);
    return named(label, select);
  };
  const spoken = Object.fromEntries([['Language of the browser', ''], ...languages.map((code) => [languageName(code), code])]);
  const tools = make('div', { className: 'tools' }, few('Width', 'width', 1270, WIDTHS), few('Theme', 'theme', 'auto', table.themes), few('Direction', 'dir', 'auto', ['auto', 'ltr', 'rtl']), many('Language', 'locale', spoken), many('Text', 'text', TEXTS));

  const alone = new URLSearchParams([...params].filter(([name]) => name !== 'show' && name !== 'width'));
  const shown = address({ gallery: state.name }, alone);
  const frame = make('iframe', { src: location.pathname + location.search + address({ gallery: state.name, origin: location.origin }, alone), title: state.title });
  frame.style.width = width + 'px';
  const stand = make('div', { className: 'stand' }, frame);
  // As the loader does it: as high as the checkout says it is.
  const fit = () => {
    const scale = Math.min(1, stand.clientWidth / width);
    frame.style.transform = `scale(${scale})`;
    stand.style.height = frame.offsetHeight * scale + 'px';
  };
  addEventListener('message', ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== location.origin || data?.type !== 'resize') return;
    frame.style.height = Math.max(740, data.detail.height | 0) + 1 + 'px';
    fit();
  }, { signal });
  const observer = new ResizeObserver(fit);
  observer.observe(stand);
  signal.addEventListener('abort', () => observer.disconnect());

  const step = (words, by) => make('a', { className: 'step', href: address({ show: states[(at + by + states.length) % states.length].name }) }, words);
  const about = make('div', { className: 'about' }, make('div', {}, make('h1', {}, state.title), make('p', {}, state.about)), make('p', { className: 'way' }, step('Previous', -1), make('span', {}, `${at + 1} of ${states.length}`), step('Next', 1), make('a', { className: 'step', href: shown, target: '_blank' }, 'Alone')));
  const sheet = make('link', { rel: 'stylesheet', href: new URL('gallery.css', import.meta.url).href });
  const view = make('div', { className: 'gallery' }, list, make('section', {}, tools, about, stand));
  view.hidden = true;
  const arrive = () => {
    view.hidden = false;
    list.querySelector('[aria-current]').scrollIntoView({ block: 'nearest' });
    // The page was built again: the focus goes back to the element that had it.
    [...view.querySelectorAll('a, button, select')].find((at) => at.tagName + at.textContent === focused)?.focus();
    fit();
  };
  sheet.onload = arrive;
  sheet.onerror = arrive;
  addEventListener('hashchange', () => {
    const at = context.element.shadowRoot.activeElement;
    focused = at && at.tagName + at.textContent;
    context.restart();
  }, { signal });
  addEventListener('keydown', ({ key }) => {
    // Where the arrows choose among options, they do not leave.
    if (context.element.shadowRoot.activeElement?.tagName === 'SELECT') return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (by) go({ show: states[(at + by + states.length) % states.length].name });
  }, { signal });
  context.show(sheet, view);
};
