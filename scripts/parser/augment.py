"""Make sentences of a treebank look like chat: case, apostrophes, punctuation, slips, emoji, names and times.

Every change keeps the tree true. The lists below were written for this project.
"""

import random

from treebank import Sentence

NAMES = """Ana Ben Carol Dan Emma Farah Greta Hugo Ines Joost Kim Leo Maria Nadia Omar Priya Quinn Rosa Sam Tom Uma Victor
Wei Yusuf Zoe Alice Bob Chloe David Elif Felix Grace Hassan Ingrid Jack Kate Liam Mia Noah Olga Otto Paul Ruth Steve
Tina Mark Rose Joy Will Hope Grant Faith Dean Max""".split()
PLACES = """London Paris Berlin Chicago Boston York Leeds Antwerp Hackney Lisbon Madrid Tokyo Denver Austin Seattle Dublin
Vienna Prague Oslo Milan Toronto Sydney Mumbai Cairo Lima Reading Bath Phoenix""".split()
KIN = set("""mom mum mother dad father brother sister son daughter wife husband partner girlfriend boyfriend friend roommate
boss aunt uncle cousin niece nephew dog cat puppy kitten colleague neighbor coworker""".split())
GREETINGS = [("hi", "UH", "INTJ"), ("hey", "UH", "INTJ"), ("hello", "UH", "INTJ"), ("ok", "UH", "INTJ"), ("yeah", "UH", "INTJ"),
             ("well", "UH", "INTJ"), ("oh", "UH", "INTJ"), ("wow", "UH", "INTJ"), ("lol", "UH", "INTJ"), ("haha", "UH", "INTJ")]
FACES = [":)", ":(", ":D", ";)", ":-)", ":P", "<3", "\U0001F600", "\U0001F602", "\U0001F64F", "\u2764\ufe0f", "\U0001F389", "\U0001F62D", "\U0001F44D", "\U0001F60A"]
# Words of a fronted time: word, tag, part of speech, head within the phrase (-1: its head), label.
TIMES = [
    [("Yesterday", "NN", "NOUN", -1, "")], [("Today", "NN", "NOUN", -1, "")], [("Tomorrow", "NN", "NOUN", -1, "")], [("Tonight", "NN", "NOUN", -1, "")],
    [("Yesterday", "NN", "NOUN", -1, "")],
    [("Last", "JJ", "ADJ", 1, "amod"), ("week", "NN", "NOUN", -1, "")], [("Last", "JJ", "ADJ", 1, "amod"), ("night", "NN", "NOUN", -1, "")],
    [("Last", "JJ", "ADJ", 1, "amod"), ("year", "NN", "NOUN", -1, "")], [("Next", "JJ", "ADJ", 1, "amod"), ("month", "NN", "NOUN", -1, "")],
    [("This", "DT", "DET", 1, "det"), ("morning", "NN", "NOUN", -1, "")], [("This", "DT", "DET", 1, "det"), ("weekend", "NN", "NOUN", -1, "")],
    [("On", "IN", "ADP", 1, "case"), ("Monday", "NNP", "PROPN", -1, "obl")], [("On", "IN", "ADP", 1, "case"), ("Friday", "NNP", "PROPN", -1, "obl")],
    [("In", "IN", "ADP", 1, "case"), ("May", "NNP", "PROPN", -1, "obl")],
]
SHORT = {"you": "u", "are": "r", "your": "ur", "because": "cuz", "please": "pls", "thanks": "thx", "though": "tho", "through": "thru",
         "really": "rly", "people": "ppl", "with": "w", "the": "teh", "definitely": "definately", "their": "there", "too": "to",
         "favorite": "fav", "tomorrow": "tmrw", "weekend": "wknd", "before": "b4", "okay": "ok", "probably": "prob", "birthday": "bday",
         "receive": "recieve", "separate": "seperate", "and": "n", "know": "kno", "about": "abt", "something": "smth", "would": "wud"}
