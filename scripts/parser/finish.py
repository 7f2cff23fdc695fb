"""Train a checkpoint on, while the learning rate falls to zero over the time that is left.

usage: python finish.py CHECKPOINT OUT/train.spacy OUT/finished --minutes 20

For a machine that others use: `train.py` cannot say how long its steps take. The result depends on how many steps fit into the
time, so that it cannot be made again exactly.
"""

import argparse
import random
import time

import spacy
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Adam

WORDS_PER_STEP = 800
FIRST_RATE = 0.0009
DROPOUT = 0.1


def batches(docs, rng):
    """Batches in a new order each time, without end."""
    while True:
        rng.shuffle(docs)
        batch, size = [], 0
        for doc in docs:
            batch.append(doc)
            size += len(doc)
            if size >= WORDS_PER_STEP:
                yield batch, size
                batch, size = [], 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint")
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--minutes", type=float, default=20)
    arguments = parser.parse_args()

    fix_random_seed(0)
    nlp = spacy.load(arguments.checkpoint)
    docs = list(DocBin().from_disk(arguments.data).get_docs(nlp.vocab))
    optimizer = Adam(FIRST_RATE, L2=0.01, grad_clip=1.0, use_averages=False, L2_is_weight_decay=True)
    nlp.resume_training(sgd=optimizer)
    start, steps, words = time.time(), 0, 0
    for batch, size in batches(docs, random.Random(1)):
        spent = (time.time() - start) / (60 * arguments.minutes)
        if spent >= 1:
            break
        optimizer.learn_rate = FIRST_RATE * (1 - spent)
        nlp.update([Example(nlp.make_doc(doc.text), doc) for doc in batch], sgd=optimizer, drop=DROPOUT)
        steps, words = steps + 1, words + size
    nlp.to_disk(arguments.out)
    print(f"{steps} steps, {words:,} words")


if __name__ == "__main__":
    main()
