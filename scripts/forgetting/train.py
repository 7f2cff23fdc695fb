#!/usr/bin/env python3
"""Trains the model that reads requests to forget: assets/requests-en.bin.

    node scripts/forgetting/request-rows.ts FOLDER
    pip install torch==2.15.0 numpy
    python3 scripts/forgetting/train.py FOLDER [--out assets/requests-en.bin]

Each word is the projection of its vector in the built-in embedder's table, plus a row of its own if it is frequent, plus a row for its
shape. Two residual convolutions over three words follow. The sentence is scored from two attention-weighted means and the maximum;
each word is labelled as part of what is to go, what is told and not to be kept, what is to stay, when, or none of these.

A tenth of the written sentences is held out. On it the score is calibrated (Platt 1999): of the sentences with probability p, p are
requests. Prints how many requests of the held-out and of the unfitted sentences are found, how many other sentences are taken
for one, and how many of 1,000 sentences of real chats are. Takes some five minutes on two cores.

The file: see src/language/en/model-file.ts. The magic is `KSREQST1`; the header holds the frequent words.
"""
import argparse
import json
import random
import struct

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MAGIC = b"KSREQST1"
WIDTH, LAYERS, HEADS, WINDOW, SHAPES, PARTS = 64, 2, 2, 3, 8, 5
VECTOR = 256
BATCH, EPOCHS, RATE, DECAY, DROPOUT = 64, 20, 2e-3, 0.05, 0.3
# A word is frequent from this count on; so often it is hidden in training, so that its vector learns too.
LEAST_COUNT, HIDDEN = 3, 0.15
# How much a sentence of a chat counts beside a written one.
CHAT_WEIGHT = 0.3
HELD_OUT = 10


class Network(nn.Module):
    def __init__(self, vectors, rows_of_words, count):
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)
        self.register_buffer("rows_of_words", rows_of_words, persistent=False)
        self.projection = nn.Linear(VECTOR, WIDTH)
        self.words = nn.Embedding(count + 1, WIDTH)
        self.shapes = nn.Embedding(SHAPES, WIDTH)
        nn.init.normal_(self.words.weight, 0, 0.1)
        nn.init.normal_(self.shapes.weight, 0, 0.1)
        self.layers = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, WINDOW, padding=1) for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(LAYERS + 1))
        self.attention = nn.Linear(WIDTH, HEADS)
        self.output = nn.Linear((HEADS + 1) * WIDTH, 1)
        self.parts = nn.Linear(2 * WIDTH, PARTS)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, words, shapes, mask):
        rows = self.rows_of_words[words]
        if self.training:
            rows = torch.where(torch.rand(rows.shape) < HIDDEN, torch.zeros_like(rows), rows)
        outside = mask[..., None] == 0
        x = self.norms[0](self.projection(self.vectors[words]) + self.words(rows) + self.shapes(shapes))
        x = x.masked_fill(outside, 0)
        for layer, norm in zip(self.layers, self.norms[1:]):
            made = F.relu(layer(self.dropout(x).transpose(1, 2)).transpose(1, 2))
            x = (x + norm(made)).masked_fill(outside, 0)
        shares = self.attention(x).masked_fill(outside, -1e9).softmax(1)
        pooled = torch.einsum("bte,bth->bhe", x, shares).flatten(1)
        most = x.masked_fill(outside, -1e9).max(1).values
        score = self.output(self.dropout(torch.cat([pooled, most], 1))).squeeze(1)
        first = pooled[:, None, :WIDTH].expand(-1, x.shape[1], -1)
        return score, self.parts(torch.cat([self.dropout(x), first], -1))


def to_batch(rows):
    longest = max(len(row["words"]) for row in rows)
    words = torch.zeros(len(rows), longest, dtype=torch.long)
    shapes, mask, parts = torch.zeros_like(words), torch.zeros(len(rows), longest), torch.full((len(rows), longest), -100)
    for i, row in enumerate(rows):
        size = len(row["words"])
        words[i, :size] = torch.tensor(row["words"])
        shapes[i, :size] = torch.tensor(row["shapes"])
        mask[i, :size] = 1
        if "parts" in row:
            parts[i, :size] = torch.tensor(row["parts"])
    target = torch.tensor([float(row["isRequest"]) for row in rows])
    return words, shapes, mask, parts, target


