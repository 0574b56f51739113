/** What becomes of a payment: the only file that asks the proxy, and that changes payments after their creation. */

import { Inject, Injectable } from '@nestjs/common';
import { HistoryEntryType } from '@vendure/common/lib/generated-types';
import {
  ConfigService,
  HistoryService,
  Logger,
  type Order,
  OrderService,
  Payment,
  type RequestContext,
  RequestContextService,
  TransactionalConnection,
} from '@vendure/core';
import { type Event, Florin, type Order as FlorinOrder, type TestEvent } from 'florin-server';
import { isSameAmount, toDecimal } from './money';
import { FLORIN_OPTIONS, type FlorinPluginOptions } from './options';

/** A person who checks out waits for it, and a row is locked meanwhile. */
const TIMEOUT_MS = 10_000;

/** Statuses of an order that has ended without money. */
const ENDED_UNPAID = ['cancelled', 'expired', 'failed'];

/** What the staff reads at the order. Each of them is for a person to decide. */
const NOTES: Record<string, string> = {
  'order.underpaid': 'Less was paid than the price. The customer can pay the rest; else accept or refund it on the proxy’s pages.',
  'order.overpaid': 'More was paid than the price: the difference is owed to the customer.',
  'order.late_payment': 'Money arrived after the payment had ended. Accept or refund it on the proxy’s pages.',
  'order.reverted': 'The chain has taken a payment back that was reported as paid. Ship nothing more, and check the proxy’s pages.',
  'order.blocked': 'The payment service has blocked the payment. Nothing is credited.',
  'order.expired': 'The payment has expired, and nothing was paid.',
  'order.failed': 'The payment has failed, and nothing was paid.',
  'order.cancelled': 'The payment was cancelled, and nothing was paid.',
};

@Injectable()
export class FlorinPayments {
  private readonly florin: Florin;
  /** What is being applied, by the proxy's order. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    @Inject(FLORIN_OPTIONS) private readonly options: FlorinPluginOptions,
    private readonly connection: TransactionalConnection,
    private readonly config: ConfigService,
    private readonly contexts: RequestContextService,
    private readonly orders: OrderService,
    private readonly history: HistoryService,
  ) {
    this.florin = new Florin({ url: options.url, secretKey: options.secretKey, timeoutMs: TIMEOUT_MS });
  }

  /**
   * Opens the proxy's order. The reference has the price, and how many payments were before: a repeated call is the same order,
   * and a changed cart is another one.
   */
  open(order: Order, amount: number) {
    const reference = `${order.code}-${order.payments.length + 1}-${amount}`;
    return this.florin.createOrder({
      reference,
      amount: this.decimal(order, amount),
      currency: order.currencyCode,
      title: order.code,
      metadata: { vendure_order: order.code },
    });
  }

  /** The script of the element, for the storefront. */
  get scriptUrl() {
    return `${this.options.url.replace(/\/+$/, '')}/florin.js`;
  }

  /** Asks the proxy. Returns why the payment may not be settled; `undefined` if it may. */
  async whyUnpaid(order: Order, payment: Payment): Promise<string | undefined> {
    const known = await this.florin.getOrder(payment.transactionId);
    if (known.reverted) return 'The payment was taken back by its chain.';
    if (known.status !== 'paid' && known.status !== 'overpaid') return `The proxy reports the order as ${known.status}, not as paid.`;
    if (!this.isPriceOf(known, order, payment)) return `${known.amount} ${known.currency} were paid, which is not the amount of this payment.`;
    return undefined;
  }

  /** Cancels at the proxy. Returns why the payment may not be cancelled; `undefined` if it was. */
  async cancel(payment: Payment): Promise<string | undefined> {
    try {
      await this.florin.cancelOrder(payment.transactionId);
      return undefined;
    } catch (error) {
      const { status } = await this.florin.getOrder(payment.transactionId);
      return ENDED_UNPAID.includes(status) ? undefined : (error as Error).message;
    }
  }

  /** Applies a verified event, once; after those of the same order that arrived before. */
  async apply(event: Event | TestEvent): Promise<void> {
    if (!event.type.startsWith('order.')) return;
    const { id } = (event as Event).data.order;
    const before = this.running.get(id) ?? Promise.resolve();
    const applied = before.catch(() => {}).then(() => this.applyOnce(id, event));
    this.running.set(id, applied);
    try {
      await applied;
    } finally {
      if (this.running.get(id) === applied) this.running.delete(id);
    }
  }

  private async applyOnce(id: string, event: Event | TestEvent) {
    const outside = await this.contexts.create({ apiType: 'admin' });
    await this.connection.withTransaction(outside, async (ctx) => {
      const payment = await this.lock(ctx, id);
      if (!payment) return Logger.warn(`${event.type} of ${id} is of no payment here.`, 'Florin');
      const known: string[] = payment.metadata.florinEvents ?? [];
      if (known.includes(event.id)) return;
      await this.change(ctx, event.type, payment);
      const { metadata } = await this.connection.getEntityOrThrow(ctx, Payment, payment.id);
      const florinEvents = [...known, event.id];
      await this.connection.getRepository(ctx, Payment).update(payment.id, { metadata: { ...metadata, florinEvents } });
    });
  }

  /**
   * Two servers may receive deliveries at the same moment. An update locks the row until the transaction ends; the second one reads what
   * the first has done. In one process this is not enough: on SQLite all its transactions share a connection.
   */
  private async lock(ctx: RequestContext, transactionId: string) {
    const payments = this.connection.getRepository(ctx, Payment);
    await payments.update({ transactionId }, { transactionId });
    return payments.findOne({ where: { transactionId }, relations: { order: true } });
  }

  private async change(ctx: RequestContext, type: string, payment: Payment) {
    const note = NOTES[type];
    if (note) await this.note(ctx, payment, note);
    if (type !== 'order.paid' || payment.state === 'Settled') return;
    const settled = await this.orders.settlePayment(ctx, payment.id);
    if (!(settled instanceof Payment)) {
      await this.note(ctx, payment, `The payment was made, and could not be settled in the state ${payment.state}: ${settled.message}`);
    }
  }

  private async note(ctx: RequestContext, { order }: Payment, text: string) {
    const entry = { ctx, orderId: order.id, type: HistoryEntryType.ORDER_NOTE, data: { note: `Florin: ${text}` } } as const;
    await this.history.createHistoryEntryForOrder(entry, false);
  }

  private isPriceOf(known: FlorinOrder, order: Order, payment: Payment) {
    return known.currency === order.currencyCode && isSameAmount(known.amount, this.decimal(order, payment.amount));
  }

  private decimal(order: Order, amount: number) {
    const { precision = 2 } = this.config.entityOptions.moneyStrategy;
    return toDecimal(amount, order.currencyCode, precision);
  }
}
