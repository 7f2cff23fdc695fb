"""What schemathesis has to know beyond the document: bodies that are no JSON, and keys that are new each time."""

import itertools
import json
import re

import schemathesis

PERCENT = re.compile(r"%(?=[0-9A-Fa-f]{2})")
VALID = re.compile(r"^[!-~]{1,200}$")
COUNTER = itertools.count(1)


@schemathesis.serializer("application/x-ndjson", "application/jsonl", "text/plain")
def lines(_context, value):
    """Lines as they are; of anything else, one line of JSON."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return json.dumps(value).encode()


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Most Idempotency-Keys are new, as clients make them: else nearly all that is sent would only meet an earlier answer."""
    headers = case.headers or {}
    key = headers.get("Idempotency-Key")
    if isinstance(key, str) and VALID.match(key) and next(COUNTER) % 5 != 0:
        headers["Idempotency-Key"] = f"{key}-{next(COUNTER)}"
    # What looks like a part of an address the tool does not encode when it goes into one: the user would be another.
    if isinstance(case.body, dict):
        for name in ("user_id", "userId"):
            if isinstance(case.body.get(name), str):
                case.body[name] = PERCENT.sub("_", case.body[name])
