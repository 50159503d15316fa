-- The bytes of the responses that are kept for each account, which are bounded. Triggers keep the number.
CREATE TABLE kept_responses (
    account BLOB PRIMARY KEY,
    bytes   INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- 256 bytes for what a row costs besides.
INSERT INTO kept_responses (account, bytes)
SELECT account, sum(length(body) + length(headers) + length(key) + 256) FROM idempotency GROUP BY account;

CREATE INDEX idempotency_account ON idempotency (account, created_at);

CREATE TRIGGER responses_kept AFTER INSERT ON idempotency BEGIN
    INSERT INTO kept_responses (account, bytes)
    VALUES (NEW.account, length(NEW.body) + length(NEW.headers) + length(NEW.key) + 256)
    ON CONFLICT (account) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER responses_forgotten AFTER DELETE ON idempotency BEGIN
    UPDATE kept_responses SET bytes =
        bytes - length(OLD.body) - length(OLD.headers) - length(OLD.key) - 256
    WHERE account = OLD.account;
END;
