#!/usr/bin/env python3
"""Trains a reading on top of the reader: assets/reader-tops-en.bin, or FOLDER/reader-said-en.bin.

    node scripts/reader/history-rows.ts FOLDER; node scripts/reader/said-rows.ts FOLDER
    python3 scripts/reader/train_tops.py FOLDER --top ends
    python3 scripts/reader/train_tops.py FOLDER --top said

The lower blocks of assets/reader-en.bin stay as they are; the reading goes on from them in blocks of its own, which begin as the reader's
last ones. So nothing that the reader has learned is lost. `ends`: whether a later statement ends an earlier one, which stands before it
as a question does. `said`: whether a message says what a memory says, which stands before it. A tenth of the rows is held out; on it the
scores are calibrated (Platt 1999). Takes some four minutes (`ends`) and fifteen (`said`) on two cores.

The file: see src/language/en/model-file.ts. The magic is `KSTOPS01`.
"""
import argparse
import copy
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).parent.parent / "forgetting"))
from train_reader import QUESTION, WIDTH, framed, load_network, load_weights, norm_tensors, read_jsonl, rescale, to_batch
from word_network import area_under_roc, linear, round_weights, write_model

MAGIC = b"KSTOPS01"
# Of each reading: its rows, how many blocks of the reader it shares (for `ends` the same as in src/language/en/transformer/reader.ts), epochs,
# windows at a time, and its file. `said` is not in the product (docs/results/statements.md).
TOPS = {
    "ends": ("histories.jsonl", 4, 2, 64, "assets/reader-tops-en.bin"),
    "said": ("said.jsonl", 3, 4, 32, None),
}
SAID = 7
RATE, HEAD_RATE, DECAY, DROPOUT, WARM, CACHED_AT_ONCE = 1e-4, 1e-3, 0.01, 0.1, 50, 64


class Top(nn.Module):
    def __init__(self, reader, shared):
        super().__init__()
        self.count, self.blocks, self.head = shared, copy.deepcopy(reader.blocks[shared:]), nn.Linear(WIDTH, 1)
        self.dropout = nn.Dropout(DROPOUT)
        nn.init.zeros_(self.head.weight)
        nn.init.constant_(self.head.bias, -1.5)

    def forward(self, rows, mask):
        outside = torch.zeros(mask.shape).masked_fill(mask == 0, -1e9)[:, None, None, :]
        for block in self.blocks:
            rows = block(rows, outside)
        return rows

    def rate(self, shared, windows):
        """The scores of the clauses of some windows, from what the shared blocks make of them."""
        longest = max(len(rows) for rows in shared)
        rows, mask = torch.zeros(len(shared), longest, WIDTH), torch.zeros(len(shared), longest)
        for i, one in enumerate(shared):
            rows[i, : len(one)], mask[i, : len(one)] = one.float(), 1
        x = self(rows, mask)
        sums = torch.cat([torch.zeros(len(shared), 1, WIDTH), x.cumsum(1)], 1)
        spans = [(i, start, end) for i, window in enumerate(windows) for start, end, _ in window["clauses"]]
        of, start, end = (torch.tensor(some) for some in zip(*spans))
        return self.head(self.dropout((sums[of, end] - sums[of, start]) / (end - start)[:, None])).squeeze(1)


@torch.no_grad()
def shared_rows(reader, windows, count):
    found = [None] * len(windows)
    order = sorted(range(len(windows)), key=lambda i: len(windows[i]["tokens"]))
    for at in range(0, len(order), CACHED_AT_ONCE):
        some = order[at : at + CACHED_AT_ONCE]
        with torch.autocast("cpu", torch.bfloat16):
            tokens, roles, mask = to_batch([windows[i] for i in some])
            x = reader.norm(reader.embeddings[tokens] + reader.positions.weight[: tokens.shape[1]] + reader.roles(roles))
            outside = torch.zeros(mask.shape).masked_fill(mask == 0, -1e9)[:, None, None, :]
            for block in reader.blocks[:count]:
                x = block(x, outside)
        for row, i in enumerate(some):
            found[i] = x[row, : len(windows[i]["tokens"])].to(torch.bfloat16).clone()
    return found


