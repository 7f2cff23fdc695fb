#!/usr/bin/env python3
"""Trains the model that tells which clauses a request to forget means: assets/clauses-en.bin.

    node scripts/forgetting/clause-rows.ts FOLDER
    pip install torch==2.15.0 numpy
    python3 scripts/forgetting/train_clauses.py FOLDER [--out assets/clauses-en.bin]

A request and the sentence of each clause are encoded (word_network.py), each word with its role: a part of the request, the
clause itself, or what stands around it. In four ways the words of both are compared: how near each of the request comes to the
nearest of the clause and of its sentence, and each of the clause to the nearest of the request, weighted by attention (in the
kind of K-NRM, Xiong and others 2017). With the product of both means and the signs of the clause that makes what is found in a
clause; it counts by itself, and beside the mean and the most of what is found in all clauses.

One in four conversations of the set that is named by --held is held out; then its figures are printed and no file is written.
Without --held it learns from all but the unseen, which is only counted, and the score is calibrated by a first run with
a tenth held out. Takes some five minutes on one core.
"""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from word_network import Encoder, WIDTH, area_under_roc, calibrate, found_at, frequent_words, linear, padded, read_rows, round_weights, write_model

MAGIC = b"KSCLAUS1"
WAYS, SIZE, PRODUCTS, ROLES, LAYERS = 4, 16, 8, 8, 1
OWN = 7
# The sign of what was said in another conversation than the request. Half of the requests mean the present one.
SESSION = "isOtherSession"
# The share of requests of which only the description is learned from, as explicit calls give it.
BARE = 0.3
BATCH, EPOCHS, RATE, DECAY, DROPOUT, HIDDEN, DROPPED, LEAST_COUNT = 16, 9, 2e-3, 0.1, 0.3, 0.2, 0.1, 5


class Network(nn.Module):
    def __init__(self, vectors, rows_of_words, count, signs):
        super().__init__()
        self.encoder = Encoder(
            vectors, rows_of_words, count, layers=LAYERS, dropout=DROPOUT, hidden=HIDDEN, dropped=DROPPED, roles=ROLES
        )
        self.of_request = nn.Linear(WIDTH, WAYS * SIZE, bias=False)
        self.of_clause = nn.Linear(WIDTH, WAYS * SIZE, bias=False)
        self.of_clause.weight.data.copy_(self.of_request.weight.data)
        self.request_attention = nn.Linear(WIDTH, WAYS + 1)
        self.clause_attention = nn.Linear(WIDTH, WAYS + 1)
        self.products = nn.Linear(WIDTH, PRODUCTS)
        self.output = nn.Linear(3 * (3 * WAYS + PRODUCTS + signs), 1)
        nn.init.zeros_(self.output.weight)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, batch):
        requests, clauses, of = batch["requests"], batch["clauses"], batch["of"]
        x, y = self.encoder(**requests), self.encoder(**clauses)
        inside, own = requests["mask"][of] > 0, (clauses["roles"] == OWN) & (clauses["mask"] > 0)
        x_shares = self.request_attention(x).masked_fill(requests["mask"][..., None] == 0, -1e9).softmax(1)
        y_shares = self.clause_attention(y).masked_fill(~own[..., None], -1e9).softmax(1)
        x_vectors = F.normalize(self.of_request(x).view(*x.shape[:2], WAYS, SIZE), dim=-1)[of]
        y_vectors = F.normalize(self.of_clause(y).view(*y.shape[:2], WAYS, SIZE), dim=-1)
        near = torch.einsum("nqhd,nchd->nhqc", x_vectors, y_vectors)
        x_weights, y_weights = x_shares[of][..., :WAYS].permute(0, 2, 1), y_shares[..., :WAYS].permute(0, 2, 1)
        to_own = (near.masked_fill(~own[:, None, None, :], -1).max(3).values * x_weights).sum(2)
        to_any = (near.masked_fill(clauses["mask"][:, None, None, :] == 0, -1).max(3).values * x_weights).sum(2)
        back = (near.masked_fill(~inside[:, None, :, None], -1).max(2).values * y_weights).sum(2)
        x_mean = torch.einsum("bqw,bq->bw", x, x_shares[..., WAYS])[of]
        y_mean = torch.einsum("ncw,nc->nw", y, y_shares[..., WAYS])
        found = torch.cat([to_own, back, to_any, self.products(self.dropout(x_mean * y_mean)), batch["signs"]], 1)
        size = len(x)
        mean = torch.zeros(size, found.shape[1]).index_add(0, of, found) / torch.bincount(of, minlength=size)[:, None]
        most = torch.full((size, found.shape[1]), -1e9).scatter_reduce(0, of[:, None].expand_as(found), found, "amax")
        return self.output(self.dropout(torch.cat([found, found - mean[of], found - most[of]], 1))).squeeze(1)


def texts(rows):
    return {
        "words": padded([row["words"] for row in rows]),
        "shapes": padded([row["shapes"] for row in rows]),
        "roles": padded([row["roles"] for row in rows]),
        "mask": padded([[1.0] * len(row["words"]) for row in rows], 0.0),
    }


def to_batch(rows, signs, share_of_others, is_earlier, bare=0.0):
    """A batch of requests with their clauses; of the clauses of other conversations only a share.

    In a share `bare` of them the request is an explicit call: nothing but the words for what is to go.

    Where the conversation of a request is an earlier one, nearly all that stands beside its clauses is of earlier ones, too; else it
    alone is the present one.
    """
    clauses, of = [], []
    for i, (row, share, earlier) in enumerate(zip(rows, share_of_others, is_earlier)):
        for one in row["clauses"]:
            if one["isOther"] and random.random() >= share:
                continue
            before = (not one["isOther"] or random.random() < 0.8) if earlier else one["isOther"]
            if one["signs"].get("isOwnMessage"):
                before = False
            clauses.append({**one, "signs": {**one["signs"], SESSION: float(before)}})
            of.append(i)
    batch = {
        "requests": texts([row["phrase" if random.random() < bare else "request"] for row in rows]),
        "clauses": texts(clauses),
        "of": torch.tensor(of),
        "signs": torch.tensor([[float(one["signs"].get(name, 0)) for name in signs] for one in clauses]),
    }
    return batch, torch.tensor([one["target"] for one in clauses]), clauses


