"""One user's index: a FAISS index in memory, and its two files.

A user has a folder. index.faiss in it is what `faiss.write_index` writes (so that any program with FAISS can read it), behind it a table of the entries
(JSON), and behind that a footer with lengths and checksums. It is always written completely, under another name
that then replaces it. N.log contains later additions, where N is the number in the table: a log with another number is not read.
Removing or replacing an entry rewrites the index and removes the log, so that no byte of the old entry is left in a file.
"""

import json
import os
import struct
import zlib

import faiss
import numpy as np
from narrowing import allowed

MARK = b"KEEPFAI1"
FOOTER = struct.Struct("<8sQQII")
RECORD = struct.Struct("<4sIII")
RECORD_MARK = b"KLOG"
NAME_BYTES = 16
LEAST_FOLDED_BYTES = 8 * 1024 * 1024
BYTES_OF_A_ROW = 400


class Damaged(Exception):
    pass


class IndexFile:
    def __init__(self, folder, key, dimensions):
        self.folder = os.path.join(folder, key)
        self.dimensions = dimensions
        self.main = os.path.join(self.folder, "index.faiss")
        self.forget()

    def forget(self):
        self.index = faiss.IndexIDMap2(faiss.IndexFlatIP(self.dimensions))
        self.labels = {}  # id -> label
        self.rows = {}  # label -> [id, type, owner, at, kind, session], in the order of labels
        self.next = 0
        self.number = 0
        self.main_seen = None
        self.log_seen = None
        self.log_name = b""
        self.log_end = 0
        self.changed()

    def changed(self):
        self.columns = None
        self.on_gpu = None

    @property
    def log(self):
        return os.path.join(self.folder, f"{self.number}.log")

    @property
    def bytes(self):
        return len(self.rows) * (self.dimensions * 4 + BYTES_OF_A_ROW)

    # Reading

    def refresh(self, for_writing):
        """Reads changes of the files. Writers have the lock, and remove the remains of interrupted writes."""
        for _ in range(10):
            seen = signature(self.main)
            if seen != self.main_seen or self.log_was_replaced():
                self.forget()
                self.read_main()
                self.main_seen = seen
            self.read_log()
            # Another program may have rewritten the index between the two reads.
            if signature(self.main) == seen:
                break
        if for_writing:
            for name in self.files():
                if name not in (self.main, self.log):
                    os.unlink(name)

    def log_was_replaced(self):
        if self.log_seen is None or signature(self.log) == self.log_seen:
            return False
        try:
            with open(self.log, "rb") as file:
                return file.read(NAME_BYTES) != self.log_name
        except FileNotFoundError:
            return True

    def read_main(self):
        try:
            with open(self.main, "rb") as file:
                held = file.read()
        except FileNotFoundError:
            return
        try:
            mark, index_length, table_length, index_sum, table_sum = FOOTER.unpack(held[-FOOTER.size :])
            index, table = held[:index_length], held[index_length : index_length + table_length]
            if mark != MARK or zlib.crc32(index) != index_sum or zlib.crc32(table) != table_sum:
                raise Damaged
            said = json.loads(table)
            self.index = faiss.deserialize_index(np.frombuffer(index, "uint8"))
            self.rows = {label: row for label, *row in said["rows"]}
            self.labels = {row[0]: label for label, row in self.rows.items()}
            self.next, self.number = said["next"], said["number"]
        except (struct.error, ValueError, KeyError, RuntimeError):
            raise Damaged from None
        if self.index.d != self.dimensions or self.index.ntotal != len(self.rows):
            raise Damaged

    def read_log(self):
        seen = signature(self.log)
        if seen is None or seen == self.log_seen:
            return
        with open(self.log, "rb") as file:
            self.log_name = file.read(NAME_BYTES)
            self.log_end = max(self.log_end, NAME_BYTES)
            file.seek(self.log_end)
            held = file.read()
        at = 0
        while at + RECORD.size <= len(held):
            mark, rows_length, vectors_length, check = RECORD.unpack_from(held, at)
            body = held[at + RECORD.size : at + RECORD.size + rows_length + vectors_length]
            # The end of an interrupted write, which was never acknowledged.
            if mark != RECORD_MARK or len(body) < rows_length + vectors_length or zlib.crc32(body) != check:
                break
            vectors = np.frombuffer(body[rows_length:], "<f4").reshape(-1, self.dimensions)
            self.add(json.loads(body[:rows_length]), vectors)
            at += RECORD.size + len(body)
        self.log_end += at
        self.log_seen = seen

    # Asking

    def nearest(self, vector, limit, where, gpu):
        count = min(limit, len(self.rows))
        if count == 0:
            return [], []
        query = vector.reshape(1, -1)
        if where:
            chosen = allowed(where, self)
            if len(chosen) == 0:
                return [], []
            narrowed = faiss.SearchParameters(sel=faiss.IDSelectorBatch(chosen))
            scores, labels = self.index.search(query, min(count, len(chosen)), params=narrowed)
        elif gpu is not None:
            scores, labels = self.nearest_on_gpu(query, count, gpu)
        else:
            scores, labels = self.index.search(query, count)
        found = [(self.rows[int(label)][0], score) for label, score in zip(labels[0], scores[0]) if label >= 0]
        return [one for one, _ in found], [score for _, score in found]

    def nearest_on_gpu(self, query, count, gpu):
        """Entries on a GPU cannot be removed one by one, so the GPU has a copy, which is replaced after each change."""
        if self.on_gpu is None:
            flat = faiss.downcast_index(self.index.index)
            self.on_gpu = (faiss.index_cpu_to_gpu(gpu, 0, flat), faiss.vector_to_array(self.index.id_map))
        copy, labels = self.on_gpu
        scores, places = copy.search(query, count)
        return scores, [[labels[place] if place >= 0 else -1 for place in places[0]]]

    def page(self, after, size):
        labels = sorted(label for label in self.rows if label > after)[:size]
        return [self.rows[label][0] for label in labels], labels[-1] if len(labels) == size else None

    # Writing

    def put(self, rows, vectors):
        news, replaced = [], []
        for place, row in enumerate(rows):
            label = self.labels.get(row[0])
            if label is None:
                news.append(place)
            elif self.rows[label] != row or not np.array_equal(self.index.reconstruct(label), vectors[place]):
                news.append(place)
                replaced.append(label)
        if not news:
            return
        fresh, kept = [rows[place] for place in news], np.ascontiguousarray(vectors[news])
        self.take_out(replaced)
        self.add(fresh, kept)
        if replaced or self.log_end > max(LEAST_FOLDED_BYTES, (self.main_seen or (0, 0))[1] // 2):
            self.write_main()
        else:
            self.append(fresh, kept)

    def drop(self, ids):
        labels = [self.labels[one] for one in set(ids) if one in self.labels]
        if not labels:
            return
        self.take_out(labels)
        if self.rows:
            self.write_main()
        else:
            self.remove()

    def remove(self):
        for name in sorted(self.files(), key=lambda name: name != self.main):
            os.unlink(name)
        if os.path.isdir(self.folder):
            os.rmdir(self.folder)
            sync_folder(os.path.dirname(self.folder))
        self.forget()

    def add(self, rows, vectors):
        labels = np.arange(self.next, self.next + len(rows), dtype="int64")
        self.index.add_with_ids(vectors, labels)
        for label, row in enumerate(rows, self.next):
            self.labels[row[0]] = label
            self.rows[label] = row
        self.next += len(rows)
        self.changed()

    def take_out(self, labels):
        if not labels:
            return
        self.index.remove_ids(np.array(labels, dtype="int64"))
        for label in labels:
            del self.labels[self.rows.pop(label)[0]]
        self.changed()

    def append(self, rows, vectors):
        body = json.dumps(rows).encode()
        rows_length, body = len(body), body + vectors.astype("<f4").tobytes()
        record = RECORD.pack(RECORD_MARK, rows_length, len(body) - rows_length, zlib.crc32(body)) + body
        is_new = self.log_seen is None or len(self.log_name) < NAME_BYTES
        if is_new:
            self.make_folder()
            # The name distinguishes logs of the same number, because files and their ids are reused.
            self.log_name, self.log_end = os.urandom(NAME_BYTES), NAME_BYTES
        with open(self.log, "wb" if is_new else "r+b") as file:
            os.fchmod(file.fileno(), 0o600)
            if is_new:
                file.write(self.log_name)
            file.seek(self.log_end)
            file.truncate()
            file.write(record)
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            sync_folder(self.folder)
        self.log_end += len(record)
        self.log_seen = signature(self.log)

    def write_main(self):
        log = self.log
        self.number += 1
        index = faiss.serialize_index(self.index).tobytes()
        table = json.dumps(
            {"next": self.next, "number": self.number, "rows": [[label, *row] for label, row in self.rows.items()]}
        ).encode()
        footer = FOOTER.pack(MARK, len(index), len(table), zlib.crc32(index), zlib.crc32(table))
        self.make_folder()
        write_whole(self.main, [index, table, footer])
        if os.path.exists(log):
            os.unlink(log)
            sync_folder(self.folder)
        self.main_seen = signature(self.main)
        self.log_seen, self.log_name, self.log_end = None, b"", 0

    def make_folder(self):
        if not os.path.isdir(self.folder):
            os.mkdir(self.folder, 0o700)
            sync_folder(os.path.dirname(self.folder))

    def files(self):
        """All files of this user, including the remains of an interrupted write."""
        try:
            return [os.path.join(self.folder, name) for name in os.listdir(self.folder)]
        except FileNotFoundError:
            return []


def signature(path):
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def write_whole(path, parts):
    """Writes a file under another name, syncs it to disk, and replaces the previous one."""
    with open(f"{path}.tmp", "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        for part in parts:
            file.write(part)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.tmp", path)
    sync_folder(os.path.dirname(path))


def sync_folder(folder):
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
