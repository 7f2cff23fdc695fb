"""A folder of FAISS indexes, one for each user, some of them in memory."""

import contextlib
import fcntl
import json
import os
import re
import time
from collections import OrderedDict

import faiss
import numpy as np
from index_file import Damaged, IndexFile, write_whole
from narrowing import Unsaid

LOCK_SECONDS = 5
USER = re.compile("[0-9a-f]{64}")
PAGE = 5000


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Store:
    """Several programs may use one folder: writers take its lock, and readers check whether files have changed."""

    def __init__(self, folder, memory_bytes, on_gpu):
        self.folder = folder
        self.memory_bytes = memory_bytes
        self.version = faiss.__version__
        self.held = OrderedDict()
        self.space = None
        self.gpu = None
        # With one query at a time, one thread is faster, and leaves the other processors free.
        faiss.omp_set_num_threads(1)
        if on_gpu:
            if not hasattr(faiss, "StandardGpuResources") or faiss.get_num_gpus() == 0:
                raise Refused("no_gpu", "FAISS finds no GPU.")
            self.gpu = faiss.StandardGpuResources()

    def call(self, asked, body):
        name = asked["call"]
        if name == "prepare":
            return self.prepare(asked["space"])
        if name == "clear":
            return self.clear()
        self.check_space(asked["space"])
        if name in ("put", "drop", "drop_user"):
            with self.locked():
                return getattr(self, name)(asked, body)
        if name in ("nearest", "holds", "ids"):
            return getattr(self, name)(asked, body)
        raise Refused("invalid_input", "There is no call with this name.")

    def prepare(self, space):
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise Refused("invalid_input", "The path of the index is a file. Set a folder.") from None
        with self.locked():
            if self.space_there() != space:
                self.remove_all()
                write_whole(self.at("space.json"), [json.dumps(space).encode()])
        return {}, b""

    def clear(self):
        if os.path.isdir(self.folder):
            with self.locked():
                self.remove_all()
        return {}, b""

    def put(self, asked, body):
        dimensions = self.space["dimensions"]
        vectors = np.frombuffer(body, "<f4").reshape(-1, dimensions)
        with self.changing(asked["user"], for_writing=True) as user:
            user.put(asked["rows"], vectors)
        return {}, b""

    def drop(self, asked, _body):
        with self.changing(asked["user"], for_writing=True) as user:
            user.drop(asked["ids"])
        return {}, b""

    def drop_user(self, asked, _body):
        key = asked["user"]
        self.held.pop(key, None)
        IndexFile(self.folder, key, self.space["dimensions"]).remove()
        return {}, b""

    def nearest(self, asked, body):
        with self.changing(asked["user"]) as user:
            try:
                ids, scores = user.nearest(np.frombuffer(body, "<f4"), asked["limit"], asked.get("where"), self.gpu)
            except Unsaid as error:
                raise Refused("unsupported", str(error)) from None
        return {"ids": ids}, np.asarray(scores, "<f4").tobytes()

    def holds(self, asked, _body):
        # Reads the files, because this verifies erasures: the index in memory proves nothing.
        self.held.pop(asked["user"], None)
        with self.changing(asked["user"]) as user:
            return {"ids": [one for one in asked["ids"] if one in user.labels]}, b""

    def ids(self, asked, _body):
        with self.changing(asked["user"]) as user:
            ids, last = user.page(asked["after"], PAGE)
        return {"ids": ids, "last": last}, b""

    @contextlib.contextmanager
    def changing(self, key, for_writing=False):
        """A user's index, as in its files now. After an error, it is read again."""
        user = self.held.pop(key, None) or IndexFile(self.folder, key, self.space["dimensions"])
        try:
            user.refresh(for_writing)
            yield user
        except Damaged:
            raise Refused("unavailable", "An index file of FAISS is damaged. Rebuild the index: keepsake reindex --follower faiss") from None
        self.held[key] = user
        total = sum(one.bytes for one in self.held.values())
        while total > self.memory_bytes and len(self.held) > 1:
            total -= self.held.popitem(last=False)[1].bytes

    def space_there(self):
        try:
            with open(self.at("space.json"), "rb") as file:
                return json.loads(file.read())
        except (FileNotFoundError, ValueError):
            return None

    def check_space(self, space):
        """Checks the embedder of a call: another program may have prepared the folder for another one."""
        there = self.space_there()
        if there != self.space:
            self.held.clear()
            self.space = there
        if there is None:
            raise Refused("emptied", "The index folder of FAISS has lost its data. The index is being filled again.")
        if there != space:
            raise Refused("unavailable", "The index folder was prepared for another embedder.")

    def remove_all(self):
        """Our own files only, because the folder may contain others."""
        self.held.clear()
        for name in ("space.json", "space.json.tmp"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.at(name))
        for name in os.listdir(self.folder):
            if USER.fullmatch(name):
                IndexFile(self.folder, name, 1).remove()

    @contextlib.contextmanager
    def locked(self):
        with open(self.at("lock"), "ab") as file:
            end = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise Refused("unavailable", "Another program is writing to the index folder.") from None
                    time.sleep(0.01)
            yield

    def at(self, name):
        return os.path.join(self.folder, name)
