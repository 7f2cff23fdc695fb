"""What schemathesis has to know of the bodies that are no JSON documents."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/jsonl", "text/plain")
def lines(_context, value):
    """Lines as they are; of anything else, one line of JSON."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return json.dumps(value).encode()
