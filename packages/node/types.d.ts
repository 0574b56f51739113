// Generated from the proxy's /openapi.json.

export interface components {
    schemas: {
        /**
         * @description Money: a decimal number as a string, never a JSON number. No sign, exponent, blank or grouping; at most 28 digits.
         * @example 19.90
         */
        Amount: string;
        /** @description The attempt that counts, with its invoice. */
        AttemptRecord: {
            /** @description `att_…`. */
            id: string;
            /** @description The asset; of a hosted attempt the one that the customer picked, absent before. */
            crypto_code: string | null;
            /** @description The gateway's id of the invoice or session. */
            invoice_id: string;
            /** @description Where the customer pays; absent for a hosted attempt. */
            address: string | null;
            /** @description The gateway's page where the customer pays; absent for a custom attempt. */
            payment_process_url: string | null;
            /** @description What was asked for, in the asset; absent for a hosted attempt. */
            amount_in_crypto: components["schemas"]["Amount"] | null;
            /** @description What was asked for, in US dollars; absent for a hosted attempt. */
            amount_in_usd: components["schemas"]["Amount"] | null;
            /** @description What was asked for, in the gateway's local currency. */
            amount_in_local_currency: components["schemas"]["Amount"];
            /** @description The gateway's local currency. */
            local_currency_code: components["schemas"]["Currency"];
            /** @description What arrived, in the asset. */
            received_in_crypto: components["schemas"]["Amount"];
            /** @description What arrived, in US dollars. */
            received_in_usd: components["schemas"]["Amount"];
            /** @description What arrived, in the gateway's local currency. */
            received_in_local_currency: components["schemas"]["Amount"];
            /** @description The transaction's hash; absent before one is detected. */
            transaction_hash: string | null;
        };
        /**
         * @description The gateway's name for an asset on a network.
         * @example USDTTRC20
         */
        CryptoCode: string;
        /**
         * @description An ISO 4217 code in capitals.
         * @example EUR
         */
        Currency: string;
        /** @description An operator's decision that ended an order. */
        DecisionRecord: {
            /**
             * @description `accepted`: the operator credited the order, although the gateway has not reported a full payment. `closed`: no payment
             *     credits it any more.
             * @enum {string}
             */
            outcome: "accepted" | "closed";
            /**
             * Format: date-time
             * @description When it was decided.
             */
            at: string;
        };
        /** @description One try. */
        Delivery: {
            /** @description The try's own id. */
            id: string;
            /** @description The event's id. */
            event: string;
            /** @description The webhook's id. */
            webhook: string;
            /** @description The event's type. */
            type: string;
            /**
             * Format: date-time
             * @description When it began.
             */
            tried_at: string;
            /**
             * Format: uint64
             * @description How long it took, in milliseconds.
             */
            took_ms: number;
            /** @description The store's HTTP status; absent when none came. */
            http_status: number | null;
            /** @description What happened, in words; for a refusal with the beginning of the store's own answer. */
            note: string;
        };
        /** @description A page of tries, latest first. */
        DeliveryPage: {
            /** @description The tries. */
            deliveries: components["schemas"]["Delivery"][];
            /** @description What to pass as `after` for the next page; absent on the last. */
            next: string | null;
        };
        /** @description Which money moves. */
        Environment: "test" | "production";
        Event: {
            /** @enum {string} */
            type: "order.created" | "order.attempt_opened" | "order.payment_seen" | "order.processing" | "order.paid" | "order.overpaid" | "order.underpaid" | "order.failed" | "order.expired" | "order.cancelled" | "order.blocked" | "order.late_payment" | "order.reverted" | "order.email_added" | "order.refund_address_added" | "order.refunded" | "donation.created" | "donation.attempt_opened" | "donation.payment_seen" | "donation.processing" | "donation.paid" | "donation.overpaid" | "donation.underpaid" | "donation.failed" | "donation.expired" | "donation.cancelled" | "donation.blocked" | "donation.late_payment" | "donation.reverted" | "donation.email_added" | "donation.refund_address_added" | "donation.refunded";
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            data: {
                /** @description Number among the order's events, from 1 without a gap. */
                sequence: number;
                order: components["schemas"]["OrderRecord"];
            };
            /** @description The webhook's id. */
            id: string;
        };
        /** @description A page of events. */
        EventPage: {
            /** @description The events, in order. */
            events: components["schemas"]["Event"][];
            /** @description What to pass as `after` for what follows; absent when there is nothing yet. */
            next: string | null;
        };
        /** @description Who shows the customer how to pay. */
        FlowRequest: "custom" | "hosted";
        /** @description One line. */
        Line: {
            /**
             * @description What it is.
             * @example A mug
             */
            title: string;
            /**
             * @description What it is. Only an item has `quantity` and `unit_amount`.
             * @default item
             */
            kind?: components["schemas"]["LineKind"];
            /** @description How many; 1 when absent. */
            quantity?: number | null;
            /** @description The price of one, in the order's currency. */
            unit_amount?: components["schemas"]["Amount"] | null;
            /**
             * @description The price of all of them, in the order's currency; `quantity` times `unit_amount` when absent. That of a discount is below
             *     zero, no other is.
             * @example -5.00
             */
            amount?: string | null;
            /**
             * Format: uri
             * @description A picture, on one of the store's `image_origins`; at most 2048 characters.
             * @example https://cdn.shop.example/mug.jpg
             */
            image_url?: string | null;
        };
        /** @description What a line of an order is. */
        LineKind: "item" | "discount" | "tax" | "shipping";
        /** @description What the store wants paid. */
        OpenOrder: {
            /** @description The price, above zero, with no more decimals than its currency has; zeros at the end do not count. */
            amount: components["schemas"]["Amount"];
            currency: components["schemas"]["Currency"];
            /**
             * @description The store's own name for it: one order per reference, also after the order has ended.
             * @example order-1017
             */
            reference: string;
            /**
             * @description What is sold, for the customer; the shop's name when absent.
             * @example Two tickets
             */
            title?: string | null;
            /**
             * @description What it is made of, for the customer: at most 50 lines. They are for show, the price is `amount`; when every line has
             *     an amount, they must add up to it.
             */
            lines?: components["schemas"]["Line"][];
            /**
             * Format: email
             * @description Where the customer gets mail: handed back to the store. A hosted order needs it, since the gateway's page
             *     does; it is sent to no one else.
             * @example buyer@shop.example
             */
            customer_email?: string | null;
            /**
             * Format: uri
             * @description Where the customer goes afterwards: an address on one of the store's origins, or on that of its `return_url`.
             * @example https://shop.example/thanks
             */
            return_url?: string | null;
            /**
             * Format: uri
             * @description Where the customer goes instead from an order that is not paid: cancelled, expired, failed. As `return_url`, which is
             *     used when this is absent, here and in the store's configuration.
             * @example https://shop.example/cart
             */
            cancel_url?: string | null;
            /**
             * @description The store's own notes, handed back untouched: at most 4096 bytes as JSON.
             * @default {}
             * @example {
             *       "seats": "A1"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description The assets it may be paid in; all when empty or absent. A hosted order takes none: its page offers its own.
             * @default []
             */
            assets?: components["schemas"]["CryptoCode"][];
            /**
             * @description How long the order takes attempts: one minute to 30 days; a day when absent.
             * @example 86400
             */
            expires_in_seconds?: number | null;
            flow?: components["schemas"]["FlowRequest"];
        };
        /** @description Who gets a link, and for what. */
        OpenStaffLink: {
            /**
             * @description The person's name, which the audit log keeps; `staff` when absent.
             * @example Zoë
             */
            person?: string | null;
            role?: components["schemas"]["StaffRole"];
            /**
             * @description How long the link can be opened: 1 to 15 minutes; 5 when absent.
             * @example 300
             */
            expires_in_seconds?: number | null;
            /**
             * @description How long the session lasts once the link was opened: 5 minutes to 12 hours; an hour when absent.
             * @example 3600
             */
            session_seconds?: number | null;
        };
        /** @description The order, and how its customer gets to it. */
        OpenedOrder: {
            /** @description The order. */
            order: components["schemas"]["OrderRecord"];
            /** @description A fresh token at every call. It grants access to this order: to see and to pay it. */
            client_token: string;
            /** @description The checkout page, token included. */
            checkout_url: string;
            /** @description The gateway's page; there while a hosted order can be paid. */
            payment_process_url?: string;
            /** @description What to do if the reference names an order that ended without a payment; absent otherwise. */
            notice?: string;
        };
        /** @description A page of orders, newest first. */
        OrderPage: {
            orders: components["schemas"]["OrderRecord"][];
            /** @description What to pass as `after` for the next page; absent on the last. */
            next: string | null;
        };
        /** @description An order as JSON for its store. Amounts are decimal strings, times RFC 3339 in UTC. */
        OrderRecord: {
            /** @description `ord_…`. */
            id: string;
            /** @description The store's own name for it. */
            reference: string;
            /**
             * @description Its status, as in `OrderView`.
             * @enum {string}
             */
            status: "open" | "awaiting_payment" | "checking" | "processing" | "paid" | "overpaid" | "underpaid" | "failed" | "cancelled" | "expired" | "blocked";
            /** @description The price. */
            amount: components["schemas"]["Amount"];
            /** @description The price's currency. */
            currency: components["schemas"]["Currency"];
            /**
             * @description Who named the price: `catalogue`, `store_server`, `order_token`, or `customer` for a donation.
             * @enum {string}
             */
            price_source: "catalogue" | "store_server" | "order_token" | "customer";
            /** @description What is sold. */
            title: string;
            /** @description The customer's email address, if the store gave one. */
            customer_email: string | null;
            /**
             * @description The email address that the customer typed at the checkout, for the receipt and for what is delivered by email; absent while
             *     there is none. Nothing proves that it is the customer's.
             */
            receipt_email?: string;
            /**
             * @description Where the customer wants money back that the store owes, an address of the asset that arrived; absent while none is
             *     named. Nothing proves that it is the customer's.
             */
            refund_address?: string;
            /** @description Where the customer goes afterwards. */
            return_url: string | null;
            /** @description Where the customer goes instead from an order that is not paid; absent without one. */
            cancel_url?: string;
            /** @description The store's own notes. */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was opened.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description From when on no further attempt is opened.
             */
            expires_at: string;
            /**
             * @description `custom` or `hosted`: who shows the customer how to pay.
             * @enum {string}
             */
            flow: "custom" | "hosted";
            /**
             * Format: date-time
             * @description When it was credited; absent before.
             */
            settled_at: string | null;
            /** @description The operator's decision that ended the order; absent when none did. */
            decision?: components["schemas"]["DecisionRecord"];
            /** @description What contradicts the credit; absent while nothing does. */
            reverted: components["schemas"]["RevertedRecord"] | null;
            /** @description What the store has sent back, the first one first; absent before. */
            refunds?: components["schemas"]["RefundRecord"][];
            /** @description The attempt that counts: the one that is shown, or that was credited. */
            attempt: components["schemas"]["AttemptRecord"] | null;
        };
        /** @description What a receipt states. */
        Receipt: {
            /** @description The proxy that gave it: its `public_url`. */
            iss: string;
            /** @description `test`, or `production` for real money. */
            environment: components["schemas"]["Environment"];
            /** @description The store's id. */
            store: string;
            /** @description The store's name. */
            store_name: string;
            /** @description `ord_…`. */
            order_id: string;
            /** @description The store's own name for the order. */
            reference: string;
            /** @description What was sold. */
            title: string;
            /** @description The price that was credited. */
            amount: components["schemas"]["Amount"];
            /** @description Its currency. */
            currency: components["schemas"]["Currency"];
            /**
             * Format: date-time
             * @description When it was credited: RFC 3339, UTC.
             */
            paid_at: string;
            /**
             * @description The asset of the payment; absent when it was picked on the gateway's page and is not
             *     reported.
             */
            crypto_code?: string;
            /** @description The asset's symbol: `USDT`; absent for an asset that is not known here. */
            asset?: string;
            /** @description The network: `Tron`; absent likewise. */
            network?: string;
            /** @description What arrived, in the asset. */
            received_in_crypto: components["schemas"]["Amount"];
            /** @description Where it was paid to; absent when that was on the gateway's own page. */
            address?: string;
            /** @description The transaction, where the gateway named one. */
            transaction_hash?: string;
        };
        /** @description Money that was sent back. */
        Refund: {
            /** @description How much was sent back, in the asset: above zero, and no more than has arrived and was not refunded before. */
            amount_in_crypto: components["schemas"]["Amount"];
            /** @description The asset; may be absent unless the order was paid in several. */
            crypto_code?: components["schemas"]["CryptoCode"] | null;
            /**
             * @description The transaction that sent it. Each is recorded once for an order; hexadecimal digits in lower case, without `0x`.
             * @example 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b
             */
            transaction?: string | null;
        };
        /** @description Money that the store has sent back, as it was recorded. */
        RefundRecord: {
            /** @description How much was sent back, in the asset. */
            amount_in_crypto: components["schemas"]["Amount"];
            /** @description The asset. */
            crypto_code: string;
            /** @description What of the price it takes back, in the order's currency: zero for money that was owed, like a second payment. */
            amount: components["schemas"]["Amount"];
            /** @description The transaction that sent it; absent if it was not named. */
            transaction_hash?: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            at: string;
        };
        /** @description Why a request was refused. */
        Refusal: {
            error: {
                /**
                 * @description For machines.
                 * @enum {string}
                 */
                code: "invalid_request" | "unauthorized" | "invalid_order_token" | "origin_not_allowed" | "gateway_access_denied" | "staff_access_denied" | "not_found" | "unknown_store" | "unknown_product" | "unknown_donation" | "method_not_allowed" | "order_conflict" | "order_closed" | "quote_expired" | "attempt_in_progress" | "request_in_progress" | "idempotency_result_unreadable" | "other_flow" | "nothing_to_pay" | "nothing_owed" | "not_paid" | "payload_too_large" | "unsupported_media_type" | "quantity_out_of_range" | "donation_out_of_range" | "idempotency_key_reused" | "amount_out_of_range" | "currency_unavailable" | "asset_unavailable" | "gateway_refused" | "rate_limited" | "internal" | "gateway_failed" | "gateway_unavailable" | "storage_unavailable";
                /** @description One or two sentences for people. */
                message: string;
                /** @description The gateway's message, when it refused the store's request. */
                gateway?: {
                    status: number;
                    error?: string;
                    /** @description One of the gateway's own codes. */
                    code?: string;
                    message?: string;
                };
                /** @description For the shop's developer, in the test environment alone: what of the page's request is wrong. */
                reason?: string;
                /** @description The member or parameter at fault, when it is one. */
                field?: string;
                /** @description What to quote when asking for help; also the header `X-Request-Id`. */
                request_id: string;
            };
        };
        /** @description A contradiction of a given credit. */
        RevertedRecord: {
            /**
             * Format: date-time
             * @description When it was first observed.
             */
            at: string;
            /**
             * @description The state that contradicts the credit: `failed`, `cancelled`, `expired`, `waiting`, `detected` or `confirming` (no
             *     longer completed), `underpaid` (less than the price), `settled` (completed with less than was credited) or
             *     `address_changed`.
             * @enum {string}
             */
            payment_state: "waiting" | "detected" | "confirming" | "settled" | "underpaid" | "failed" | "cancelled" | "expired" | "address_changed";
        };
        /** @description Money that came or went back. The amounts of a refund are negative. */
        Settlement: {
            /** @description `payment`, `accepted` by an operator, `uncredited` (for an order that was paid or closed) or `refund`. */
            kind: string;
            order: string;
            reference: string;
            title: string;
            /** @description What of the price was credited or taken back. */
            amount: string;
            currency: string;
            /** @description As people call it: `USDT`. */
            asset: string;
            network: string;
            amount_in_crypto: string;
            transaction: string;
            /** Format: date-time */
            at: string;
            metadata: {
                [key: string]: unknown;
            };
        };
        /** @description A sum of payments and refunds. */
        SettlementTotal: {
            /** @description The asset or the currency. */
            name: string;
            /** @description The network of the asset; empty for a currency. */
            network: string;
            /**
             * Format: uint64
             * @description How many payments came.
             */
            payments: number;
            received: components["schemas"]["Amount"];
            refunded: components["schemas"]["Amount"];
            /** @description What came, less what went back: negative if payments of earlier days were refunded. */
            net: string;
        };
        /** @description The settlements of a period. */
        Settlements: {
            from: string;
            to: string;
            /** @description That of the store: the days are its days. */
            time_zone: string;
            /** @description What came and went back in each asset; on the first page alone. */
            totals?: components["schemas"]["SettlementTotal"][];
            /** @description What was credited and taken back in each currency; on the first page alone. */
            currencies?: components["schemas"]["SettlementTotal"][];
            lines: components["schemas"]["Settlement"][];
            /** @description What to pass as `after` for the next page; absent on the last. */
            next?: string;
        };
        /** @description A receipt with what proves it. */
        SignedReceipt: {
            /** @description What it states. */
            receipt: components["schemas"]["Receipt"];
            /** @description The same, signed: a JSON Web Token, HS256. Absent for a store without a webhook, which has no key to check it with. */
            token?: string;
            /** @description Eight groups of five letters and digits, for print. Absent like `token`. */
            code?: string;
        };
        /** @description A link for one person. */
        StaffLink: {
            /**
             * Format: uri
             * @description The link, for one person's browser alone. It works once.
             */
            url: string;
            /**
             * Format: date-time
             * @description Until when it can be opened.
             */
            expires_at: string;
        };
        /** @description What the person may do. */
        StaffRole: "read" | "write";
        /**
         * @description The life of an order: `open → awaiting_payment → checking → processing →` one of the ends.
         *
         *     Only the server decides: a browser never concludes that a payment expired, failed or arrived.
         */
        Status: "open" | "awaiting_payment" | "checking" | "processing" | "paid" | "overpaid" | "underpaid" | "failed" | "cancelled" | "expired" | "blocked";
        /** @description The outcome of a verification. */
        VerifiedReceipt: {
            /** @description `true` if it is genuine. */
            valid: boolean;
            /** @description The order as it stands; absent when the receipt is not genuine. */
            order?: components["schemas"]["OrderRecord"];
        };
        /** @description A receipt to verify. */
        VerifyReceipt: {
            /**
             * @description The token, or the printed code.
             * @example 7K3QM-2XW9P-0D4HT-V8NZC-J5RGB-1EYSA-6FQMW-3KTXP
             */
            receipt: string;
        };
        /** @description The webhooks of a store. */
        WebhookList: {
            /** @description As they are in the configuration. */
            webhooks: components["schemas"]["WebhookStatus"][];
        };
        /** @description The state of a webhook. */
        WebhookStatus: {
            /** @description Its id. */
            id: string;
            /**
             * @description `enabled`; `disabled` after the endpoint has answered 410.
             * @enum {string}
             */
            state: "enabled" | "disabled";
            /**
             * Format: date-time
             * @description Since when it is disabled.
             */
            disabled_at?: string;
            /**
             * Format: uint64
             * @description Events that wait for delivery.
             */
            events_waiting: number;
        };
        WebhookTest: {
            /** @constant */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When it was sent.
             */
            timestamp: string;
            data: {
                /** @description The store's id. */
                store: string;
                /** @description Values that a JSON library writes otherwise: the signature is of the body as it arrives. */
                as_written: Record<string, never>;
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    list_orders: {
        parameters: {
            query?: {
                /** @description Only the order of this reference. */
                reference?: string;
                /** @description Only orders with this status. */
                status?: components["schemas"]["Status"];
                /** @description The `next` of the page before: only what is older than this order. */
                after?: string;
                /** @description The largest number on a page; 20 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderPage"];
                };
            };
        };
    };
    open_order: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same key, the same request is answered as it was, and not carried out again. Draw one for every request: 128 random bits, say. A refusal is not kept. */
                "Idempotency-Key"?: string;
                /** @description The trace in which the order is opened, of W3C Trace Context. Its webhooks carry it. A malformed one is ignored. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "amount": "19.90",
                 *       "currency": "USD",
                 *       "reference": "order-1017",
                 *       "title": "Two tickets",
                 *       "metadata": {
                 *         "seats": [
                 *           "A1",
                 *           "A2"
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["OpenOrder"];
            };
        };
        responses: {
            /** @description The order of this reference at this price was there already: the same, with a fresh token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedOrder"];
                };
            };
            /** @description The order, and how its customer gets to it. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedOrder"];
                };
            };
        };
    };
    get_order: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The order. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderRecord"];
                };
            };
        };
    };
    cancel_order: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same key, the same request is answered as it was, and not carried out again. Draw one for every request: 128 random bits, say. A refusal is not kept. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The order. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order, cancelled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderRecord"];
                };
            };
        };
    };
    refund_order: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same key, the same request is answered as it was, and not carried out again. Draw one for every request: 128 random bits, say. A refusal is not kept. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The order. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "amount_in_crypto": "1.50",
                 *       "transaction": "4a5e1e4baab89f3a"
                 *     }
                 */
                "application/json": components["schemas"]["Refund"];
            };
        };
        responses: {
            /** @description The order, with its refunds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderRecord"];
                };
            };
        };
    };
    get_receipt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The order. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receipt. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedReceipt"];
                };
            };
        };
    };
    list_settlements: {
        parameters: {
            query?: {
                /** @description A day, like `2026-11-23`, in the store's `time_zone`. */
                day?: string;
                /** @description A month, like `2026-11`. */
                month?: string;
                /** @description The first day. */
                from?: string;
                /** @description The last day. */
                to?: string;
                /** @description `csv` for all lines as CSV, as with `Accept: text/csv`. */
                format?: "csv";
                /** @description The `next` of the page before. */
                after?: string;
                /** @description The largest number of lines on a page; 20 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of settlements, or all as CSV. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settlements"];
                    "text/csv": string;
                };
            };
        };
    };
    verify_receipt: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same key, the same request is answered as it was, and not carried out again. Draw one for every request: 128 random bits, say. A refusal is not kept. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "receipt": "7K3QM-2XW9P-0D4HT-V8NZC-J5RGB-1EYSA-6FQMW-3KTXP"
                 *     }
                 */
                "application/json": components["schemas"]["VerifyReceipt"];
            };
        };
        responses: {
            /** @description Whether it is, and the order as it stands. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifiedReceipt"];
                };
            };
        };
    };
    open_staff_link: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same key, the same request is answered as it was, and not carried out again. Draw one for every request: 128 random bits, say. A refusal is not kept. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "person": "Zoë",
                 *       "role": "write"
                 *     }
                 */
                "application/json": components["schemas"]["OpenStaffLink"];
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StaffLink"];
                };
            };
        };
    };
    list_events: {
        parameters: {
            query?: {
                /** @description The `next` of the page before: only what happened after this event. */
                after?: string;
                /** @description The largest number on a page; 20 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    redeliver_event: {
        parameters: {
            query?: {
                /** @description The webhook's id; all that ask for the event when absent. */
                webhook?: string;
            };
            header?: {
                /** @description Sent again with the same key, the same request is answered as it was, and not carried out again. Draw one for every request: 128 random bits, say. A refusal is not kept. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The event. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It will be delivered again. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_deliveries: {
        parameters: {
            query?: {
                /** @description Only tries at delivering this event. */
                event?: string;
                /** @description The `next` of the page before: only what is older than this try. */
                after?: string;
                /** @description The largest number on a page; 20 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
        };
    };
    list_webhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
        };
    };
    enable_webhooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same key, the same request is answered as it was, and not carried out again. Draw one for every request: 128 random bits, say. A refusal is not kept. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state afterwards. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
        };
    };
}
