"""Manages FAISS indexes for Keepsake: answers frames on its standard input with frames on its standard output.

A frame is the length of a header and of a body (two unsigned 32-bit numbers, little endian), the header (JSON), the body.
The first frame, sent unasked, reports the installed packages. Calls are answered one after the other, in order. The program ends
with its input, so that it never outlives its parent. It writes nothing to standard error.

    python3 worker.py FOLDER MEMORY_BYTES [gpu]
"""

import json
import os
import struct
import sys

MOST_BYTES = 256 * 1024 * 1024


def main():
    given, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Output of libraries must not mix with the frames.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def answer(header, body=b""):
        text = json.dumps(header).encode()
        answers.write(struct.pack("<II", len(text), len(body)) + text + body)
        answers.flush()

    try:
        from store import Refused, Store
    except ImportError as error:
        answer({"ok": False, "code": "missing", "message": str(error.name)})
        return
    try:
        store = Store(sys.argv[1], int(sys.argv[2]), "gpu" in sys.argv[3:])
    except Refused as refused:
        answer({"ok": False, "code": refused.code, "message": str(refused)})
        return
    answer({"ok": True, "faiss": store.version})
    while True:
        lengths = given.read(8)
        if len(lengths) < 8:
            return
        header_length, body_length = struct.unpack("<II", lengths)
        if header_length + body_length > MOST_BYTES:
            return
        frame = given.read(header_length + body_length)
        if len(frame) < header_length + body_length:
            return
        asked = json.loads(frame[:header_length])
        try:
            given_back, body = store.call(asked, frame[header_length:])
            answer({**given_back, "id": asked["id"], "ok": True}, body)
        except Refused as refused:
            answer({"id": asked["id"], "ok": False, "code": refused.code, "message": str(refused)})
        except OSError as error:
            message = f"The index folder cannot be used: {error.strerror or type(error).__name__}."
            answer({"id": asked["id"], "ok": False, "code": "unavailable", "message": message})
        except Exception as error:  # A bug: the message may quote the request, so it is left out.
            message = f"The FAISS worker failed ({type(error).__name__})."
            answer({"id": asked["id"], "ok": False, "code": "unavailable", "message": message})


if __name__ == "__main__":
    main()
