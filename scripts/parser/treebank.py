"""Read and write sentences of a Universal Dependencies treebank (CoNLL-U)."""

from dataclasses import dataclass, field

from spacy.tokens import Doc


@dataclass
class Sentence:
    """Words of one sentence; the head of a root is its own index."""

    words: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    poses: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.words)

    def root(self) -> int:
        return self.labels.index("ROOT")

    def copy(self) -> "Sentence":
        return Sentence(*(list(part) for part in vars(self).values()))

    def insert(self, at: int, word: str, tag: str, pos: str, head: int, label: str, space: bool = True) -> None:
        """Put a word before index `at`; `head` counts as if the word were already there."""
        self.heads = [h + (h >= at) for h in self.heads]
        for part, value in zip(vars(self).values(), (word, space, tag, pos, head, label)):
            part.insert(at, value)

    def remove(self, at: int) -> None:
        """Take out a word on which no other word depends."""
        for part in vars(self).values():
            part.pop(at)
        self.heads = [h - (h > at) for h in self.heads]

    def is_leaf(self, at: int) -> bool:
        return all(h != at or i == at for i, h in enumerate(self.heads))


def read_conllu(path: str) -> list[Sentence]:
    """The sentences of a CoNLL-U file. Words of a contraction are joined without a space."""
    sentences = []
    with open(path, encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            sentence, last, has_space = Sentence(), "", True
            for line in block.split("\n"):
                if line.startswith("#"):
                    continue
                number, word, _, pos, tag, _, head, label, _, misc = line.split("\t")
                if "." in number:
                    continue
                if "-" in number:
                    last, has_space = number.split("-")[1], "SpaceAfter=No" not in misc
                    continue
                space = "SpaceAfter=No" not in misc
                if last:
                    space = has_space if number == last else False
                    last = "" if number == last else last
                sentence.words.append(word)
                sentence.spaces.append(space)
                sentence.tags.append(tag)
                sentence.poses.append(pos)
                sentence.heads.append(int(number) - 1 if head == "0" else int(head) - 1)
                sentence.labels.append("ROOT" if label == "root" else label)
            sentences.append(sentence)
    return sentences


def make_doc(vocab, sentences: list[Sentence]) -> Doc:
    """One document of several sentences, with tags, trees and sentence starts."""
    words, spaces, tags, poses, heads, labels = [], [], [], [], [], []
    for sentence in sentences:
        base = len(words)
        words += sentence.words
        spaces += sentence.spaces
        tags += sentence.tags
        poses += sentence.poses
        heads += [base + h for h in sentence.heads]
        labels += sentence.labels
    return Doc(vocab, words=words, spaces=spaces, tags=tags, pos=poses, heads=heads, deps=labels)


def group(sentences: list[Sentence], size: int) -> list[list[Sentence]]:
    return [sentences[i : i + size] for i in range(0, len(sentences), size)]
