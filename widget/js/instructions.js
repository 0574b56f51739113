/**
 * What is to be sent, and where: drawn by the page's script alone, before the program runs or for its screens, which take what
 * is there already.
 */
import { clean } from './clean.js';
import { createTexts, h, ltr, svg } from './drawing.js';
/** @import { CopyButton, OrderBody, Payment, QrCode, Words } from './types.d.ts' */

const SHEETS = 'M16 1H4a2 2 0 0 0-2 2v13h2V3h12zm3 4H8a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V7a2 2 0 0 0-2-2m0 16H8V7h11z';
const TICK = 'M9.6 17.4 4.5 12.3l1.7-1.7 3.4 3.4 8.2-8.2 1.7 1.7z';
const COPIED_FOR_MS = 2000;
const SECOND_MS = 1000;
/** Payment URIs, as the networks define them. `Assumed:` wallets of BNB Chain read `bnb` and `smartchain` beside `ethereum`. */
const PAYMENT_URI = /^(bitcoin|bitcoincash|bchtest|dogecoin|ethereum|litecoin|tron|bnb|smartchain):./;
/** The kinds of warnings that are one press away. A customer who ignores a warning of another kind loses money: it is open. */
const FOLDED = ['confirmations', 'expiry', 'network_fee', 'late_price'];
/** Seconds left from which on whole minutes say enough, and from which on hours do: as in widget/src/format/time.rs. */
const WHOLE_MINUTES = [180, 7200];

/**
 * Returns `true` if the payment's URI opens a wallet. An address alone opens no wallet, since it names no amount, although an address
 * of Bitcoin Cash has the form of a URI.
 *
 * @param {Payment} payment
 */
export const opensWallet = ({ uri, address }) => uri !== address && PAYMENT_URI.test(uri);

/** The rows of an address in groups of four; a prefix such as `bitcoincash:` is a separate group. @param {string} address */
const groupsOf = (address) => address.match(/^[^:]+:|.{1,4}/g) || [];

/** @param {string} d @param {string | number} side @param {Record<string, string>} meaning Of the drawing, for a screen reader. */
const drawing = (d, side, meaning) => svg('svg', { viewBox: `0 0 ${side} ${side}`, ...meaning }, svg('path', { d }));

/**
 * A button that copies. Where it may not, the text at `place` is selected, and a sentence beside it says so.
 *
 * @param {Words} words Those of the screens after the choice. @param {CopyButton} button
 */
export const createCopyButton = (words, { id, place, value, face, label }) => {
  const faces = face ? [face, String(words.copied)] : [SHEETS, TICK].map((path) => drawing(path, '24', { 'aria-hidden': 'true' }));
  const button = h('button', { type: 'button', class: face ? 'secondary copy' : 'secondary copy icon', part: 'button secondary', id, 'data-testid': id, 'aria-label': label || undefined }, ...faces.map((one) => h('span', {}, one)));
  /** @param {'copied' | 'refused'} name @param {boolean} isSet */
  const mark = (name, isSet) => {
    if (isSet) button.dataset[name] = 'true';
    else delete button.dataset[name];
  };
  button.onclick = async () => {
    const root = /** @type {ShadowRoot} */ (button.getRootNode());
    // Pages without TLS have no clipboard, and a frame may be denied it.
    const isCopied = await Promise.resolve().then(() => navigator.clipboard.writeText(value)).then(() => true, () => false);
    const shown = root.querySelector(place);
    if (!isCopied && shown) getSelection()?.selectAllChildren(shown);
    mark('copied', isCopied);
    mark('refused', !isCopied);
    const region = root.querySelector('.unseen[role=status]');
    const sentence = String(isCopied ? words.copied : words.selected);
    // The same text is no change, and not read out.
    if (region) region.textContent = region.textContent === sentence ? sentence + '\u00a0' : sentence;
    if (isCopied) setTimeout(mark, COPIED_FOR_MS, 'copied', false);
  };
  // The style sheet shows it after a refusal. It is announced as well.
  return h('div', { class: 'live' }, button, h('p', { class: 'quiet', 'aria-hidden': 'true' }, String(words.selected)));
};

