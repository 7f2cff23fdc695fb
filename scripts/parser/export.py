"""Write the trained parser as one file for the TypeScript runtime.

usage: python export.py MODEL OUT.bin

Format, little-endian: the magic `KSPARSE1`; the length of the header (uint32); the header (JSON, padded with spaces to a multiple
of 8 bytes); the data. The header holds the labels, the exceptions of the tokenizer (text -> words, each `[text, norm]` or `[text]`),
spaCy's symbols (strings that have a number instead of a hash) and the tensors: name, rows, columns, bits, and the position in the data. A tensor in 8 or 16 bits is a float32 scale for each row,
then the codes row by row (value = code * scale); one in 32 bits is float32. Each part begins at a multiple of 8 bytes.
"""

import json
import struct
import sys

import numpy
import spacy

MAGIC = b"KSPARSE1"
MOVES = "SDLRB"


def find(model, name):
    return [node for node in model.walk() if node.name == name]


def read_tensors(nlp):
    """(name, values of two dimensions, bits). Pieces of a maxout come one after the other: row = piece * outputs + output."""
    tok2vec = nlp.get_pipe("tok2vec").model
    tensors = []
    for index, node in enumerate(find(tok2vec, "hashembed")):
        assert node.attrs["seed"] == 8 + index
        tensors.append((f"embed{index}", node.get_param("E"), 8))
    maxouts, norms = find(tok2vec, "maxout"), find(tok2vec, "layernorm")
    assert len(maxouts) == len(norms)
    for index, (maxout, norm) in enumerate(zip(maxouts, norms)):
        weights = maxout.get_param("W").transpose(1, 0, 2)
        tensors.append((f"layer{index}.weights", weights.reshape(-1, weights.shape[-1]), 8))
        tensors.append((f"layer{index}.bias", maxout.get_param("b").T.reshape(1, -1), 32))
        tensors.append((f"layer{index}.gain", norm.get_param("G").reshape(1, -1), 32))
        tensors.append((f"layer{index}.shift", norm.get_param("b").reshape(1, -1), 32))
    for name, pipe in (("tags", "tagger"), ("parts", "morphologizer")):
        node = [n for n in nlp.get_pipe(pipe).model.walk() if n.has_param("W")][0]
        tensors.append((f"{name}.weights", node.get_param("W"), 8))
        tensors.append((f"{name}.bias", node.get_param("b").reshape(1, -1), 32))
    parser = nlp.get_pipe("parser").model
    linear = [n for n in parser.get_ref("tok2vec").walk() if n.name == "linear"][0]
    tensors.append(("state.weights", linear.get_param("W"), 8))
    tensors.append(("state.bias", linear.get_param("b").reshape(1, -1), 32))
    lower = parser.get_ref("lower")
    weights = lower.get_param("W").transpose(0, 2, 1, 3)
    tensors.append(("features.weights", weights.reshape(-1, weights.shape[-1]), 8))
    tensors.append(("features.bias", lower.get_param("b").T.reshape(1, -1), 32))
    padding = lower.get_param("pad")[0].transpose(0, 2, 1)
    tensors.append(("features.padding", padding.reshape(padding.shape[0], -1), 32))
    upper = parser.get_ref("upper")
    tensors.append(("moves.weights", upper.get_param("W"), 16))
    tensors.append(("moves.bias", upper.get_param("b").reshape(1, -1), 32))
    return tensors


def quantise(values, bits):
    """Scales and codes of each row."""
    top = 2 ** (bits - 1) - 1
    scales = (numpy.abs(values).max(axis=1) / top).astype("<f4")
    safe = numpy.where(scales == 0, 1, scales)[:, None]
    codes = numpy.clip(numpy.rint(values / safe), -top, top)
    return scales, codes.astype("i1" if bits == 8 else "<i2")


def round_weights(nlp) -> None:
    """Give a spaCy pipeline the weights that the file holds, so that only the runtimes differ."""
    moves = nlp.get_pipe("parser").model.get_ref("upper")
    for _, pipe in nlp.pipeline:
        for node in pipe.model.walk():
            for name in ("E", "W"):
                if not node.has_param(name):
                    continue
                values = node.get_param(name)
                scales, codes = quantise(values.reshape(-1, values.shape[-1]), 16 if node is moves else 8)
                values[...] = (codes * scales[:, None]).reshape(values.shape)


def pad(data: bytes, filler: bytes = b"\0") -> bytes:
    return data + filler * (-len(data) % 8)


def read_exceptions(nlp):
    orth, norm = spacy.symbols.ORTH, spacy.symbols.NORM
    rules = {}
    for text, words in sorted(nlp.tokenizer.rules.items()):
        if text.strip() and " " not in text:
            rules[text] = [[w[orth], w[norm]] if norm in w else [w[orth]] for w in words]
    return rules


def read_moves(parser):
    """Moves in the order of their scores: kind (S, D, L, R, B) and label."""
    names = list(parser.move_names)
    assert all(name[0] in MOVES for name in names)
    return [[name[0], name[2:]] for name in names]


def export(nlp, path: str) -> int:
    data, entries = b"", []
    for name, values, bits in read_tensors(nlp):
        values = numpy.asarray(values, dtype="float32")
        entries.append({"name": name, "rows": values.shape[0], "columns": values.shape[1], "bits": bits, "at": len(data)})
        if bits == 32:
            data += pad(values.astype("<f4").tobytes())
        else:
            scales, codes = quantise(values, bits)
            data += pad(scales.tobytes()) + pad(codes.tobytes())
    header = {
        "tags": list(nlp.get_pipe("tagger").labels),
        "parts": [label.split("POS=")[1].split("|")[0] for label in nlp.get_pipe("morphologizer").labels],
        "moves": read_moves(nlp.get_pipe("parser")),
        "exceptions": read_exceptions(nlp),
        "symbols": {text: number for text, number in spacy.symbols.IDS.items() if text},
        "tensors": entries,
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(len(MAGIC) + 4 + len(text)) % 8)
    with open(path, "wb") as file:
        size = file.write(MAGIC + struct.pack("<I", len(text)) + text + data)
    return size


if __name__ == "__main__":
    print(f"{export(spacy.load(sys.argv[1]), sys.argv[2]):,} bytes")
