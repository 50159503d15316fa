-- What several servers on one database have in common.

-- The work that one of them does at a time, and who does it. Times are those of the database, in milliseconds.
CREATE TABLE leases (
    name       text COLLATE "C" PRIMARY KEY,
    holder     text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL
);

-- The rest is worth nothing after a crash of the database, and is not written to its log.

-- The time at which a bucket of requests is full again, in microseconds.
CREATE UNLOGGED TABLE request_buckets (
    key     bytea PRIMARY KEY,
    full_at bigint NOT NULL
);
CREATE INDEX request_buckets_full ON request_buckets (full_at);

-- Failed logins, by the hash of the address or network.
CREATE UNLOGGED TABLE login_failures (
    subject bytea PRIMARY KEY,
    count   bigint NOT NULL,
    since   bigint NOT NULL
);

-- Requests with an idempotency key on their way, and the server that carries each out.
CREATE UNLOGGED TABLE running_requests (
    account bytea NOT NULL,
    key     text COLLATE "C" NOT NULL,
    holder  text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, key)
);
