<?php

declare(strict_types=1);

namespace Florin;

/**
 * Generated from the proxy's /openapi.json.
 *
 * @phpstan-type Amount string
 * @phpstan-type AttemptRecord array{
 *   id: string,
 *   crypto_code: string|null,
 *   invoice_id: string,
 *   address: string|null,
 *   payment_process_url: string|null,
 *   amount_in_crypto: Amount|null,
 *   amount_in_usd: Amount|null,
 *   amount_in_local_currency: Amount,
 *   local_currency_code: Currency,
 *   received_in_crypto: Amount,
 *   received_in_usd: Amount,
 *   received_in_local_currency: Amount,
 *   transaction_hash: string|null,
 * }
 * @phpstan-type CryptoCode string
 * @phpstan-type Currency string
 * @phpstan-type DecisionRecord array{
 *   outcome: 'accepted'|'closed',
 *   at: string,
 * }
 * @phpstan-type Delivery array{
 *   id: string,
 *   event: string,
 *   webhook: string,
 *   type: string,
 *   tried_at: string,
 *   took_ms: int,
 *   http_status: int|null,
 *   note: string,
 * }
 * @phpstan-type DeliveryPage array{
 *   deliveries: list<Delivery>,
 *   next: string|null,
 * }
 * @phpstan-type Environment 'test'|'production'
 * @phpstan-type Event array{
 *   type: 'order.created'|'order.attempt_opened'|'order.payment_seen'|'order.processing'|'order.paid'|'order.overpaid'|'order.underpaid'|'order.failed'|'order.expired'|'order.cancelled'|'order.blocked'|'order.late_payment'|'order.reverted'|'order.email_added'|'order.refund_address_added'|'order.refunded'|'donation.created'|'donation.attempt_opened'|'donation.payment_seen'|'donation.processing'|'donation.paid'|'donation.overpaid'|'donation.underpaid'|'donation.failed'|'donation.expired'|'donation.cancelled'|'donation.blocked'|'donation.late_payment'|'donation.reverted'|'donation.email_added'|'donation.refund_address_added'|'donation.refunded',
 *   timestamp: string,
 *   data: array{
 *     sequence: int,
 *     order: OrderRecord,
 *   },
 *   id: string,
 * }
 * @phpstan-type EventPage array{
 *   events: list<Event>,
 *   next: string|null,
 * }
 * @phpstan-type FlowRequest 'custom'|'hosted'
 * @phpstan-type Line array{
 *   title: string,
 *   kind?: LineKind,
 *   quantity?: int|null,
 *   unit_amount?: Amount|null,
 *   amount?: string|null,
 *   image_url?: string|null,
 * }
 * @phpstan-type LineKind 'item'|'discount'|'tax'|'shipping'
 * @phpstan-type OpenOrder array{
 *   amount: Amount,
 *   currency: Currency,
 *   reference: string,
 *   title?: string|null,
 *   lines?: list<Line>,
 *   customer_email?: string|null,
 *   return_url?: string|null,
 *   cancel_url?: string|null,
 *   metadata?: array<string, mixed>,
 *   assets?: list<CryptoCode>,
 *   expires_in_seconds?: int|null,
 *   flow?: FlowRequest,
 * }
 * @phpstan-type OpenStaffLink array{
 *   person?: string|null,
 *   role?: StaffRole,
 *   expires_in_seconds?: int|null,
 *   session_seconds?: int|null,
 * }
 * @phpstan-type OpenedOrder array{
 *   order: OrderRecord,
 *   client_token: string,
 *   checkout_url: string,
 *   payment_process_url?: string,
 *   notice?: string,
 * }
 * @phpstan-type OrderPage array{
 *   orders: list<OrderRecord>,
 *   next: string|null,
 * }
 * @phpstan-type OrderRecord array{
 *   id: string,
 *   reference: string,
 *   status: 'open'|'awaiting_payment'|'checking'|'processing'|'paid'|'overpaid'|'underpaid'|'failed'|'cancelled'|'expired'|'blocked',
 *   amount: Amount,
 *   currency: Currency,
 *   price_source: 'catalogue'|'store_server'|'order_token'|'customer',
 *   title: string,
 *   customer_email: string|null,
 *   receipt_email?: string,
 *   refund_address?: string,
 *   return_url: string|null,
 *   cancel_url?: string,
 *   metadata: array<string, mixed>,
 *   created_at: string,
 *   expires_at: string,
 *   flow: 'custom'|'hosted',
 *   settled_at: string|null,
 *   decision?: DecisionRecord,
 *   reverted: RevertedRecord|null,
 *   refunds?: list<RefundRecord>,
 *   attempt: AttemptRecord|null,
 * }
 * @phpstan-type Receipt array{
 *   iss: string,
 *   environment: Environment,
 *   store: string,
 *   store_name: string,
 *   order_id: string,
 *   reference: string,
 *   title: string,
 *   amount: Amount,
 *   currency: Currency,
 *   paid_at: string,
 *   crypto_code?: string,
 *   asset?: string,
 *   network?: string,
 *   received_in_crypto: Amount,
 *   address?: string,
 *   transaction_hash?: string,
 * }
 * @phpstan-type Refund array{
 *   amount_in_crypto: Amount,
 *   crypto_code?: CryptoCode|null,
 *   transaction?: string|null,
 * }
 * @phpstan-type RefundRecord array{
 *   amount_in_crypto: Amount,
 *   crypto_code: string,
 *   amount: Amount,
 *   transaction_hash?: string,
 *   at: string,
 * }
 * @phpstan-type Refusal array{
 *   error: array{
 *     code: 'invalid_request'|'unauthorized'|'invalid_order_token'|'origin_not_allowed'|'gateway_access_denied'|'staff_access_denied'|'not_found'|'unknown_store'|'unknown_product'|'unknown_donation'|'method_not_allowed'|'order_conflict'|'order_closed'|'quote_expired'|'attempt_in_progress'|'request_in_progress'|'idempotency_result_unreadable'|'other_flow'|'nothing_to_pay'|'nothing_owed'|'not_paid'|'payload_too_large'|'unsupported_media_type'|'quantity_out_of_range'|'donation_out_of_range'|'idempotency_key_reused'|'amount_out_of_range'|'currency_unavailable'|'asset_unavailable'|'gateway_refused'|'rate_limited'|'internal'|'gateway_failed'|'gateway_unavailable'|'storage_unavailable',
 *     message: string,
 *     gateway?: array{
 *       status: int,
 *       error?: string,
 *       code?: string,
 *       message?: string,
 *     },
 *     reason?: string,
 *     field?: string,
 *     request_id: string,
 *   },
 * }
 * @phpstan-type RevertedRecord array{
 *   at: string,
 *   payment_state: 'waiting'|'detected'|'confirming'|'settled'|'underpaid'|'failed'|'cancelled'|'expired'|'address_changed',
 * }
 * @phpstan-type Settlement array{
 *   kind: string,
 *   order: string,
 *   reference: string,
 *   title: string,
 *   amount: string,
 *   currency: string,
 *   asset: string,
 *   network: string,
 *   amount_in_crypto: string,
 *   transaction: string,
 *   at: string,
 *   metadata: array<string, mixed>,
 * }
 * @phpstan-type SettlementTotal array{
 *   name: string,
 *   network: string,
 *   payments: int,
 *   received: Amount,
 *   refunded: Amount,
 *   net: string,
 * }
 * @phpstan-type Settlements array{
 *   from: string,
 *   to: string,
 *   time_zone: string,
 *   totals?: list<SettlementTotal>,
 *   currencies?: list<SettlementTotal>,
 *   lines: list<Settlement>,
 *   next?: string,
 * }
 * @phpstan-type SignedReceipt array{
 *   receipt: Receipt,
 *   token?: string,
 *   code?: string,
 * }
 * @phpstan-type StaffLink array{
 *   url: string,
 *   expires_at: string,
 * }
 * @phpstan-type StaffRole 'read'|'write'
 * @phpstan-type Status 'open'|'awaiting_payment'|'checking'|'processing'|'paid'|'overpaid'|'underpaid'|'failed'|'cancelled'|'expired'|'blocked'
 * @phpstan-type VerifiedReceipt array{
 *   valid: bool,
 *   order?: OrderRecord,
 * }
 * @phpstan-type VerifyReceipt array{
 *   receipt: string,
 * }
 * @phpstan-type WebhookList array{
 *   webhooks: list<WebhookStatus>,
 * }
 * @phpstan-type WebhookStatus array{
 *   id: string,
 *   state: 'enabled'|'disabled',
 *   disabled_at?: string,
 *   events_waiting: int,
 * }
 * @phpstan-type WebhookTest array{
 *   type: 'webhook.test',
 *   timestamp: string,
 *   data: array{
 *     store: string,
 *     as_written: array<string, mixed>,
 *   },
 * }
 */
interface Types
{
}
