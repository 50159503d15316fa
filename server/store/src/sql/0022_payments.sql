-- Money: a double-entry ledger in whole hundredths, and what is sold.

CREATE TABLE ledger_entries (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- The amounts of one entry add up to zero in each currency. Postings outlive the accounts that
-- they speak of, or the books would no longer balance.
CREATE TABLE ledger_postings (
    entry    INTEGER NOT NULL REFERENCES ledger_entries (row),
    book     TEXT NOT NULL,
    currency TEXT NOT NULL,
    amount   INTEGER NOT NULL CHECK (amount <> 0)
) STRICT;

CREATE INDEX ledger_postings_book ON ledger_postings (book, currency, entry);

CREATE TABLE subscriptions (
    account      BLOB PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    plan         TEXT NOT NULL,
    next_plan    TEXT,
    state        TEXT NOT NULL, -- active, past_due
    period_start INTEGER NOT NULL,
    period_end   INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE coupons (
    code        TEXT PRIMARY KEY COLLATE NOCASE,
    percent_off INTEGER,
    amount_off  INTEGER,
    description TEXT NOT NULL,
    expires_at  INTEGER
) WITHOUT ROWID, STRICT;

-- Each account uses a coupon once.
CREATE TABLE coupon_uses (
    code       TEXT NOT NULL COLLATE NOCASE REFERENCES coupons (code) ON DELETE CASCADE,
    account    BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (code, account)
) WITHOUT ROWID, STRICT;

CREATE TABLE spending_alerts (
    account           BLOB PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    monthly_budget    INTEGER,
    threshold_percent INTEGER NOT NULL,
    email_enabled     INTEGER NOT NULL,
    -- `2026-01`: the month that an alert was raised for.
    alerted_month     TEXT
) WITHOUT ROWID, STRICT;

CREATE TABLE creator_plans (
    id            BLOB PRIMARY KEY,
    creator       BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name          TEXT NOT NULL,
    price_monthly INTEGER NOT NULL,
    description   TEXT NOT NULL,
    created_at    INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX creator_plans_creator ON creator_plans (creator, created_at);

CREATE TABLE creator_subscriptions (
    id           BLOB PRIMARY KEY,
    subscriber   BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    creator      BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    plan         BLOB NOT NULL REFERENCES creator_plans (id) ON DELETE CASCADE,
    state        TEXT NOT NULL, -- active, cancelled, ended
    started_at   INTEGER NOT NULL,
    period_end   INTEGER NOT NULL,
    cancelled_at INTEGER
) WITHOUT ROWID, STRICT;

-- Somebody pays a creator once at a time.
CREATE UNIQUE INDEX creator_subscriptions_open ON creator_subscriptions (subscriber, creator) WHERE state <> 'ended';
CREATE INDEX creator_subscriptions_creator ON creator_subscriptions (creator, state);
CREATE INDEX creator_subscriptions_due ON creator_subscriptions (period_end) WHERE state <> 'ended';

-- What a creator gets at the end of the period that was paid for.
CREATE TABLE creator_payouts (
    creator BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    amount  INTEGER NOT NULL,
    due_at  INTEGER NOT NULL,
    paid_at INTEGER
) STRICT;

CREATE INDEX creator_payouts_due ON creator_payouts (due_at) WHERE paid_at IS NULL;

CREATE TABLE tips (
    id         BLOB PRIMARY KEY,
    sender     BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    recipient  BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    currency   TEXT NOT NULL,
    amount     INTEGER NOT NULL,
    message    TEXT NOT NULL,
    anonymous  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX tips_recipient ON tips (recipient, created_at);
CREATE INDEX tips_sender ON tips (sender, created_at);

CREATE TABLE withdrawals (
    id           BLOB PRIMARY KEY,
    account      BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    amount       INTEGER NOT NULL,
    state        TEXT NOT NULL, -- requested, paid
    requested_at INTEGER NOT NULL,
    paid_at      INTEGER
) WITHOUT ROWID, STRICT;

CREATE INDEX withdrawals_account ON withdrawals (account, requested_at);
CREATE INDEX withdrawals_open ON withdrawals (requested_at) WHERE state = 'requested';
