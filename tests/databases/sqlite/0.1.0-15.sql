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
INSERT INTO _sqlx_migrations VALUES(1,'ledger','2026-11-23 22:12:14',1,X'6ceae20815450d805e64cb1a8fa78e04785eed858af7f7a2acb5984c6a1711b194388fe571b10e7f218f7668421f9a37',4989157);
INSERT INTO _sqlx_migrations VALUES(2,'was_seen','2026-11-23 22:12:14',1,X'92ef6a26c0289f03c6085d9ff73f1ff48ddc426ec79e92a3e7fc77bbcfd5bb11693fc1ded2e41a4955337a13bf1d9e91',1552770);
INSERT INTO _sqlx_migrations VALUES(3,'order_lines','2026-11-23 22:12:14',1,X'5aa06948a0f97926a30455f200e77c0dae7d3dad4f4a8a4dc7630deddafdc473d0e917dbf871f2ab347b50f1ee4d1e59',12076284);
INSERT INTO _sqlx_migrations VALUES(4,'receipt_email','2026-11-23 22:12:14',1,X'1f4b1c0d07e92b68634d072ff09b3e9efd1a379c0a9f8c3f5c894408dceb8a9a288c46a02538057c4d8e881028f1669d',1426287);
INSERT INTO _sqlx_migrations VALUES(5,'order_facts','2026-11-23 22:12:14',1,X'f0e492a584b854be0e58e448b250f31a84481c23241c9a1e55c93ae067cef90843417259a014d786eb260b0d37951952',6596866);
INSERT INTO _sqlx_migrations VALUES(6,'typed_results','2026-11-23 22:12:14',1,X'67d3d6345326dc8592fc288d642487fa7f51b08ba2b38be500fef3301337559d61c2ff192a06859d28baec8418d8b64d',11882281);
INSERT INTO _sqlx_migrations VALUES(8,'bounded_growth','2026-11-23 22:12:14',1,X'a55a80a747184061cf836eac781b1209440ebbaf0276775757250a1308fa02e9198f0c1dcd15ac709e62365c078c41e2',12755378);
INSERT INTO _sqlx_migrations VALUES(9,'money_first','2026-11-23 22:12:14',1,X'fade9675c10d95efb9da9c1a225ae0c6568fc9da55b0ebcad59d101c4b4e7f907e9a5b8bbf1fffe11b60ff9920e21e90',6251078);
INSERT INTO _sqlx_migrations VALUES(10,'moved','2026-11-23 22:12:14',1,X'f3662c2eaf0a23d7b2a8aaeb8b42c55e175f4d2c29b40f492e05fee4dda7e09fdbf9a3f44ed4ed793ad1947428e6b7ec',1419476);
INSERT INTO _sqlx_migrations VALUES(11,'needs_review','2026-11-23 22:12:14',1,X'd2d91e96e75c1970a8402ccdd00a3c7bb63aebfec4772fc13a598772851124c1746d39a5b2aee4fc5789ef5486d9d430',3436120);
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
    cancelled_at    INTEGER, lines TEXT NOT NULL DEFAULT '[]', receipt_email TEXT, has_money INTEGER NOT NULL DEFAULT 0 CHECK (has_money IN (0, 1)), late_payment TEXT, late_event_at INTEGER,
    UNIQUE (store_id, reference)
) STRICT;
INSERT INTO orders VALUES('ord_e34da6840038ca841cb7579b51735270','demo','catalogue-cdca46d96cc5b942e2e242680f27924e','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795558334541,1795471934541,'paid','att_b5c83a5fc36833c6032c99f8db220660',3,4,1795471934611,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,1,NULL,NULL);
INSERT INTO orders VALUES('ord_debaaf3ba37dcde7d66603bad74855f4','demo','catalogue-13ed960df781d9f0436ee9e567368c16','12.50','USD','catalogue','Enamel mug',NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795558334650,1795471934651,'underpaid','att_84616b18920ca6e711b5576ef5c52433',3,4,NULL,NULL,NULL,NULL,'[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,1,NULL,NULL);
INSERT INTO orders VALUES('ord_ad4dcb7c640a204dc8a697f6d60bf65b','demo','catalogue-48ad838f6b7984d64898afd5817d9e19','12.50','USD','catalogue','Enamel mug',NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795558334793,1795471934793,'overpaid','att_e96ae5264c70ba1d477f5e530bbebcaf',4,4,1795471934844,NULL,NULL,NULL,'[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,1,NULL,NULL);
INSERT INTO orders VALUES('ord_5335f970b48536adde46ddc237b3696f','demo','catalogue-f32ad286f5089f991e4dfd24e73ee294','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795558334883,1795471934883,'awaiting_payment','att_c21613182b89c48f104f7ac18a91c5d5',2,3,NULL,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,0,NULL,NULL);
INSERT INTO orders VALUES('ord_3d3733cfdc0be9a1fbe045529d699e29','demo','catalogue-43c4fceb81b25befbd4f304a380e451a','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795558334906,1795471934907,'open',NULL,1,1,NULL,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,0,NULL,NULL);
CREATE TABLE client_tokens (
    hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
    order_id   TEXT NOT NULL REFERENCES orders (id),
    expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO client_tokens VALUES(X'0d9aa6bd3ec067ca85e0c7e5312e732ee9d28e5f94a7ccd750b0dc379b0e8001','ord_e34da6840038ca841cb7579b51735270',1798150334541);
INSERT INTO client_tokens VALUES(X'f69209babe9b83d0f9692b1355afb6bb196c1006915a6db002559543bd0c7bad','ord_debaaf3ba37dcde7d66603bad74855f4',1798150334650);
INSERT INTO client_tokens VALUES(X'ab6110462ffb8eef1dfde1f168fc4e09f64e8cc344b4bb153fae73be5ceb1e30','ord_ad4dcb7c640a204dc8a697f6d60bf65b',1798150334793);
INSERT INTO client_tokens VALUES(X'fd174d0b50598bd2e67248c5bfd5ac288a7e3a83590aeec094258df13ac84914','ord_5335f970b48536adde46ddc237b3696f',1798150334883);
INSERT INTO client_tokens VALUES(X'f682c36f7564239966e24780399ce150f90d3b7a4bdcf5a8f37853ba18324db3','ord_3d3733cfdc0be9a1fbe045529d699e29',1798150334906);
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
    recorded_look     INTEGER NOT NULL DEFAULT 0, was_seen INTEGER NOT NULL DEFAULT 0 CHECK (was_seen IN (0, 1)), needs_review INTEGER NOT NULL DEFAULT 0 CHECK (needs_review IN (0, 1)),
    CHECK (CASE flow
        WHEN 'custom' THEN crypto_code IS NOT NULL AND conversion_id IS NOT NULL AND asked_crypto IS NOT NULL
            AND asked_usd IS NOT NULL AND asked_local IS NOT NULL AND local_currency IS NOT NULL AND page_url IS NULL
        WHEN 'hosted' THEN crypto_code IS NULL AND asked_crypto IS NULL AND address IS NULL AND qr_string IS NULL
        ELSE 0 END),
    CHECK (state <> 'open' OR (invoice_id IS NOT NULL AND coalesce(address, page_url) IS NOT NULL))
) STRICT;
INSERT INTO attempts VALUES('att_b5c83a5fc36833c6032c99f8db220660','ord_e34da6840038ca841cb7579b51735270','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00030798','19.90','19.90','USD',1795471934572,'open','inv_d0ae24cb939cd649da2efa5a','tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02','bitcoin:tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02?amount=0.00030798','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795471934579,1795472834579,NULL,'settled',1795471934611,'0.00030798','19.90','19.90',3,3,'d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903',NULL,NULL,1795471934611,1795471979606,'watched',1795471934606,0,1,1,1,0);
INSERT INTO attempts VALUES('att_84616b18920ca6e711b5576ef5c52433','ord_debaaf3ba37dcde7d66603bad74855f4','custom','LTC','conv_f150c438d208cc03b08fdf1d','0.14820412','12.50','12.50','USD',1795471934673,'open','inv_6a7956e6801d1499d0380c71','tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8','litecoin:tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8?amount=0.14820412','["Send only Litecoin (LTC) on the Litecoin network to this address. Other assets, or LTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Litecoin network.","Make sure that the network fee is sufficient: a Litecoin transaction with a low fee may not be confirmed.","The price in LTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795471934681,1795472834681,NULL,'short',1795471934757,'0.07410206','6.25','6.25',3,3,'38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141',NULL,NULL,1795471934757,1795471935757,'watched',1795471934748,0,1,1,1,0);
INSERT INTO attempts VALUES('att_e96ae5264c70ba1d477f5e530bbebcaf','ord_ad4dcb7c640a204dc8a697f6d60bf65b','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00019345','12.50','12.50','USD',1795471934801,'open','inv_3a08979479a65d616e74ac78','tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec','bitcoin:tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec?amount=0.00019345','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795471934805,1795472834805,NULL,'settled',1795471934844,'0.00038690','25.00','25.00',3,3,'140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6',NULL,NULL,1795471934844,1795471979840,'watched',1795471934840,0,1,1,1,0);
INSERT INTO attempts VALUES('att_c21613182b89c48f104f7ac18a91c5d5','ord_5335f970b48536adde46ddc237b3696f','custom','ETH','conv_1fa6f028f990386edecebad6','0.00640061','19.90','19.90','USD',1795471934891,'open','inv_673d4bfcbd5173a8f58cd2b5','0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a','ethereum:0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a@11155111?value=6400610000000000','["Send only Ether (ETH) on the Ethereum network to this address. Other assets, or ETH on another network, will be lost.","Your payment is complete after 3 confirmations on the Ethereum network.","Make sure that the network fee is sufficient: a Ethereum transaction with a low fee may not be confirmed.","The price in ETH is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795471934895,1795472834895,NULL,'waiting',1795471934895,'0','0','0',NULL,NULL,NULL,NULL,NULL,NULL,1795471949897,'planned',NULL,0,0,0,0,0);
CREATE TABLE observations (
    id          INTEGER PRIMARY KEY,
    attempt_id  TEXT NOT NULL REFERENCES attempts (id),
    look        INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    raw         TEXT NOT NULL,
    verdict     TEXT NOT NULL, facts BLOB, last_look INTEGER NOT NULL DEFAULT 0, last_at INTEGER NOT NULL DEFAULT 0, times INTEGER NOT NULL DEFAULT 1,
    UNIQUE (attempt_id, look)
) STRICT;
INSERT INTO observations VALUES(1,'att_b5c83a5fc36833c6032c99f8db220660',1,1795471934611,'{"data":{"invoice_id":"inv_d0ae24cb939cd649da2efa5a","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"19.90","invoice_amount_in_usd":"19.90","invoice_crypto_amount":"0.00030798","received_amount_in_local_currency":"19.90","received_amount_in_usd":"19.90","received_crypto_amount":"0.00030798","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795471934","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903","blockchain_confirmations":"3/3","wallet_address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","transaction_time":"1795471934"}}','settled',X'cd9526630aee266c42079057ef01abb9',1,1795471934611,1);
INSERT INTO observations VALUES(2,'att_84616b18920ca6e711b5576ef5c52433',1,1795471934757,'{"data":{"invoice_id":"inv_6a7956e6801d1499d0380c71","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.14820412","received_amount_in_local_currency":"6.25","received_amount_in_usd":"6.25","received_crypto_amount":"0.07410206","local_currency_code":"USD","transaction_crypto":"LTC","invoice_creation_time":"1795471934","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141","blockchain_confirmations":"3/3","wallet_address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","transaction_time":"1795471934"}}','short',X'42b80acd0a9fe172ea52bbdf1dbdfb75',1,1795471934757,1);
INSERT INTO observations VALUES(3,'att_e96ae5264c70ba1d477f5e530bbebcaf',1,1795471934844,'{"data":{"invoice_id":"inv_3a08979479a65d616e74ac78","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.00019345","received_amount_in_local_currency":"25.00","received_amount_in_usd":"25.00","received_crypto_amount":"0.00038690","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795471934","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6","blockchain_confirmations":"3/3","wallet_address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","transaction_time":"1795471934"}}','settled',X'ad05d9f1a9354c9d4be8dd6409c82060',1,1795471934844,1);
CREATE TABLE credits (
    order_id       TEXT PRIMARY KEY REFERENCES orders (id),
    attempt_id     TEXT NOT NULL REFERENCES attempts (id),
    observation_id INTEGER NOT NULL REFERENCES observations (id),
    amount         TEXT NOT NULL,
    currency       TEXT NOT NULL,
    credited_at    INTEGER NOT NULL
) STRICT;
INSERT INTO credits VALUES('ord_e34da6840038ca841cb7579b51735270','att_b5c83a5fc36833c6032c99f8db220660',1,'19.90','USD',1795471934611);
INSERT INTO credits VALUES('ord_ad4dcb7c640a204dc8a697f6d60bf65b','att_e96ae5264c70ba1d477f5e530bbebcaf',3,'12.50','USD',1795471934844);
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
INSERT INTO events VALUES(1,'evt_e34da6840038ca841cb7579b51735270_1_c6b47cc59d56b3b9','demo','ord_e34da6840038ca841cb7579b51735270',1,'order.created',1795471934541,'{"type":"order.created","timestamp":"2026-11-23T22:12:14.541338314Z","data":{"sequence":1,"order":{"id":"ord_e34da6840038ca841cb7579b51735270","reference":"catalogue-cdca46d96cc5b942e2e242680f27924e","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-23T22:12:14.541Z","expires_at":"2026-11-24T22:12:14.541Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(2,'evt_e34da6840038ca841cb7579b51735270_2_1dc33027837380d2','demo','ord_e34da6840038ca841cb7579b51735270',2,'order.attempt_opened',1795471934581,'{"type":"order.attempt_opened","timestamp":"2026-11-23T22:12:14.581144373Z","data":{"sequence":2,"order":{"id":"ord_e34da6840038ca841cb7579b51735270","reference":"catalogue-cdca46d96cc5b942e2e242680f27924e","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-23T22:12:14.541Z","expires_at":"2026-11-24T22:12:14.541Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_b5c83a5fc36833c6032c99f8db220660","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(3,'evt_e34da6840038ca841cb7579b51735270_3_098b4efeaaa2372a','demo','ord_e34da6840038ca841cb7579b51735270',3,'order.paid',1795471934611,'{"type":"order.paid","timestamp":"2026-11-23T22:12:14.611755978Z","data":{"sequence":3,"order":{"id":"ord_e34da6840038ca841cb7579b51735270","reference":"catalogue-cdca46d96cc5b942e2e242680f27924e","status":"paid","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-23T22:12:14.541Z","expires_at":"2026-11-24T22:12:14.541Z","flow":"custom","settled_at":"2026-11-23T22:12:14.611755978Z","reverted":null,"attempt":{"id":"att_b5c83a5fc36833c6032c99f8db220660","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0.00030798","received_in_usd":"19.90","received_in_local_currency":"19.90","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903"}}}}');
INSERT INTO events VALUES(4,'evt_debaaf3ba37dcde7d66603bad74855f4_1_74e6306362fd6b87','demo','ord_debaaf3ba37dcde7d66603bad74855f4',1,'order.created',1795471934651,'{"type":"order.created","timestamp":"2026-11-23T22:12:14.651033654Z","data":{"sequence":1,"order":{"id":"ord_debaaf3ba37dcde7d66603bad74855f4","reference":"catalogue-13ed960df781d9f0436ee9e567368c16","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-23T22:12:14.651Z","expires_at":"2026-11-24T22:12:14.65Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(5,'evt_debaaf3ba37dcde7d66603bad74855f4_2_9c77f4ca94d6873c','demo','ord_debaaf3ba37dcde7d66603bad74855f4',2,'order.attempt_opened',1795471934683,'{"type":"order.attempt_opened","timestamp":"2026-11-23T22:12:14.683043666Z","data":{"sequence":2,"order":{"id":"ord_debaaf3ba37dcde7d66603bad74855f4","reference":"catalogue-13ed960df781d9f0436ee9e567368c16","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-23T22:12:14.651Z","expires_at":"2026-11-24T22:12:14.65Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_84616b18920ca6e711b5576ef5c52433","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(6,'evt_debaaf3ba37dcde7d66603bad74855f4_3_c32986350baedc05','demo','ord_debaaf3ba37dcde7d66603bad74855f4',3,'order.underpaid',1795471934757,'{"type":"order.underpaid","timestamp":"2026-11-23T22:12:14.757495929Z","data":{"sequence":3,"order":{"id":"ord_debaaf3ba37dcde7d66603bad74855f4","reference":"catalogue-13ed960df781d9f0436ee9e567368c16","status":"underpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-23T22:12:14.651Z","expires_at":"2026-11-24T22:12:14.65Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_84616b18920ca6e711b5576ef5c52433","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.07410206","received_in_usd":"6.25","received_in_local_currency":"6.25","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141"}}}}');
INSERT INTO events VALUES(7,'evt_ad4dcb7c640a204dc8a697f6d60bf65b_1_4cfc3107406e847f','demo','ord_ad4dcb7c640a204dc8a697f6d60bf65b',1,'order.created',1795471934793,'{"type":"order.created","timestamp":"2026-11-23T22:12:14.793686411Z","data":{"sequence":1,"order":{"id":"ord_ad4dcb7c640a204dc8a697f6d60bf65b","reference":"catalogue-48ad838f6b7984d64898afd5817d9e19","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-23T22:12:14.793Z","expires_at":"2026-11-24T22:12:14.793Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(8,'evt_ad4dcb7c640a204dc8a697f6d60bf65b_2_7a6407c2deac7aad','demo','ord_ad4dcb7c640a204dc8a697f6d60bf65b',2,'order.attempt_opened',1795471934807,'{"type":"order.attempt_opened","timestamp":"2026-11-23T22:12:14.80727811Z","data":{"sequence":2,"order":{"id":"ord_ad4dcb7c640a204dc8a697f6d60bf65b","reference":"catalogue-48ad838f6b7984d64898afd5817d9e19","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-23T22:12:14.793Z","expires_at":"2026-11-24T22:12:14.793Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_e96ae5264c70ba1d477f5e530bbebcaf","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(9,'evt_ad4dcb7c640a204dc8a697f6d60bf65b_3_82baaba6de4d547e','demo','ord_ad4dcb7c640a204dc8a697f6d60bf65b',3,'order.paid',1795471934844,'{"type":"order.paid","timestamp":"2026-11-23T22:12:14.844172585Z","data":{"sequence":3,"order":{"id":"ord_ad4dcb7c640a204dc8a697f6d60bf65b","reference":"catalogue-48ad838f6b7984d64898afd5817d9e19","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-23T22:12:14.793Z","expires_at":"2026-11-24T22:12:14.793Z","flow":"custom","settled_at":"2026-11-23T22:12:14.844172585Z","reverted":null,"attempt":{"id":"att_e96ae5264c70ba1d477f5e530bbebcaf","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}');
INSERT INTO events VALUES(10,'evt_ad4dcb7c640a204dc8a697f6d60bf65b_4_148e413a0344d723','demo','ord_ad4dcb7c640a204dc8a697f6d60bf65b',4,'order.overpaid',1795471934844,'{"type":"order.overpaid","timestamp":"2026-11-23T22:12:14.844172585Z","data":{"sequence":4,"order":{"id":"ord_ad4dcb7c640a204dc8a697f6d60bf65b","reference":"catalogue-48ad838f6b7984d64898afd5817d9e19","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-23T22:12:14.793Z","expires_at":"2026-11-24T22:12:14.793Z","flow":"custom","settled_at":"2026-11-23T22:12:14.844172585Z","reverted":null,"attempt":{"id":"att_e96ae5264c70ba1d477f5e530bbebcaf","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}');
INSERT INTO events VALUES(11,'evt_5335f970b48536adde46ddc237b3696f_1_2d66e1c278616278','demo','ord_5335f970b48536adde46ddc237b3696f',1,'order.created',1795471934883,'{"type":"order.created","timestamp":"2026-11-23T22:12:14.883112058Z","data":{"sequence":1,"order":{"id":"ord_5335f970b48536adde46ddc237b3696f","reference":"catalogue-f32ad286f5089f991e4dfd24e73ee294","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-23T22:12:14.883Z","expires_at":"2026-11-24T22:12:14.883Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(12,'evt_5335f970b48536adde46ddc237b3696f_2_ae4914d2f0de75a6','demo','ord_5335f970b48536adde46ddc237b3696f',2,'order.attempt_opened',1795471934897,'{"type":"order.attempt_opened","timestamp":"2026-11-23T22:12:14.897533338Z","data":{"sequence":2,"order":{"id":"ord_5335f970b48536adde46ddc237b3696f","reference":"catalogue-f32ad286f5089f991e4dfd24e73ee294","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-23T22:12:14.883Z","expires_at":"2026-11-24T22:12:14.883Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_c21613182b89c48f104f7ac18a91c5d5","crypto_code":"ETH","invoice_id":"inv_673d4bfcbd5173a8f58cd2b5","address":"0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a","payment_process_url":null,"amount_in_crypto":"0.00640061","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(13,'evt_3d3733cfdc0be9a1fbe045529d699e29_1_30a7fc7c57b8d5fc','demo','ord_3d3733cfdc0be9a1fbe045529d699e29',1,'order.created',1795471934907,'{"type":"order.created","timestamp":"2026-11-23T22:12:14.907022918Z","data":{"sequence":1,"order":{"id":"ord_3d3733cfdc0be9a1fbe045529d699e29","reference":"catalogue-43c4fceb81b25befbd4f304a380e451a","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-23T22:12:14.907Z","expires_at":"2026-11-24T22:12:14.906Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
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
INSERT INTO outbox VALUES(1,'ord_e34da6840038ca841cb7579b51735270','demo','delivered',1,1795471964549,0,0,1);
INSERT INTO outbox VALUES(2,'ord_e34da6840038ca841cb7579b51735270','demo','delivered',1,1795471964585,0,0,1);
INSERT INTO outbox VALUES(3,'ord_e34da6840038ca841cb7579b51735270','demo','delivered',1,1795471964615,0,0,0);
INSERT INTO outbox VALUES(4,'ord_debaaf3ba37dcde7d66603bad74855f4','demo','delivered',1,1795471964655,0,0,1);
INSERT INTO outbox VALUES(5,'ord_debaaf3ba37dcde7d66603bad74855f4','demo','delivered',1,1795471964695,0,0,1);
INSERT INTO outbox VALUES(6,'ord_debaaf3ba37dcde7d66603bad74855f4','demo','delivered',1,1795471964759,0,0,0);
INSERT INTO outbox VALUES(7,'ord_ad4dcb7c640a204dc8a697f6d60bf65b','demo','delivered',1,1795471964796,0,0,1);
INSERT INTO outbox VALUES(8,'ord_ad4dcb7c640a204dc8a697f6d60bf65b','demo','delivered',1,1795471964807,0,0,1);
INSERT INTO outbox VALUES(9,'ord_ad4dcb7c640a204dc8a697f6d60bf65b','demo','delivered',1,1795471964847,0,0,0);
INSERT INTO outbox VALUES(10,'ord_ad4dcb7c640a204dc8a697f6d60bf65b','demo','delivered',1,1795471964857,0,0,0);
INSERT INTO outbox VALUES(11,'ord_5335f970b48536adde46ddc237b3696f','demo','delivered',1,1795471964886,0,0,1);
INSERT INTO outbox VALUES(12,'ord_5335f970b48536adde46ddc237b3696f','demo','delivered',1,1795471964897,0,0,1);
INSERT INTO outbox VALUES(13,'ord_3d3733cfdc0be9a1fbe045529d699e29','demo','delivered',1,1795471964912,0,0,1);
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
INSERT INTO deliveries VALUES(1,'evt_e34da6840038ca841cb7579b51735270_1_c6b47cc59d56b3b9','demo',1,1795471934554,12,204,'answered 204');
INSERT INTO deliveries VALUES(2,'evt_e34da6840038ca841cb7579b51735270_2_1dc33027837380d2','demo',1,1795471934592,2,204,'answered 204');
INSERT INTO deliveries VALUES(3,'evt_e34da6840038ca841cb7579b51735270_3_098b4efeaaa2372a','demo',1,1795471934617,4,204,'answered 204');
INSERT INTO deliveries VALUES(4,'evt_debaaf3ba37dcde7d66603bad74855f4_1_74e6306362fd6b87','demo',1,1795471934664,9,204,'answered 204');
INSERT INTO deliveries VALUES(5,'evt_debaaf3ba37dcde7d66603bad74855f4_2_9c77f4ca94d6873c','demo',1,1795471934709,24,204,'answered 204');
INSERT INTO deliveries VALUES(6,'evt_debaaf3ba37dcde7d66603bad74855f4_3_c32986350baedc05','demo',1,1795471934761,2,204,'answered 204');
INSERT INTO deliveries VALUES(7,'evt_ad4dcb7c640a204dc8a697f6d60bf65b_1_4cfc3107406e847f','demo',1,1795471934802,2,204,'answered 204');
INSERT INTO deliveries VALUES(8,'evt_ad4dcb7c640a204dc8a697f6d60bf65b_2_7a6407c2deac7aad','demo',1,1795471934813,10,204,'answered 204');
INSERT INTO deliveries VALUES(9,'evt_ad4dcb7c640a204dc8a697f6d60bf65b_3_82baaba6de4d547e','demo',1,1795471934851,3,204,'answered 204');
INSERT INTO deliveries VALUES(10,'evt_ad4dcb7c640a204dc8a697f6d60bf65b_4_148e413a0344d723','demo',1,1795471934860,2,204,'answered 204');
INSERT INTO deliveries VALUES(11,'evt_5335f970b48536adde46ddc237b3696f_1_2d66e1c278616278','demo',1,1795471934892,2,204,'answered 204');
INSERT INTO deliveries VALUES(12,'evt_5335f970b48536adde46ddc237b3696f_2_ae4914d2f0de75a6','demo',1,1795471934900,8,204,'answered 204');
INSERT INTO deliveries VALUES(13,'evt_3d3733cfdc0be9a1fbe045529d699e29_1_30a7fc7c57b8d5fc','demo',1,1795471934916,5,204,'answered 204');
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
INSERT INTO write_checks VALUES(1,1795471934538);
CREATE TABLE waiting_events (
    store_id TEXT PRIMARY KEY,
    events   INTEGER NOT NULL
) STRICT;
INSERT INTO waiting_events VALUES('demo',0);
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
COMMIT;
