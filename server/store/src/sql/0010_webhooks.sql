-- Addresses to which events are posted, and the events on their way there.

CREATE TABLE webhooks (
    id             BLOB PRIMARY KEY,
    account        BLOB NOT NULL,
    url            TEXT NOT NULL,
    -- One bit per event type.
    events         INTEGER NOT NULL,
    enabled        INTEGER NOT NULL,
    -- Sealed, as everything below that is called so.
    secret         BLOB NOT NULL,
    -- The secret before the last rotation, and until when it signs, too.
    previous       BLOB,
    previous_until INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX webhooks_account ON webhooks (account, created_at);

CREATE TABLE webhook_deliveries (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    webhook    BLOB NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event      INTEGER NOT NULL,
    -- 0 pending, 1 retrying, 2 delivered, 3 failed
    state      INTEGER NOT NULL,
    -- Attempts that failed since the beginning of the schedule.
    failures   INTEGER NOT NULL,
    -- When the next attempt is due; NULL once there is none.
    due_at     INTEGER,
    created_at INTEGER NOT NULL,
    -- The body, sealed.
    payload    BLOB NOT NULL
) STRICT;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, due_at, row) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_list ON webhook_deliveries (webhook, row);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);

CREATE TABLE webhook_attempts (
    delivery   INTEGER NOT NULL REFERENCES webhook_deliveries (row) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    status     INTEGER,
    latency_ms INTEGER NOT NULL,
    error      TEXT,
    -- The first KiB of the answer, sealed.
    response   BLOB,
    PRIMARY KEY (delivery, number)
) WITHOUT ROWID, STRICT;