def train(network, written, chats):
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    done = 0
    for epoch in range(EPOCHS):
        network.train()
        rows = written * 2 + random.sample(chats, min(len(chats), 2 * len(written)))
        random.shuffle(rows)
        batches = []
        for at in range(0, len(rows), BATCH * 8):
            some = sorted(rows[at : at + BATCH * 8], key=lambda row: len(row["words"]))
            batches += [some[i : i + BATCH] for i in range(0, len(some), BATCH)]
        random.shuffle(batches)
        total = 0.0
        for some in batches:
            share = min(1, (done + 1) / 100) * (1 - done / (len(batches) * EPOCHS + 1))
            for group in optimizer.param_groups:
                group["lr"] = RATE * share
            words, shapes, mask, parts, target = to_batch(some)
            weight = torch.tensor([CHAT_WEIGHT if row["set"] == "chats-odd" else 1.0 for row in some])
            score, labels = network(words, shapes, mask)
            loss = (F.binary_cross_entropy_with_logits(score, target, reduction="none") * weight).sum() / weight.sum()
            if (parts >= 0).any():
                loss = loss + 0.5 * F.cross_entropy(labels.reshape(-1, PARTS), parts.reshape(-1), ignore_index=-100)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            done += 1
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / len(batches):.3f}", flush=True)


def predict(network, rows):
    network.eval()
    scores, labels = np.zeros(len(rows)), [None] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]["words"]))
    with torch.no_grad():
        for at in range(0, len(order), 512):
            some = order[at : at + 512]
            words, shapes, mask, _, _ = to_batch([rows[i] for i in some])
            score, found = network(words, shapes, mask)
            scores[some] = score.numpy()
            for k, i in enumerate(some):
                labels[i] = found[k, : len(rows[i]["words"])].argmax(-1).numpy()
    return scores, labels


def calibrate(scores, targets):
    """Scale and shift of the scores, by the likelihood of the targets."""
    x, y = torch.tensor(scores), torch.tensor(targets, dtype=torch.double)
    both = torch.tensor([1.0, 0.0], dtype=torch.double, requires_grad=True)
    optimizer = torch.optim.LBFGS([both], max_iter=200)

    def closure():
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(both[0] * x + both[1], y)
        loss.backward()
        return loss

    optimizer.step(closure)
    return [float(value) for value in both.detach()]


def report(network, name, rows):
    scores, labels = predict(network, rows)
    chances = 1 / (1 + np.exp(-scores))
    is_request = np.array([row["isRequest"] for row in rows])
    for least in (0.5, 0.8, 0.9, 0.98):
        found = chances >= least
        if not is_request.any():
            print(f"{name}, p {least}: {1000 * found.mean():.2f} of 1,000 sentences taken for a request")
            continue
        right, wrong = (found & is_request).sum(), (found & ~is_request).sum()
        print(f"{name}, p {least}: {right} of {is_request.sum()} requests found, {wrong} of {(~is_request).sum()} others")
    marked = [(np.array(row["parts"]), label) for row, label in zip(rows, labels) if "parts" in row]
    for part, title in enumerate(("what is to go", "what is told", "what stays", "when"), 1):
        right = sum(((truth == part) & (label == part)).sum() for truth, label in marked)
        given = sum((label == part).sum() for _, label in marked)
        wanted = sum((truth == part).sum() for truth, _ in marked)
        if wanted and given:
            print(f"{name}, words of {title}: {right / given:.3f} right, {right / wanted:.3f} found")


def quantise(values):
    scales = (np.abs(values).max(axis=1) / 127).astype("<f4")
    safe = np.where(scales == 0, 1, scales)[:, None]
    return scales, np.clip(np.rint(values / safe), -127, 127).astype("i1")


