#!/usr/bin/env python3
"""Trains the model that reads requests to forget: assets/requests-en.bin.

    node scripts/forgetting/request-rows.ts FOLDER
    pip install torch==2.15.0 numpy
    python3 scripts/forgetting/train.py FOLDER [--out assets/requests-en.bin]

The words are encoded by two convolutions (word_network.py). The sentence is scored from two attention-weighted means and the maximum;
each word is labelled as part of what is to go, what is told and not to be kept, what is to stay, when, or none of these.

A tenth of the written sentences is held out. On it the score is calibrated (Platt 1999): of the sentences with probability p, p are
requests. Prints how many requests of the held-out and of the unfitted sentences are found, how many other sentences are taken
for one, and how many of 1,000 sentences of real chats are. Takes some three minutes on one core.

The file: see src/language/en/model-file.ts. The magic is `KSREQST1`; the header holds the frequent words.
"""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from word_network import Encoder, WIDTH, calibrate, frequent_words, linear, padded, read_rows, round_weights, write_model

MAGIC = b"KSREQST1"
LAYERS, HEADS, PARTS = 2, 2, 5
BATCH, EPOCHS, RATE, DECAY, DROPOUT = 64, 18, 2e-3, 0.05, 0.3
# A word is frequent from this count on; so often it is hidden in training, so that its vector learns too.
LEAST_COUNT, HIDDEN = 3, 0.15
# How much a sentence of a chat, or one that only tells something, counts beside a written one, and how many there are to one written.
CHAT_WEIGHT, CHATS = 0.6, 2


class Network(nn.Module):
    def __init__(self, vectors, rows_of_words, count):
        super().__init__()
        self.encoder = Encoder(vectors, rows_of_words, count, layers=LAYERS, dropout=DROPOUT, hidden=HIDDEN)
        self.attention = nn.Linear(WIDTH, HEADS)
        self.output = nn.Linear((HEADS + 1) * WIDTH, 1)
        self.parts = nn.Linear(2 * WIDTH, PARTS)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, words, shapes, mask):
        x = self.encoder(words, shapes, mask)
        outside = mask[..., None] == 0
        shares = self.attention(x).masked_fill(outside, -1e9).softmax(1)
        pooled = torch.einsum("bte,bth->bhe", x, shares).flatten(1)
        most = x.masked_fill(outside, -1e9).max(1).values
        score = self.output(self.dropout(torch.cat([pooled, most], 1))).squeeze(1)
        first = pooled[:, None, :WIDTH].expand(-1, x.shape[1], -1)
        return score, self.parts(torch.cat([self.dropout(x), first], -1))


def to_batch(rows):
    words, shapes = padded([row["words"] for row in rows]), padded([row["shapes"] for row in rows])
    mask = padded([[1.0] * len(row["words"]) for row in rows], 0.0)
    parts = padded([row.get("parts", [-100] * len(row["words"])) for row in rows], -100)
    return words, shapes, mask, parts, torch.tensor([float(row["isRequest"]) for row in rows])


def train(network, written, chats):
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    done = 0
    for epoch in range(EPOCHS):
        network.train()
        rows = written + random.sample(chats, min(len(chats), CHATS * len(written)))
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
            weight = torch.tensor([CHAT_WEIGHT if row["set"] in ("chats-odd", "told") else 1.0 for row in some])
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


def tensors(network):
    found = network.encoder.tensors() | linear("attention", network.attention)
    return found | linear("output", network.output) | linear("parts", network.parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--out", default="assets/requests-en.bin")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    rows, words, vectors = read_rows(options.folder)
    sets = {}
    for row in rows:
        sets.setdefault(row["set"], []).append(row)
    held = sets.pop("held-out")
    written = [row for name in ("requests", "requests-more", "requests-unmarked") for row in sets.pop(name)]
    told = sets.pop("told")
    frequent, rows_of_words = frequent_words([row["words"] for row in written], len(words), LEAST_COUNT)
    network = Network(vectors, rows_of_words, len(frequent))
    train(network, written, told + sets["chats-odd"])
    encoder = network.encoder
    round_weights([encoder.words, encoder.projection, *encoder.layers, network.attention, network.output, network.parts])
    scores, _ = predict(network, held)
    scale, shift = calibrate(scores, [float(row["isRequest"]) for row in held])
    with torch.no_grad():
        network.output.weight *= scale
        network.output.bias.copy_(network.output.bias * scale + shift)
    for name, some in [("held out", held), *sets.items()]:
        report(network, name, some)
    write_model(options.out, MAGIC, {"words": [words[i] for i in frequent]}, tensors(network))


if __name__ == "__main__":
    main()