CLITICS = {"n't", "'m", "'s", "'re", "'ve", "'ll", "'d"}
# Pairs that spaCy's tokenizer also splits without the apostrophe; others would be read as one word.
SPLITS = {("i", "'m"), ("i", "'ve"), ("i", "'d"), ("you", "'re"), ("you", "'ve"), ("you", "'ll"), ("you", "'d"), ("he", "'s"), ("she", "'s"),
          ("they", "'re"), ("they", "'ve"), ("they", "'ll"), ("we", "'ve"), ("that", "'s"), ("what", "'s"), ("there", "'s"), ("who", "'s"), ("where", "'s")}


def starts_late(sentence: Sentence, word: str) -> None:
    """Take the capital off the first word, unless it is a name or `I`."""
    first = sentence.words[0]
    if sentence.tags[0] not in ("NNP", "NNPS") and first not in ("I", "I'm") and first[1:].islower() or len(first) == 1 and first != "I":
        sentence.words[0] = first[0].lower() + first[1:]


def swap_names(sentence: Sentence, rng: random.Random) -> None:
    for i, tag in enumerate(sentence.tags):
        if tag != "NNP" or not sentence.words[i].isalpha() or not sentence.words[i].istitle() or not sentence.is_leaf(i):
            continue
        label = sentence.labels[i]
        if label in ("nsubj", "iobj", "vocative", "conj") and rng.random() < 0.4:
            sentence.words[i] = rng.choice(NAMES)
    for i, label in enumerate(sentence.labels):
        if label == "case" and sentence.words[i].lower() in ("in", "from", "to"):
            head = sentence.heads[i]
            kids = [j for j, h in enumerate(sentence.heads) if h == head and j != head]
            if sentence.tags[head] == "NNP" and kids == [i] and sentence.words[head].istitle() and rng.random() < 0.4:
                sentence.words[head] = rng.choice(PLACES)


def name_kin(sentence: Sentence, rng: random.Random) -> None:
    """my sister -> my sister Ana"""
    for i, word in enumerate(sentence.words):
        if word.lower() not in KIN or sentence.tags[i] != "NN" or i == 0 or rng.random() > 0.6:
            continue
        kids = [j for j, h in enumerate(sentence.heads) if h == i and j != i]
        is_owned = any(sentence.labels[j] == "nmod:poss" and sentence.tags[j] == "PRP$" for j in kids)
        if is_owned and all(j < i for j in kids) and sentence.spaces[i] and sentence.tags[i + 1 : i + 2] not in (["POS"], ["NN"], ["NNP"]):
            sentence.insert(i + 1, rng.choice(NAMES), "NNP", "PROPN", i, "appos")
            return


def front_time(sentence: Sentence, rng: random.Random) -> None:
    root = sentence.root()
    kids = [j for j, h in enumerate(sentence.heads) if h == root and j != root]
    has_subject = any(sentence.labels[j].startswith("nsubj") and j < root for j in kids)
    if not has_subject or sentence.labels[0] in ("cc", "mark", "discourse", "vocative") or sentence.tags[0].startswith("W"):
        return
    if any(j == 0 or sentence.labels[j] in ("obl", "obl:unmarked", "advcl") and j < root for j in kids if not sentence.labels[j].startswith("nsubj")):
        return
    starts_late(sentence, "")
    phrase = rng.choice(TIMES)
    if rng.random() < 0.4:
        sentence.spaces[0:0] = []
        sentence.insert(0, ",", ",", "PUNCT", sentence.root() + 1, "punct")
        is_closed = True
    else:
        is_closed = False
    for offset, (word, tag, pos, head, label) in enumerate(phrase):
        at = sentence.root() + 1 if head < 0 else 0
        sentence.insert(offset, word, tag, pos, at, label or "obl:unmarked")
    top = next(i for i, part in enumerate(phrase) if part[3] < 0)
    for offset, part in enumerate(phrase):
        if part[3] >= 0:
            sentence.heads[offset] = top
    if is_closed:
        sentence.spaces[len(phrase) - 1] = False


