// The hosted checkout: shows GET /checkout/session, and says what the customer does.
"use strict";

const POLL_MS = 1000;
/** Pause before each block after "Pay", so that every step can be seen. */
const BLOCK_MS = 1200;

const id = new URLSearchParams(location.search).get("id") ?? "";
const byId = (name) => document.getElementById(name);
const part = (name) => document.querySelector(`[data-part="${name}"]`);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

let view;
let paying = false;

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(path, options);
  const json = await response.json();
  if (!response.ok) throw Object.assign(new Error(json.error), { status: response.status });
  return json;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function clock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function showSummary() {
  setText(part("merchant"), `Payment to ${new URL(view.merchant_website).hostname}`);
  const amount = part("amount");
  const written = view.amount === null ? "" : `${view.amount} ${view.currency}`;
  if (amount.dataset.written !== written) {
    amount.dataset.written = written;
    const currency = document.createElement("small");
    currency.textContent = ` ${view.currency}`;
    amount.replaceChildren(...(view.amount === null ? [] : [view.amount, currency]));
  }
  setText(part("currency"), view.currency);
  byId("own").hidden = view.amount !== null || view.assets.length === 0;
  const waits = view.status === "CHECKING" && !(view.deposit?.payments > 0);
  setText(part("left"), waits ? `${clock(view.expires_in_seconds)} left` : "");
  byId("leave").hidden = ["COMPLETED", "FAILED", "CANCELLED"].includes(view.status);
  setText(byId("leave"), view.deposit ? "Back to the shop" : "Cancel and go back");
}

function showAssets() {
  const rows = view.assets.map((asset) => {
    const row = byId("asset-row").content.firstElementChild.cloneNode(true);
    const find = (name) => row.querySelector(`[data-part="${name}"]`);
    find("badge").textContent = asset.asset;
    find("badge").dataset.asset = asset.asset;
    find("name").textContent = asset.name;
    find("on").textContent = asset.network === asset.name ? "" : `on ${asset.network}`;
    const outside = asset.amount_in_crypto !== null && !asset.available;
    find("price").textContent = outside ? "outside its limits" : asset.amount_in_crypto === null ? "" : `${asset.amount_in_crypto} ${asset.asset}`;
    const button = row.firstElementChild;
    button.dataset.testid = `hosted-${asset.crypto_code}`;
    button.disabled = !asset.available;
    button.addEventListener("click", () => choose(asset.crypto_code));
    return row;
  });
  byId("assets").replaceChildren(...rows);
}

function showDeposit() {
  const { deposit } = view;
  const missing = deposit.payments > 0 && deposit.remaining_in_crypto !== "0";
  setText(part("crypto"), `${missing ? deposit.remaining_in_crypto : deposit.amount_in_crypto} ${deposit.asset}`);
  setText(part("network"), deposit.network);
  setText(part("address"), deposit.address);
  if (deposit.qr_svg !== null && part("qr").childElementCount === 0) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(deposit.qr_svg)}`;
    image.alt = "";
    part("qr").append(image);
  }
  const waits = deposit.payments === 0 ? "Waiting for your payment." : `Your payment is seen: ${deposit.confirmations} of ${deposit.required_confirmations} confirmations.`;
  setText(part("progress"), missing ? `${waits} ${deposit.remaining_in_crypto} ${deposit.asset} is missing.` : waits);
  byId("pay").disabled = paying || (deposit.payments > 0 && !missing);
  if (byId("warnings").childElementCount === 0) {
    byId("warnings").replaceChildren(...deposit.warnings.map((text) => {
      const line = document.createElement("li");
      line.textContent = text;
      return line;
    }));
  }
}

const ENDS = {
  COMPLETED: ["✓", "Paid", "Thank you. You can go back to the shop."],
  FAILED: ["×", "No payment arrived", "The time for this payment is over. A payment that is on its way is still found."],
  CANCELLED: ["×", "Cancelled", "Nothing was paid."],
  NONE: ["?", "There is no such checkout", "Go back to the shop and start again."],
};

function showEnd(end) {
  const [sign, title, text] = ENDS[end];
  setText(part("sign"), sign);
  part("sign").toggleAttribute("data-bad", end !== "COMPLETED");
  setText(part("end-title"), title);
  setText(part("end-text"), text);
  part("back").hidden = view === undefined;
  if (view !== undefined) part("back").href = view.merchant_website;
}

function show(stage) {
  for (const name of ["choosing", "paying", "end"]) byId(name).hidden = name !== stage;
  byId("checkout").setAttribute("aria-busy", "false");
}

let shownAssets = "";

function render() {
  showSummary();
  if (view.status in ENDS) {
    showEnd(view.status);
    show("end");
  } else if (view.deposit) {
    showDeposit();
    show("paying");
  } else {
    const assets = JSON.stringify(view.assets);
    if (assets !== shownAssets) showAssets();
    shownAssets = assets;
    show("choosing");
  }
}

async function refresh() {
  const query = new URLSearchParams({ id });
  const own = byId("own-amount").value.trim().replace(",", ".");
  if (own !== "") query.set("amount", own);
  try {
    view = await ask(`/checkout/session?${query}`);
    render();
  } catch (error) {
    if (error.status === 404) {
      showEnd("NONE");
      show("end");
    }
  }
}

async function choose(code) {
  const own = byId("own-amount").value.trim().replace(",", ".");
  try {
    view = await ask("/checkout/choose", { id, crypto_code: code, ...(view.amount === null ? { amount: own } : {}) });
    render();
  } catch {
    await refresh();
  }
}

async function pay() {
  paying = true;
  try {
    await ask(`/sandbox/invoices/${encodeURIComponent(id)}/pay`, { amount: "rest" });
    await refresh();
    for (let block = 0; block < view.deposit.required_confirmations; block += 1) {
      await pause(BLOCK_MS);
      await ask("/sandbox/mine", { blocks: 1 });
      await refresh();
    }
  } finally {
    paying = false;
    await refresh();
  }
}

function close() {
  navigator.sendBeacon("/checkout/close", JSON.stringify({ id }));
}

async function leave() {
  await ask("/checkout/close", { id }).catch(() => {});
  const top = document.createElement("a");
  top.href = view.merchant_website;
  top.target = "_top";
  top.click();
}

byId("pay").addEventListener("click", pay);
byId("leave").addEventListener("click", leave);
byId("own-amount").addEventListener("input", refresh);
addEventListener("pagehide", (event) => { if (!event.persisted && view && !view.deposit) close(); });

async function watch() {
  for (;;) {
    if (!document.hidden) await refresh();
    await pause(POLL_MS);
  }
}
watch();
