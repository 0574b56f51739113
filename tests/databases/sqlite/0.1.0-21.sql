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
INSERT INTO _sqlx_migrations VALUES(1,'ledger','2026-11-26 19:42:38',1,X'6ceae20815450d805e64cb1a8fa78e04785eed858af7f7a2acb5984c6a1711b194388fe571b10e7f218f7668421f9a37',23998694);
INSERT INTO _sqlx_migrations VALUES(2,'was_seen','2026-11-26 19:42:38',1,X'92ef6a26c0289f03c6085d9ff73f1ff48ddc426ec79e92a3e7fc77bbcfd5bb11693fc1ded2e41a4955337a13bf1d9e91',12050537);
INSERT INTO _sqlx_migrations VALUES(3,'order_lines','2026-11-26 19:42:38',1,X'5aa06948a0f97926a30455f200e77c0dae7d3dad4f4a8a4dc7630deddafdc473d0e917dbf871f2ab347b50f1ee4d1e59',15654764);
INSERT INTO _sqlx_migrations VALUES(4,'receipt_email','2026-11-26 19:42:38',1,X'1f4b1c0d07e92b68634d072ff09b3e9efd1a379c0a9f8c3f5c894408dceb8a9a288c46a02538057c4d8e881028f1669d',4655387);
INSERT INTO _sqlx_migrations VALUES(5,'order_facts','2026-11-26 19:42:38',1,X'f0e492a584b854be0e58e448b250f31a84481c23241c9a1e55c93ae067cef90843417259a014d786eb260b0d37951952',9597640);
INSERT INTO _sqlx_migrations VALUES(6,'typed_results','2026-11-26 19:42:38',1,X'67d3d6345326dc8592fc288d642487fa7f51b08ba2b38be500fef3301337559d61c2ff192a06859d28baec8418d8b64d',35816989);
INSERT INTO _sqlx_migrations VALUES(8,'bounded_growth','2026-11-26 19:42:38',1,X'a55a80a747184061cf836eac781b1209440ebbaf0276775757250a1308fa02e9198f0c1dcd15ac709e62365c078c41e2',19962211);
INSERT INTO _sqlx_migrations VALUES(9,'money_first','2026-11-26 19:42:38',1,X'fade9675c10d95efb9da9c1a225ae0c6568fc9da55b0ebcad59d101c4b4e7f907e9a5b8bbf1fffe11b60ff9920e21e90',15719565);
INSERT INTO _sqlx_migrations VALUES(10,'moved','2026-11-26 19:42:38',1,X'f3662c2eaf0a23d7b2a8aaeb8b42c55e175f4d2c29b40f492e05fee4dda7e09fdbf9a3f44ed4ed793ad1947428e6b7ec',17967429);
INSERT INTO _sqlx_migrations VALUES(11,'needs_review','2026-11-26 19:42:38',1,X'd2d91e96e75c1970a8402ccdd00a3c7bb63aebfec4772fc13a598772851124c1746d39a5b2aee4fc5789ef5486d9d430',7986354);
INSERT INTO _sqlx_migrations VALUES(12,'audit','2026-11-26 19:42:38',1,X'3fe084d38e05153f9dc72d2f51b32807ad37c8831e07d1c290413cd334ea2470c8d14c0cee337be684634ca233bc55be',24015836);
INSERT INTO _sqlx_migrations VALUES(13,'price_lists','2026-11-26 19:42:38',1,X'8b86ca60fd1668ab3a1f4b528ae2b1d5e76d671e2da258fa15bc343821c23fb371a57d5774bb6aca023b65356cd85742',4495199);
INSERT INTO _sqlx_migrations VALUES(14,'transaction_hint','2026-11-26 19:42:38',1,X'0a2c79df32d3d20964663244ddf2ae025068793abce0e634148648843450f63e4cf03b6a998bd27c2e50acb50cbe7d0c',12660244);
INSERT INTO _sqlx_migrations VALUES(15,'replanning','2026-11-26 19:42:39',1,X'31d5edf760f33825fe69584eb27d983a56d6c86ada5a0247178868fcb33aa6e47b59c441b577ab93f533262866fe4127',14985014);
INSERT INTO _sqlx_migrations VALUES(16,'staff','2026-11-26 19:42:39',1,X'67c5e5106b2cd10ebc0d619ac7fe939edbc810df09e7c5d6eacd669dd15bae3254693304fff3359eb33c3068add56862',18188331);
INSERT INTO _sqlx_migrations VALUES(17,'traceparent','2026-11-26 19:42:39',1,X'b6552072c7322dddcf51de8e6a7e1591773430e4539ee3374bcadc8edbeff2cec2af7b4c5b7461489d368ff061208f58',11971861);
INSERT INTO _sqlx_migrations VALUES(18,'planned_at','2026-11-26 19:42:39',1,X'69da74253318ad1f90e18592ffdb996b515e03c426792a5f8e3ecad8ea678b7ce47c03b0830b7e20c99aea8d796bb0bc',11944309);
INSERT INTO _sqlx_migrations VALUES(19,'assets','2026-11-26 19:42:39',1,X'106555ee7d5ae88a3317e39f0a90fc97cca32d17af45cd91d04304b7e1529d3404bc816cb20e71d02074394612399c9e',3834976);
INSERT INTO _sqlx_migrations VALUES(20,'early_tries','2026-11-26 19:42:39',1,X'9283cba5a5b42781ffacb33b00dcc67762df64c2023e59107b11b3ea41a6bb4e8b0b6c7cb40ffa71953d9c66df562c64',16052766);
INSERT INTO _sqlx_migrations VALUES(21,'cancel_url','2026-11-26 19:42:39',1,X'652fd9e8ca9a9b980eb41f0464dc9260e060e35a7658dd87e7f167d0ef29689f08262bbbb7d842e0f734fd2b8ba31579',11983052);
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
    cancelled_at    INTEGER, lines TEXT NOT NULL DEFAULT '[]', receipt_email TEXT, has_money INTEGER NOT NULL DEFAULT 0 CHECK (has_money IN (0, 1)), late_payment TEXT, late_event_at INTEGER, decision TEXT CHECK (decision IN ('accepted', 'closed')), decided_at INTEGER, attention_since INTEGER, traceparent TEXT CHECK (length(traceparent) = 55), cancel_url TEXT,
    UNIQUE (store_id, reference)
) STRICT;
INSERT INTO orders VALUES('ord_6690ce40956210902b8df81330470df8','demo','catalogue-27af1fc47577bd421e96ce3e4403b5a1','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795808559388,1795722159388,'paid','att_1578b6a3f9edb7b9dbd5638ff0989d3b',3,4,1795722168678,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_f3d4ca3d12613777e4393564f26eb536','demo','catalogue-1d10e1bd4c5d994021566da36c171c7a','12.50','USD','catalogue','Enamel mug',NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795808568804,1795722168804,'underpaid','att_bceadba747c5fc5c9475696ee0e76d37',3,5,NULL,NULL,NULL,NULL,'[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,1795722169039,NULL,NULL);
INSERT INTO orders VALUES('ord_60a44db8f24fca19a6973574391df3f4','demo','catalogue-93edf0aa5a293efb7ac1c402fa688caa','12.50','USD','catalogue','Enamel mug',NULL,NULL,'{"sku":"mug","quantity":1}','','custom','0',1795808569174,1795722169174,'overpaid','att_347bd8ce4ca3240adcc46e75b88fc5a5',4,4,1795722169547,NULL,NULL,NULL,'[{"title":"Enamel mug","quantity":1,"unit_amount":"12.50","amount":"12.50","image_url":null}]',NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_c3cf3f17805a4c6b8375d2c6148c0425','demo','catalogue-012dafef620cc45547757cffae1ec95b','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795808569748,1795722169748,'awaiting_payment','att_d817a606ae003aaf29ca184991ea55ab',2,3,NULL,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO orders VALUES('ord_1f108d3470c095d7917a0e6034026515','demo','catalogue-b9b796b827ece63119540a3522c6dbc1','19.90','USD','catalogue','The Quiet Web, an e-book',NULL,NULL,'{"sku":"ebook","quantity":1}','','custom','0',1795808570091,1795722170091,'open',NULL,1,1,NULL,NULL,NULL,NULL,'[{"title":"The Quiet Web, an e-book","quantity":1,"unit_amount":"19.90","amount":"19.90","image_url":null}]',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE client_tokens (
    hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
    order_id   TEXT NOT NULL REFERENCES orders (id),
    expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO client_tokens VALUES(X'71e15e010c5bfda5d0d0bb6c0305e4c03d14b10e0dcadc54ce5e7825228957ca','ord_6690ce40956210902b8df81330470df8',1798400559388);
INSERT INTO client_tokens VALUES(X'434b40ed2c718b1e0082c02d0c78d15be01c1ea937488e3871dbe95410c0e1c9','ord_f3d4ca3d12613777e4393564f26eb536',1798400568804);
INSERT INTO client_tokens VALUES(X'1addac4ab148092214b48988e0a51d175c7401c57a0f3a98d184b64ca4ed4f33','ord_60a44db8f24fca19a6973574391df3f4',1798400569174);
INSERT INTO client_tokens VALUES(X'299045737313b5193689868229a45f380d478cf0f211419c8ae89ab058ad137b','ord_c3cf3f17805a4c6b8375d2c6148c0425',1798400569748);
INSERT INTO client_tokens VALUES(X'5c8bbf034d32b9b48a9f1ddfc22ce2a829f9d2206c4f3bd1ed96eea55e4b0023','ord_1f108d3470c095d7917a0e6034026515',1798400570091);
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
INSERT INTO attempts VALUES('att_1578b6a3f9edb7b9dbd5638ff0989d3b','ord_6690ce40956210902b8df81330470df8','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00030798','19.90','19.90','USD',1795722168323,'open','inv_d0ae24cb939cd649da2efa5a','tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02','bitcoin:tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02?amount=0.00030798','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795722168379,1795723068379,NULL,'settled',1795722168678,'0.00030798','19.90','19.90',3,3,'d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903',NULL,NULL,1795722168678,1795722213678,'planned',1795722168678,0,1,1,1,0,NULL);
INSERT INTO attempts VALUES('att_bceadba747c5fc5c9475696ee0e76d37','ord_f3d4ca3d12613777e4393564f26eb536','custom','LTC','conv_f150c438d208cc03b08fdf1d','0.14820412','12.50','12.50','USD',1795722168877,'open','inv_6a7956e6801d1499d0380c71','tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8','litecoin:tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8?amount=0.14820412','["Send only Litecoin (LTC) on the Litecoin network to this address. Other assets, or LTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Litecoin network.","Make sure that the network fee is sufficient: a Litecoin transaction with a low fee may not be confirmed.","The price in LTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795722168919,1795723068919,NULL,'short',1795722169039,'0.07410206','6.25','6.25',6,3,'38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141',NULL,NULL,1795722170008,1795722230008,'planned',1795722170008,0,2,2,1,0,NULL);
INSERT INTO attempts VALUES('att_347bd8ce4ca3240adcc46e75b88fc5a5','ord_60a44db8f24fca19a6973574391df3f4','custom','BTC','conv_1a181166650b1871c3c3c0c7','0.00019345','12.50','12.50','USD',1795722169266,'open','inv_3a08979479a65d616e74ac78','tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec','bitcoin:tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec?amount=0.00019345','["Send only Bitcoin (BTC) on the Bitcoin network to this address. Other assets, or BTC on another network, will be lost.","Your payment is complete after 3 confirmations on the Bitcoin network.","Make sure that the network fee is sufficient: a Bitcoin transaction with a low fee may not be confirmed.","The price in BTC is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795722169318,1795723069318,NULL,'settled',1795722169547,'0.00038690','25.00','25.00',3,3,'140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6',NULL,NULL,1795722169547,1795722214547,'planned',1795722169547,0,1,1,1,0,NULL);
INSERT INTO attempts VALUES('att_d817a606ae003aaf29ca184991ea55ab','ord_c3cf3f17805a4c6b8375d2c6148c0425','custom','ETH','conv_1fa6f028f990386edecebad6','0.00640061','19.90','19.90','USD',1795722169897,'open','inv_673d4bfcbd5173a8f58cd2b5','0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a','ethereum:0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a@11155111?value=6400610000000000','["Send only Ether (ETH) on the Ethereum network to this address. Other assets, or ETH on another network, will be lost.","Your payment is complete after 3 confirmations on the Ethereum network.","Make sure that the network fee is sufficient: a Ethereum transaction with a low fee may not be confirmed.","The price in ETH is held for 15 minutes. It may expire if your payment arrives later."]',NULL,1795722170005,1795723070005,NULL,'waiting',1795722170005,'0','0','0',NULL,NULL,NULL,NULL,NULL,NULL,1795722185008,'planned',NULL,0,0,0,0,0,NULL);
CREATE TABLE observations (
    id          INTEGER PRIMARY KEY,
    attempt_id  TEXT NOT NULL REFERENCES attempts (id),
    look        INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    raw         TEXT NOT NULL,
    verdict     TEXT NOT NULL, facts BLOB, last_look INTEGER NOT NULL DEFAULT 0, last_at INTEGER NOT NULL DEFAULT 0, times INTEGER NOT NULL DEFAULT 1,
    UNIQUE (attempt_id, look)
) STRICT;
INSERT INTO observations VALUES(1,'att_1578b6a3f9edb7b9dbd5638ff0989d3b',1,1795722168678,'{"data":{"invoice_id":"inv_d0ae24cb939cd649da2efa5a","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"19.90","invoice_amount_in_usd":"19.90","invoice_crypto_amount":"0.00030798","received_amount_in_local_currency":"19.90","received_amount_in_usd":"19.90","received_crypto_amount":"0.00030798","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795722168","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903","blockchain_confirmations":"3/3","wallet_address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","transaction_time":"1795722168"}}','settled',X'cd9526630aee266c42079057ef01abb9',1,1795722168678,1);
INSERT INTO observations VALUES(2,'att_bceadba747c5fc5c9475696ee0e76d37',1,1795722169039,'{"data":{"invoice_id":"inv_6a7956e6801d1499d0380c71","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.14820412","received_amount_in_local_currency":"6.25","received_amount_in_usd":"6.25","received_crypto_amount":"0.07410206","local_currency_code":"USD","transaction_crypto":"LTC","invoice_creation_time":"1795722168","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141","blockchain_confirmations":"3/3","wallet_address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","transaction_time":"1795722168"}}','short',X'42b80acd0a9fe172ea52bbdf1dbdfb75',2,1795722170008,2);
INSERT INTO observations VALUES(3,'att_347bd8ce4ca3240adcc46e75b88fc5a5',1,1795722169547,'{"data":{"invoice_id":"inv_3a08979479a65d616e74ac78","transaction_status":"COMPLETED","invoice_amount_in_local_currency":"12.50","invoice_amount_in_usd":"12.50","invoice_crypto_amount":"0.00019345","received_amount_in_local_currency":"25.00","received_amount_in_usd":"25.00","received_crypto_amount":"0.00038690","local_currency_code":"USD","transaction_crypto":"BTC","invoice_creation_time":"1795722169","depositor_email_id":"","blockchain_transaction_status":"CONFIRMED","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6","blockchain_confirmations":"3/3","wallet_address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","transaction_time":"1795722169"}}','settled',X'ad05d9f1a9354c9d4be8dd6409c82060',1,1795722169547,1);
CREATE TABLE credits (
    order_id       TEXT PRIMARY KEY REFERENCES orders (id),
    attempt_id     TEXT NOT NULL REFERENCES attempts (id),
    observation_id INTEGER NOT NULL REFERENCES observations (id),
    amount         TEXT NOT NULL,
    currency       TEXT NOT NULL,
    credited_at    INTEGER NOT NULL
) STRICT;
INSERT INTO credits VALUES('ord_6690ce40956210902b8df81330470df8','att_1578b6a3f9edb7b9dbd5638ff0989d3b',1,'19.90','USD',1795722168678);
INSERT INTO credits VALUES('ord_60a44db8f24fca19a6973574391df3f4','att_347bd8ce4ca3240adcc46e75b88fc5a5',3,'12.50','USD',1795722169547);
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
INSERT INTO events VALUES(1,'evt_6690ce40956210902b8df81330470df8_1_34b46fea090a096c','demo','ord_6690ce40956210902b8df81330470df8',1,'order.created',1795722159388,'{"type":"order.created","timestamp":"2026-11-26T19:42:39.388189444Z","data":{"sequence":1,"order":{"id":"ord_6690ce40956210902b8df81330470df8","reference":"catalogue-27af1fc47577bd421e96ce3e4403b5a1","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T19:42:39.388Z","expires_at":"2026-11-27T19:42:39.388Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(2,'evt_6690ce40956210902b8df81330470df8_2_0c062ed00628d394','demo','ord_6690ce40956210902b8df81330470df8',2,'order.attempt_opened',1795722168380,'{"type":"order.attempt_opened","timestamp":"2026-11-26T19:42:48.380826405Z","data":{"sequence":2,"order":{"id":"ord_6690ce40956210902b8df81330470df8","reference":"catalogue-27af1fc47577bd421e96ce3e4403b5a1","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T19:42:39.388Z","expires_at":"2026-11-27T19:42:39.388Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_1578b6a3f9edb7b9dbd5638ff0989d3b","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(3,'evt_6690ce40956210902b8df81330470df8_3_fe69976174e855a0','demo','ord_6690ce40956210902b8df81330470df8',3,'order.paid',1795722168678,'{"type":"order.paid","timestamp":"2026-11-26T19:42:48.678968722Z","data":{"sequence":3,"order":{"id":"ord_6690ce40956210902b8df81330470df8","reference":"catalogue-27af1fc47577bd421e96ce3e4403b5a1","status":"paid","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T19:42:39.388Z","expires_at":"2026-11-27T19:42:39.388Z","flow":"custom","settled_at":"2026-11-26T19:42:48.678968722Z","reverted":null,"attempt":{"id":"att_1578b6a3f9edb7b9dbd5638ff0989d3b","crypto_code":"BTC","invoice_id":"inv_d0ae24cb939cd649da2efa5a","address":"tb1qnq97vs7q26fe2c5jk2qjce37ta35zrn9dnkk02","payment_process_url":null,"amount_in_crypto":"0.00030798","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0.00030798","received_in_usd":"19.90","received_in_local_currency":"19.90","transaction_hash":"d87b395d8abcba5e22d7bc241238fd7817b6aed0d13c59a4a2b8f66ec312c903"}}}}');
INSERT INTO events VALUES(4,'evt_f3d4ca3d12613777e4393564f26eb536_1_01eb5a2c4ad3e300','demo','ord_f3d4ca3d12613777e4393564f26eb536',1,'order.created',1795722168804,'{"type":"order.created","timestamp":"2026-11-26T19:42:48.804529688Z","data":{"sequence":1,"order":{"id":"ord_f3d4ca3d12613777e4393564f26eb536","reference":"catalogue-1d10e1bd4c5d994021566da36c171c7a","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T19:42:48.804Z","expires_at":"2026-11-27T19:42:48.804Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(5,'evt_f3d4ca3d12613777e4393564f26eb536_2_e3531c04c6550b65','demo','ord_f3d4ca3d12613777e4393564f26eb536',2,'order.attempt_opened',1795722168925,'{"type":"order.attempt_opened","timestamp":"2026-11-26T19:42:48.925483872Z","data":{"sequence":2,"order":{"id":"ord_f3d4ca3d12613777e4393564f26eb536","reference":"catalogue-1d10e1bd4c5d994021566da36c171c7a","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T19:42:48.804Z","expires_at":"2026-11-27T19:42:48.804Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_bceadba747c5fc5c9475696ee0e76d37","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(6,'evt_f3d4ca3d12613777e4393564f26eb536_3_9d72f82093256a3c','demo','ord_f3d4ca3d12613777e4393564f26eb536',3,'order.underpaid',1795722169039,'{"type":"order.underpaid","timestamp":"2026-11-26T19:42:49.039003943Z","data":{"sequence":3,"order":{"id":"ord_f3d4ca3d12613777e4393564f26eb536","reference":"catalogue-1d10e1bd4c5d994021566da36c171c7a","status":"underpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T19:42:48.804Z","expires_at":"2026-11-27T19:42:48.804Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_bceadba747c5fc5c9475696ee0e76d37","crypto_code":"LTC","invoice_id":"inv_6a7956e6801d1499d0380c71","address":"tltc1qx2uwvwx4ake04u5lp0hkd6w9z76vqnaedr8mv8","payment_process_url":null,"amount_in_crypto":"0.14820412","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.07410206","received_in_usd":"6.25","received_in_local_currency":"6.25","transaction_hash":"38e759037b816c0fa8fad8198374b1a5b3808e3942958245ccd4d20390264141"}}}}');
INSERT INTO events VALUES(7,'evt_60a44db8f24fca19a6973574391df3f4_1_e25c200b3154927b','demo','ord_60a44db8f24fca19a6973574391df3f4',1,'order.created',1795722169174,'{"type":"order.created","timestamp":"2026-11-26T19:42:49.174957557Z","data":{"sequence":1,"order":{"id":"ord_60a44db8f24fca19a6973574391df3f4","reference":"catalogue-93edf0aa5a293efb7ac1c402fa688caa","status":"open","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T19:42:49.174Z","expires_at":"2026-11-27T19:42:49.174Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(8,'evt_60a44db8f24fca19a6973574391df3f4_2_3236402e19b4a28e','demo','ord_60a44db8f24fca19a6973574391df3f4',2,'order.attempt_opened',1795722169319,'{"type":"order.attempt_opened","timestamp":"2026-11-26T19:42:49.319629071Z","data":{"sequence":2,"order":{"id":"ord_60a44db8f24fca19a6973574391df3f4","reference":"catalogue-93edf0aa5a293efb7ac1c402fa688caa","status":"awaiting_payment","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T19:42:49.174Z","expires_at":"2026-11-27T19:42:49.174Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_347bd8ce4ca3240adcc46e75b88fc5a5","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(9,'evt_60a44db8f24fca19a6973574391df3f4_3_2a2eb6677f1d5167','demo','ord_60a44db8f24fca19a6973574391df3f4',3,'order.paid',1795722169547,'{"type":"order.paid","timestamp":"2026-11-26T19:42:49.547737402Z","data":{"sequence":3,"order":{"id":"ord_60a44db8f24fca19a6973574391df3f4","reference":"catalogue-93edf0aa5a293efb7ac1c402fa688caa","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T19:42:49.174Z","expires_at":"2026-11-27T19:42:49.174Z","flow":"custom","settled_at":"2026-11-26T19:42:49.547737402Z","reverted":null,"attempt":{"id":"att_347bd8ce4ca3240adcc46e75b88fc5a5","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}');
INSERT INTO events VALUES(10,'evt_60a44db8f24fca19a6973574391df3f4_4_f484aff8415e46ba','demo','ord_60a44db8f24fca19a6973574391df3f4',4,'order.overpaid',1795722169547,'{"type":"order.overpaid","timestamp":"2026-11-26T19:42:49.547737402Z","data":{"sequence":4,"order":{"id":"ord_60a44db8f24fca19a6973574391df3f4","reference":"catalogue-93edf0aa5a293efb7ac1c402fa688caa","status":"overpaid","amount":"12.50","currency":"USD","price_source":"catalogue","title":"Enamel mug","customer_email":null,"return_url":null,"metadata":{"sku":"mug","quantity":1},"created_at":"2026-11-26T19:42:49.174Z","expires_at":"2026-11-27T19:42:49.174Z","flow":"custom","settled_at":"2026-11-26T19:42:49.547737402Z","reverted":null,"attempt":{"id":"att_347bd8ce4ca3240adcc46e75b88fc5a5","crypto_code":"BTC","invoice_id":"inv_3a08979479a65d616e74ac78","address":"tb1qys2gya3epavcp032z8dqu7a7g5hwp4ya4m66ec","payment_process_url":null,"amount_in_crypto":"0.00019345","amount_in_usd":"12.50","amount_in_local_currency":"12.50","local_currency_code":"USD","received_in_crypto":"0.00038690","received_in_usd":"25.00","received_in_local_currency":"25.00","transaction_hash":"140af926c811b5792e7eb1ba7b48b6eb433af3e7ea6fb589857fcff004ef12b6"}}}}');
INSERT INTO events VALUES(11,'evt_c3cf3f17805a4c6b8375d2c6148c0425_1_724d1ac88866e0d0','demo','ord_c3cf3f17805a4c6b8375d2c6148c0425',1,'order.created',1795722169748,'{"type":"order.created","timestamp":"2026-11-26T19:42:49.748109318Z","data":{"sequence":1,"order":{"id":"ord_c3cf3f17805a4c6b8375d2c6148c0425","reference":"catalogue-012dafef620cc45547757cffae1ec95b","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T19:42:49.748Z","expires_at":"2026-11-27T19:42:49.748Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
INSERT INTO events VALUES(12,'evt_c3cf3f17805a4c6b8375d2c6148c0425_2_bae1d3331b5c7f3c','demo','ord_c3cf3f17805a4c6b8375d2c6148c0425',2,'order.attempt_opened',1795722170008,'{"type":"order.attempt_opened","timestamp":"2026-11-26T19:42:50.008529464Z","data":{"sequence":2,"order":{"id":"ord_c3cf3f17805a4c6b8375d2c6148c0425","reference":"catalogue-012dafef620cc45547757cffae1ec95b","status":"awaiting_payment","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T19:42:49.748Z","expires_at":"2026-11-27T19:42:49.748Z","flow":"custom","settled_at":null,"reverted":null,"attempt":{"id":"att_d817a606ae003aaf29ca184991ea55ab","crypto_code":"ETH","invoice_id":"inv_673d4bfcbd5173a8f58cd2b5","address":"0xbD644dE5F4419fF0C91BA004b2D347545E2a0b8a","payment_process_url":null,"amount_in_crypto":"0.00640061","amount_in_usd":"19.90","amount_in_local_currency":"19.90","local_currency_code":"USD","received_in_crypto":"0","received_in_usd":"0","received_in_local_currency":"0","transaction_hash":null}}}}');
INSERT INTO events VALUES(13,'evt_1f108d3470c095d7917a0e6034026515_1_b72228ce1cb8bea8','demo','ord_1f108d3470c095d7917a0e6034026515',1,'order.created',1795722170091,'{"type":"order.created","timestamp":"2026-11-26T19:42:50.091412002Z","data":{"sequence":1,"order":{"id":"ord_1f108d3470c095d7917a0e6034026515","reference":"catalogue-b9b796b827ece63119540a3522c6dbc1","status":"open","amount":"19.90","currency":"USD","price_source":"catalogue","title":"The Quiet Web, an e-book","customer_email":null,"return_url":null,"metadata":{"sku":"ebook","quantity":1},"created_at":"2026-11-26T19:42:50.091Z","expires_at":"2026-11-27T19:42:50.091Z","flow":"custom","settled_at":null,"reverted":null,"attempt":null}}}');
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
INSERT INTO outbox VALUES(1,'ord_6690ce40956210902b8df81330470df8','demo','delivered',1,1795722189417,0,0,1,1795722168178,NULL,NULL,0);
INSERT INTO outbox VALUES(2,'ord_6690ce40956210902b8df81330470df8','demo','delivered',1,1795722198478,0,0,1,1795722168551,NULL,NULL,0);
INSERT INTO outbox VALUES(3,'ord_6690ce40956210902b8df81330470df8','demo','delivered',1,1795722198717,0,0,0,1795722168755,NULL,NULL,0);
INSERT INTO outbox VALUES(4,'ord_f3d4ca3d12613777e4393564f26eb536','demo','delivered',1,1795722198838,0,0,1,1795722168900,NULL,NULL,0);
INSERT INTO outbox VALUES(5,'ord_f3d4ca3d12613777e4393564f26eb536','demo','delivered',1,1795722198941,0,0,1,1795722168970,NULL,NULL,0);
INSERT INTO outbox VALUES(6,'ord_f3d4ca3d12613777e4393564f26eb536','demo','delivered',1,1795722199081,0,0,0,1795722169120,NULL,NULL,0);
INSERT INTO outbox VALUES(7,'ord_60a44db8f24fca19a6973574391df3f4','demo','delivered',1,1795722199242,0,0,1,1795722169286,NULL,NULL,0);
INSERT INTO outbox VALUES(8,'ord_60a44db8f24fca19a6973574391df3f4','demo','delivered',1,1795722199357,0,0,1,1795722169410,NULL,NULL,0);
INSERT INTO outbox VALUES(9,'ord_60a44db8f24fca19a6973574391df3f4','demo','delivered',1,1795722199649,0,0,0,1795722169679,NULL,NULL,0);
INSERT INTO outbox VALUES(10,'ord_60a44db8f24fca19a6973574391df3f4','demo','delivered',1,1795722199746,0,0,0,1795722169791,NULL,NULL,0);
INSERT INTO outbox VALUES(11,'ord_c3cf3f17805a4c6b8375d2c6148c0425','demo','delivered',1,1795722199866,0,0,1,1795722169970,NULL,NULL,0);
INSERT INTO outbox VALUES(12,'ord_c3cf3f17805a4c6b8375d2c6148c0425','demo','delivered',1,1795722200082,0,0,1,1795722170123,NULL,NULL,0);
INSERT INTO outbox VALUES(13,'ord_1f108d3470c095d7917a0e6034026515','demo','delivered',1,1795722200155,0,0,1,1795722170202,NULL,NULL,0);
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
INSERT INTO deliveries VALUES(1,'evt_6690ce40956210902b8df81330470df8_1_34b46fea090a096c','demo',1,1795722159583,8595,204,'answered 204');
INSERT INTO deliveries VALUES(2,'evt_6690ce40956210902b8df81330470df8_2_0c062ed00628d394','demo',1,1795722168549,1,204,'answered 204');
INSERT INTO deliveries VALUES(3,'evt_6690ce40956210902b8df81330470df8_3_fe69976174e855a0','demo',1,1795722168754,1,204,'answered 204');
INSERT INTO deliveries VALUES(4,'evt_f3d4ca3d12613777e4393564f26eb536_1_01eb5a2c4ad3e300','demo',1,1795722168898,1,204,'answered 204');
INSERT INTO deliveries VALUES(5,'evt_f3d4ca3d12613777e4393564f26eb536_2_e3531c04c6550b65','demo',1,1795722168969,1,204,'answered 204');
INSERT INTO deliveries VALUES(6,'evt_f3d4ca3d12613777e4393564f26eb536_3_9d72f82093256a3c','demo',1,1795722169118,1,204,'answered 204');
INSERT INTO deliveries VALUES(7,'evt_60a44db8f24fca19a6973574391df3f4_1_e25c200b3154927b','demo',1,1795722169285,1,204,'answered 204');
INSERT INTO deliveries VALUES(8,'evt_60a44db8f24fca19a6973574391df3f4_2_3236402e19b4a28e','demo',1,1795722169405,4,204,'answered 204');
INSERT INTO deliveries VALUES(9,'evt_60a44db8f24fca19a6973574391df3f4_3_2a2eb6677f1d5167','demo',1,1795722169677,2,204,'answered 204');
INSERT INTO deliveries VALUES(10,'evt_60a44db8f24fca19a6973574391df3f4_4_f484aff8415e46ba','demo',1,1795722169789,1,204,'answered 204');
INSERT INTO deliveries VALUES(11,'evt_c3cf3f17805a4c6b8375d2c6148c0425_1_724d1ac88866e0d0','demo',1,1795722169969,1,204,'answered 204');
INSERT INTO deliveries VALUES(12,'evt_c3cf3f17805a4c6b8375d2c6148c0425_2_bae1d3331b5c7f3c','demo',1,1795722170122,1,204,'answered 204');
INSERT INTO deliveries VALUES(13,'evt_1f108d3470c095d7917a0e6034026515_1_b72228ce1cb8bea8','demo',1,1795722170200,1,204,'answered 204');
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
INSERT INTO write_checks VALUES(1,1795722170170);
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
INSERT INTO price_lists VALUES(1,1795722168207,'{"BCH":{"rates":{"amount_in_local_currency":"415.9964","amount_in_crypto":"1","amount_in_usd":"415.9964","local_currency_code":"USD"},"limits":{"min":"0.01","max":"100"},"conversion_id":"conv_01352d6b120f7b0a827e1b2b"},"BNB":{"rates":{"amount_in_local_currency":"593.127","amount_in_crypto":"1","amount_in_usd":"593.127","local_currency_code":"USD"},"limits":{"min":"","max":"8"},"conversion_id":"conv_c244526a5279ec921a6f34d3"},"BTC":{"rates":{"amount_in_local_currency":"64616.225","amount_in_crypto":"1","amount_in_usd":"64616.225","local_currency_code":"USD"},"limits":{"min":"0.0001","max":"2"},"conversion_id":"conv_1a181166650b1871c3c3c0c7"},"DOGE":{"rates":{"amount_in_local_currency":"0.160816","amount_in_crypto":"1","amount_in_usd":"0.160816","local_currency_code":"USD"},"limits":{"min":"50","max":"250000"},"conversion_id":"conv_2e39a183bb5815e89da4cc1c"},"ETH":{"rates":{"amount_in_local_currency":"3109.08","amount_in_crypto":"1","amount_in_usd":"3109.08","local_currency_code":"USD"},"limits":{"min":"0.001","max":"50"},"conversion_id":"conv_1fa6f028f990386edecebad6"},"LTC":{"rates":{"amount_in_local_currency":"84.34314","amount_in_crypto":"1","amount_in_usd":"84.34314","local_currency_code":"USD"},"limits":{"min":"0.01","max":"500"},"conversion_id":"conv_f150c438d208cc03b08fdf1d"},"TRX":{"rates":{"amount_in_local_currency":"0.129207","amount_in_crypto":"1","amount_in_usd":"0.129207","local_currency_code":"USD"},"limits":{"min":"5","max":""},"conversion_id":"conv_4582b385a3114428883b817b"},"USDTERC20":{"rates":{"amount_in_local_currency":"1.00","amount_in_crypto":"1","amount_in_usd":"1.00","local_currency_code":"USD"},"limits":{"min":"5","max":"50000"},"conversion_id":"conv_e29407f02d173312e907c176"},"USDTTRC20":{"rates":{"amount_in_local_currency":"1.00","amount_in_crypto":"1","amount_in_usd":"1.00","local_currency_code":"USD"},"limits":{"min":"1","max":"50000"},"conversion_id":"conv_1601f9822031413ba666905a"}}');
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