/**
 * What draws the instructions of one checkout.
 *
 * @param {Words} words Those of the screens after the choice. @param {string} locale BCP 47
 * @param {string} base The proxy's address; ends in a slash.
 */
export const createInstructions = (words, locale, base) => {
  const { text, plural } = createTexts(words, locale, undefined);
  /** @param {string | undefined} amount @param {string} currency */
  const money = (amount, currency) => amount && createTexts(words, locale, currency).money(amount);

  /** An empty frame where no code holds the text. @param {QrCode | undefined} code @param {string} label @param {string} test */
  const createCode = (code, label, test) => h('span', { class: 'qr', part: 'qr', 'data-testid': test }, code && drawing(code.path, code.side, { role: 'img', 'aria-label': label }));
  /** A code that fills the window while it is pressed open, with the choice of what it contains. @param {Payment} payment */
  const createLargeCode = (payment) => {
    const { uri, address, asset, network, amount, isRest, qr } = payment;
    const bare = text('qr_address', { asset, network });
    const sum = amount + '\u00a0' + asset;
    const label = uri === address ? bare : text(isRest ? 'qr_rest' : 'qr', { amount: sum, network });
    const button = h('button', { type: 'button', class: 'enlarge', title: text('qr_enlarge') }, createCode(qr, label, 'qr'));
    button.onclick = () => {
      const choices = ['qr_with_amount', 'qr_address_only'].map((key, at) => h('label', { class: 'segment ' + key.replaceAll('_', '-'), 'data-testid': key.replaceAll('_', '-') }, h('input', { type: 'radio', name: 'qr', checked: !at && '' }), text(key)));
      const dialog = /** @type {HTMLDialogElement} */ (h('dialog', { class: 'large', 'aria-label': label },
        h('div', { class: 'full' }, createCode(qr, label, 'qr-large')),
        ...(uri !== address && payment.bareQr ? [
          h('div', { class: 'bare' }, createCode(payment.bareQr, bare, 'qr-bare')),
          h('p', { class: 'bare' }, text('qr_plain_hint')),
          h('div', { class: 'segments', role: 'radiogroup', 'aria-label': text('qr_contains') }, ...choices),
        ] : []),
        h('p', { class: 'due', dir: 'ltr', 'data-testid': 'qr-due' }, sum, h('br', {}), address),
        h('button', { type: 'button', class: 'secondary', autofocus: '', 'aria-label': text('qr_close'), 'data-testid': 'qr-close' }, text('qr_close_short'))));
      dialog.onclick = ({ target }) => /** @type {Element} */ (target).closest('.segments, .due') || dialog.close();
      // One that was moved is open again by now.
      dialog.onclose = () => dialog.open || dialog.remove();
      dialog.onkeydown = (event) => {
        if (event.key !== 'Escape') return;
        // It closes no dialog that the checkout is in.
        event.preventDefault();
        event.stopPropagation();
        dialog.close();
      };
      button.after(dialog);
      dialog.showModal();
    };
    return button;
  };

  /** @param {Payment} payment */
  const warningsOf = ({ warnings }) => {
    const list = (/** @type {typeof warnings} */ some) => some.length > 0 && h('ul', {}, ...some.map((warning) => h('li', { dir: 'auto' }, warning.text)));
    const folded = warnings.filter(({ kind }) => FOLDED.includes(kind));
    return warnings.length > 0 && h('div', { class: 'warnings', part: 'warnings', role: 'group', 'aria-label': text('warnings'), 'data-testid': 'warnings' },
      list(warnings.filter((warning) => !folded.includes(warning))),
      folded.length > 0 && h('details', {}, h('summary', { 'data-testid': 'warnings-more' }, plural('warnings_more', folded.length, String(folded.length))), list(folded)));
  };

  /** That the proxy has checked the address; on request, what it has checked. @param {Payment} payment */
  const verificationOf = ({ uri, address, asset, network, isVerified, store }) => {
    const phrase = h('p', { class: 'scam quiet' }, text('recovery_phrase', { store }));
    return isVerified ? h('details', { class: 'verified quiet', 'data-testid': 'verified-aid' },
      h('summary', { 'data-testid': 'verified' }, text('verified', { host: new URL(base).host })),
      uri !== address && h('p', {}, text('verified_hint', { asset, network })),
      phrase) : phrase;
  };

  /** Keeps the way to pay at the window's lower edge until it was used once; then it is the first in `home`. @param {HTMLElement} way @param {HTMLElement} home */
  const createBar = (way, home) => {
    const bar = h('div', { class: 'way' }, way);
    const control = /** @type {HTMLElement} */ (bar.querySelector('a, button'));
    // A press on a link leaves the page; a button says first that it has copied.
    bar.onclick = ({ isTrusted }) => void setTimeout(() => {
      home.prepend(way);
      bar.remove();
      if (isTrusted) control.focus();
    }, way === control ? 0 : COPIED_FOR_MS);
    return bar;
  };

  /** In the order in which a phone shows it and a keyboard goes through it; wide screens put the code first. @param {Payment} payment */
  const draw = (payment) => {
    const { uri, address, asset, network, amount, isRest } = payment;
    // One unit of the currency is one of the asset: a price says nothing more.
    const isPar = Number(payment.rate) === 1 && payment.rateCurrency === payment.currency;
    const [price, rate] = isPar ? [] : [money(payment.price, payment.currency), money(payment.rate, payment.rateCurrency)];
    const names = { asset, network };
    // From within a frame only the whole page may open another program.
    const opener = opensWallet(payment) && h('a', { class: 'primary wallet', part: 'button primary', href: uri, target: '_top', 'data-testid': 'wallet-link' }, text(isRest ? 'open_wallet_rest' : 'open_wallet'));
    const copy = createCopyButton(words, { id: 'copy-address', place: '.address', value: address, face: text('copy_on', names) });
    // A phone's wallets are apps: they are the first way to pay, and those of wallets.js follow.
    const isPhone = matchMedia('(pointer: coarse)').matches;
    const list = h('div', { class: 'wallet-list' });
    const line = h('div', { class: 'line' }, !isPhone && opener, copy);
    const wallets = h('div', { class: 'wallets', 'data-testid': 'wallets' }, isPhone && list);
    if (isPhone && opener) list.append(opener);
    // In windows as in pay.css, on our own page and in a dialog. A frame that grows has no lower edge: the first on its screen is the way.
    const isBar = isPhone && !document.querySelector('.grows') && location.href.startsWith(base) && matchMedia('(max-width: 559px) and (min-height: 500px)').matches;
    const bar = isBar && (opener ? createBar(opener, list) : createBar(copy, line));
    const columns = h('div', { class: 'columns' },
      h('div', { class: 'amount', part: 'amount' },
        h('div', {},
          h('p', { class: 'label' }, text(isRest ? 'still_to_send' : 'send_exactly')),
          // A press on the figure copies too, the bare number, since the field of a wallet takes no more.
          h('label', { class: 'exactly', for: 'copy-amount', dir: 'ltr' }, h('span', { class: 'number', 'data-testid': isRest ? 'remaining' : 'amount' }, amount), '\u00a0', h('span', { class: 'unit' }, asset)),
          price && h('p', { class: 'price-beside' }, ltr('≈ ' + price)),
          rate && h('p', { class: 'rate quiet', 'data-testid': 'rate' }, ltr(text('rate', { asset, price: rate })))),
        createCopyButton(words, { id: 'copy-amount', place: '.number', value: amount, face: text('copy'), label: text('copy_amount', names) })),
      warningsOf(payment),
      h('div', { class: 'destination' },
        h('p', { class: 'label' }, text('to_address', names)),
        h('p', { class: 'address', part: 'address', dir: 'ltr', 'data-testid': 'address' }, ...groupsOf(address).map((group) => h('span', {}, group))),
        line),
      verificationOf(payment),
      h('div', { class: 'beside' }, h('div', { class: 'code' }, createLargeCode(payment))));
    return { payment, wallets, parts: [wallets, columns, bar].filter((part) => !!part) };
  };

  /** @type {ReturnType<typeof draw> & { key: string, due: string, screen: HTMLElement } | undefined} What stands before the program runs, until its screens take it. */
  let early;
  /** A dialog that is moved leaves the top layer. @param {HTMLElement} place */
  const reopen = (place) => place.querySelectorAll('dialog[open]').forEach((/** @type {any} */ dialog) => {
    dialog.open = false;
    dialog.showModal();
  });
  /** What the elements depend on. @param {Payment} payment */
  const keyOf = ({ uri, address, amount, isRest }) => [uri, address, amount, isRest].join();

  return {
    /**
     * The instructions of the program's screens: in `place`, before what it has there, which goes beside the code, and to
     * what says that the address is verified.
     *
     * @param {HTMLElement} place @param {Payment} payment
     * @returns {HTMLElement} Where the wallets are shown.
     */
    show: (place, payment) => {
      const drawn = early?.key === keyOf(payment) ? early : draw(payment);
      early = undefined;
      drawn.payment.bareQr = payment.bareQr;
      const aids = [...place.childNodes];
      const comparison = place.querySelector('.compare');
      place.append(...drawn.parts);
      if (comparison) place.querySelector('.verified')?.append(comparison);
      place.querySelector('.beside')?.append(...aids);
      reopen(place);
      return drawn.wallets;
    },
    /** The screen of `begin`, while the same is due. @param {string} due What is to be sent where: widget/src/state/checkout.rs. */
    early: (due) => {
      if (early?.due !== due) return undefined;
      // Once it is on the page again.
      setTimeout(reopen, 0, early.screen);
      return early.screen;
    },
    /**
     * Draws the screen of a payment that is to be sent, as far as it goes without the program.
     *
     * @param {OrderBody} body An order. @param {QrCode | undefined} qr Of its payment.
     * @returns {HTMLElement | undefined} Nothing where the screen is another one, or begins with what the program draws.
     */
    begin: (body, qr) => {
      const { attempt, can_open_attempt, email_required, store, amount, currency, status } = clean(/** @type {any} */ (body));
      const left = attempt?.expires_in_seconds;
      // A bare address may be a token's, whose heading names its network.
      if (!qr || status !== 'awaiting_payment' || attempt.qr_string === attempt.address || !attempt.verified || email_required || attempt.evm_transaction || attempt.tron_transaction) return;
      if (/[1-9]/.test(attempt.received_in_crypto) || left < WHOLE_MINUTES[0] || left >= WHOLE_MINUTES[1]) return;
      /** @type {Payment} */
      const payment = {
        ...attempt,
        uri: attempt.qr_string,
        amount: attempt.amount_in_crypto,
        isRest: '',
        price: amount,
        currency,
        rate: attempt.rate_in_local_currency,
        rateCurrency: attempt.local_currency_code,
        store: store.name,
        isVerified: '1',
        qr,
      };
      const drawn = draw(payment);
      const time = new Intl.NumberFormat(locale, { style: 'unit', unit: 'minute', unitDisplay: 'long' }).format(Math.floor(left / 60));
      // A payment link without a transaction for wallets asks for a coin, which has the name of its network.
      const heading = h('h2', { tabindex: '-1', part: 'heading' }, text('pay_with', { asset: attempt.network }));
      const countdown = h('p', { class: 'countdown', part: 'countdown', role: 'timer', 'aria-live': 'off', 'data-testid': 'countdown' }, text('held', { time }));
      const rest = h('div', { class: 'rest' }, h('div', { class: 'instructions' }, ...drawn.parts));
      const screen = h('div', { class: 'screen', 'data-testid': 'status-awaiting_payment' }, h('div', { class: 'top' }, heading, countdown), rest);
      early = { ...drawn, key: keyOf(payment), due: [attempt.crypto_code, payment.amount, attempt.address].join(' '), screen };
      const end = Date.now() + left * 1000;
      // Where the program never comes, nothing else hides an address that is no longer good. A clock, since timers stand still in sleep.
      const watch = setInterval(() => {
        if (early && Date.now() < end) return;
        clearInterval(watch);
        if (!early) return;
        heading.textContent = text('time_up');
        countdown.remove();
        rest.replaceChildren(h('div', { class: 'box doubtful', part: 'box', role: 'alert' }, h('p', {}, text(can_open_attempt ? 'expired_hint' : 'old_address')), h('p', {}, text('if_sent'))));
      }, SECOND_MS);
      return screen;
    },
  };
};
