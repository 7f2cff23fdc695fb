"""Parse texts with spaCy, as the reference of the TypeScript runtime.

usage: python predict.py MODEL TEXTS OUT.json [--rounded]     TEXTS: a CoNLL-U file (ten sentences a text), or a text a line
With --rounded, spaCy has the weights of the exported file (8 bits); otherwise its own (float32).
For a CoNLL-U file it also prints the scores of spaCy's own scorer over whole texts.
"""

import json
import re
import sys

import spacy
from spacy.training import Example

from export import round_weights
from treebank import group, make_doc, read_conllu

MAX_WORDS = 200
CLOSING = re.compile(r"(?:[\"'”’)\]}»]|\.|!|\?)+")
ENDING = re.compile(r"(?:[!?]|\.|…|\.{2,})")
UNSURE = re.compile(r"(?:…|\.{2,})")


def find_runs(doc):
    """Runs that no sentence crosses: the rule of src/language/en/parser/parser.ts."""
    words = [token for token in doc if not token.is_space]
    run = []
    for index, word in enumerate(words):
        run.append(word)
        following = words[index + 1] if index + 1 < len(words) else None
        if following is None or len(run) == MAX_WORDS or is_boundary(run, following, doc.text):
            yield run
            run = []


def is_boundary(run, following, text):
    end = run[-1].idx + len(run[-1])
    if end == following.idx:
        return False
    if re.search(r"[\n\r\u2028\u2029]", text[end : following.idx]):
        return True
    at = len(run) - 1
    while at > 0 and CLOSING.fullmatch(run[at].text) and not ENDING.fullmatch(run[at].text):
        at -= 1
    mark = run[at].text
    if not ENDING.fullmatch(mark) or at == 0:
        return False
    return not UNSURE.fullmatch(mark) or following.text[0].isupper()


def parse(nlp, text):
    """Sentences of [text, tag, part of speech, head in the sentence (-1: root), label]."""
    sentences = []
    for run in find_runs(nlp.make_doc(text)):
        doc = nlp(text[run[0].idx : run[-1].idx + len(run[-1])])
        for sent in doc.sents:
            sentences.append(
                [[t.text, t.tag_, t.pos_, -1 if t.head == t else t.head.i - sent.start, "root" if t.head == t else t.dep_] for t in sent]
            )
    return sentences


def main():
    model, source, out = sys.argv[1:4]
    nlp = spacy.load(model)
    if "--rounded" in sys.argv:
        round_weights(nlp)
    if source.endswith(".conllu"):
        docs = [make_doc(nlp.vocab, sentences) for sentences in group(read_conllu(source), 10)]
        texts = [doc.text for doc in docs]
        scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc) for doc in docs])
        print("spaCy's scorer, whole texts:", {name: round(100 * scores[name], 2) for name in ("dep_uas", "dep_las", "pos_acc", "tag_acc", "sents_f")})
    else:
        texts = [line for line in open(source, encoding="utf-8").read().split("\n") if line.strip()]
    with open(out, "w", encoding="utf-8") as file:
        lines = [json.dumps({"text": t, "sentences": parse(nlp, t)}, ensure_ascii=False) for t in texts]
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
