"""Train the parser: convert the treebank, augment it, train, and score the dev part.

usage: python train.py TREEBANK OUT [--steps 6000] [--seed 0] [--threads 1]
"""

import argparse
import os
import random
from pathlib import Path


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("treebank", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def convert(treebank: Path, out: Path, seed: int) -> None:
    """Write train (two plain and two chat-like copies), dev and test as spaCy's binary documents."""
    import spacy
    from spacy.tokens import DocBin

    from augment import chat
    from treebank import group, make_doc, read_conllu

    vocab = spacy.blank("en").vocab
    rng = random.Random(seed)

    def save(name, groups):
        DocBin(docs=[make_doc(vocab, g) for g in groups if g], store_user_data=False).to_disk(out / f"{name}.spacy")

    def group_by_chance(sentences):
        groups, at = [], 0
        while at < len(sentences):
            size = rng.choice((1, 1, 2, 3, 5))
            groups.append(sentences[at : at + size])
            at += size
        return groups

    train = read_conllu(treebank / "en_ewt-ud-train.conllu")
    groups = group(train, 10) + group_by_chance(train)
    for _ in range(2):
        groups += group_by_chance([chat(s, rng) for s in train])
    save("train", groups)
    for part in ("dev", "test"):
        save(part, group(read_conllu(treebank / f"en_ewt-ud-{part}.conllu"), 10))


def main() -> None:
    arguments = read_arguments()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)
    arguments.out.mkdir(parents=True, exist_ok=True)
    convert(arguments.treebank, arguments.out, arguments.seed)

    from spacy.cli.train import train

    train(
        Path(__file__).with_name("config.cfg"),
        arguments.out / "model",
        overrides={
            "paths.train": str(arguments.out / "train.spacy"),
            "paths.dev": str(arguments.out / "dev.spacy"),
            "vars.steps": arguments.steps,
            "system.seed": arguments.seed,
        },
    )


if __name__ == "__main__":
    main()
