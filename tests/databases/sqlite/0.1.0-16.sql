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
INSERT INTO _sqlx_migrations VALUES(1,'ledger','2026-11-25 16:55:47',1,X'6ceae20815450d805e64cb1a8fa78e04785eed858af7f7a2acb5984c6a1711b194388fe571b10e7f218f7668421f9a37',3146649);
INSERT INTO _sqlx_migrations VALUES(2,'was_seen','2026-11-25 16:55:47',1,X'92ef6a26c0289f03c6085d9ff73f1ff48ddc426ec79e92a3e7fc77bbcfd5bb11693fc1ded2e41a4955337a13bf1d9e91',1609548);
INSERT INTO _sqlx_migrations VALUES(3,'order_lines','2026-11-25 16:55:47',1,X'5aa06948a0f97926a30455f200e77c0dae7d3dad4f4a8a4dc7630deddafdc473d0e917dbf871f2ab347b50f1ee4d1e59',1450292);
INSERT INTO _sqlx_migrations VALUES(4,'receipt_email','2026-11-25 16:55:47',1,X'1f4b1c0d07e92b68634d072ff09b3e9efd1a379c0a9f8c3f5c894408dceb8a9a288c46a02538057c4d8e881028f1669d',1278928);
INSERT INTO _sqlx_migrations VALUES(5,'order_facts','2026-11-25 16:55:47',1,X'f0e492a584b854be0e58e448b250f31a84481c23241c9a1e55c93ae067cef90843417259a014d786eb260b0d37951952',2531827);
INSERT INTO _sqlx_migrations VALUES(6,'typed_results','2026-11-25 16:55:47',1,X'67d3d6345326dc8592fc288d642487fa7f51b08ba2b38be500fef3301337559d61c2ff192a06859d28baec8418d8b64d',7880353);
INSERT INTO _sqlx_migrations VALUES(8,'bounded_growth','2026-11-25 16:55:47',1,X'a55a80a747184061cf836eac781b1209440ebbaf0276775757250a1308fa02e9198f0c1dcd15ac709e62365c078c41e2',5450969);
INSERT INTO _sqlx_migrations VALUES(9,'money_first','2026-11-25 16:55:47',1,X'fade9675c10d95efb9da9c1a225ae0c6568fc9da55b0ebcad59d101c4b4e7f907e9a5b8bbf1fffe11b60ff9920e21e90',4296756);
INSERT INTO _sqlx_migrations VALUES(10,'moved','2026-11-25 16:55:47',1,X'f3662c2eaf0a23d7b2a8aaeb8b42c55e175f4d2c29b40f492e05fee4dda7e09fdbf9a3f44ed4ed793ad1947428e6b7ec',1640965);
INSERT INTO _sqlx_migrations VALUES(11,'needs_review','2026-11-25 16:55:47',1,X'd2d91e96e75c1970a8402ccdd00a3c7bb63aebfec4772fc13a598772851124c1746d39a5b2aee4fc5789ef5486d9d430',1570440);
INSERT INTO _sqlx_migrations VALUES(12,'audit','2026-11-25 16:55:47',1,X'3fe084d38e05153f9dc72d2f51b32807ad37c8831e07d1c290413cd334ea2470c8d14c0cee337be684634ca233bc55be',4198510);
INSERT INTO _sqlx_migrations VALUES(13,'price_lists','2026-11-25 16:55:47',1,X'8b86ca60fd1668ab3a1f4b528ae2b1d5e76d671e2da258fa15bc343821c23fb371a57d5774bb6aca023b65356cd85742',730744);
INSERT INTO _sqlx_migrations VALUES(14,'transaction_hint','2026-11-25 16:55:47',1,X'0a2c79df32d3d20964663244ddf2ae025068793abce0e634148648843450f63e4cf03b6a998bd27c2e50acb50cbe7d0c',1386547);
INSERT INTO _sqlx_migrations VALUES(15,'replanning','2026-11-25 16:55:47',1,X'31d5edf760f33825fe69584eb27d983a56d6c86ada5a0247178868fcb33aa6e47b59c441b577ab93f533262866fe4127',894397);
INSERT INTO _sqlx_migrations VALUES(16,'staff','2026-11-25 16:55:47',1,X'67c5e5106b2cd10ebc0d619ac7fe939edbc810df09e7c5d6eacd669dd15bae3254693304fff3359eb33c3068add56862',1980469);
CREATE TABLE identity (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    environment TEXT NOT NULL CHECK (environment IN ('test', 'production'))
, moved_to TEXT) STRICT;
INSERT INTO identity VALUES(1,'test',NULL);
CREATE TABLE orders (
    id              TEXT PRIMARY KEY,
    store_id        TEXT NOT NULL,
    reference       TEXT NOT NULL,
    amount          TEXT NOT NULL,
    currency        TEXT NOT NULL,
    price_source    TEXT NOT NULL,
    title           TEXT NOT NULL,
    customer_email  TEXT,
    return_url      TEXT,
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
    -- What the service says against the credit, and since when.
    reverted_at     INTEGER,
    reverted_to     TEXT,
    cancelled_at    INTEGER, lines TEXT NOT NULL DEFAULT '[]', receipt_email TEXT, has_money INTEGER NOT NULL DEFAULT 0 CHECK (has_money IN (0, 1)), late_payment TEXT, late_event_at INTEGER, decision TEXT CHECK (decision IN ('accepted', 'closed')), decided_at INTEGER, attention_since INTEGER,
    UNIQUE (store_id, reference)
) STRICT;
INSERT INTO orders VALUES('ord_9086d98ea98446dc8488fa3d44c075f3','demo','catalogue-a05bbab81e4c21df277e5a363ef96226','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795712147871,1795625747871,'paid','att_54dee401a65ee172a1e08745d00f02dd',3,4,1795625750809,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_29f2d7cff58472d7d065f49060200872','demo','catalogue-f204cb4ceb32fc85bd5772791de31366','12.50','USD','catalogue','Enamel mug',NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795712150869,1795625750869,'underpaid','att_b6e4d884977e203dcd79a59fa61198aa',3,4,NULL,NULL,NULL,NULL,'[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,1795625751055);
INSERT INTO orders VALUES('ord_e9655c057e1a2d2d09b57128aa8d58ec','demo','catalogue-d0b752ee957dfa4c60bdc0dee3a40b09','12.50','USD','catalogue','Enamel mug',NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795712151108,1795625751108,'overpaid','att_f34a8f2f90dc77ab096732f85658bf4e',4,4,1795625751277,NULL,NULL,NULL,'[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_690e19c8938dd51a7514b045a9e4557d','demo','catalogue-1e9353d2e70005e3caf5c3db9ae18f71','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795712151319,1795625751319,'awaiting_payment','att_aa25564a2903dab883998cf97310a724',2,3,NULL,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_042aff634970b861b8da2b697f25f6ac','demo','catalogue-86a49ee43ebad1d6fbc76b9717a9e6b3','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795712151396,1795625751396,'open',NULL,1,1,NULL,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,0,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE client_tokens (
    hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
    order_id   TEXT NOT NULL REFERENCES orders (id),
    expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO client_tokens VALUES(X'd02a5c82da06ad07c3e511b82f8bcccdf7deff894bfcefc66afbfb74b62c2891','ord_9086d98ea98446dc8488fa3d44c075f3',1798304147871);
INSERT INTO client_tokens VALUES(X'596820b19891e52ee0d102ea748b71518af49089c14b801a5fd82e951f7191ba','ord_29f2d7cff58472d7d065f49060200872',1798304150869);
INSERT INTO client_tokens VALUES(X'd09e99f5b881072e71877ddf966c4837dec40c54d62933914329b77e290ed575','ord_e9655c057e1a2d2d09b57128aa8d58ec',1798304151108);
INSERT INTO client_tokens VALUES(X'9f5d40a675d2859e592674578f02aef9db5cbc8ef9fc33709a2ab1a5cb62c258','ord_690e19c8938dd51a7514b045a9e4557d',1798304151319);
INSERT INTO client_tokens VALUES(X'523d4ba98da831a8802a0ac1f28696b46ca1626a406b60a42e54d37c4c95a18a','ord_042aff634970b861b8da2b697f25f6ac',1798304151396);
CREATE TABLE requests (
    id          BLOB PRIMARY KEY CHECK (length(id) = 32),
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    kept_until  INTEGER NOT NULL,
    status      INTEGER,
    body        TEXT) STRICT;
CREATE TABLE attempts (
    id                TEXT PRIMARY KEY,
    order_id          TEXT NOT NULL REFERENCES orders (id),
    flow              TEXT NOT NULL,
    crypto_code       TEXT,
    conversion_id     TEXT,
    asked_crypto      TEXT,
    asked_usd         TEXT,
    asked_local       TEXT,
    local_currency    TEXT,
    begun_at          INTEGER NOT NULL,
    state             TEXT NOT NULL,
    invoice_id        TEXT UNIQUE,
    address           TEXT,
    qr_string         TEXT,
    warnings          TEXT,
    page_url          TEXT,
    opened_at         INTEGER,
    expires_at        INTEGER,
    marked_as_paid_at INTEGER,
    standing          TEXT NOT NULL DEFAULT 'waiting',
    standing_since    INTEGER,
    received_crypto   TEXT NOT NULL DEFAULT '0',
    received_usd      TEXT NOT NULL DEFAULT '0',
    received_local    TEXT NOT NULL DEFAULT '0',
    confirmations     INTEGER,
    confirmations_required INTEGER,
    transaction_hash  TEXT,
    paid_in           TEXT,
    -- How much of it the store was told of as a late payment.
    late_amount_notified         TEXT,
    observed_at       INTEGER,
    next_poll_at      INTEGER,
    urgency           TEXT NOT NULL DEFAULT 'planned' CHECK (urgency IN ('planned', 'watched', 'hinted')),
    looked_at         INTEGER,
    lease_until       INTEGER NOT NULL DEFAULT 0,
    look              INTEGER NOT NULL DEFAULT 0,
    recorded_look     INTEGER NOT NULL DEFAULT 0, was_seen INTEGER NOT NULL DEFAULT 0 CHECK (was_seen IN (0, 1)), needs_review INTEGER NOT NULL DEFAULT 0 CHECK (needs_review IN (0, 1)), transaction_hint TEXT CHECK (length(transaction_hint) IN (64, 66)),
    CHECK (CASE flow
        WHEN 'custom' THEN crypto_code IS NOT NULL AND conversion_id IS NOT NULL AND asked_crypto IS NOT NULL
            AND asked_usd IS NOT NULL AND asked_local IS NOT NULL AND local_currency IS NOT NULL AND page_url IS NULL
        WHEN 'hosted' THEN crypto_code IS NULL AND asked_crypto IS NULL AND address IS NULL AND qr_string IS NULL
        ELSE 0 END),
    CHECK (state <> 'open' OR (invoice_id IS NOT NULL AND coalesce(address, page_url) IS NOT NULL))
) STRICT;
INSERT INTO attempts VALUES('att_54dee401a65ee172a1e08745d00f02dd','ord_9086d98ea98446dc8488fa3d44c075f3','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00030798','19.90','19.90','USD',1795625750701,'open','inv_d0ae24cb939cd649da2efa5a','tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02','bitcoin:tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02?amount=0.00030798','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795625750709,1795626650709,NULL,'settled',1795625750809,'0.00030798','19.90','19.90',3,3,'d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903',NULL,NULL,1795625750809,1795625795788,'watched',1795625750788,0,1,1,1,0,NULL);
INSERT INTO attempts VALUES('att_b6e4d884977e203dcd79a59fa61198aa','ord_29f2d7cff58472d7d065f49060200872','custom','LTC','conv_f150c438d208cc03b08fdf1d','0.14820412','12.50','12.50','USD',1795625750883,'open','inv_6a7956e6801d1499d0380c71','tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8','litecoin:tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8?amount=0.14820412','["Send only Litecoin (LTC) on the Litecoin network to this address. Other assets, or LTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Litecoin network.","Make sure that the network fee is sufficient: a Litecoin transaction with a low fee may not be confirmed.","The price in LTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795625750929,1795626650929,NULL,'short',1795625751055,'0.07410206','6.25','6.25',3,3,'38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141',NULL,NULL,1795625751055,1795625751929,'watched',1795625751049,0,1,1,1,0,NULL);
INSERT INTO attempts VALUES('att_f34a8f2f90dc77ab096732f85658bf4e','ord_e9655c057e1a2d2d09b57128aa8d58ec','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00019345','12.50','12.50','USD',1795625751144,'open','inv_3a08979479a65d616e74ac78','tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec','bitcoin:tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec?amount=0.00019345','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795625751165,1795626651165,NULL,'settled',1795625751277,'0.00038690','25.00','25.00',3,3,'140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6',NULL,NULL,1795625751277,1795625796258,'watched',1795625751258,0,1,1,1,0,NULL);
INSERT INTO attempts VALUES('att_aa25564a2903dab883998cf97310a724','ord_690e19c8938dd51a7514b045a9e4557d','custom','ETH','conv_1fa6f028f990386edecebad6','0.00640061','19.90','19.90','USD',1795625751345,'open','inv_673d4bfcbd5173a8f58cd2b5','0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a','ethereum:0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a@11155111?value=6400610000000000','["Send only Ether (ETH) on the Ethereum network to this address. Other assets, or ETH on another network, will be lost.","Your payment is complete after 3 confirmations on the Ethereum network.","Make sure that the network fee is sufficient: a Ethereum transaction with a low fee may not be confirmed.","The price in ETH is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795625751375,1795626651375,NULL,'waiting',1795625751375,'0','0','0',NULL,NULL,NULL,NULL,NULL,NULL,1795625766377,'planned',NULL,0,0,0,0,0,NULL);
CREATE TABLE observations (
    id          INTEGER PRIMARY KEY,
    attempt_id  TEXT NOT NULL REFERENCES attempts (id),
    look        INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    raw         TEXT NOT NULL,
    verdict     TEXT NOT NULL, facts BLOB, last_look INTEGER NOT NULL DEFAULT 0, last_at INTEGER NOT NULL DEFAULT 0, times INTEGER NOT NULL DEFAULT 1,
    UNIQUE (attempt_id, look)
) STRICT;
INSERT INTO observations VALUES(1,'att_54dee401a65ee172a1e08745d00f02dd',1,1795625750809,'{"data":{"invoice_id":"inv_d0ae24cb939cd649da2efa5a","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"19.90","invoice_amount_in_usd":"19.90","invoice_crypto_amount":"0.00030798","received_amount_in_local_currency":"19.90","received_amount_in_usd":"19.90","received_crypto_amount":"0.00030798","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795625750","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903","blockchain_confirmations":"3/3","wallet_address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","transaction_time":"1795625750"}}','settled',X'cd9526630aee266c42079057ef01abb9',1,1795625750809,1);
INSERT INTO observations VALUES(2,'att_b6e4d884977e203dcd79a59fa61198aa',1,1795625751055,'{"data":{"invoice_id":"inv_6a7956e6801d1499d0380c71","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.14820412","received_amount_in_local_currency":"6.25","received_amount_in_usd":"6.25","received_crypto_amount":"0.07410206","local_currency_code":"USD","transaction_crypto":"LTC","invoice_creation_time":"1795625750","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141","blockchain_confirmations":"3/3","wallet_address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","transaction_time":"1795625751"}}','short',X'42b80acd0a9fe172ea52bbdf1dbdfb75',1,1795625751055,1);
INSERT INTO observations VALUES(3,'att_f34a8f2f90dc77ab096732f85658bf4e',1,1795625751277,'{"data":{"invoice_id":"inv_3a08979479a65d616e74ac78","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.00019345","received_amount_in_local_currency":"25.00","received_amount_in_usd":"25.00","received_crypto_amount":"0.00038690","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795625751","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6","blockchain_confirmations":"3/3","wallet_address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","transaction_time":"1795625751"}}','settled',X'ad05d9f1a9354c9d4be8dd6409c82060',1,1795625751277,1);
CREATE TABLE credits (
    order_id       TEXT PRIMARY KEY REFERENCES orders (id),
    attempt_id     TEXT NOT NULL REFERENCES attempts (id),
    observation_id INTEGER NOT NULL REFERENCES observations (id),
    amount         TEXT NOT NULL,
    currency       TEXT NOT NULL,
    credited_at    INTEGER NOT NULL
) STRICT;
INSERT INTO credits VALUES('ord_9086d98ea98446dc8488fa3d44c075f3','att_54dee401a65ee172a1e08745d00f02dd',1,'19.90','USD',1795625750809);
INSERT INTO credits VALUES('ord_e9655c057e1a2d2d09b57128aa8d58ec','att_f34a8f2f90dc77ab096732f85658bf4e',3,'12.50','USD',1795625751277);
CREATE TABLE events (
    position   INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    store_id   TEXT NOT NULL,
    order_id   TEXT NOT NULL REFERENCES orders (id),
    sequence   INTEGER NOT NULL,
    type       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    payload    TEXT NOT NULL,
    UNIQUE (order_id, sequence)
) STRICT;
INSERT INTO events VALUES(1,'evt_9086d98ea98446dc8488fa3d44c075f3_1_6e79d136e844f07e','demo','ord_9086d98ea98446dc8488fa3d44c075f3',1,'order.created',1795625747871,'{"type":"order.created","timestamp":"2026-11-25T16:55:47.87191776Z","data":{"sequence":1,"order":{"id":"ord_9086d98ea98446dc8488fa3d44c075f3","reference":"catalogue-a05bbab81e4c21df277e5a363ef96226","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-25T16:55:47.871Z","expires_at":"2026-11-26T16:55:47.871Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(2,'evt_9086d98ea98446dc8488fa3d44c075f3_2_b5b2ecf6966d813d','demo','ord_9086d98ea98446dc8488fa3d44c075f3',2,'order.attempt_opened',1795625750711,'{"type":"order.attempt_opened","timestamp":"2026-11-25T16:55:50.711291155Z","data":{"sequence":2,"order":{"id":"ord_9086d98ea98446dc8488fa3d44c075f3","reference":"catalogue-a05bbab81e4c21df277e5a363ef96226","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-25T16:55:47.871Z","expires_at":"2026-11-26T16:55:47.871Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_54dee401a65ee172a1e08745d00f02dd","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(3,'evt_9086d98ea98446dc8488fa3d44c075f3_3_3c11faa4e5503337','demo','ord_9086d98ea98446dc8488fa3d44c075f3',3,'order.paid',1795625750809,'{"type":"order.paid","timestamp":"2026-11-25T16:55:50.809268005Z","data":{"sequence":3,"order":{"id":"ord_9086d98ea98446dc8488fa3d44c075f3","reference":"catalogue-a05bbab81e4c21df277e5a363ef96226","status":"paid","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-25T16:55:47.871Z","expires_at":"2026-11-26T16:55:47.871Z","flow":"custom","settled_at":"2026-11-25T16:55:50.809268005Z","reverted":null,"attempt":{"id":"att_54dee401a65ee172a1e08745d00f02dd","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0.00030798","received_in_usd":"19.90","received_in_local_currency":"19.90","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903"}}}}');
INSERT INTO events VALUES(4,'evt_29f2d7cff58472d7d065f49060200872_1_80991cd8524cb879','demo','ord_29f2d7cff58472d7d065f49060200872',1,'order.created',1795625750869,'{"type":"order.created","timestamp":"2026-11-25T16:55:50.869622165Z","data":{"sequence":1,"order":{"id":"ord_29f2d7cff58472d7d065f49060200872","reference":"catalogue-f204cb4ceb32fc85bd5772791de31366","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-25T16:55:50.869Z","expires_at":"2026-11-26T16:55:50.869Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(5,'evt_29f2d7cff58472d7d065f49060200872_2_5a1c717f6b0f68bf','demo','ord_29f2d7cff58472d7d065f49060200872',2,'order.attempt_opened',1795625750934,'{"type":"order.attempt_opened","timestamp":"2026-11-25T16:55:50.934762999Z","data":{"sequence":2,"order":{"id":"ord_29f2d7cff58472d7d065f49060200872","reference":"catalogue-f204cb4ceb32fc85bd5772791de31366","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-25T16:55:50.869Z","expires_at":"2026-11-26T16:55:50.869Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_b6e4d884977e203dcd79a59fa61198aa","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(6,'evt_29f2d7cff58472d7d065f49060200872_3_d6c1c82ccd62c39b','demo','ord_29f2d7cff58472d7d065f49060200872',3,'order.underpaid',1795625751055,'{"type":"order.underpaid","timestamp":"2026-11-25T16:55:51.055981177Z","data":{"sequence":3,"order":{"id":"ord_29f2d7cff58472d7d065f49060200872","reference":"catalogue-f204cb4ceb32fc85bd5772791de31366","status":"underpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-25T16:55:50.869Z","expires_at":"2026-11-26T16:55:50.869Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_b6e4d884977e203dcd79a59fa61198aa","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.07410206","received_in_usd":"6.25","received_in_local_currency":"6.25","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141"}}}}');
INSERT INTO events VALUES(7,'evt_e9655c057e1a2d2d09b57128aa8d58ec_1_30d82759668e6b8e','demo','ord_e9655c057e1a2d2d09b57128aa8d58ec',1,'order.created',1795625751108,'{"type":"order.created","timestamp":"2026-11-25T16:55:51.108366572Z","data":{"sequence":1,"order":{"id":"ord_e9655c057e1a2d2d09b57128aa8d58ec","reference":"catalogue-d0b752ee957dfa4c60bdc0dee3a40b09","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-25T16:55:51.108Z","expires_at":"2026-11-26T16:55:51.108Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(8,'evt_e9655c057e1a2d2d09b57128aa8d58ec_2_d0a8caf793b63494','demo','ord_e9655c057e1a2d2d09b57128aa8d58ec',2,'order.attempt_opened',1795625751167,'{"type":"order.attempt_opened","timestamp":"2026-11-25T16:55:51.167624887Z","data":{"sequence":2,"order":{"id":"ord_e9655c057e1a2d2d09b57128aa8d58ec","reference":"catalogue-d0b752ee957dfa4c60bdc0dee3a40b09","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-25T16:55:51.108Z","expires_at":"2026-11-26T16:55:51.108Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_f34a8f2f90dc77ab096732f85658bf4e","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(9,'evt_e9655c057e1a2d2d09b57128aa8d58ec_3_2479678057503d4e','demo','ord_e9655c057e1a2d2d09b57128aa8d58ec',3,'order.paid',1795625751277,'{"type":"order.paid","timestamp":"2026-11-25T16:55:51.277439422Z","data":{"sequence":3,"order":{"id":"ord_e9655c057e1a2d2d09b57128aa8d58ec","reference":"catalogue-d0b752ee957dfa4c60bdc0dee3a40b09","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-25T16:55:51.108Z","expires_at":"2026-11-26T16:55:51.108Z","flow":"custom","settled_at":"2026-11-25T16:55:51.277439422Z","reverted":null,"attempt":{"id":"att_f34a8f2f90dc77ab096732f85658bf4e","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}');
INSERT INTO events VALUES(10,'evt_e9655c057e1a2d2d09b57128aa8d58ec_4_4c2af91b7a2a45f5','demo','ord_e9655c057e1a2d2d09b57128aa8d58ec',4,'order.overpaid',1795625751277,'{"type":"order.overpaid","timestamp":"2026-11-25T16:55:51.277439422Z","data":{"sequence":4,"order":{"id":"ord_e9655c057e1a2d2d09b57128aa8d58ec","reference":"catalogue-d0b752ee957dfa4c60bdc0dee3a40b09","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-25T16:55:51.108Z","expires_at":"2026-11-26T16:55:51.108Z","flow":"custom","settled_at":"2026-11-25T16:55:51.277439422Z","reverted":null,"attempt":{"id":"att_f34a8f2f90dc77ab096732f85658bf4e","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}');
INSERT INTO events VALUES(11,'evt_690e19c8938dd51a7514b045a9e4557d_1_81d014d4994c3d81','demo','ord_690e19c8938dd51a7514b045a9e4557d',1,'order.created',1795625751319,'{"type":"order.created","timestamp":"2026-11-25T16:55:51.319833411Z","data":{"sequence":1,"order":{"id":"ord_690e19c8938dd51a7514b045a9e4557d","reference":"catalogue-1e9353d2e70005e3caf5c3db9ae18f71","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-25T16:55:51.319Z","expires_at":"2026-11-26T16:55:51.319Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(12,'evt_690e19c8938dd51a7514b045a9e4557d_2_d60f879169c7730b','demo','ord_690e19c8938dd51a7514b045a9e4557d',2,'order.attempt_opened',1795625751377,'{"type":"order.attempt_opened","timestamp":"2026-11-25T16:55:51.377660102Z","data":{"sequence":2,"order":{"id":"ord_690e19c8938dd51a7514b045a9e4557d","reference":"catalogue-1e9353d2e70005e3caf5c3db9ae18f71","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-25T16:55:51.319Z","expires_at":"2026-11-26T16:55:51.319Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_aa25564a2903dab883998cf97310a724","crypto_code":"ETH","invoice_id":"inv_673d4bfcbd5173a8f58cd2b5","address":"0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a","payment_process_url":null,"amount_in_crypto":"0.00640061","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(13,'evt_042aff634970b861b8da2b697f25f6ac_1_3ee083e0d821ade0','demo','ord_042aff634970b861b8da2b697f25f6ac',1,'order.created',1795625751396,'{"type":"order.created","timestamp":"2026-11-25T16:55:51.396565786Z","data":{"sequence":1,"order":{"id":"ord_042aff634970b861b8da2b697f25f6ac","reference":"catalogue-86a49ee43ebad1d6fbc76b9717a9e6b3","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-25T16:55:51.396Z","expires_at":"2026-11-26T16:55:51.396Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
CREATE TABLE outbox (
    position   INTEGER PRIMARY KEY REFERENCES events (position),
    order_id   TEXT NOT NULL,
    store_id   TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'pending',
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    INTEGER NOT NULL,
    -- Delivered before it was asked for again: no later event waits for it.
    was_taken  INTEGER NOT NULL DEFAULT 0
, is_head INTEGER NOT NULL DEFAULT 0 CHECK (is_head IN (0, 1)), priority INTEGER NOT NULL DEFAULT 1 CHECK (priority IN (0, 1))) STRICT;
INSERT INTO outbox VALUES(1,'ord_9086d98ea98446dc8488fa3d44c075f3','demo','delivered',1,1795625777872,0,0,1);
INSERT INTO outbox VALUES(2,'ord_9086d98ea98446dc8488fa3d44c075f3','demo','delivered',1,1795625780729,0,0,1);
INSERT INTO outbox VALUES(3,'ord_9086d98ea98446dc8488fa3d44c075f3','demo','delivered',1,1795625780830,0,0,0);
INSERT INTO outbox VALUES(4,'ord_29f2d7cff58472d7d065f49060200872','demo','delivered',1,1795625780875,0,0,1);
INSERT INTO outbox VALUES(5,'ord_29f2d7cff58472d7d065f49060200872','demo','delivered',1,1795625780957,0,0,1);
INSERT INTO outbox VALUES(6,'ord_29f2d7cff58472d7d065f49060200872','demo','delivered',1,1795625781085,0,0,0);
INSERT INTO outbox VALUES(7,'ord_e9655c057e1a2d2d09b57128aa8d58ec','demo','delivered',1,1795625781130,0,0,1);
INSERT INTO outbox VALUES(8,'ord_e9655c057e1a2d2d09b57128aa8d58ec','demo','delivered',1,1795625781180,0,0,1);
INSERT INTO outbox VALUES(9,'ord_e9655c057e1a2d2d09b57128aa8d58ec','demo','delivered',1,1795625781294,0,0,0);
INSERT INTO outbox VALUES(10,'ord_e9655c057e1a2d2d09b57128aa8d58ec','demo','delivered',1,1795625781315,0,0,0);
INSERT INTO outbox VALUES(11,'ord_690e19c8938dd51a7514b045a9e4557d','demo','delivered',1,1795625781334,0,0,1);
INSERT INTO outbox VALUES(12,'ord_690e19c8938dd51a7514b045a9e4557d','demo','delivered',1,1795625781393,0,0,1);
INSERT INTO outbox VALUES(13,'ord_042aff634970b861b8da2b697f25f6ac','demo','delivered',1,1795625781409,0,0,1);
CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    event_id    TEXT NOT NULL REFERENCES events (id),
    store_id    TEXT NOT NULL,
    number      INTEGER NOT NULL,
    tried_at    INTEGER NOT NULL,
    took_ms     INTEGER NOT NULL,
    http_status INTEGER,
    note        TEXT NOT NULL,
    UNIQUE (event_id, number)
) STRICT;
INSERT INTO deliveries VALUES(1,'evt_9086d98ea98446dc8488fa3d44c075f3_1_6e79d136e844f07e','demo',1,1795625747898,2774,204,'answered 204');
INSERT INTO deliveries VALUES(2,'evt_9086d98ea98446dc8488fa3d44c075f3_2_b5b2ecf6966d813d','demo',1,1795625750743,3,204,'answered 204');
INSERT INTO deliveries VALUES(3,'evt_9086d98ea98446dc8488fa3d44c075f3_3_3c11faa4e5503337','demo',1,1795625750846,12,204,'answered 204');
INSERT INTO deliveries VALUES(4,'evt_29f2d7cff58472d7d065f49060200872_1_80991cd8524cb879','demo',1,1795625750908,2,204,'answered 204');
INSERT INTO deliveries VALUES(5,'evt_29f2d7cff58472d7d065f49060200872_2_5a1c717f6b0f68bf','demo',1,1795625750980,2,204,'answered 204');
INSERT INTO deliveries VALUES(6,'evt_29f2d7cff58472d7d065f49060200872_3_d6c1c82ccd62c39b','demo',1,1795625751097,10,204,'answered 204');
INSERT INTO deliveries VALUES(7,'evt_e9655c057e1a2d2d09b57128aa8d58ec_1_30d82759668e6b8e','demo',1,1795625751153,3,204,'answered 204');
INSERT INTO deliveries VALUES(8,'evt_e9655c057e1a2d2d09b57128aa8d58ec_2_d0a8caf793b63494','demo',1,1795625751191,17,204,'answered 204');
INSERT INTO deliveries VALUES(9,'evt_e9655c057e1a2d2d09b57128aa8d58ec_3_2479678057503d4e','demo',1,1795625751301,2,204,'answered 204');
INSERT INTO deliveries VALUES(10,'evt_e9655c057e1a2d2d09b57128aa8d58ec_4_4c2af91b7a2a45f5','demo',1,1795625751325,3,204,'answered 204');
INSERT INTO deliveries VALUES(11,'evt_690e19c8938dd51a7514b045a9e4557d_1_81d014d4994c3d81','demo',1,1795625751356,3,204,'answered 204');
INSERT INTO deliveries VALUES(12,'evt_690e19c8938dd51a7514b045a9e4557d_2_d60f879169c7730b','demo',1,1795625751409,5,204,'answered 204');
INSERT INTO deliveries VALUES(13,'evt_042aff634970b861b8da2b697f25f6ac_1_3ee083e0d821ade0','demo',1,1795625751429,2,204,'answered 204');
CREATE TABLE gone_endpoints (
    store_id TEXT PRIMARY KEY,
    endpoint BLOB NOT NULL CHECK (length(endpoint) = 32),
    event_id TEXT NOT NULL REFERENCES events (id),
    since    INTEGER NOT NULL
) STRICT;
CREATE TABLE write_checks (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    written_at INTEGER NOT NULL
) STRICT;
INSERT INTO write_checks VALUES(1,1795625751414);
CREATE TABLE waiting_events (
    store_id TEXT PRIMARY KEY,
    events   INTEGER NOT NULL
) STRICT;
INSERT INTO waiting_events VALUES('demo',0);
CREATE TABLE audit (
    position      INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    at            INTEGER NOT NULL,
    operator      TEXT NOT NULL,
    action        TEXT NOT NULL,
    order_id      TEXT REFERENCES orders (id),
    -- The event or the store, where the action has one.
    subject       TEXT,
    reason        TEXT NOT NULL,
    status_before TEXT,
    status_after  TEXT
, staff_of TEXT) STRICT;
CREATE TABLE price_lists (
    id         INTEGER PRIMARY KEY,
    fetched_at INTEGER NOT NULL,
    body       TEXT NOT NULL
) STRICT;
INSERT INTO price_lists VALUES(1,1795625750680,'{"BCH":{"rates":{"amount_in_local_currency":"415.9964","amount_in_crypto":"1","amount_in_usd":"415.9964","local_currency_code":"USD"},"limits":{"min":"0.01","max":"100"},"conversion_id":"conv_01352d6b120f7b0a827e1b2b"},"BNB":{"rates":{"amount_in_local_currency":"593.127","amount_in_crypto":"1","amount_in_usd":"593.127","local_currency_code":"USD"},"limits":{"min":"","max":"8"},"conversion_id":"conv_c244526a5279ec921a6f34d3"},"BTC":{"rates":{"amount_in_local_currency":"64616.225","amount_in_crypto":"1","amount_in_usd":"64616.225","local_currency_code":"USD"},"limits":{"min":"0.0001","max":"2"},"conversion_id":"conv_1a181166650b1871c3c3c0c7"},"DOGE":{"rates":{"amount_in_local_currency":"0.160816","amount_in_crypto":"1","amount_in_usd":"0.160816","local_currency_code":"USD"},"limits":{"min":"50","max":"250000"},"conversion_id":"conv_2e39a183bb5815e89da4cc1c"},"ETH":{"rates":{"amount_in_local_currency":"3109.08","amount_in_crypto":"1","amount_in_usd":"3109.08","local_currency_code":"USD"},"limits":{"min":"0.001","max":"50"},"conversion_id":"conv_1fa6f028f990386edecebad6"},"LTC":{"rates":{"amount_in_local_currency":"84.34314","amount_in_crypto":"1","amount_in_usd":"84.34314","local_currency_code":"USD"},"limits":{"min":"0.01","max":"500"},"conversion_id":"conv_f150c438d208cc03b08fdf1d"},"TRX":{"rates":{"amount_in_local_currency":"0.129207","amount_in_crypto":"1","amount_in_usd":"0.129207","local_currency_code":"USD"},"limits":{"min":"5","max":""},"conversion_id":"conv_4582b385a3114428883b817b"},"USDTERC20":{"rates":{"amount_in_local_currency":"1.00","amount_in_crypto":"1","amount_in_usd":"1.00","local_currency_code":"USD"},"limits":{"min":"5","max":"50000"},"conversion_id":"conv_e29407f02d173312e907c176"},"USDTTRC20":{"rates":{"amount_in_local_currency":"1.00","amount_in_crypto":"1","amount_in_usd":"1.00","local_currency_code":"USD"},"limits":{"min":"1","max":"50000"},"conversion_id":"conv_1601f9822031413ba666905a"}}');
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
CREATE INDEX orders_by_store ON orders (store_id, created_at DESC, id DESC);
CREATE INDEX orders_untried ON orders (expires_at) WHERE status = 'open';
CREATE INDEX client_tokens_over ON client_tokens (expires_at);
CREATE INDEX requests_over ON requests (kept_until);
CREATE INDEX attempts_by_order ON attempts (order_id);
CREATE INDEX attempts_due ON attempts (urgency, next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX attempts_creating ON attempts (begun_at) WHERE state = 'creating';
CREATE INDEX events_by_store ON events (store_id, position);
CREATE INDEX deliveries_by_store ON deliveries (store_id, id DESC);
CREATE TRIGGER orders_keep_their_terms BEFORE UPDATE OF
    id, store_id, reference, amount, currency, price_source, tolerance, flow, created_at ON orders
BEGIN SELECT RAISE(ABORT, 'the terms of an order never change'); END;
CREATE TRIGGER orders_stay BEFORE DELETE ON orders
BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;
CREATE TRIGGER paid_stays_paid BEFORE UPDATE OF status ON orders
WHEN OLD.status IN ('paid', 'overpaid') AND NEW.status <> OLD.status
BEGIN SELECT RAISE(ABORT, 'a paid order stays paid'); END;
CREATE TRIGGER cancelled_stays_cancelled BEFORE UPDATE OF cancelled_at ON orders
WHEN OLD.cancelled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a cancellation is not taken back'); END;
CREATE TRIGGER paid_has_a_credit BEFORE UPDATE OF status ON orders
WHEN NEW.status IN ('paid', 'overpaid') AND NOT EXISTS (SELECT 1 FROM credits WHERE order_id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'an order is paid only with its credit'); END;
CREATE TRIGGER attempts_keep_their_invoice BEFORE UPDATE OF
    order_id, flow, crypto_code, asked_crypto, asked_usd, asked_local, local_currency, invoice_id, address, qr_string,
    page_url ON attempts
WHEN OLD.state <> 'creating'
BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
CREATE TRIGGER credits_stay BEFORE UPDATE ON credits
BEGIN SELECT RAISE(ABORT, 'credits never change'); END;
CREATE TRIGGER credits_are_kept BEFORE DELETE ON credits
BEGIN SELECT RAISE(ABORT, 'credits are never deleted'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events never change'); END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER orders_keep_their_lines BEFORE UPDATE OF lines ON orders
BEGIN SELECT RAISE(ABORT, 'the lines of an order never change'); END;
CREATE TRIGGER observations_stay BEFORE UPDATE OF id, attempt_id, look, observed_at, raw, verdict, facts ON observations
BEGIN SELECT RAISE(ABORT, 'observations never change'); END;
CREATE TRIGGER observations_are_counted BEFORE UPDATE OF last_look, last_at, times ON observations
WHEN NEW.times <> OLD.times + 1 OR NEW.last_look <= OLD.last_look
BEGIN SELECT RAISE(ABORT, 'a repeated observation is counted'); END;
CREATE TRIGGER observations_are_kept BEFORE DELETE ON observations
BEGIN SELECT RAISE(ABORT, 'observations are never deleted'); END;
CREATE INDEX attempts_leased ON attempts (lease_until) WHERE lease_until > 0;
CREATE INDEX orders_by_status ON orders (store_id, status, created_at DESC, id DESC);
CREATE INDEX outbox_by_order ON outbox (order_id, position);
CREATE INDEX outbox_pending ON outbox (store_id, position) WHERE state = 'pending';
CREATE TRIGGER waiting_events_begin AFTER INSERT ON outbox WHEN NEW.state = 'pending'
BEGIN
    INSERT INTO waiting_events (store_id, events) VALUES (NEW.store_id, 1)
    ON CONFLICT (store_id) DO UPDATE SET events = events + 1;
END;
CREATE TRIGGER waiting_events_change AFTER UPDATE OF state ON outbox
WHEN (NEW.state = 'pending') <> (OLD.state = 'pending')
BEGIN
    UPDATE waiting_events SET events = events + iif(NEW.state = 'pending', 1, -1) WHERE store_id = NEW.store_id;
END;
CREATE INDEX outbox_heads ON outbox (store_id, priority, next_at, position) WHERE is_head;
CREATE INDEX attempts_needing_review ON attempts (needs_review) WHERE needs_review = 1 AND next_poll_at IS NOT NULL;
CREATE INDEX orders_waiting_for_a_person ON orders (attention_since, id) WHERE attention_since IS NOT NULL;
CREATE INDEX audit_by_order ON audit (order_id, position) WHERE order_id IS NOT NULL;
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
CREATE INDEX orders_by_time ON orders (created_at DESC, id DESC);
CREATE INDEX orders_by_status_and_time ON orders (status, created_at DESC, id DESC);
CREATE INDEX orders_by_reference ON orders (reference);
CREATE INDEX orders_by_amount ON orders (amount);
CREATE INDEX orders_by_customer_email ON orders (customer_email COLLATE NOCASE) WHERE customer_email IS NOT NULL;
CREATE INDEX orders_by_receipt_email ON orders (receipt_email COLLATE NOCASE) WHERE receipt_email IS NOT NULL;
CREATE INDEX attempts_by_address ON attempts (address COLLATE NOCASE) WHERE address IS NOT NULL;
CREATE INDEX attempts_by_transaction ON attempts (transaction_hash COLLATE NOCASE) WHERE transaction_hash IS NOT NULL;
CREATE INDEX credits_by_time ON credits (credited_at, order_id);
CREATE INDEX outbox_given_up ON outbox (position) WHERE state = 'given_up';
CREATE INDEX price_lists_by_time ON price_lists (fetched_at);
CREATE INDEX attempts_by_opening ON attempts (opened_at) WHERE state = 'open';
CREATE INDEX attempts_by_poll ON attempts (coalesce(looked_at, opened_at)) WHERE next_poll_at IS NOT NULL;
CREATE INDEX events_by_time ON events (created_at);
CREATE INDEX deliveries_by_time ON deliveries (tried_at);
CREATE INDEX staff_access_by_expiry ON staff_access (expires_at);
CREATE INDEX staff_access_by_store ON staff_access (store_id, expires_at DESC);
CREATE INDEX store_orders_waiting_for_a_person ON orders (store_id, attention_since, id) WHERE attention_since IS NOT NULL;
CREATE INDEX outbox_given_up_by_store ON outbox (store_id, position) WHERE state = 'given_up';
COMMIT;
