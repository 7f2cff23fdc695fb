"""What the small networks that read requests to forget share: the encoder of words, and the file.

The runtime has the same in src/language/en/word-encoder.ts and src/language/en/model-file.ts.
"""
import json
import struct

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# Numbers of a word's vector in the built-in embedder's table, of its row, of shapes, and the words of a convolution.
VECTOR, WIDTH, SHAPES, WINDOW = 256, 64, 8, 3


class Encoder(nn.Module):
    """Each word is the projection of its vector, plus a row of its own if it is frequent, plus rows for its shape and its role.

    Residual convolutions over three words follow. In training the row of a frequent word is hidden in a share `hidden` of its
    places, so that its vector learns too, and the vector in a share `dropped`.
    """

    def __init__(self, vectors, rows_of_words, count, *, layers, dropout, hidden, dropped=0.0, roles=0):
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)
        self.register_buffer("rows_of_words", rows_of_words, persistent=False)
        self.projection = nn.Linear(VECTOR, WIDTH)
        self.words = nn.Embedding(count + 1, WIDTH)
        self.shapes = nn.Embedding(SHAPES, WIDTH)
        self.roles = nn.Embedding(roles, WIDTH) if roles else None
        for table in (self.words, self.shapes, self.roles):
            if table is not None:
                nn.init.normal_(table.weight, 0, 0.1)
        self.layers = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, WINDOW, padding=1) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(layers + 1))
        self.dropout = nn.Dropout(dropout)
        self.hidden, self.dropped = hidden, dropped

    def forward(self, words, shapes, mask, roles=None):
        rows, vectors = self.rows_of_words[words], self.vectors[words]
        if self.training:
            rows = torch.where(torch.rand(rows.shape) < self.hidden, torch.zeros_like(rows), rows)
            vectors = vectors * (torch.rand(words.shape) >= self.dropped)[..., None]
        outside = mask[..., None] == 0
        x = self.projection(vectors) + self.words(rows) + self.shapes(shapes)
        if self.roles is not None:
            x = x + self.roles(roles)
        x = self.norms[0](x).masked_fill(outside, 0)
        for layer, norm in zip(self.layers, self.norms[1:]):
            made = F.relu(layer(self.dropout(x).transpose(1, 2)).transpose(1, 2))
            x = (x + norm(made)).masked_fill(outside, 0)
        return x

    def tensors(self):
        """The tensors of the file, by name: values, and whether they are stored in 8 bits."""
        state = {name: value.numpy() for name, value in self.state_dict().items()}
        found = {"words": (state["words.weight"], 8), "shapes": (state["shapes.weight"], 32)}
        if self.roles is not None:
            found["roles"] = (state["roles.weight"], 32)
        found |= linear("projection", self.projection)
        for i, norm in enumerate(self.norms):
            found |= {f"norm{i}.gain": (norm.weight.detach().numpy(), 32), f"norm{i}.shift": (norm.bias.detach().numpy(), 32)}
        for i in range(len(self.layers)):
            # A convolution is stored place by place.
            weights = state[f"layers.{i}.weight"].transpose(0, 2, 1).reshape(WIDTH, -1)
            found |= {f"layer{i}.weights": (weights, 8), f"layer{i}.bias": (state[f"layers.{i}.bias"], 32)}
        return found


def linear(name, module):
    found = {f"{name}.weights": (module.weight.detach().numpy(), 8)}
    if module.bias is not None:
        found[f"{name}.bias"] = (module.bias.detach().numpy(), 32)
    return found


def frequent_words(texts, count, least):
    """The words that are in so many texts, by their numbers, and the row of each word among them; 0 for the others."""
    counts = np.zeros(count, int)
    for text in texts:
        counts[list(set(text))] += 1
    frequent = np.flatnonzero(counts >= least)
    rows = torch.zeros(count, dtype=torch.long)
    rows[torch.tensor(frequent)] = torch.arange(1, len(frequent) + 1)
    return frequent, rows


def calibrate(scores, targets):
    """Scale and shift of scores, by the likelihood of the targets (Platt 1999)."""
    x, y = torch.tensor(scores, dtype=torch.double), torch.tensor(targets, dtype=torch.double)
    both = torch.tensor([1.0, 0.0], dtype=torch.double, requires_grad=True)
    optimizer = torch.optim.LBFGS([both], max_iter=200)

    def closure():
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(both[0] * x + both[1], y)
        loss.backward()
        return loss

    optimizer.step(closure)
    return [float(value) for value in both.detach()]


