// The tour. It shows what the proxy, the sandbox and the shop answer about an order, and presses what a customer presses. A light
// follows from those answers alone.

/** Milliseconds between two answers about the order, while the page is visible. */
const POLL_MS = 400;
/** Milliseconds between two blocks. A real chain takes longer. */
const BLOCK_MS = 2000;
/** Milliseconds in which the viewer reads a step. */
const READ_MS = 1500;
/** Milliseconds until a play gives up. */
const PATIENCE_MS = 90000;

const still = matchMedia("(prefers-reduced-motion: reduce)");
const all = (selector) => [...document.querySelectorAll(selector)];
const one = (selector) => document.querySelector(selector);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const short = (text) => (text.length > 24 ? `${text.slice(0, 12)}…${text.slice(-8)}` : text);

/** The order that the checkout shows: set by the element's event. */
let orderId = null;
/** What is known of it: the proxy's order, the gateway's invoice, the shop's sale. */
let known = {};
let isProxyDown = false;
let isScanned = false;
let isPaying = false;

// What is asked and pressed

async function read(path) {
  const response = await fetch(`/tour/${path}`);
  return response.ok ? response.json() : null;
}

async function post(path, body) {
  const response = await fetch(`/tour/${path}`, { method: "POST", body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function ask() {
  const id = orderId;
  const [order, sales, invoices] = await Promise.all([read(`order/${id}`), read("shop/orders.json"), read("sandbox/invoices")]);
  const sale = sales?.orders.find((found) => found.id === id);
  if (id !== orderId) return;
  isProxyDown = order === null;
  // What a part knew before it went down is still true.
  known.order = order ?? known.order;
  known.sale = sale ?? known.sale;
  // The wallet knows the address that the checkout shows, and pays to it.
  const address = known.order?.attempt?.address;
  known.invoice = invoices?.find((invoice) => invoice.address === address) ?? known.invoice;
  show();
}

async function watch() {
  if (orderId && !document.hidden) await ask().catch(() => {});
  setTimeout(watch, POLL_MS);
}

const hasReceived = (type) => Boolean(known.sale?.events.some((event) => event.type === type));
const isShipped = () => Boolean(known.sale?.paid_by);
const isShort = () => hasReceived("order.underpaid");

async function until(what, isTrue) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(100)) if (isTrue()) return;
  throw new Error(`${what} did not come.`);
}

const inSandbox = (action, body) => post(`sandbox/invoices/${known.invoice.id}/${action}`, body ?? {});
const block = () => post("sandbox/mine", { chain: known.invoice.chain });

/** Sends the money, and finds blocks until the payment is final. */
async function send(amount, atBlock) {
  isPaying = true;
  try {
    say(amount === "half" ? "The wallet sends half of the amount." : "The wallet sends the payment.");
    await inSandbox("pay", { amount });
    await ask();
    choosePart("lights");
    for (let blocks = 1; blocks <= known.invoice.required_confirmations; blocks += 1) {
      await sleep(BLOCK_MS);
      await block();
      if (blocks === 1) say("The payment is in a block. Two more make it final.");
      if (blocks === 2) say("Two of three blocks. The shop’s page asks every few seconds, so it is a step behind.");
      await atBlock?.(blocks);
    }
  } finally {
    isPaying = false;
  }
}

/** Pays after the time of the invoice. */
async function sendLate() {
  say("The time is over, and the customer pays after all.");
  await inSandbox("expire");
  await until("The end of the time", () => !["awaiting_payment", "checking"].includes(known.order.status));
  await sleep(READ_MS);
  await send("rest");
}

// What is seen

const say = (text) => setText(one("[data-caption]"), text);

/** Where the parts are tabs. */
function choosePart(part) {
  one(`[name="part"][value="${part}"]`).checked = true;
}

/** State and value of each light: `on`, `now`, `part` for what is short or late, `bad`, or off. */
function lights({ order, invoice, sale }) {
  const events = (sale?.events ?? []).map((event) => event.type);
  const last = events.findLast((type) => ["order.paid", "order.underpaid", "order.late_payment", "order.reverted", "order.expired", "order.failed"].includes(type));
  const isPaid = ["paid", "overpaid"].includes(order?.status);
  const isSent = invoice?.payments > 0;
  const depth = isSent ? `${Math.min(invoice.confirmations, invoice.required_confirmations)}/${invoice.required_confirmations}` : "";
  const isFinal = isSent && invoice.confirmations >= invoice.required_confirmations;
  const isTakenBack = Boolean(invoice?.has_failed);
  const credited = () => {
    if (isProxyDown) return ["bad", "the proxy is down"];
    if (order?.reverted) return ["bad", "contradicted"];
    if (isPaid) return ["on", `$${order.amount}`];
    if (order?.status === "underpaid") return ["part", `only $${order.attempt.received_in_local_currency} of $${order.amount}`];
    if (["expired", "failed"].includes(order?.status)) return ["part", "the time is over"];
    return isSent ? ["now", "not yet"] : ["", ""];
  };
  return {
    wallet: isSent ? [invoice.covered === "part" ? "part" : "on", `${invoice.received_in_crypto} ${invoice.asset}`] : invoice ? ["now", "not sent yet"] : ["", ""],
    chain: isTakenBack ? ["bad", "taken back"] : isSent ? [isFinal ? "on" : "now", depth] : ["", ""],
    credited: credited(),
    webhook: last ? [{ "order.paid": "on", "order.late_payment": "on", "order.reverted": "bad" }[last] ?? "part", last] : ["", ""],
    shipped: !sale?.paid_by ? (last ? ["", "does not ship"] : ["", ""]) : order?.reverted ? ["bad", "stops the parcel"] : ["on", "ships the mug"],
  };
}

function show() {
  const states = lights(known);
  for (const [name, [state, value]] of Object.entries(states)) {
    const light = one(`[data-light="${name}"]`);
    light.dataset.state = state;
    setText(light.querySelector("b"), value);
  }
  const on = Object.values(states).filter(([state]) => state === "on").length;
  setText(one("[data-count]"), `${on}/5`);
  showPhone();
}

function showPhone() {
  const { invoice } = known;
  const asksForRest = invoice?.covered === "part" && !isPaying;
  const isSent = invoice?.payments > 0;
  one(".phone").toggleAttribute("data-bad", Boolean(invoice?.has_failed));
  one(".phone").dataset.screen = isSent && !asksForRest ? "sent" : (isScanned || asksForRest) && invoice ? "pay" : "idle";
  one("[data-scan]").disabled = !invoice;
  setText(one("[data-hint]"), invoice ? "The shop shows an address." : "Choose a currency in the shop.");
  if (!invoice) return;
  const rest = asksForRest ? invoice.remaining_in_crypto : invoice.amount_in_crypto;
  setText(one("[data-amount]"), `${rest} ${invoice.asset}`);
  setText(one("[data-worth]"), asksForRest ? "the rest of the price" : `$${invoice.amount_in_local_currency} on ${invoice.network}`);
  setText(one("[data-address]"), short(invoice.address));
  one("[data-mistakes]").hidden = asksForRest;
  setText(one("[data-sent]"), `${invoice.received_in_crypto} ${invoice.asset}`);
  setText(one("[data-blocks]"), invoice.has_failed ? "The chain took it back" : `Sent · ${Math.min(invoice.confirmations, invoice.required_confirmations)} of ${invoice.required_confirmations} blocks`);
  one("[data-progress]").max = invoice.required_confirmations;
  one("[data-progress]").value = invoice.has_failed ? 0 : invoice.confirmations;
  setText(one("[data-hash]"), short(invoice.transaction_hash ?? ""));
}

// What is pressed by hand

async function scan() {
  say("The phone reads the address that the checkout shows.");
  choosePart("phone");
  one(".phone").classList.add("scanning");
  await sleep(still.matches ? 0 : 900);
  one(".phone").classList.remove("scanning");
  isScanned = true;
  show();
}

/** Moves the slider as a thumb does. */
async function slide() {
  const slider = one("[data-slide]");
  for (let at = 0; at <= 100 && !still.matches; at += 4) {
    slider.value = at;
    await sleep(24);
  }
  slider.value = 0;
}

/** Does steps one after the other, while nothing else can be pressed. */
async function perform(steps) {
  const pressed = document.activeElement;
  const setBusy = (isBusy) => {
    for (const button of all("[data-play]")) button.disabled = isBusy;
    one(".phone").inert = isBusy;
    document.body.classList.toggle("playing", isBusy);
  };
  setBusy(true);
  try {
    await steps();
  } catch (error) {
    say(error.message);
  }
  setBusy(false);
  if (document.activeElement === document.body) pressed.focus({ preventScroll: true });
}

const pay = (steps, isOver) => perform(async () => {
  await steps();
  await conclude(isOver);
});

/** Says how it ended, once the shop knows. */
async function conclude(isOver) {
  await until("The webhook", isOver);
  if (known.sale.paid_by) say("Paid: the shop has the signed webhook, and ships.");
  else say("Too little came: the order is not paid, and nothing is shipped. The checkout asks for the rest; the phone can send it.");
}

one("[data-scan]").addEventListener("click", () => scan().then(() => one("[data-slide]").focus()));
one("[data-slide]").addEventListener("change", ({ target }) => {
  const isThrough = Number(target.value) > 90;
  target.value = 0;
  if (isThrough) pay(() => send("rest"), isShipped);
});
for (const button of all("[data-pay]")) {
  const isLate = button.dataset.pay === "late";
  button.addEventListener("click", () => (isLate ? pay(sendLate, isShipped) : pay(() => send("half"), isShort)));
}

// What is played

/** Puts a checkout for a new order into the shop, as the shop's server would. */
async function openCheckout() {
  say("A customer opens the checkout and chooses Bitcoin.");
  choosePart("shop");
  const { client_token: token } = await post("orders");
  orderId = null;
  known = {};
  isScanned = false;
  show();
  const checkout = document.createElement("florin-checkout");
  for (const [name, value] of [["store", "demo"], ["client-token", token], ["asset", "BTC"]]) checkout.setAttribute(name, value);
  one("[data-checkout]").replaceChildren(checkout);
  await until("The address", () => known.invoice);
  await sleep(READ_MS);
  await scan();
  await sleep(READ_MS);
}

const PLAYS = {
  async sale() {
    await slide();
    await send("rest");
    await conclude(isShipped);
  },
  async underpaid() {
    await send("half");
    await conclude(isShort);
  },
  async late() {
    await sendLate();
    await until("The webhook", isShipped);
    say("The old address is still watched: late money is credited at the old price, and the shop knows that it was late.");
  },
  async reverted() {
    await slide();
    await send("rest");
    await until("The webhook", isShipped);
    say("Paid and shipped. Now the chain takes its blocks back: the proxy checks a paid order once a minute, so wait a moment.");
    await sleep(2 * READ_MS);
    await post("sandbox/reorg", { chain: known.invoice.chain, blocks: known.invoice.required_confirmations });
    await inSandbox("fail");
    await until("The webhook", () => hasReceived("order.reverted"));
    say("The proxy finds the contradiction, keeps what was recorded, and warns the shop at once: order.reverted.");
  },
  async killed() {
    await slide();
    await send("rest", async (blocks) => {
      if (blocks !== 1) return;
      await post("kill");
      say("The proxy was killed at once (SIGKILL), with a payment on its way. It starts again in four seconds.");
    });
    await until("The webhook", isShipped);
    say("The proxy was killed and lost nothing: the order was in its database, and the payment counted once.");
  },
};

for (const button of all("[data-play]")) {
  button.addEventListener("click", () => perform(async () => {
    await openCheckout();
    await PLAYS[button.dataset.play]();
  }));
}
document.addEventListener("florin-status", ({ detail }) => {
  if (detail.order_id !== orderId) {
    orderId = detail.order_id;
    known = {};
    isScanned = false;
  }
  ask().catch(() => {});
});
show();
watch();
