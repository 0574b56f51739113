// The shop's own script. Nothing in it decides whether an order is paid.

/** Milliseconds between two looks at the shop's own orders, while the page is visible. */
const ORDERS_EVERY_MS = 1500;
/** Milliseconds until a checkout that did not load is called missing. */
const LOADER_PATIENCE_MS = 8000;

function element(name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function note(text, href) {
  const line = document.querySelector("[data-note]");
  if (!line) return;
  line.replaceChildren(text);
  if (href) {
    const link = element("a", "", "See the order");
    link.href = href;
    line.append(" ", link);
  }
  line.hidden = !text;
}

function sayWhenMissing() {
  const missing = setTimeout(() => {
    note("The checkout could not be loaded. Nothing was charged; please try again in a moment.");
  }, LOADER_PATIENCE_MS);
  customElements.whenDefined("florin-checkout").then(() => clearTimeout(missing));
}

// A frame in the page works without the loader.
if (document.querySelector("florin-checkout:not(:has(iframe))")) sayWhenMissing();

// What the page says is a hint for the page. The order's place in the list below changes when the webhook has arrived.
document.addEventListener("florin-paid", (event) => {
  const id = event.detail.order_id;
  note("The checkout reports a payment. The shop waits for the signed webhook.", `/thanks?order_id=${encodeURIComponent(id)}`);
});

// The shop's own orders.

const list = document.querySelector("[data-orders]");

/** `$5,200.00`. The amount stays a text: a number would lose digits. */
function price({ amount, currency }) {
  return new Intl.NumberFormat("en", { style: "currency", currency }).format(amount);
}

function row(order) {
  const line = element("li", "order");
  line.dataset.testid = `order-${order.id}`;
  const what = element("div", "order-what");
  what.append(element("strong", "", order.title || order.reference));
  what.append(element("small", "", order.reference || order.id));
  const proof = element("div", "order-proof");
  const paid = order.paid_by !== null;
  const last = order.events.at(-1);
  proof.append(element("span", paid ? "badge paid" : "badge", paid ? "Paid" : "Not paid"));
  proof.append(element("small", "", paid ? `received order.paid · ${order.paid_by}` : last ? `last received: ${last.type}` : "nothing received yet"));
  line.append(what, element("div", "order-amount", price(order)), proof);
  return line;
}

function showOrders(orders) {
  if (orders.length === 0) {
    list.replaceChildren(element("p", "empty", "No orders yet. Press “Pay with crypto” above: the order appears here when the proxy’s webhook reaches the shop."));
    return;
  }
  const table = element("ul", "order-list");
  table.append(...orders.map(row));
  list.replaceChildren(table);
}

function showThanks(orders) {
  const heading = document.querySelector("[data-thanks]");
  if (!heading) return;
  // The address only says which order is meant; whether it is paid is read from the list.
  const wanted = new URLSearchParams(location.search).get("order_id");
  const order = orders.find((known) => known.id === wanted) ?? (wanted ? undefined : orders[0]);
  if (!order) return;
  const name = order.title || order.reference;
  const paid = order.paid_by !== null;
  heading.textContent = paid ? `Thank you. ${name} is paid.` : `Thank you. Your order, ${name}, is being checked.`;
  if (paid) document.querySelector("[data-thanks-more]").textContent = "A signed order.paid has reached the shop’s backend. A real shop would now pack the parcel.";
}

let shown = "";

async function lookAtOrders() {
  if (!document.hidden) {
    try {
      const text = await (await fetch("/orders.json")).text();
      if (text !== shown) {
        shown = text;
        const { orders } = JSON.parse(text);
        showOrders(orders);
        showThanks(orders);
      }
    } catch {
      // The shop is being started again; the next poll will show.
    }
  }
  setTimeout(lookAtOrders, ORDERS_EVERY_MS);
}

if (list) lookAtOrders();
