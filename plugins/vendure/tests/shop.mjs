/** A Vendure with the plugin, on SQLite in memory, and its customer, staff and proxy. */

import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';

const require = createRequire(import.meta.url);
const { mergeConfig, LanguageCode } = require('@vendure/core');
const { createTestEnvironment, registerInitializer, SqljsInitializer, testConfig } = require('@vendure/testing');
const gql = require('graphql-tag');
const { FlorinPlugin } = require('../dist/index.js');

const { FLORIN_URL, FLORIN_SECRET_KEY, FLORIN_WEBHOOK_SECRET, FLORIN_WORLD_URL } = process.env;

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const initialData = {
  defaultLanguage: LanguageCode.en,
  defaultZone: 'Europe',
  countries: [{ name: 'Austria', code: 'AT', zone: 'Europe' }],
  taxRates: [{ name: 'Standard', percentage: 20 }],
  shippingMethods: [{ name: 'Post', price: 500 }],
  paymentMethods: [{ name: 'florin', handler: { code: 'florin', arguments: [] } }],
  collections: [],
};

export const startShop = async () => {
  registerInitializer('sqljs', new SqljsInitializer(mkdtempSync(join(tmpdir(), 'florin-vendure-'))));
  const plugin = FlorinPlugin.init({ url: FLORIN_URL, secretKey: FLORIN_SECRET_KEY, webhookSecret: FLORIN_WEBHOOK_SECRET });
  const port = await freePort();
  const config = mergeConfig(testConfig, { apiOptions: { port }, plugins: [plugin] });
  const { server, adminClient, shopClient } = createTestEnvironment(config);
  await server.init({ initialData, productsCsvPath: join(import.meta.dirname, 'products.csv'), customerCount: 1 });
  await adminClient.asSuperAdmin();
  return { server, adminClient, shopClient, url: `http://127.0.0.1:${port}` };
};

export const ask = (client, query, variables) => client.query(gql(query), variables);

/** Asks the world of the test: the customer's wallet and the deliveries of the proxy. */
const world = async (path, body) => {
  const response = await fetch(`${FLORIN_WORLD_URL}/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

export const pay = (payment, how) => world('pay', { id: payment.transactionId, client_token: payment.metadata.public.clientToken, how });
export const deliveries = (payment) => world(`deliveries/${payment.transactionId}`);

/** Returns the status of the response. */
export const deliver = async (shop, { headers, body }) => {
  const response = await fetch(`${shop.url}/florin`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });
  return response.status;
};

/** A customer checks out and chooses Florin; returns the payment that the storefront gets. */
export const checkOut = async ({ shopClient }, quantity = 1) => {
  await shopClient.asAnonymousUser();
  const { products } = await ask(shopClient, '{ products { items { variants { id } } } }');
  const id = products.items[0].variants[0].id;
  await ask(shopClient, 'mutation ($id: ID!, $quantity: Int!) { addItemToOrder(productVariantId: $id, quantity: $quantity) { __typename } }', { id, quantity });
  await ask(
    shopClient,
    `mutation {
      setCustomerForOrder(input: { firstName: "Zoë", lastName: "Grün", emailAddress: "zoe${Math.random()}@shop.example" }) { __typename }
      setOrderShippingAddress(input: { streetLine1: "Am Platz 1", countryCode: "AT" }) { __typename }
    }`,
  );
  const { eligibleShippingMethods: methods } = await ask(shopClient, '{ eligibleShippingMethods { id } }');
  await ask(shopClient, 'mutation ($id: [ID!]!) { setOrderShippingMethod(shippingMethodId: $id) { __typename } }', { id: [methods[0].id] });
  await ask(shopClient, 'mutation { transitionOrderToState(state: "ArrangingPayment") { __typename } }');
  const { addPaymentToOrder: order } = await ask(
    shopClient,
    `mutation { addPaymentToOrder(input: { method: "florin", metadata: {} }) {
      __typename
      ... on Order { code state totalWithTax currencyCode payments { state amount transactionId metadata } }
      ... on ErrorResult { message }
    } }`,
  );
  return order;
};

const ORDER = `query ($code: String!) { orders(options: { filter: { code: { eq: $code } } }) { items {
  id state payments { id state errorMessage transactionId refunds { id state total transactionId } }
  history { items { type isPublic data } }
} } }`;

/** The order as the staff sees it, with the notes of the plugin. */
export const read = async ({ adminClient }, code) => {
  const { orders } = await ask(adminClient, ORDER, { code });
  const [order] = orders.items;
  const notes = order.history.items.filter(({ type }) => type === 'ORDER_NOTE');
  const settled = order.history.items.filter(({ type, data }) => type === 'ORDER_PAYMENT_TRANSITION' && data.to === 'Settled');
  return { ...order, payment: order.payments[0], notes, settledTimes: settled.length };
};
