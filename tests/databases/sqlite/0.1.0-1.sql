PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations VALUES(1,'schema','2026-11-27 22:49:45',1,X'ff631ba82f82cd80e9608e96616352301c81e68706ea3ca87240cf15a1a6df7404cb11a3d75b01a5d2b60242a69518ef',5176502);
CREATE TABLE identity (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    environment TEXT NOT NULL CHECK (environment IN ('test', 'production')),
    -- Where `florin-proxy store copy` has copied the orders to.
    moved_to    TEXT
) STRICT;
INSERT INTO identity VALUES(1,'test',NULL);
CREATE TABLE orders (
    id              TEXT PRIMARY KEY,
    store_id        TEXT NOT NULL,
    reference       TEXT NOT NULL,
    amount          TEXT NOT NULL,
    currency        TEXT NOT NULL,
    price_source    TEXT NOT NULL,
    title           TEXT NOT NULL,
    lines           TEXT NOT NULL,
    customer_email  TEXT,
    receipt_email   TEXT,
    return_url      TEXT,
    -- Where the customer goes from an order that is not paid; NULL for where customers go afterwards.
    cancel_url      TEXT,
    metadata        TEXT NOT NULL,
    assets          TEXT NOT NULL,
    flow            TEXT NOT NULL,
    tolerance       TEXT NOT NULL,
    expires_at      INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    status          TEXT NOT NULL,
    current_attempt TEXT REFERENCES attempts (id),
    sequence        INTEGER NOT NULL DEFAULT 0,
    version         INTEGER NOT NULL DEFAULT 0,
    settled_at      INTEGER,
    -- The payment state that contradicts the credit, and since when.
    reverted_at     INTEGER,
    reverted_to     TEXT,
    cancelled_at    INTEGER,
    has_money       INTEGER NOT NULL DEFAULT 0 CHECK (has_money IN (0, 1)),
    late_payment    TEXT,
    late_event_at   INTEGER,
    -- The asset of the payment that came late last, and where the customer wants money back.
    late_crypto_code TEXT,
    refund_address  TEXT,
    -- How an operator ended the order: 'accepted' credited it, 'closed' keeps every payment from crediting it.
    decision        TEXT CHECK (decision IN ('accepted', 'closed')),
    decided_at      INTEGER,
    -- Since when the order waits for a person; NULL while it does not, and after a decision until news.
    attention_since INTEGER,
    -- When the store's latest refund was recorded; NULL before the first.
    refunded_at     INTEGER,
    -- The trace that the store's request, or the proxy, opened the order in (W3C Trace Context).
    traceparent     TEXT CHECK (length(traceparent) = 55),
    UNIQUE (store_id, reference)
) STRICT;
INSERT INTO orders VALUES('ord_22b6f926d59923f12743481493a9262c','demo','catalogue-8f3911368b3de4b6a55c7a9d7868fd4e','19.90','USD','catalogue','The Quiet Web, an e-book','[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,NULL,NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795906185063,1795819785063,'paid','att_491987c7f5f0608cde946400941e6396',3,3,1795819787083,NULL,NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_5e84cad772cf3aa714e3b8434b568c04','demo','catalogue-ff438bec03bee32c0f7f6b257221dfa5','12.50','USD','catalogue','Enamel mug','[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,NULL,NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795906187093,1795819787093,'underpaid','att_36070164714a86d5fdd440d05559531b',3,3,NULL,NULL,NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,1795819787121,NULL,NULL);
INSERT INTO orders VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce','demo','catalogue-51766a83de96d6fa27287f9f36bb835d','12.50','USD','catalogue','Enamel mug','[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,NULL,NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795906187132,1795819787132,'overpaid','att_d7540b21d3638b74c15d87e1378e689c',4,3,1795819787160,NULL,NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,1795819787160,NULL,NULL);
INSERT INTO orders VALUES('ord_a9d0be90e6aaad071a992317709f0ebf','demo','catalogue-d13158bed41a3cd44405d20f70dc9b98','19.90','USD','catalogue','The Quiet Web, an e-book','[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,NULL,NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795906187168,1795819787168,'awaiting_payment','att_244cb5eea5fd609d37783954b2d609eb',2,2,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_12d0292f704f7e85ac682f5ea7c0ce6a','demo','catalogue-ca5047b3e3f0d43b663d5cbf599a33ef','19.90','USD','catalogue','The Quiet Web, an e-book','[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,NULL,NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795906187191,1795819787191,'open',NULL,1,1,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE client_tokens (
    hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
    order_id   TEXT NOT NULL REFERENCES orders (id),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO client_tokens VALUES(X'5a6c987778eecc34c4753cdd7477ccfc387e40bf9cf7cba56d59e8c9c3171e64','ord_12d0292f704f7e85ac682f5ea7c0ce6a',1798498187191);
INSERT INTO client_tokens VALUES(X'833ae46745c21a1d61daad31101fea37de2f8c129dabf9ca8964f6c2b8e70e6b','ord_2159ab3568eb094ed999ba2a4fce4cce',1798498187132);
INSERT INTO client_tokens VALUES(X'9996764bc806b2c3fa9434768ec8df918eeb8c9d5e5ef4c42f508c2049883415','ord_22b6f926d59923f12743481493a9262c',1798498185063);
INSERT INTO client_tokens VALUES(X'd628647f8556f5b904ed742967a8d278381dd98b08cb171a45d2391f83388133','ord_5e84cad772cf3aa714e3b8434b568c04',1798498187093);
INSERT INTO client_tokens VALUES(X'f73427a2fa40d6eaf802e33b937b9e4021e2442a71b50b5765b6b109eeaf9b8b','ord_a9d0be90e6aaad071a992317709f0ebf',1798498187168);
CREATE TABLE requests (
    id           BLOB PRIMARY KEY CHECK (length(id) = 32),
    fingerprint  BLOB NOT NULL CHECK (length(fingerprint) = 32),
    kept_until   INTEGER NOT NULL,
    leased_until INTEGER NOT NULL,
    status       INTEGER,
    body         TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE attempts (
    id                     TEXT PRIMARY KEY,
    order_id               TEXT NOT NULL REFERENCES orders (id),
    flow                   TEXT NOT NULL,
    crypto_code            TEXT,
    conversion_id          TEXT,
    requested_crypto       TEXT,
    requested_usd          TEXT,
    requested_local        TEXT,
    local_currency         TEXT,
    begun_at               INTEGER NOT NULL,
    begun_clock            INTEGER NOT NULL,
    state                  TEXT NOT NULL,
    invoice_id             TEXT UNIQUE,
    address                TEXT,
    qr_string              TEXT,
    warnings               TEXT,
    page_url               TEXT,
    opened_at              INTEGER,
    expires_at             INTEGER,
    marked_as_paid_at      INTEGER,
    payment_state          TEXT NOT NULL DEFAULT 'waiting',
    state_since            INTEGER,
    received_crypto        TEXT NOT NULL DEFAULT '0',
    received_usd           TEXT NOT NULL DEFAULT '0',
    received_local         TEXT NOT NULL DEFAULT '0',
    confirmations          INTEGER,
    confirmations_required INTEGER,
    transaction_hash       TEXT,
    -- The transaction that the customer's wallet named when it had sent the payment: a hint, never a proof.
    transaction_hint       TEXT CHECK (length(transaction_hint) IN (64, 66)),
    paid_in                TEXT,
    was_detected           INTEGER NOT NULL DEFAULT 0 CHECK (was_detected IN (0, 1)),
    -- How much of it the store was told of as a late payment.
    late_amount_notified   TEXT,
    observed_at            INTEGER,
    -- A person has to check the latest response.
    needs_review           INTEGER NOT NULL DEFAULT 0 CHECK (needs_review IN (0, 1)),
    CHECK (CASE flow
        WHEN 'custom' THEN crypto_code IS NOT NULL AND conversion_id IS NOT NULL AND requested_crypto IS NOT NULL
            AND requested_usd IS NOT NULL AND requested_local IS NOT NULL AND local_currency IS NOT NULL
            AND page_url IS NULL
        WHEN 'hosted' THEN crypto_code IS NULL AND requested_crypto IS NULL AND address IS NULL AND qr_string IS NULL
        ELSE 0 END),
    CHECK (state <> 'open' OR (invoice_id IS NOT NULL AND coalesce(address, page_url) IS NOT NULL))
) STRICT;
INSERT INTO attempts VALUES('att_491987c7f5f0608cde946400941e6396','ord_22b6f926d59923f12743481493a9262c','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00030798','19.90','19.90','USD',1795819787057,1795819787057,'open','inv_d0ae24cb939cd649da2efa5a','tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02','bitcoin:tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02?amount=0.00030798','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795819787060,1795820687060,NULL,'settled',1795819787083,'0.00030798','19.90','19.90',3,3,'d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903',NULL,NULL,1,NULL,1795819787083,0);
INSERT INTO attempts VALUES('att_36070164714a86d5fdd440d05559531b','ord_5e84cad772cf3aa714e3b8434b568c04','custom','LTC','conv_f150c438d208cc03b08fdf1d','0.14820412','12.50','12.50','USD',1795819787100,1795819787100,'open','inv_6a7956e6801d1499d0380c71','tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8','litecoin:tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8?amount=0.14820412','["Send only Litecoin (LTC) on the Litecoin network to this address. Other assets, or LTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Litecoin network.","Make sure that the network fee is sufficient: a Litecoin transaction with a low fee may not be confirmed.","The price in LTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795819787102,1795820687102,NULL,'underpaid',1795819787121,'0.07410206','6.25','6.25',3,3,'38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141',NULL,NULL,1,NULL,1795819787121,0);
INSERT INTO attempts VALUES('att_d7540b21d3638b74c15d87e1378e689c','ord_2159ab3568eb094ed999ba2a4fce4cce','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00019345','12.50','12.50','USD',1795819787137,1795819787137,'open','inv_3a08979479a65d616e74ac78','tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec','bitcoin:tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec?amount=0.00019345','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795819787141,1795820687141,NULL,'settled',1795819787160,'0.00038690','25.00','25.00',3,3,'140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6',NULL,NULL,1,NULL,1795819787160,0);
INSERT INTO attempts VALUES('att_244cb5eea5fd609d37783954b2d609eb','ord_a9d0be90e6aaad071a992317709f0ebf','custom','ETH','conv_1fa6f028f990386edecebad6','0.00640061','19.90','19.90','USD',1795819787179,1795819787179,'open','inv_673d4bfcbd5173a8f58cd2b5','0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a','ethereum:0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a@11155111?value=6400610000000000','["Send only Ether (ETH) on the Ethereum network to this address. Other assets, or ETH on another network, will be lost.","Your payment is complete after 3 confirmations on the Ethereum network.","Make sure that the network fee is sufficient: a Ethereum transaction with a low fee may not be confirmed.","The price in ETH is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795819787183,1795820687183,NULL,'waiting',1795819787183,'0','0','0',NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,0);
CREATE TABLE polls (
    attempt_id    TEXT PRIMARY KEY REFERENCES attempts (id),
    order_id      TEXT NOT NULL REFERENCES orders (id),
    invoice_id    TEXT NOT NULL UNIQUE,
    payment_state TEXT NOT NULL DEFAULT 'waiting',
    priority      TEXT NOT NULL DEFAULT 'unwatched' CHECK (priority IN ('unwatched', 'watched', 'callback')),
    opened_at     INTEGER NOT NULL,
    next_poll_at  INTEGER,
    polled_at     INTEGER,
    -- The fencing number of the latest poll, and of the latest that was recorded.
    poll_seq      INTEGER NOT NULL DEFAULT 0,
    recorded_seq  INTEGER NOT NULL DEFAULT 0,
    -- leased_until ends the lease; lease_next_at is what next_poll_at became with it, by the clock of the lease's holder.
    leased_by     TEXT,
    leased_until  INTEGER,
    lease_next_at INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO polls VALUES('att_244cb5eea5fd609d37783954b2d609eb','ord_a9d0be90e6aaad071a992317709f0ebf','inv_673d4bfcbd5173a8f58cd2b5','waiting','unwatched',1795819787183,1795819802185,NULL,0,0,NULL,NULL,NULL);
INSERT INTO polls VALUES('att_36070164714a86d5fdd440d05559531b','ord_5e84cad772cf3aa714e3b8434b568c04','inv_6a7956e6801d1499d0380c71','underpaid','watched',1795819787102,1795819787421,1795819787121,1,1,NULL,NULL,NULL);
INSERT INTO polls VALUES('att_491987c7f5f0608cde946400941e6396','ord_22b6f926d59923f12743481493a9262c','inv_d0ae24cb939cd649da2efa5a','settled','unwatched',1795819787060,1795819832083,1795819787083,1,1,NULL,NULL,NULL);
INSERT INTO polls VALUES('att_d7540b21d3638b74c15d87e1378e689c','ord_2159ab3568eb094ed999ba2a4fce4cce','inv_3a08979479a65d616e74ac78','settled','unwatched',1795819787141,1795819832160,1795819787160,1,1,NULL,NULL,NULL);
CREATE TABLE observations (
    id            INTEGER PRIMARY KEY,
    attempt_id    TEXT NOT NULL REFERENCES attempts (id),
    poll_seq      INTEGER NOT NULL,
    last_poll_seq INTEGER NOT NULL,
    observed_at   INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    times         INTEGER NOT NULL DEFAULT 1,
    raw           TEXT NOT NULL,
    assessment    TEXT NOT NULL,
    -- Of the members that are assessed.
    digest        BLOB NOT NULL,
    UNIQUE (attempt_id, poll_seq)
) STRICT;
INSERT INTO observations VALUES(1,'att_491987c7f5f0608cde946400941e6396',1,1,1795819787083,1795819787083,1,'{"data":{"invoice_id":"inv_d0ae24cb939cd649da2efa5a","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"19.90","invoice_amount_in_usd":"19.90","invoice_crypto_amount":"0.00030798","received_amount_in_local_currency":"19.90","received_amount_in_usd":"19.90","received_crypto_amount":"0.00030798","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795819787","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903","blockchain_confirmations":"3/3","wallet_address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","transaction_time":"1795819787"}}','settled',X'cd9526630aee266c42079057ef01abb9');
INSERT INTO observations VALUES(2,'att_36070164714a86d5fdd440d05559531b',1,1,1795819787121,1795819787121,1,'{"data":{"invoice_id":"inv_6a7956e6801d1499d0380c71","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.14820412","received_amount_in_local_currency":"6.25","received_amount_in_usd":"6.25","received_crypto_amount":"0.07410206","local_currency_code":"USD","transaction_crypto":"LTC","invoice_creation_time":"1795819787","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141","blockchain_confirmations":"3/3","wallet_address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","transaction_time":"1795819787"}}','underpaid',X'42b80acd0a9fe172ea52bbdf1dbdfb75');
INSERT INTO observations VALUES(3,'att_d7540b21d3638b74c15d87e1378e689c',1,1,1795819787160,1795819787160,1,'{"data":{"invoice_id":"inv_3a08979479a65d616e74ac78","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.00019345","received_amount_in_local_currency":"25.00","received_amount_in_usd":"25.00","received_crypto_amount":"0.00038690","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795819787","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6","blockchain_confirmations":"3/3","wallet_address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","transaction_time":"1795819787"}}','settled',X'ad05d9f1a9354c9d4be8dd6409c82060');
CREATE TABLE credits (
    order_id       TEXT PRIMARY KEY REFERENCES orders (id),
    attempt_id     TEXT NOT NULL REFERENCES attempts (id),
    observation_id INTEGER NOT NULL REFERENCES observations (id),
    amount         TEXT NOT NULL,
    currency       TEXT NOT NULL,
    credited_at    INTEGER NOT NULL
) STRICT;
INSERT INTO credits VALUES('ord_22b6f926d59923f12743481493a9262c','att_491987c7f5f0608cde946400941e6396',1,'19.90','USD',1795819787083);
INSERT INTO credits VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce','att_d7540b21d3638b74c15d87e1378e689c',3,'12.50','USD',1795819787160);
CREATE TABLE events (
    order_id   TEXT NOT NULL REFERENCES orders (id),
    sequence   INTEGER NOT NULL,
    id         TEXT NOT NULL UNIQUE,
    store_id   TEXT NOT NULL,
    type       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    payload    TEXT NOT NULL,
    position   INTEGER PRIMARY KEY,
    UNIQUE (order_id, sequence)
) STRICT;
INSERT INTO events VALUES('ord_22b6f926d59923f12743481493a9262c',1,'evt_22b6f926d59923f12743481493a9262c_1_f246ef0ec16b1baf','demo','order.created',1795819785063,'{"type":"order.created","timestamp":"2026-11-27T22:49:45.063700449Z","data":{"sequence":1,"order":{"id":"ord_22b6f926d59923f12743481493a9262c","reference":"catalogue-8f3911368b3de4b6a55c7a9d7868fd4e","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-27T22:49:45.063Z","expires_at":"2026-11-28T22:49:45.063Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}',1);
INSERT INTO events VALUES('ord_22b6f926d59923f12743481493a9262c',2,'evt_22b6f926d59923f12743481493a9262c_2_8af64a349258950a','demo','order.attempt_opened',1795819787062,'{"type":"order.attempt_opened","timestamp":"2026-11-27T22:49:47.062212257Z","data":{"sequence":2,"order":{"id":"ord_22b6f926d59923f12743481493a9262c","reference":"catalogue-8f3911368b3de4b6a55c7a9d7868fd4e","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-27T22:49:45.063Z","expires_at":"2026-11-28T22:49:45.063Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_491987c7f5f0608cde946400941e6396","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}',2);
INSERT INTO events VALUES('ord_22b6f926d59923f12743481493a9262c',3,'evt_22b6f926d59923f12743481493a9262c_3_2b38393e70ab8025','demo','order.paid',1795819787083,'{"type":"order.paid","timestamp":"2026-11-27T22:49:47.083830328Z","data":{"sequence":3,"order":{"id":"ord_22b6f926d59923f12743481493a9262c","reference":"catalogue-8f3911368b3de4b6a55c7a9d7868fd4e","status":"paid","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-27T22:49:45.063Z","expires_at":"2026-11-28T22:49:45.063Z","flow":"custom","settled_at":"2026-11-27T22:49:47.083830328Z","reverted":null,"attempt":{"id":"att_491987c7f5f0608cde946400941e6396","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0.00030798","received_in_usd":"19.90","received_in_local_currency":"19.90","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903"}}}}',3);
INSERT INTO events VALUES('ord_5e84cad772cf3aa714e3b8434b568c04',1,'evt_5e84cad772cf3aa714e3b8434b568c04_1_9f04675cdc9d4229','demo','order.created',1795819787093,'{"type":"order.created","timestamp":"2026-11-27T22:49:47.093144362Z","data":{"sequence":1,"order":{"id":"ord_5e84cad772cf3aa714e3b8434b568c04","reference":"catalogue-ff438bec03bee32c0f7f6b257221dfa5","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-27T22:49:47.093Z","expires_at":"2026-11-28T22:49:47.093Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}',4);
INSERT INTO events VALUES('ord_5e84cad772cf3aa714e3b8434b568c04',2,'evt_5e84cad772cf3aa714e3b8434b568c04_2_b16792e8b8607562','demo','order.attempt_opened',1795819787104,'{"type":"order.attempt_opened","timestamp":"2026-11-27T22:49:47.104417048Z","data":{"sequence":2,"order":{"id":"ord_5e84cad772cf3aa714e3b8434b568c04","reference":"catalogue-ff438bec03bee32c0f7f6b257221dfa5","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-27T22:49:47.093Z","expires_at":"2026-11-28T22:49:47.093Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_36070164714a86d5fdd440d05559531b","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}',5);
INSERT INTO events VALUES('ord_5e84cad772cf3aa714e3b8434b568c04',3,'evt_5e84cad772cf3aa714e3b8434b568c04_3_3d4ce167d5c67da3','demo','order.underpaid',1795819787121,'{"type":"order.underpaid","timestamp":"2026-11-27T22:49:47.12199442Z","data":{"sequence":3,"order":{"id":"ord_5e84cad772cf3aa714e3b8434b568c04","reference":"catalogue-ff438bec03bee32c0f7f6b257221dfa5","status":"underpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-27T22:49:47.093Z","expires_at":"2026-11-28T22:49:47.093Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_36070164714a86d5fdd440d05559531b","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.07410206","received_in_usd":"6.25","received_in_local_currency":"6.25","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141"}}}}',6);
INSERT INTO events VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce',1,'evt_2159ab3568eb094ed999ba2a4fce4cce_1_b4bd3ca2b91805a2','demo','order.created',1795819787132,'{"type":"order.created","timestamp":"2026-11-27T22:49:47.132109265Z","data":{"sequence":1,"order":{"id":"ord_2159ab3568eb094ed999ba2a4fce4cce","reference":"catalogue-51766a83de96d6fa27287f9f36bb835d","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-27T22:49:47.132Z","expires_at":"2026-11-28T22:49:47.132Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}',7);
INSERT INTO events VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce',2,'evt_2159ab3568eb094ed999ba2a4fce4cce_2_9f52f43658b3f02f','demo','order.attempt_opened',1795819787142,'{"type":"order.attempt_opened","timestamp":"2026-11-27T22:49:47.142947922Z","data":{"sequence":2,"order":{"id":"ord_2159ab3568eb094ed999ba2a4fce4cce","reference":"catalogue-51766a83de96d6fa27287f9f36bb835d","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-27T22:49:47.132Z","expires_at":"2026-11-28T22:49:47.132Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_d7540b21d3638b74c15d87e1378e689c","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}',8);
INSERT INTO events VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce',3,'evt_2159ab3568eb094ed999ba2a4fce4cce_3_87098422d6e8640b','demo','order.paid',1795819787160,'{"type":"order.paid","timestamp":"2026-11-27T22:49:47.160234853Z","data":{"sequence":3,"order":{"id":"ord_2159ab3568eb094ed999ba2a4fce4cce","reference":"catalogue-51766a83de96d6fa27287f9f36bb835d","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-27T22:49:47.132Z","expires_at":"2026-11-28T22:49:47.132Z","flow":"custom","settled_at":"2026-11-27T22:49:47.160234853Z","reverted":null,"attempt":{"id":"att_d7540b21d3638b74c15d87e1378e689c","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}',9);
INSERT INTO events VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce',4,'evt_2159ab3568eb094ed999ba2a4fce4cce_4_91f5e34ec3b1a40f','demo','order.overpaid',1795819787160,'{"type":"order.overpaid","timestamp":"2026-11-27T22:49:47.160234853Z","data":{"sequence":4,"order":{"id":"ord_2159ab3568eb094ed999ba2a4fce4cce","reference":"catalogue-51766a83de96d6fa27287f9f36bb835d","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-27T22:49:47.132Z","expires_at":"2026-11-28T22:49:47.132Z","flow":"custom","settled_at":"2026-11-27T22:49:47.160234853Z","reverted":null,"attempt":{"id":"att_d7540b21d3638b74c15d87e1378e689c","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}',10);
INSERT INTO events VALUES('ord_a9d0be90e6aaad071a992317709f0ebf',1,'evt_a9d0be90e6aaad071a992317709f0ebf_1_a8bfee4ac8f72bf6','demo','order.created',1795819787168,'{"type":"order.created","timestamp":"2026-11-27T22:49:47.168899192Z","data":{"sequence":1,"order":{"id":"ord_a9d0be90e6aaad071a992317709f0ebf","reference":"catalogue-d13158bed41a3cd44405d20f70dc9b98","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-27T22:49:47.168Z","expires_at":"2026-11-28T22:49:47.168Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}',11);
INSERT INTO events VALUES('ord_a9d0be90e6aaad071a992317709f0ebf',2,'evt_a9d0be90e6aaad071a992317709f0ebf_2_6a1fe65a71861391','demo','order.attempt_opened',1795819787185,'{"type":"order.attempt_opened","timestamp":"2026-11-27T22:49:47.185448553Z","data":{"sequence":2,"order":{"id":"ord_a9d0be90e6aaad071a992317709f0ebf","reference":"catalogue-d13158bed41a3cd44405d20f70dc9b98","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-27T22:49:47.168Z","expires_at":"2026-11-28T22:49:47.168Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_244cb5eea5fd609d37783954b2d609eb","crypto_code":"ETH","invoice_id":"inv_673d4bfcbd5173a8f58cd2b5","address":"0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a","payment_process_url":null,"amount_in_crypto":"0.00640061","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}',12);
INSERT INTO events VALUES('ord_12d0292f704f7e85ac682f5ea7c0ce6a',1,'evt_12d0292f704f7e85ac682f5ea7c0ce6a_1_d22f85c527a2e778','demo','order.created',1795819787191,'{"type":"order.created","timestamp":"2026-11-27T22:49:47.191364358Z","data":{"sequence":1,"order":{"id":"ord_12d0292f704f7e85ac682f5ea7c0ce6a","reference":"catalogue-ca5047b3e3f0d43b663d5cbf599a33ef","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-27T22:49:47.191Z","expires_at":"2026-11-28T22:49:47.191Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}',13);
CREATE TABLE outbox (
    order_id      TEXT NOT NULL,
    sequence      INTEGER NOT NULL,
    -- A webhook of the store; `default` of one without any.
    webhook       TEXT NOT NULL,
    position      INTEGER NOT NULL,
    store_id      TEXT NOT NULL,
    state         TEXT NOT NULL DEFAULT 'pending',
    tries         INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER NOT NULL,
    -- When next_at was planned: what a clock that was ahead has planned is found by it, whatever its event's time is.
    planned_at    INTEGER NOT NULL,
    -- The next try by the schedule, after a failed one; NULL before the first failure. A try before it is early.
    retry_at      INTEGER,
    -- Set while a failed event waits: an acceptance by the endpoint after this time makes the event due.
    early_from    INTEGER,
    -- How often an acceptance has made it due.
    early_tries   INTEGER NOT NULL DEFAULT 0,
    -- Events of orders with money (0) are delivered before all others (1).
    priority      INTEGER NOT NULL DEFAULT 1 CHECK (priority IN (0, 1)),
    -- Delivered before a redelivery was requested: no later event waits for it.
    was_delivered INTEGER NOT NULL DEFAULT 0 CHECK (was_delivered IN (0, 1)),
    -- No earlier pending event of the same order waits for the webhook's first acceptance. Only a head is delivered.
    is_head       INTEGER NOT NULL CHECK (is_head IN (0, 1)),
    leased_by     TEXT,
    leased_until  INTEGER,
    PRIMARY KEY (order_id, sequence, webhook),
    FOREIGN KEY (order_id, sequence) REFERENCES events (order_id, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO outbox VALUES('ord_12d0292f704f7e85ac682f5ea7c0ce6a',1,'default',13,'demo','delivered',1,1795819817195,1795819787200,NULL,NULL,0,1,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce',1,'default',7,'demo','delivered',1,1795819817133,1795819787140,NULL,NULL,0,1,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce',2,'default',8,'demo','delivered',1,1795819817145,1795819787150,NULL,NULL,0,1,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce',3,'default',9,'demo','delivered',1,1795819817163,1795819787168,NULL,NULL,0,0,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_2159ab3568eb094ed999ba2a4fce4cce',4,'default',10,'demo','delivered',1,1795819817174,1795819787183,NULL,NULL,0,0,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_22b6f926d59923f12743481493a9262c',1,'default',1,'demo','delivered',1,1795819815090,1795819787053,NULL,NULL,0,1,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_22b6f926d59923f12743481493a9262c',2,'default',2,'demo','delivered',1,1795819817064,1795819787072,NULL,NULL,0,1,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_22b6f926d59923f12743481493a9262c',3,'default',3,'demo','delivered',1,1795819817087,1795819787092,NULL,NULL,0,0,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_5e84cad772cf3aa714e3b8434b568c04',1,'default',4,'demo','delivered',1,1795819817095,1795819787102,NULL,NULL,0,1,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_5e84cad772cf3aa714e3b8434b568c04',2,'default',5,'demo','delivered',1,1795819817107,1795819787113,NULL,NULL,0,1,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_5e84cad772cf3aa714e3b8434b568c04',3,'default',6,'demo','delivered',1,1795819817125,1795819787128,NULL,NULL,0,0,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_a9d0be90e6aaad071a992317709f0ebf',1,'default',11,'demo','delivered',1,1795819817174,1795819787184,NULL,NULL,0,1,0,0,'file',NULL);
INSERT INTO outbox VALUES('ord_a9d0be90e6aaad071a992317709f0ebf',2,'default',12,'demo','delivered',1,1795819817188,1795819787194,NULL,NULL,0,1,0,0,'file',NULL);
CREATE TABLE webhooks (
    store_id      TEXT NOT NULL,
    webhook       TEXT NOT NULL,
    -- Events that happen are for it.
    is_configured INTEGER NOT NULL DEFAULT 0 CHECK (is_configured IN (0, 1)),
    -- The types that it asks for, each between blanks; NULL for all.
    events        TEXT,
    -- When it last accepted an event while others waited.
    accepted_at   INTEGER,
    -- Before it, no waiting event with money is tried early.
    probe_at      INTEGER,
    PRIMARY KEY (store_id, webhook)
) STRICT, WITHOUT ROWID;
INSERT INTO webhooks VALUES('demo','default',1,NULL,NULL,NULL);
CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    event_id    TEXT NOT NULL REFERENCES events (id),
    store_id    TEXT NOT NULL,
    webhook     TEXT NOT NULL,
    number      INTEGER NOT NULL,
    tried_at    INTEGER NOT NULL,
    took_ms     INTEGER NOT NULL,
    http_status INTEGER,
    note        TEXT NOT NULL,
    UNIQUE (event_id, number)
) STRICT;
INSERT INTO deliveries VALUES(1,'evt_22b6f926d59923f12743481493a9262c_1_f246ef0ec16b1baf','demo','default',1,1795819787050,2,204,'answered 204');
INSERT INTO deliveries VALUES(2,'evt_22b6f926d59923f12743481493a9262c_2_8af64a349258950a','demo','default',1,1795819787070,1,204,'answered 204');
INSERT INTO deliveries VALUES(3,'evt_22b6f926d59923f12743481493a9262c_3_2b38393e70ab8025','demo','default',1,1795819787089,2,204,'answered 204');
INSERT INTO deliveries VALUES(4,'evt_5e84cad772cf3aa714e3b8434b568c04_1_9f04675cdc9d4229','demo','default',1,1795819787100,1,204,'answered 204');
INSERT INTO deliveries VALUES(5,'evt_5e84cad772cf3aa714e3b8434b568c04_2_b16792e8b8607562','demo','default',1,1795819787111,1,204,'answered 204');
INSERT INTO deliveries VALUES(6,'evt_5e84cad772cf3aa714e3b8434b568c04_3_3d4ce167d5c67da3','demo','default',1,1795819787126,1,204,'answered 204');
INSERT INTO deliveries VALUES(7,'evt_2159ab3568eb094ed999ba2a4fce4cce_1_b4bd3ca2b91805a2','demo','default',1,1795819787139,1,204,'answered 204');
INSERT INTO deliveries VALUES(8,'evt_2159ab3568eb094ed999ba2a4fce4cce_2_9f52f43658b3f02f','demo','default',1,1795819787149,1,204,'answered 204');
INSERT INTO deliveries VALUES(9,'evt_2159ab3568eb094ed999ba2a4fce4cce_3_87098422d6e8640b','demo','default',1,1795819787166,1,204,'answered 204');
INSERT INTO deliveries VALUES(10,'evt_2159ab3568eb094ed999ba2a4fce4cce_4_91f5e34ec3b1a40f','demo','default',1,1795819787179,3,204,'answered 204');
INSERT INTO deliveries VALUES(11,'evt_a9d0be90e6aaad071a992317709f0ebf_1_a8bfee4ac8f72bf6','demo','default',1,1795819787180,3,204,'answered 204');
INSERT INTO deliveries VALUES(12,'evt_a9d0be90e6aaad071a992317709f0ebf_2_6a1fe65a71861391','demo','default',1,1795819787192,1,204,'answered 204');
INSERT INTO deliveries VALUES(13,'evt_12d0292f704f7e85ac682f5ea7c0ce6a_1_d22f85c527a2e778','demo','default',1,1795819787198,1,204,'answered 204');
CREATE TABLE disabled_endpoints (
    store_id TEXT NOT NULL,
    webhook  TEXT NOT NULL,
    endpoint BLOB NOT NULL CHECK (length(endpoint) = 32),
    event_id TEXT NOT NULL REFERENCES events (id),
    since    INTEGER NOT NULL,
    PRIMARY KEY (store_id, webhook)
) STRICT;
CREATE TABLE audit (
    position      INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    at            INTEGER NOT NULL,
    operator      TEXT NOT NULL,
    -- The store whose staff did it; NULL for an operator.
    staff_of      TEXT,
    action        TEXT NOT NULL,
    order_id      TEXT REFERENCES orders (id),
    -- The event, the store or the refunded amount, where the action has one.
    subject       TEXT,
    reason        TEXT NOT NULL,
    status_before TEXT,
    status_after  TEXT
) STRICT;
CREATE TABLE refunds (
    id               TEXT PRIMARY KEY REFERENCES audit (id),
    order_id         TEXT NOT NULL REFERENCES orders (id),
    crypto_code      TEXT NOT NULL,
    amount_in_crypto TEXT NOT NULL,
    -- What of the price it takes back, in the order's currency.
    amount           TEXT NOT NULL,
    transaction_hash TEXT,
    refunded_at      INTEGER NOT NULL
) STRICT;
CREATE TABLE staff_access (
    hash            BLOB PRIMARY KEY CHECK (length(hash) = 32),
    state           TEXT NOT NULL CHECK (state IN ('link', 'session')),
    store_id        TEXT NOT NULL,
    secret_key      BLOB NOT NULL CHECK (length(secret_key) = 32),
    person          TEXT NOT NULL,
    may_decide      INTEGER NOT NULL CHECK (may_decide IN (0, 1)),
    session_seconds INTEGER NOT NULL CHECK (session_seconds > 0),
    expires_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE price_lists (
    id         INTEGER PRIMARY KEY,
    fetched_at INTEGER NOT NULL,
    body       TEXT NOT NULL
) STRICT;
INSERT INTO price_lists VALUES(1,1795819787047,'{"BCH":{"rates":{"amount_in_local_currency":"415.9964","amount_in_crypto":"1","amount_in_usd":"415.9964","local_currency_code":"USD"},"limits":{"min":"0.01","max":"100"},"conversion_id":"conv_01352d6b120f7b0a827e1b2b"},"BNB":{"rates":{"amount_in_local_currency":"593.127","amount_in_crypto":"1","amount_in_usd":"593.127","local_currency_code":"USD"},"limits":{"min":"","max":"8"},"conversion_id":"conv_c244526a5279ec921a6f34d3"},"BTC":{"rates":{"amount_in_local_currency":"64616.225","amount_in_crypto":"1","amount_in_usd":"64616.225","local_currency_code":"USD"},"limits":{"min":"0.0001","max":"2"},"conversion_id":"conv_1a181166650b1871c3c3c0c7"},"DOGE":{"rates":{"amount_in_local_currency":"0.160816","amount_in_crypto":"1","amount_in_usd":"0.160816","local_currency_code":"USD"},"limits":{"min":"50","max":"250000"},"conversion_id":"conv_2e39a183bb5815e89da4cc1c"},"ETH":{"rates":{"amount_in_local_currency":"3109.08","amount_in_crypto":"1","amount_in_usd":"3109.08","local_currency_code":"USD"},"limits":{"min":"0.001","max":"50"},"conversion_id":"conv_1fa6f028f990386edecebad6"},"LTC":{"rates":{"amount_in_local_currency":"84.34314","amount_in_crypto":"1","amount_in_usd":"84.34314","local_currency_code":"USD"},"limits":{"min":"0.01","max":"500"},"conversion_id":"conv_f150c438d208cc03b08fdf1d"},"TRX":{"rates":{"amount_in_local_currency":"0.129207","amount_in_crypto":"1","amount_in_usd":"0.129207","local_currency_code":"USD"},"limits":{"min":"5","max":""},"conversion_id":"conv_4582b385a3114428883b817b"},"USDTERC20":{"rates":{"amount_in_local_currency":"1.00","amount_in_crypto":"1","amount_in_usd":"1.00","local_currency_code":"USD"},"limits":{"min":"5","max":"50000"},"conversion_id":"conv_e29407f02d173312e907c176"},"USDTTRC20":{"rates":{"amount_in_local_currency":"1.00","amount_in_crypto":"1","amount_in_usd":"1.00","local_currency_code":"USD"},"limits":{"min":"1","max":"50000"},"conversion_id":"conv_1601f9822031413ba666905a"}}');
CREATE TABLE static_files (
    name    TEXT PRIMARY KEY,
    -- Before the contents: SQLite walks the pages of what stands before a column.
    used_at INTEGER NOT NULL,
    whole   BLOB NOT NULL,
    brotli  BLOB
) STRICT;
CREATE TABLE write_checks (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    written_at INTEGER NOT NULL
) STRICT;
INSERT INTO write_checks VALUES(1,1795819787196);
CREATE INDEX orders_by_store ON orders (store_id, created_at DESC, id DESC);
CREATE INDEX orders_by_status ON orders (store_id, status, created_at DESC, id DESC);
CREATE INDEX orders_by_expiry ON orders (expires_at) WHERE status = 'open';
CREATE INDEX orders_by_settlement ON orders (store_id, settled_at, id) WHERE settled_at IS NOT NULL;
CREATE INDEX orders_for_attention ON orders (attention_since, id) WHERE attention_since IS NOT NULL;
CREATE INDEX store_orders_for_attention ON orders (store_id, attention_since, id) WHERE attention_since IS NOT NULL;
CREATE INDEX orders_by_time ON orders (created_at DESC, id DESC);
CREATE INDEX orders_by_status_and_time ON orders (status, created_at DESC, id DESC);
CREATE INDEX orders_by_reference ON orders (reference);
CREATE INDEX orders_by_amount ON orders (amount);
CREATE INDEX orders_by_customer_email ON orders (lower(customer_email)) WHERE customer_email IS NOT NULL;
CREATE INDEX orders_by_receipt_email ON orders (lower(receipt_email)) WHERE receipt_email IS NOT NULL;
CREATE INDEX client_tokens_by_expiry ON client_tokens (expires_at);
CREATE INDEX requests_by_expiry ON requests (kept_until);
CREATE INDEX attempts_by_order ON attempts (order_id);
CREATE INDEX attempts_creating ON attempts (begun_clock) WHERE state = 'creating';
CREATE INDEX attempts_needing_review ON attempts (id) WHERE needs_review;
CREATE INDEX attempts_uncredited ON attempts (state_since, id)
    WHERE payment_state IN ('underpaid', 'cancelled') OR late_amount_notified IS NOT NULL;
CREATE INDEX attempts_by_address ON attempts (lower(address)) WHERE address IS NOT NULL;
CREATE INDEX attempts_by_transaction ON attempts (lower(transaction_hash)) WHERE transaction_hash IS NOT NULL;
CREATE INDEX polls_due ON polls (priority, next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX polls_by_order ON polls (order_id);
CREATE INDEX polls_leased ON polls (leased_by) WHERE leased_by IS NOT NULL;
CREATE INDEX polls_by_opening ON polls (opened_at);
CREATE INDEX polls_by_poll ON polls (coalesce(polled_at, opened_at)) WHERE next_poll_at IS NOT NULL;
CREATE INDEX credits_by_time ON credits (credited_at, order_id);
CREATE INDEX events_by_store ON events (store_id, position);
CREATE INDEX outbox_heads ON outbox (store_id, webhook, priority, next_at, position) WHERE is_head;
CREATE INDEX outbox_waiting ON outbox (store_id, webhook, priority, early_from) WHERE is_head AND early_from IS NOT NULL;
CREATE INDEX outbox_pending ON outbox (store_id, webhook, position) WHERE state = 'pending';
CREATE INDEX outbox_by_plan ON outbox (planned_at) WHERE state = 'pending';
CREATE INDEX outbox_leased ON outbox (store_id, webhook, leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX outbox_given_up ON outbox (position) WHERE state = 'given_up';
CREATE INDEX outbox_given_up_by_store ON outbox (store_id, position) WHERE state = 'given_up';
CREATE INDEX deliveries_by_store ON deliveries (store_id, id DESC);
CREATE INDEX audit_by_order ON audit (order_id, position) WHERE order_id IS NOT NULL;
CREATE INDEX refunds_by_order ON refunds (order_id, refunded_at, id);
CREATE INDEX refunds_by_time ON refunds (refunded_at, id);
CREATE INDEX staff_access_by_expiry ON staff_access (expires_at);
CREATE INDEX staff_access_by_store ON staff_access (store_id, expires_at DESC);
CREATE INDEX price_lists_by_time ON price_lists (fetched_at);
CREATE TRIGGER orders_keep_their_terms BEFORE UPDATE OF
    id, store_id, reference, amount, currency, price_source, tolerance, flow, created_at ON orders
BEGIN SELECT RAISE(ABORT, 'the terms of an order never change'); END;
CREATE TRIGGER orders_keep_their_lines BEFORE UPDATE OF lines ON orders
BEGIN SELECT RAISE(ABORT, 'the lines of an order never change'); END;
CREATE TRIGGER orders_stay BEFORE DELETE ON orders
BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;
CREATE TRIGGER paid_stays_paid BEFORE UPDATE OF status ON orders
WHEN OLD.status IN ('paid', 'overpaid') AND NEW.status <> OLD.status
BEGIN SELECT RAISE(ABORT, 'a paid order stays paid'); END;
CREATE TRIGGER cancelled_stays_cancelled BEFORE UPDATE OF cancelled_at ON orders
WHEN OLD.cancelled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a cancellation is not taken back'); END;
CREATE TRIGGER attempts_keep_their_invoice BEFORE UPDATE OF
    order_id, flow, crypto_code, requested_crypto, requested_usd, requested_local, local_currency, invoice_id, address,
    qr_string, page_url ON attempts
WHEN OLD.state <> 'creating'
BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
CREATE TRIGGER observations_stay BEFORE UPDATE OF id, attempt_id, poll_seq, observed_at, raw, assessment, digest ON observations
BEGIN SELECT RAISE(ABORT, 'observations never change'); END;
CREATE TRIGGER observations_are_counted BEFORE UPDATE OF last_poll_seq, last_at, times ON observations
WHEN NEW.times <> OLD.times + 1 OR NEW.last_poll_seq <= OLD.last_poll_seq
BEGIN SELECT RAISE(ABORT, 'a repeated observation is counted'); END;
CREATE TRIGGER observations_are_kept BEFORE DELETE ON observations
BEGIN SELECT RAISE(ABORT, 'observations are never deleted'); END;
CREATE TRIGGER credits_stay BEFORE UPDATE ON credits
BEGIN SELECT RAISE(ABORT, 'credits never change'); END;
CREATE TRIGGER credits_are_kept BEFORE DELETE ON credits
BEGIN SELECT RAISE(ABORT, 'credits are never deleted'); END;
CREATE TRIGGER refunds_stay BEFORE UPDATE ON refunds
BEGIN SELECT RAISE(ABORT, 'refunds never change'); END;
CREATE TRIGGER refunds_are_kept BEFORE DELETE ON refunds
BEGIN SELECT RAISE(ABORT, 'refunds are never deleted'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events never change'); END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER paid_has_a_credit BEFORE UPDATE OF status ON orders
WHEN NEW.status IN ('paid', 'overpaid') AND NOT EXISTS (SELECT 1 FROM credits WHERE order_id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'an order is paid only with its credit'); END;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'entries of the audit log never change'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'entries of the audit log are never deleted'); END;
CREATE TRIGGER accepted_stays_accepted BEFORE UPDATE OF decision ON orders
WHEN OLD.decision = 'accepted' AND NEW.decision IS NOT 'accepted'
BEGIN SELECT RAISE(ABORT, 'an acceptance is not taken back'); END;
CREATE TRIGGER decisions_are_audited BEFORE UPDATE OF decision, decided_at ON orders
WHEN NEW.decision IS NOT NULL AND (NEW.decision IS NOT OLD.decision OR NEW.decided_at IS NOT OLD.decided_at)
    AND NOT EXISTS (SELECT 1 FROM audit WHERE order_id = NEW.id AND at = NEW.decided_at)
BEGIN SELECT RAISE(ABORT, 'a decision needs its entry in the audit log'); END;
COMMIT;