def area_under_roc(scores, targets):
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    wanted = targets.sum()
    return (ranks[targets == 1].sum() - wanted * (wanted + 1) / 2) / (wanted * (len(targets) - wanted))


def found_at(scores, targets, probabilities):
    """How many of the targets have scores from each probability on, and how many others have."""
    parts = []
    for p in probabilities:
        is_found = scores > np.log(p / (1 - p))
        parts.append(f"p {p}: {(is_found & (targets == 1)).sum()} of {targets.sum()} found, {(is_found & (targets == 0)).sum()} wrong")
    return "; ".join(parts)


def quantise(values, most=127):
    scales = (np.abs(values).max(axis=1) / most).astype("<f4")
    safe = np.where(scales == 0, 1, scales)[:, None]
    return scales, np.clip(np.rint(values / safe), -most, most).astype("i1")


def round_weights(modules):
    """Gives modules the weights that the file holds, so that the figures are those of the file."""
    for module in modules:
        values = module.weight.detach().numpy()
        flat = values.transpose(0, 2, 1).reshape(len(values), -1) if values.ndim == 3 else values
        scales, codes = quantise(flat)
        rounded = codes * scales[:, None]
        if values.ndim == 3:
            rounded = rounded.reshape(len(values), WINDOW, -1).transpose(0, 2, 1)
        with torch.no_grad():
            module.weight.copy_(torch.tensor(np.ascontiguousarray(rounded)))


def pad(data, filler=b"\0"):
    return data + filler * (-len(data) % 8)


def write_model(path, magic, header, tensors):
    """Writes the file that src/language/en/model-file.ts reads."""
    data, entries = b"", []
    for name, (values, bits) in tensors.items():
        values = values.reshape(1, -1) if values.ndim == 1 else values
        entries.append({"name": name, "rows": values.shape[0], "columns": values.shape[1], "bits": bits, "at": len(data)})
        if bits == 32:
            data += pad(values.astype("<f4").tobytes())
        elif bits == 4:
            scales, codes = quantise(values, 7)
            pairs = (codes.reshape(-1, 2) + 8).astype("u1")
            data += pad(scales.tobytes()) + pad((pairs[:, 0] | pairs[:, 1] << 4).tobytes())
        else:
            scales, codes = quantise(values)
            data += pad(scales.tobytes()) + pad(codes.tobytes())
    head = json.dumps({**header, "tensors": entries}, ensure_ascii=False, separators=(",", ":")).encode()
    head += b" " * (-(len(magic) + 4 + len(head)) % 8)
    with open(path, "wb") as file:
        print(f"{file.write(magic + struct.pack('<I', len(head)) + head + data):,} bytes")


def read_model(path, magic):
    """The tensors of such a file, by name."""
    data = open(path, "rb").read()
    start = len(magic) + 4 + struct.unpack_from("<I", data, len(magic))[0]
    if not data.startswith(magic):
        raise ValueError(f"{path} is no file of {magic.decode()}")
    found = {}
    for entry in json.loads(data[len(magic) + 4 : start])["tensors"]:
        rows, columns, bits = entry["rows"], entry["columns"], entry["bits"]
        at, count = start + entry["at"], rows * columns
        if bits == 32:
            found[entry["name"]] = np.frombuffer(data, "<f4", count, at).reshape(rows, columns)
            continue
        scales = np.frombuffer(data, "<f4", rows, at)
        at += rows * 4 + -rows * 4 % 8
        if bits == 4:
            pairs = np.frombuffer(data, "u1", count // 2, at)
            codes = np.stack([pairs & 15, pairs >> 4], 1).astype("f4") - 8
        else:
            codes = np.frombuffer(data, "i1", count, at).astype("f4")
        found[entry["name"]] = codes.reshape(rows, columns) * scales[:, None]
    return found


def read_rows(folder):
    """The rows, the words and the vectors that a script wrote into a folder."""
    with open(f"{folder}/rows.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with open(f"{folder}/words.json", encoding="utf-8") as file:
        words = json.load(file)
    vectors = torch.tensor(np.fromfile(f"{folder}/vectors.bin", dtype="<f4").reshape(-1, VECTOR))
    return rows, words, vectors


def padded(lists, filler=0):
    longest = max(1, max(len(one) for one in lists))
    return torch.tensor([one + [filler] * (longest - len(one)) for one in lists])
