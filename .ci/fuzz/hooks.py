"""What schemathesis has to know beyond the document: bodies that are no JSON, keys that are new each time, and clients that are many."""

import itertools
import json
import os
import re

import schemathesis
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection

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


# The server slows down an address that sends wrong keys, and then answers 429. Each connection comes from an address of its own, and ends
# after a key that is not the right one, so that the tool sees 401 from the operation itself. The limit has its own tests
# (src/http/middleware/failed-keys.test.ts).
ADDRESSES = (f"127.1.{number // 250}.{number % 250 + 1}" for number in itertools.cycle(range(50_000)))
RIGHT = f"Bearer {os.environ['KEEPSAKE_API_KEY']}"
connect = HTTPConnection.__init__
send = HTTPAdapter.send


def connect_from_own_address(self, *args, **kwargs):
    connect(self, *args, **{**kwargs, "source_address": (next(ADDRESSES), 0)})


def send_wrong_key_once(self, request, **kwargs):
    if request.headers.get("Authorization") not in (RIGHT, RIGHT.encode()):
        request.headers["Connection"] = "close"
    return send(self, request, **kwargs)


HTTPConnection.__init__ = connect_from_own_address
HTTPAdapter.send = send_wrong_key_once