def greet(sentence: Sentence, rng: random.Random) -> None:
    """Hey Sam, … / Sam, …"""
    starts_late(sentence, "")
    parts = []
    kind = rng.random()
    if kind < 0.7:
        word, tag, pos = rng.choice(GREETINGS)
        parts.append((word.capitalize() if rng.random() < 0.6 else word, tag, pos, "discourse"))
    if kind > 0.45:
        parts.append((rng.choice(NAMES), "NNP", "PROPN", "vocative"))
    if rng.random() < 0.6:
        parts.append((",", ",", "PUNCT", "punct"))
    for offset, (word, tag, pos, label) in enumerate(parts):
        sentence.insert(offset, word, tag, pos, sentence.root() + 1, label)
    if parts[-1][0] == ",":
        sentence.spaces[len(parts) - 2] = False


def drop_apostrophes(sentence: Sentence, rng: random.Random) -> None:
    is_curly = rng.random() < 0.2
    for i in range(1, len(sentence)):
        word = sentence.words[i].lower()
        if word not in CLITICS or sentence.spaces[i - 1]:
            continue
        if is_curly:
            sentence.words[i] = sentence.words[i].replace("'", "\u2019")
        elif word == "n't" or (sentence.words[i - 1].lower(), word) in SPLITS:
            sentence.words[i] = sentence.words[i].replace("'", "")


def slip(word: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    kind = rng.random()
    if kind < 0.4:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :] if kind < 0.8 else word[:at] + word[at] + word[at:]


def chat(source: Sentence, rng: random.Random) -> Sentence:
    """A copy of the sentence as it might stand in a chat; some copies are unchanged."""
    sentence = source.copy()
    if len(sentence) < 2:
        return sentence
    swap_names(sentence, rng)
    name_kin(sentence, rng)
    if rng.random() < 0.12:
        front_time(sentence, rng)
    if rng.random() < 0.12:
        greet(sentence, rng)
    last = len(sentence) - 1
    if sentence.labels[last] == "punct" and sentence.words[last] in ".!?" and sentence.is_leaf(last):
        kind = rng.random()
        if kind < 0.4:
            sentence.remove(last)
            sentence.spaces[-1] = True
        elif kind < 0.5:
            sentence.words[last] = sentence.words[last] * rng.choice((2, 3))
    if rng.random() < 0.2:
        for i in range(len(sentence) - 2, 0, -1):
            if sentence.words[i] == "," and sentence.is_leaf(i) and sentence.spaces[i]:
                sentence.spaces[i - 1] = True
                sentence.remove(i)
    if rng.random() < 0.12 and len(sentence) > 2:
        sentence.spaces[-1] = True
        sentence.insert(len(sentence), rng.choice(FACES), "NFP", "SYM", sentence.root(), "discourse")
    if rng.random() < 0.5:
        drop_apostrophes(sentence, rng)
    kind = rng.random()
    if kind < 0.4:
        sentence.words = [w.lower() if not any(c in w for c in ":;<") else w for w in sentence.words]
    elif kind < 0.5:
        sentence.words[0] = sentence.words[0][0].lower() + sentence.words[0][1:]
    elif kind < 0.53:
        sentence.words = [w.upper() for w in sentence.words]
    if rng.random() < 0.4:
        for i, word in enumerate(sentence.words):
            is_plain = word.isalpha() and (i + 1 == len(sentence) or sentence.words[i + 1] not in CLITICS)
            if is_plain and word.lower() in SHORT and rng.random() < 0.25:
                sentence.words[i] = SHORT[word.lower()]
            elif is_plain and len(word) > 4 and rng.random() < 0.03:
                sentence.words[i] = slip(word, rng)
    return sentence