def train(rows, words, vectors, signs, seed, epochs):
    random.seed(seed)
    torch.manual_seed(seed)
    seen = [row["request"]["words"] for row in rows]
    seen += [one["words"] for row in rows for one in row["clauses"] if not one["isOther"]]
    frequent, rows_of_words = frequent_words(seen, len(words), LEAST_COUNT)
    network = Network(vectors, rows_of_words, len(frequent), len(signs))
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    rows, done = list(rows), 0
    steps = epochs * -(-len(rows) // BATCH)
    for epoch in range(epochs):
        network.train()
        random.shuffle(rows)
        total = 0.0
        for at in range(0, len(rows), BATCH):
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, (done + 1) / 50) * (1 - done / steps)
            some = rows[at : at + BATCH]
            batch, target, clauses = to_batch(
                some, signs, [random.random() ** 0.7 for _ in some], [random.random() < 0.5 for _ in some], BARE
            )
            # Each conversation counts by the root of its length.
            weight = torch.bincount(batch["of"])[batch["of"]].float() ** -0.5
            weight = weight * (target >= 0)
            loss = F.binary_cross_entropy_with_logits(network(batch), target.clamp(min=0).float(), reduction="none")
            loss = (loss * weight).sum() / weight.sum()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            done += 1
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / -(-len(rows) // BATCH):.3f}", flush=True)
    network.eval()
    return network, frequent


@torch.no_grad()
def predict(network, rows, signs, share, earlier=False, bare=0.0):
    """Of each request: the scores, the targets and whether the user said it, clause by clause."""
    found = []
    for row in rows:
        batch, target, clauses = to_batch([row], signs, [share], [earlier], bare)
        found.append((network(batch).numpy(), target.numpy(), np.array([one["isUser"] for one in clauses])))
    return found


def report(name, found):
    best, whole, scores, targets = 0, 0, [], []
    for score, target, is_user in found:
        counted = is_user & (target >= 0)
        score, target = score[counted], target[counted]
        best += target[score.argmax()]
        whole += bool(((score > 0) == (target == 1)).all())
        scores.append(score)
        targets.append(target)
    scores, targets = np.concatenate(scores), np.concatenate(targets)
    area, counts = area_under_roc(scores, targets), found_at(scores, targets, (0.3, 0.5, 0.75, 0.9))
    print(f"{name}: {len(found)} requests; best clause right {best}; all clauses right {whole}; area under ROC {area:.3f}; {counts}", flush=True)


def report_both(name, network, rows, signs):
    report(name, predict(network, rows, signs, 0))
    report(f"{name}, of others before it", predict(network, rows, signs, 2))
    report(f"{name}, by an explicit call", predict(network, rows, signs, 0, False, 1.0))
    report(f"{name}, all told earlier", predict(network, rows, signs, 2, True))


def tensors(network):
    found = network.encoder.tensors()
    found |= linear("ofRequest", network.of_request) | linear("ofClause", network.of_clause)
    found |= linear("requestAttention", network.request_attention) | linear("clauseAttention", network.clause_attention)
    return found | linear("products", network.products) | linear("output", network.output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--out", default="assets/clauses-en.bin")
    parser.add_argument("--held", default="")
    parser.add_argument("--without", default="", help="signs that are left out, joined by commas")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows, words, vectors = read_rows(options.folder)
    signs = sorted(({name for row in rows for one in row["clauses"] for name in one["signs"]} | {SESSION}) - set(options.without.split(",")))
    unseen, known = [row for row in rows if row["set"] == "unseen"], [row for row in rows if row["set"] != "unseen"]
    if options.held:
        sets = options.held.split(",")
        held = [row for row in known if row["set"] in sets]
        network, frequent = train([row for row in known if row["set"] not in sets], words, vectors, signs, options.seed, options.epochs)
        if options.out:
            write_model(options.out, MAGIC, {"words": [words[i] for i in frequent], "signs": signs}, tensors(network))
        for name in sets:
            report_both(name, network, [row for row in held if row["set"] == name], signs)
        return
    tenth = [row for i, row in enumerate(known) if i % 10 == 0]
    network, _ = train([row for i, row in enumerate(known) if i % 10], words, vectors, signs, options.seed, options.epochs)
    report_both("held out", network, tenth, signs)
    scored = predict(network, tenth, signs, 0.5) + predict(network, tenth, signs, 0.5, True)
    scores = np.concatenate([score[target >= 0] for score, target, _ in scored])
    scale, shift = calibrate(scores, np.concatenate([target[target >= 0] for _, target, _ in scored]))
    network, frequent = train(known, words, vectors, signs, options.seed, options.epochs)
    encoder = network.encoder
    round_weights(
        [encoder.words, encoder.projection, *encoder.layers, network.of_request, network.of_clause]
        + [network.request_attention, network.clause_attention, network.products]
    )
    with torch.no_grad():
        network.output.weight *= scale
        network.output.bias.copy_(network.output.bias * scale + shift)
    round_weights([network.output])
    report_both("unseen", network, unseen, signs)
    write_model(options.out, MAGIC, {"words": [words[i] for i in frequent], "signs": signs}, tensors(network))


if __name__ == "__main__":
    main()