def round_weights(network):
    """Gives the network the weights that the file holds, so that the figures are those of the file."""
    modules = [network.words, network.projection, network.attention, network.output, network.parts, *network.layers]
    for module in modules:
        values = module.weight.numpy()
        # A convolution is stored place by place.
        flat = values.transpose(0, 2, 1).reshape(len(values), -1) if values.ndim == 3 else values
        scales, codes = quantise(flat)
        rounded = codes * scales[:, None]
        if values.ndim == 3:
            rounded = rounded.reshape(len(values), WINDOW, -1).transpose(0, 2, 1)
        module.weight.copy_(torch.tensor(np.ascontiguousarray(rounded)))


def pad(data, filler=b"\0"):
    return data + filler * (-len(data) % 8)


def export(network, words, path):
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    tensors = [("words", state["words.weight"], 8), ("shapes", state["shapes.weight"], 32)]
    for name in ("projection", "attention", "output", "parts"):
        tensors += [(f"{name}.weights", state[f"{name}.weight"], 8), (f"{name}.bias", state[f"{name}.bias"], 32)]
    for i in range(LAYERS + 1):
        tensors += [(f"norm{i}.gain", state[f"norms.{i}.weight"], 32), (f"norm{i}.shift", state[f"norms.{i}.bias"], 32)]
    for i in range(LAYERS):
        weights = state[f"layers.{i}.weight"].transpose(0, 2, 1).reshape(WIDTH, -1)
        tensors += [(f"layer{i}.weights", weights, 8), (f"layer{i}.bias", state[f"layers.{i}.bias"], 32)]
    data, entries = b"", []
    for name, values, bits in tensors:
        values = values.reshape(1, -1) if values.ndim == 1 else values
        entries.append({"name": name, "rows": values.shape[0], "columns": values.shape[1], "bits": bits, "at": len(data)})
        if bits == 32:
            data += pad(values.astype("<f4").tobytes())
        else:
            scales, codes = quantise(values)
            data += pad(scales.tobytes()) + pad(codes.tobytes())
    header = json.dumps({"words": words, "tensors": entries}, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-(len(MAGIC) + 4 + len(header)) % 8)
    with open(path, "wb") as file:
        print(f"{file.write(MAGIC + struct.pack('<I', len(header)) + header + data):,} bytes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--out", default="assets/requests-en.bin")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    torch.set_num_threads(2)
    with open(f"{options.folder}/rows.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with open(f"{options.folder}/words.json", encoding="utf-8") as file:
        words = json.load(file)
    vectors = torch.tensor(np.fromfile(f"{options.folder}/vectors.bin", dtype="<f4").reshape(-1, VECTOR))
    sets = {}
    for row in rows:
        sets.setdefault(row["set"], []).append(row)
    all_written = sets.pop("requests") + sets.pop("requests-more")
    random.shuffle(all_written)
    held, written = all_written[::HELD_OUT], [row for i, row in enumerate(all_written) if i % HELD_OUT]
    counts = np.zeros(len(words), int)
    for row in written:
        counts[list(set(row["words"]))] += 1
    frequent = np.flatnonzero(counts >= LEAST_COUNT)
    rows_of_words = torch.zeros(len(words), dtype=torch.long)
    rows_of_words[torch.tensor(frequent)] = torch.arange(1, len(frequent) + 1)
    network = Network(vectors, rows_of_words, len(frequent))
    train(network, written, sets["chats-odd"])
    with torch.no_grad():
        round_weights(network)
    scores, _ = predict(network, held)
    scale, shift = calibrate(scores, [float(row["isRequest"]) for row in held])
    with torch.no_grad():
        network.output.weight *= scale
        network.output.bias.copy_(network.output.bias * scale + shift)
    for name, some in [("held out", held), *sets.items()]:
        report(network, name, some)
    export(network, [words[i] for i in frequent], options.out)


if __name__ == "__main__":
    main()