def train(reader, name, windows, held):
    _, count, epochs, size, _ = TOPS[name]
    top, begun = Top(reader, count), time.time()
    shared = shared_rows(reader, windows, count)
    groups = [{"params": top.blocks.parameters(), "most": RATE}, {"params": top.head.parameters(), "most": HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)
    steps, done = epochs * -(-len(windows) // size), 0
    for epoch in range(epochs):
        top.train()
        order = random.sample(range(len(windows)), len(windows))
        # Windows of like length are read together.
        chunks = [sorted(order[i : i + size * 16], key=lambda k: len(shared[k])) for i in range(0, len(order), size * 16)]
        batches = [chunk[i : i + size] for chunk in chunks for i in range(0, len(chunk), size)]
        for batch in random.sample(batches, len(batches)):
            for group in optimizer.param_groups:
                group["lr"] = group["most"] * min(1, (done + 1) / WARM) * (1 - done / steps)
            some = [windows[i] for i in batch]
            with torch.autocast("cpu", torch.bfloat16):
                scores = top.rate([shared[i] for i in batch], some).float()
            targets = torch.tensor([float(target) for window in some for *_, target in window["clauses"]])
            weights = torch.tensor([len(window["clauses"]) ** -0.5 for window in some for _ in window["clauses"]])
            losses = F.binary_cross_entropy_with_logits(scores, targets, reduction="none")
            optimizer.zero_grad()
            ((losses * weights).sum() / weights.sum()).backward()
            nn.utils.clip_grad_norm_(top.parameters(), 1.0)
            optimizer.step()
            done += 1
        report(f"{name}, epoch {epoch + 1}, {time.time() - begun:.0f} s", *rate(reader, top, held))
    round_weights([module for module in top.modules() if isinstance(module, nn.Linear)])
    scores, targets, _ = rate(reader, top, held)
    rescale(top.head, scores, targets)
    round_weights([top.head])
    return top


@torch.no_grad()
def rate(reader, top, windows):
    top.eval()
    shared, scores = shared_rows(reader, windows, top.count), []
    for at in range(0, len(windows), CACHED_AT_ONCE):
        scores += top.rate(shared[at : at + CACHED_AT_ONCE], windows[at : at + CACHED_AT_ONCE]).tolist()
    targets = [float(target >= 0.5) for window in windows for *_, target in window["clauses"]]
    kinds = [window["set"] for window in windows for _ in window["clauses"]]
    return np.array(scores), np.array(targets), np.array(kinds)


def report(title, scores, targets, kinds):
    line = f"{title}: area under ROC {area_under_roc(scores, targets):.3f};"
    for kind in sorted(set(kinds)):
        own = scores[kinds == kind]
        line += f" {kind}: {(own > 0).mean():.3f} of {len(own)} at p 0.5, {(own > 1.73).mean():.3f} at 0.85;"
    print(line, flush=True)


def tensors(name, top):
    found = linear(f"{name}.head", top.head)
    for i, block in enumerate(top.blocks):
        for part in ("attention", "output", "up", "down"):
            found |= linear(f"{name}.block{i}.{part}", getattr(block, part))
        found |= norm_tensors(f"{name}.block{i}.outputNorm", block.output_norm) | norm_tensors(f"{name}.block{i}.downNorm", block.down_norm)
    return found


@torch.no_grad()
def check(reader, name, top):
    """A few numbers of a reading, by which the runtime is tested."""
    window = {"tokens": framed([1000, 2000, 3000, 410, 7012]), "roles": [0, QUESTION, QUESTION, SAID, SAID, SAID, 0], "clauses": [(3, 6, 0)]}
    return {"tokens": window["tokens"], "roles": window["roles"], "clause": [3, 6], "scores": {name: round(top.rate(shared_rows(reader, [window], top.count), [window]).item(), 4)}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--top", choices=TOPS, default="ends")
    parser.add_argument("--out")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    reader = load_network(6)
    load_weights(reader, "assets/reader-en.bin")
    reader.eval()
    rows, *_, file = TOPS[options.top]
    pairs = read_jsonl(f"{options.folder}/{rows}")
    part = lambda rows, is_held: [row for row in rows if row["isHeld"] == is_held]
    top = train(reader, options.top, part(pairs, False), part(pairs, True))
    top.eval()
    write_model(options.out or file or f"{options.folder}/reader-{options.top}-en.bin", MAGIC, {"check": check(reader, options.top, top)}, tensors(options.top, top))


if __name__ == "__main__":
    main()
