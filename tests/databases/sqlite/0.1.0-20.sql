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
INSERT INTO _sqlx_migrations VALUES(1,'ledger','2026-11-26 18:36:57',1,X'6ceae20815450d805e64cb1a8fa78e04785eed858af7f7a2acb5984c6a1711b194388fe571b10e7f218f7668421f9a37',71512220);
INSERT INTO _sqlx_migrations VALUES(2,'was_seen','2026-11-26 18:36:57',1,X'92ef6a26c0289f03c6085d9ff73f1ff48ddc426ec79e92a3e7fc77bbcfd5bb11693fc1ded2e41a4955337a13bf1d9e91',27981627);
INSERT INTO _sqlx_migrations VALUES(3,'order_lines','2026-11-26 18:36:57',1,X'5aa06948a0f97926a30455f200e77c0dae7d3dad4f4a8a4dc7630deddafdc473d0e917dbf871f2ab347b50f1ee4d1e59',27986677);
INSERT INTO _sqlx_migrations VALUES(4,'receipt_email','2026-11-26 18:36:57',1,X'1f4b1c0d07e92b68634d072ff09b3e9efd1a379c0a9f8c3f5c894408dceb8a9a288c46a02538057c4d8e881028f1669d',22961028);
INSERT INTO _sqlx_migrations VALUES(5,'order_facts','2026-11-26 18:36:57',1,X'f0e492a584b854be0e58e448b250f31a84481c23241c9a1e55c93ae067cef90843417259a014d786eb260b0d37951952',61525313);
INSERT INTO _sqlx_migrations VALUES(6,'typed_results','2026-11-26 18:36:57',1,X'67d3d6345326dc8592fc288d642487fa7f51b08ba2b38be500fef3301337559d61c2ff192a06859d28baec8418d8b64d',88105495);
INSERT INTO _sqlx_migrations VALUES(8,'bounded_growth','2026-11-26 18:36:57',1,X'a55a80a747184061cf836eac781b1209440ebbaf0276775757250a1308fa02e9198f0c1dcd15ac709e62365c078c41e2',95953600);
INSERT INTO _sqlx_migrations VALUES(9,'money_first','2026-11-26 18:36:57',1,X'fade9675c10d95efb9da9c1a225ae0c6568fc9da55b0ebcad59d101c4b4e7f907e9a5b8bbf1fffe11b60ff9920e21e90',75987913);
INSERT INTO _sqlx_migrations VALUES(10,'moved','2026-11-26 18:36:57',1,X'f3662c2eaf0a23d7b2a8aaeb8b42c55e175f4d2c29b40f492e05fee4dda7e09fdbf9a3f44ed4ed793ad1947428e6b7ec',19353345);
INSERT INTO _sqlx_migrations VALUES(11,'needs_review','2026-11-26 18:36:58',1,X'd2d91e96e75c1970a8402ccdd00a3c7bb63aebfec4772fc13a598772851124c1746d39a5b2aee4fc5789ef5486d9d430',52048789);
INSERT INTO _sqlx_migrations VALUES(12,'audit','2026-11-26 18:36:58',1,X'3fe084d38e05153f9dc72d2f51b32807ad37c8831e07d1c290413cd334ea2470c8d14c0cee337be684634ca233bc55be',67789503);
INSERT INTO _sqlx_migrations VALUES(13,'price_lists','2026-11-26 18:36:58',1,X'8b86ca60fd1668ab3a1f4b528ae2b1d5e76d671e2da258fa15bc343821c23fb371a57d5774bb6aca023b65356cd85742',22614391);
INSERT INTO _sqlx_migrations VALUES(14,'transaction_hint','2026-11-26 18:36:58',1,X'0a2c79df32d3d20964663244ddf2ae025068793abce0e634148648843450f63e4cf03b6a998bd27c2e50acb50cbe7d0c',39818245);
INSERT INTO _sqlx_migrations VALUES(15,'replanning','2026-11-26 18:36:58',1,X'31d5edf760f33825fe69584eb27d983a56d6c86ada5a0247178868fcb33aa6e47b59c441b577ab93f533262866fe4127',15007415);
INSERT INTO _sqlx_migrations VALUES(16,'staff','2026-11-26 18:36:58',1,X'67c5e5106b2cd10ebc0d619ac7fe939edbc810df09e7c5d6eacd669dd15bae3254693304fff3359eb33c3068add56862',35191081);
INSERT INTO _sqlx_migrations VALUES(17,'traceparent','2026-11-26 18:36:58',1,X'b6552072c7322dddcf51de8e6a7e1591773430e4539ee3374bcadc8edbeff2cec2af7b4c5b7461489d368ff061208f58',41041197);
INSERT INTO _sqlx_migrations VALUES(18,'planned_at','2026-11-26 18:36:58',1,X'69da74253318ad1f90e18592ffdb996b515e03c426792a5f8e3ecad8ea678b7ce47c03b0830b7e20c99aea8d796bb0bc',55854862);
INSERT INTO _sqlx_migrations VALUES(19,'assets','2026-11-26 18:36:58',1,X'106555ee7d5ae88a3317e39f0a90fc97cca32d17af45cd91d04304b7e1529d3404bc816cb20e71d02074394612399c9e',19924791);
INSERT INTO _sqlx_migrations VALUES(20,'early_tries','2026-11-26 19:00:00',1,X'9283cba5a5b42781ffacb33b00dcc67762df64c2023e59107b11b3ea41a6bb4e8b0b6c7cb40ffa71953d9c66df562c64',100000);
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
    cancelled_at    INTEGER, lines TEXT NOT NULL DEFAULT '[]', receipt_email TEXT, has_money INTEGER NOT NULL DEFAULT 0 CHECK (has_money IN (0, 1)), late_payment TEXT, late_event_at INTEGER, decision TEXT CHECK (decision IN ('accepted', 'closed')), decided_at INTEGER, attention_since INTEGER, traceparent TEXT CHECK (length(traceparent) = 55),
    UNIQUE (store_id, reference)
) STRICT;
INSERT INTO orders VALUES('ord_d44549ec4d78f080a69b19d44c2eb421','demo','catalogue-08be287d7125d795d9958e41c446baee','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795804619040,1795718219040,'paid','att_e83e377ac8387c02e86fabb888dce60a',3,4,1795718242367,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_24230452022e0abd8f521bf9ad7ef000','demo','catalogue-a0601aa98c973cdbf39d3285896bbb57','12.50','USD','catalogue','Enamel mug',NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795804642694,1795718242694,'underpaid','att_dfd43dc08d60f154658e2a14c83f28f9',3,4,NULL,NULL,NULL,NULL,'[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,1795718243791,NULL);
INSERT INTO orders VALUES('ord_5b6d8251161ba13de4f57d09f9e2923e','demo','catalogue-52307a7278847f37cf2c5cdbde6eb0da','12.50','USD','catalogue','Enamel mug',NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795804644415,1795718244415,'overpaid','att_d46acc4662e12c60273cb91b48ea33b1',4,4,1795718245606,NULL,NULL,NULL,'[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_140b3073bb42acc971fc2f51225c336c','demo','catalogue-5378389912fdb2025c2c975c508f059d','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795804646026,1795718246026,'awaiting_payment','att_779ea195a2a70ffb96fe02cf20340e86',2,3,NULL,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_f3e47ee2b6b48913a57b66bec83584a5','demo','catalogue-223d19538811261498c8af73b32953e6','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795804646713,1795718246713,'open',NULL,1,1,NULL,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE client_tokens (
    hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
    order_id   TEXT NOT NULL REFERENCES orders (id),
    expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO client_tokens VALUES(X'67782dbb8e5647717ae9b78b8c5e57f8f4ab3fc4401e0eebf6c0f145a565ffa7','ord_d44549ec4d78f080a69b19d44c2eb421',1798396619040);
INSERT INTO client_tokens VALUES(X'd5556d1aa451b2174825b2e40a1c2ac5eda578c049a56dddc69f43cb2ecfce22','ord_24230452022e0abd8f521bf9ad7ef000',1798396642694);
INSERT INTO client_tokens VALUES(X'a08c7e12ff451192d28eb53ec493b578721437f9c6fa1636a4760cd2a25077b6','ord_5b6d8251161ba13de4f57d09f9e2923e',1798396644415);
INSERT INTO client_tokens VALUES(X'1f64526eea7ef142e47d21a4b14f7c53263b41df7b412a266a507c6062f9f2c1','ord_140b3073bb42acc971fc2f51225c336c',1798396646026);
INSERT INTO client_tokens VALUES(X'1bbca329e5e9d6ebd9f2d521188eef39b2816ecc5dbf08e6f491c2dacf1f2100','ord_f3e47ee2b6b48913a57b66bec83584a5',1798396646713);
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
INSERT INTO attempts VALUES('att_e83e377ac8387c02e86fabb888dce60a','ord_d44549ec4d78f080a69b19d44c2eb421','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00030798','19.90','19.90','USD',1795718241862,'open','inv_d0ae24cb939cd649da2efa5a','tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02','bitcoin:tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02?amount=0.00030798','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795718241905,1795719141905,NULL,'settled',1795718242367,'0.00030798','19.90','19.90',3,3,'d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903',NULL,NULL,1795718242367,1795718287367,'planned',1795718242367,0,1,1,1,0,NULL);
INSERT INTO attempts VALUES('att_dfd43dc08d60f154658e2a14c83f28f9','ord_24230452022e0abd8f521bf9ad7ef000','custom','LTC','conv_f150c438d208cc03b08fdf1d','0.14820412','12.50','12.50','USD',1795718242854,'open','inv_6a7956e6801d1499d0380c71','tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8','litecoin:tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8?amount=0.14820412','["Send only Litecoin (LTC) on the Litecoin network to this address. Other assets, or LTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Litecoin network.","Make sure that the network fee is sufficient: a Litecoin transaction with a low fee may not be confirmed.","The price in LTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795718243021,1795719143021,NULL,'short',1795718243791,'0.07410206','6.25','6.25',3,3,'38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141',NULL,NULL,1795718245147,1795718305147,'planned',1795718245147,0,3,3,1,0,NULL);
INSERT INTO attempts VALUES('att_d46acc4662e12c60273cb91b48ea33b1','ord_5b6d8251161ba13de4f57d09f9e2923e','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00019345','12.50','12.50','USD',1795718244673,'open','inv_3a08979479a65d616e74ac78','tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec','bitcoin:tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec?amount=0.00019345','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795718244841,1795719144841,NULL,'settled',1795718245606,'0.00038690','25.00','25.00',3,3,'140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6',NULL,NULL,1795718245606,1795718290606,'planned',1795718245606,0,1,1,1,0,NULL);
INSERT INTO attempts VALUES('att_779ea195a2a70ffb96fe02cf20340e86','ord_140b3073bb42acc971fc2f51225c336c','custom','ETH','conv_1fa6f028f990386edecebad6','0.00640061','19.90','19.90','USD',1795718246257,'open','inv_673d4bfcbd5173a8f58cd2b5','0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a','ethereum:0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a@11155111?value=6400610000000000','["Send only Ether (ETH) on the Ethereum network to this address. Other assets, or ETH on another network, will be lost.","Your payment is complete after 3 confirmations on the Ethereum network.","Make sure that the network fee is sufficient: a Ethereum transaction with a low fee may not be confirmed.","The price in ETH is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795718246493,1795719146493,NULL,'waiting',1795718246493,'0','0','0',NULL,NULL,NULL,NULL,NULL,NULL,1795718261495,'planned',NULL,0,0,0,0,0,NULL);
CREATE TABLE observations (
    id          INTEGER PRIMARY KEY,
    attempt_id  TEXT NOT NULL REFERENCES attempts (id),
    look        INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    raw         TEXT NOT NULL,
    verdict     TEXT NOT NULL, facts BLOB, last_look INTEGER NOT NULL DEFAULT 0, last_at INTEGER NOT NULL DEFAULT 0, times INTEGER NOT NULL DEFAULT 1,
    UNIQUE (attempt_id, look)
) STRICT;
INSERT INTO observations VALUES(1,'att_e83e377ac8387c02e86fabb888dce60a',1,1795718242367,'{"data":{"invoice_id":"inv_d0ae24cb939cd649da2efa5a","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"19.90","invoice_amount_in_usd":"19.90","invoice_crypto_amount":"0.00030798","received_amount_in_local_currency":"19.90","received_amount_in_usd":"19.90","received_crypto_amount":"0.00030798","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795718241","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903","blockchain_confirmations":"3/3","wallet_address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","transaction_time":"1795718242"}}','settled',X'cd9526630aee266c42079057ef01abb9',1,1795718242367,1);
INSERT INTO observations VALUES(2,'att_dfd43dc08d60f154658e2a14c83f28f9',1,1795718243791,'{"data":{"invoice_id":"inv_6a7956e6801d1499d0380c71","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.14820412","received_amount_in_local_currency":"6.25","received_amount_in_usd":"6.25","received_crypto_amount":"0.07410206","local_currency_code":"USD","transaction_crypto":"LTC","invoice_creation_time":"1795718243","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141","blockchain_confirmations":"3/3","wallet_address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","transaction_time":"1795718243"}}','short',X'42b80acd0a9fe172ea52bbdf1dbdfb75',3,1795718245147,3);
INSERT INTO observations VALUES(3,'att_d46acc4662e12c60273cb91b48ea33b1',1,1795718245606,'{"data":{"invoice_id":"inv_3a08979479a65d616e74ac78","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.00019345","received_amount_in_local_currency":"25.00","received_amount_in_usd":"25.00","received_crypto_amount":"0.00038690","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795718244","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6","blockchain_confirmations":"3/3","wallet_address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","transaction_time":"1795718245"}}','settled',X'ad05d9f1a9354c9d4be8dd6409c82060',1,1795718245606,1);
CREATE TABLE credits (
    order_id       TEXT PRIMARY KEY REFERENCES orders (id),
    attempt_id     TEXT NOT NULL REFERENCES attempts (id),
    observation_id INTEGER NOT NULL REFERENCES observations (id),
    amount         TEXT NOT NULL,
    currency       TEXT NOT NULL,
    credited_at    INTEGER NOT NULL
) STRICT;
INSERT INTO credits VALUES('ord_d44549ec4d78f080a69b19d44c2eb421','att_e83e377ac8387c02e86fabb888dce60a',1,'19.90','USD',1795718242367);
INSERT INTO credits VALUES('ord_5b6d8251161ba13de4f57d09f9e2923e','att_d46acc4662e12c60273cb91b48ea33b1',3,'12.50','USD',1795718245606);
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
INSERT INTO events VALUES(1,'evt_d44549ec4d78f080a69b19d44c2eb421_1_29512a8ba0214f58','demo','ord_d44549ec4d78f080a69b19d44c2eb421',1,'order.created',1795718219040,'{"type":"order.created","timestamp":"2026-11-26T18:36:59.040100269Z","data":{"sequence":1,"order":{"id":"ord_d44549ec4d78f080a69b19d44c2eb421","reference":"catalogue-08be287d7125d795d9958e41c446baee","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T18:36:59.04Z","expires_at":"2026-11-27T18:36:59.04Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(2,'evt_d44549ec4d78f080a69b19d44c2eb421_2_3467b5ff0d90f49d','demo','ord_d44549ec4d78f080a69b19d44c2eb421',2,'order.attempt_opened',1795718241906,'{"type":"order.attempt_opened","timestamp":"2026-11-26T18:37:21.906876062Z","data":{"sequence":2,"order":{"id":"ord_d44549ec4d78f080a69b19d44c2eb421","reference":"catalogue-08be287d7125d795d9958e41c446baee","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T18:36:59.04Z","expires_at":"2026-11-27T18:36:59.04Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_e83e377ac8387c02e86fabb888dce60a","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(3,'evt_d44549ec4d78f080a69b19d44c2eb421_3_b1aa72d8af05f3d2','demo','ord_d44549ec4d78f080a69b19d44c2eb421',3,'order.paid',1795718242367,'{"type":"order.paid","timestamp":"2026-11-26T18:37:22.367827319Z","data":{"sequence":3,"order":{"id":"ord_d44549ec4d78f080a69b19d44c2eb421","reference":"catalogue-08be287d7125d795d9958e41c446baee","status":"paid","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T18:36:59.04Z","expires_at":"2026-11-27T18:36:59.04Z","flow":"custom","settled_at":"2026-11-26T18:37:22.367827319Z","reverted":null,"attempt":{"id":"att_e83e377ac8387c02e86fabb888dce60a","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0.00030798","received_in_usd":"19.90","received_in_local_currency":"19.90","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903"}}}}');
INSERT INTO events VALUES(4,'evt_24230452022e0abd8f521bf9ad7ef000_1_55191216f0af6fe8','demo','ord_24230452022e0abd8f521bf9ad7ef000',1,'order.created',1795718242694,'{"type":"order.created","timestamp":"2026-11-26T18:37:22.694861791Z","data":{"sequence":1,"order":{"id":"ord_24230452022e0abd8f521bf9ad7ef000","reference":"catalogue-a0601aa98c973cdbf39d3285896bbb57","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T18:37:22.694Z","expires_at":"2026-11-27T18:37:22.694Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(5,'evt_24230452022e0abd8f521bf9ad7ef000_2_61562e946a02790e','demo','ord_24230452022e0abd8f521bf9ad7ef000',2,'order.attempt_opened',1795718243030,'{"type":"order.attempt_opened","timestamp":"2026-11-26T18:37:23.0300014Z","data":{"sequence":2,"order":{"id":"ord_24230452022e0abd8f521bf9ad7ef000","reference":"catalogue-a0601aa98c973cdbf39d3285896bbb57","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T18:37:22.694Z","expires_at":"2026-11-27T18:37:22.694Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_dfd43dc08d60f154658e2a14c83f28f9","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(6,'evt_24230452022e0abd8f521bf9ad7ef000_3_cc9b035b6362a75f','demo','ord_24230452022e0abd8f521bf9ad7ef000',3,'order.underpaid',1795718243791,'{"type":"order.underpaid","timestamp":"2026-11-26T18:37:23.791228966Z","data":{"sequence":3,"order":{"id":"ord_24230452022e0abd8f521bf9ad7ef000","reference":"catalogue-a0601aa98c973cdbf39d3285896bbb57","status":"underpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T18:37:22.694Z","expires_at":"2026-11-27T18:37:22.694Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_dfd43dc08d60f154658e2a14c83f28f9","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.07410206","received_in_usd":"6.25","received_in_local_currency":"6.25","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141"}}}}');
INSERT INTO events VALUES(7,'evt_5b6d8251161ba13de4f57d09f9e2923e_1_652cb5c1688c6edb','demo','ord_5b6d8251161ba13de4f57d09f9e2923e',1,'order.created',1795718244415,'{"type":"order.created","timestamp":"2026-11-26T18:37:24.415193042Z","data":{"sequence":1,"order":{"id":"ord_5b6d8251161ba13de4f57d09f9e2923e","reference":"catalogue-52307a7278847f37cf2c5cdbde6eb0da","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T18:37:24.415Z","expires_at":"2026-11-27T18:37:24.415Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(8,'evt_5b6d8251161ba13de4f57d09f9e2923e_2_5df931fe8e9aa55b','demo','ord_5b6d8251161ba13de4f57d09f9e2923e',2,'order.attempt_opened',1795718244843,'{"type":"order.attempt_opened","timestamp":"2026-11-26T18:37:24.843191245Z","data":{"sequence":2,"order":{"id":"ord_5b6d8251161ba13de4f57d09f9e2923e","reference":"catalogue-52307a7278847f37cf2c5cdbde6eb0da","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T18:37:24.415Z","expires_at":"2026-11-27T18:37:24.415Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_d46acc4662e12c60273cb91b48ea33b1","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(9,'evt_5b6d8251161ba13de4f57d09f9e2923e_3_48eb3a0196c68f54','demo','ord_5b6d8251161ba13de4f57d09f9e2923e',3,'order.paid',1795718245606,'{"type":"order.paid","timestamp":"2026-11-26T18:37:25.606855147Z","data":{"sequence":3,"order":{"id":"ord_5b6d8251161ba13de4f57d09f9e2923e","reference":"catalogue-52307a7278847f37cf2c5cdbde6eb0da","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T18:37:24.415Z","expires_at":"2026-11-27T18:37:24.415Z","flow":"custom","settled_at":"2026-11-26T18:37:25.606855147Z","reverted":null,"attempt":{"id":"att_d46acc4662e12c60273cb91b48ea33b1","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}');
INSERT INTO events VALUES(10,'evt_5b6d8251161ba13de4f57d09f9e2923e_4_64526b95c475eac7','demo','ord_5b6d8251161ba13de4f57d09f9e2923e',4,'order.overpaid',1795718245606,'{"type":"order.overpaid","timestamp":"2026-11-26T18:37:25.606855147Z","data":{"sequence":4,"order":{"id":"ord_5b6d8251161ba13de4f57d09f9e2923e","reference":"catalogue-52307a7278847f37cf2c5cdbde6eb0da","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T18:37:24.415Z","expires_at":"2026-11-27T18:37:24.415Z","flow":"custom","settled_at":"2026-11-26T18:37:25.606855147Z","reverted":null,"attempt":{"id":"att_d46acc4662e12c60273cb91b48ea33b1","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}');
INSERT INTO events VALUES(11,'evt_140b3073bb42acc971fc2f51225c336c_1_2ff01c162e00c66c','demo','ord_140b3073bb42acc971fc2f51225c336c',1,'order.created',1795718246026,'{"type":"order.created","timestamp":"2026-11-26T18:37:26.026339241Z","data":{"sequence":1,"order":{"id":"ord_140b3073bb42acc971fc2f51225c336c","reference":"catalogue-5378389912fdb2025c2c975c508f059d","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T18:37:26.026Z","expires_at":"2026-11-27T18:37:26.026Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(12,'evt_140b3073bb42acc971fc2f51225c336c_2_777490780aedd712','demo','ord_140b3073bb42acc971fc2f51225c336c',2,'order.attempt_opened',1795718246495,'{"type":"order.attempt_opened","timestamp":"2026-11-26T18:37:26.495150927Z","data":{"sequence":2,"order":{"id":"ord_140b3073bb42acc971fc2f51225c336c","reference":"catalogue-5378389912fdb2025c2c975c508f059d","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T18:37:26.026Z","expires_at":"2026-11-27T18:37:26.026Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_779ea195a2a70ffb96fe02cf20340e86","crypto_code":"ETH","invoice_id":"inv_673d4bfcbd5173a8f58cd2b5","address":"0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a","payment_process_url":null,"amount_in_crypto":"0.00640061","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(13,'evt_f3e47ee2b6b48913a57b66bec83584a5_1_f7e53ea6697a360a','demo','ord_f3e47ee2b6b48913a57b66bec83584a5',1,'order.created',1795718246713,'{"type":"order.created","timestamp":"2026-11-26T18:37:26.713418739Z","data":{"sequence":1,"order":{"id":"ord_f3e47ee2b6b48913a57b66bec83584a5","reference":"catalogue-223d19538811261498c8af73b32953e6","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T18:37:26.713Z","expires_at":"2026-11-27T18:37:26.713Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
CREATE TABLE outbox (
    position   INTEGER PRIMARY KEY REFERENCES events (position),
    order_id   TEXT NOT NULL,
    store_id   TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'pending',
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    INTEGER NOT NULL,
    -- Delivered before it was asked for again: no later event waits for it.
    was_taken  INTEGER NOT NULL DEFAULT 0
, is_head INTEGER NOT NULL DEFAULT 0 CHECK (is_head IN (0, 1)), priority INTEGER NOT NULL DEFAULT 1 CHECK (priority IN (0, 1)), planned_at INTEGER NOT NULL DEFAULT 0, retry_at INTEGER, early_from INTEGER, wakes INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO outbox VALUES(1,'ord_d44549ec4d78f080a69b19d44c2eb421','demo','delivered',2,1795718276194,0,0,0,1795718246336,NULL,NULL,0);
INSERT INTO outbox VALUES(2,'ord_d44549ec4d78f080a69b19d44c2eb421','demo','delivered',1,1795718276493,0,0,0,1795718246551,NULL,NULL,0);
INSERT INTO outbox VALUES(3,'ord_d44549ec4d78f080a69b19d44c2eb421','demo','delivered',1,1795718276651,0,0,0,1795718246819,NULL,NULL,0);
INSERT INTO outbox VALUES(4,'ord_24230452022e0abd8f521bf9ad7ef000','demo','delivered',1,1795718272767,0,0,1,1795718242907,NULL,NULL,0);
INSERT INTO outbox VALUES(5,'ord_24230452022e0abd8f521bf9ad7ef000','demo','delivered',1,1795718273173,0,0,1,1795718243343,NULL,NULL,0);
INSERT INTO outbox VALUES(6,'ord_24230452022e0abd8f521bf9ad7ef000','demo','delivered',1,1795718273941,0,0,0,1795718244102,NULL,NULL,0);
INSERT INTO outbox VALUES(7,'ord_5b6d8251161ba13de4f57d09f9e2923e','demo','delivered',1,1795718274618,0,0,1,1795718244754,NULL,NULL,0);
INSERT INTO outbox VALUES(8,'ord_5b6d8251161ba13de4f57d09f9e2923e','demo','delivered',1,1795718275004,0,0,1,1795718245148,NULL,NULL,0);
INSERT INTO outbox VALUES(9,'ord_5b6d8251161ba13de4f57d09f9e2923e','demo','delivered',1,1795718275759,0,0,0,1795718245855,NULL,NULL,0);
INSERT INTO outbox VALUES(10,'ord_5b6d8251161ba13de4f57d09f9e2923e','demo','delivered',1,1795718275961,0,0,0,1795718246087,NULL,NULL,0);
INSERT INTO outbox VALUES(11,'ord_140b3073bb42acc971fc2f51225c336c','demo','delivered',1,1795718276194,0,0,1,1795718246336,NULL,NULL,0);
INSERT INTO outbox VALUES(12,'ord_140b3073bb42acc971fc2f51225c336c','demo','delivered',1,1795718276549,0,0,1,1795718246713,NULL,NULL,0);
INSERT INTO outbox VALUES(13,'ord_f3e47ee2b6b48913a57b66bec83584a5','demo','delivered',1,1795718276817,0,0,1,1795718246928,NULL,NULL,0);
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
INSERT INTO deliveries VALUES(1,'evt_d44549ec4d78f080a69b19d44c2eb421_1_29512a8ba0214f58','demo',1,1795718219298,22355,NULL,'no response in time');
INSERT INTO deliveries VALUES(2,'evt_24230452022e0abd8f521bf9ad7ef000_1_55191216f0af6fe8','demo',1,1795718242905,2,204,'answered 204');
INSERT INTO deliveries VALUES(3,'evt_24230452022e0abd8f521bf9ad7ef000_2_61562e946a02790e','demo',1,1795718243340,2,204,'answered 204');
INSERT INTO deliveries VALUES(4,'evt_24230452022e0abd8f521bf9ad7ef000_3_cc9b035b6362a75f','demo',1,1795718244079,22,204,'answered 204');
INSERT INTO deliveries VALUES(5,'evt_5b6d8251161ba13de4f57d09f9e2923e_1_652cb5c1688c6edb','demo',1,1795718244753,1,204,'answered 204');
INSERT INTO deliveries VALUES(6,'evt_5b6d8251161ba13de4f57d09f9e2923e_2_5df931fe8e9aa55b','demo',1,1795718245145,2,204,'answered 204');
INSERT INTO deliveries VALUES(7,'evt_5b6d8251161ba13de4f57d09f9e2923e_3_48eb3a0196c68f54','demo',1,1795718245853,2,204,'answered 204');
INSERT INTO deliveries VALUES(8,'evt_5b6d8251161ba13de4f57d09f9e2923e_4_64526b95c475eac7','demo',1,1795718246085,1,204,'answered 204');
INSERT INTO deliveries VALUES(9,'evt_d44549ec4d78f080a69b19d44c2eb421_1_29512a8ba0214f58','demo',2,1795718246333,2,204,'answered 204');
INSERT INTO deliveries VALUES(10,'evt_140b3073bb42acc971fc2f51225c336c_1_2ff01c162e00c66c','demo',1,1795718246333,2,204,'answered 204');
INSERT INTO deliveries VALUES(11,'evt_d44549ec4d78f080a69b19d44c2eb421_2_3467b5ff0d90f49d','demo',1,1795718246549,1,204,'answered 204');
INSERT INTO deliveries VALUES(12,'evt_140b3073bb42acc971fc2f51225c336c_2_777490780aedd712','demo',1,1795718246651,62,204,'answered 204');
INSERT INTO deliveries VALUES(13,'evt_d44549ec4d78f080a69b19d44c2eb421_3_b1aa72d8af05f3d2','demo',1,1795718246817,1,204,'answered 204');
INSERT INTO deliveries VALUES(14,'evt_f3e47ee2b6b48913a57b66bec83584a5_1_f7e53ea6697a360a','demo',1,1795718246926,1,204,'answered 204');
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
INSERT INTO write_checks VALUES(1,1795718246928);
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
INSERT INTO price_lists VALUES(1,1795718241719,'{"BCH":{"rates":{"amount_in_local_currency":"415.9964","amount_in_crypto":"1","amount_in_usd":"415.9964","local_currency_code":"USD"},"limits":{"min":"0.01","max":"100"},"conversion_id":"conv_01352d6b120f7b0a827e1b2b"},"BNB":{"rates":{"amount_in_local_currency":"593.127","amount_in_crypto":"1","amount_in_usd":"593.127","local_currency_code":"USD"},"limits":{"min":"","max":"8"},"conversion_id":"conv_c244526a5279ec921a6f34d3"},"BTC":{"rates":{"amount_in_local_currency":"64616.225","amount_in_crypto":"1","amount_in_usd":"64616.225","local_currency_code":"USD"},"limits":{"min":"0.0001","max":"2"},"conversion_id":"conv_1a181166650b1871c3c3c0c7"},"DOGE":{"rates":{"amount_in_local_currency":"0.160816","amount_in_crypto":"1","amount_in_usd":"0.160816","local_currency_code":"USD"},"limits":{"min":"50","max":"250000"},"conversion_id":"conv_2e39a183bb5815e89da4cc1c"},"ETH":{"rates":{"amount_in_local_currency":"3109.08","amount_in_crypto":"1","amount_in_usd":"3109.08","local_currency_code":"USD"},"limits":{"min":"0.001","max":"50"},"conversion_id":"conv_1fa6f028f990386edecebad6"},"LTC":{"rates":{"amount_in_local_currency":"84.34314","amount_in_crypto":"1","amount_in_usd":"84.34314","local_currency_code":"USD"},"limits":{"min":"0.01","max":"500"},"conversion_id":"conv_f150c438d208cc03b08fdf1d"},"TRX":{"rates":{"amount_in_local_currency":"0.129207","amount_in_crypto":"1","amount_in_usd":"0.129207","local_currency_code":"USD"},"limits":{"min":"5","max":""},"conversion_id":"conv_4582b385a3114428883b817b"},"USDTERC20":{"rates":{"amount_in_local_currency":"1.00","amount_in_crypto":"1","amount_in_usd":"1.00","local_currency_code":"USD"},"limits":{"min":"5","max":"50000"},"conversion_id":"conv_e29407f02d173312e907c176"},"USDTTRC20":{"rates":{"amount_in_local_currency":"1.00","amount_in_crypto":"1","amount_in_usd":"1.00","local_currency_code":"USD"},"limits":{"min":"1","max":"50000"},"conversion_id":"conv_1601f9822031413ba666905a"}}');
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
CREATE TABLE assets (
    name    TEXT PRIMARY KEY NOT NULL,
    used_at INTEGER NOT NULL,
    whole   BLOB NOT NULL,
    brotli  BLOB
) STRICT;
CREATE TABLE store_deliveries (
    store_id    TEXT PRIMARY KEY,
    accepted_at INTEGER,
    probe_at    INTEGER
) STRICT;
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
CREATE INDEX staff_access_by_expiry ON staff_access (expires_at);
CREATE INDEX staff_access_by_store ON staff_access (store_id, expires_at DESC);
CREATE INDEX store_orders_waiting_for_a_person ON orders (store_id, attention_since, id) WHERE attention_since IS NOT NULL;
CREATE INDEX outbox_given_up_by_store ON outbox (store_id, position) WHERE state = 'given_up';
CREATE INDEX outbox_by_plan ON outbox (planned_at) WHERE state = 'pending';
CREATE INDEX outbox_waiting ON outbox (store_id, priority, early_from) WHERE is_head AND early_from IS NOT NULL;
COMMIT;
