"""Train the parser: convert the treebank, augment it, train, export the weights, and score them.

usage: python train.py TREEBANK OUT [--asset FILE] [--test] [--steps 6000] [--seed 0] [--threads 1]

TREEBANK holds UD English EWT. The weights of OUT/model/model-best go to --asset (OUT/parser-en.bin). The dev part is scored by
spaCy's scorer; the test part only with --test, which is for the end.
"""

import argparse
import os
import random
from pathlib import Path


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("treebank", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--asset", type=Path)
    parser.add_argument("--test", action="store_true")
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
    finish(arguments)


def finish(arguments) -> None:
    """Export the best weights, and score them as trained (float32) and as exported (8 bits)."""
    import spacy
    from spacy.tokens import DocBin
    from spacy.training import Example

    from export import export, round_weights

    nlp = spacy.load(arguments.out / "model" / "model-best")
    asset = arguments.asset or arguments.out / "parser-en.bin"
    print(f"{asset}: {export(nlp, asset):,} bytes")

    def score(name, part):
        docs = DocBin().from_disk(arguments.out / f"{part}.spacy").get_docs(nlp.vocab)
        scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc) for doc in docs])
        print(name, part, {key: round(100 * scores[key], 2) for key in ("dep_uas", "dep_las", "pos_acc", "tag_acc")})

    parts = ["dev", "test"] if arguments.test else ["dev"]
    for part in parts:
        score("float32", part)
    round_weights(nlp)
    for part in parts:
        score("8 bits", part)


if __name__ == "__main__":
    main()
