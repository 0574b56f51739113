/** The customer's language: which one, its texts, and the menu to change it. */
/** The languages by tag, each with the hash in its file's name. */
const LANGUAGES = new URLSearchParams('%LANGUAGES%');
/** Where the customer's own choice of a language is kept. */
const CHOSEN = 'florin:locale';

/**
 * The best language for what is wished, before what the browser wishes, as `[file, locale]`: the tag of a file, and the tag by which numbers and times
 * are written, `de-CH` for instance. Its digits are those of the wallets everywhere.
 */
const language = (...wished) => {
  for (const tag of [recall(CHOSEN), ...wished, ...navigator.languages, 'en']) {
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
