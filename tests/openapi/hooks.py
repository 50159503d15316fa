"""What Schemathesis does with each request to the server, and looks for in each response."""

from itertools import count

import schemathesis

KEYS = count()


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Lets allowed requests reach what they are about: a key that was used is refused for another request, and so is
    every space but the caller's own."""
    headers, meta = case.headers, case.meta
    if not headers or meta is None or not meta.generation.mode.is_positive:
        return
    headers.pop("X-Space-Id", None)
    if "Idempotency-Key" in headers:
        headers["Idempotency-Key"] = f"key {next(KEYS)}"


@schemathesis.check
def account_in_use(_context, response, _case):
    """Finds the request after which the account can change nothing, and all others would be refused for that alone."""
    assert response.status_code != 403 or "is to be deleted" not in response.text
