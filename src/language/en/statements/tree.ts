import type { ParsedSentence, ParsedToken } from "../parser/parser.ts";

/** A sentence with the children of each of its words. */
export interface Tree {
  readonly tokens: readonly ParsedToken[];
  /** The indices of each word's dependents, in order. */
  readonly children: readonly (readonly number[])[];
  /** The whole text that the sentence is part of; the offsets of the words count in it. */
  readonly text: string;
}

/** Indexes a sentence of `text`. */
export function createTree(sentence: Pick<ParsedSentence, "tokens">, text: string): Tree {
  const children: number[][] = sentence.tokens.map(() => []);
  sentence.tokens.forEach((token, i) => {
    children[token.head]?.push(i);
  });
  return { tokens: sentence.tokens, children, text };
}

/** A relation without its subtype: `nsubj:pass` gives `nsubj`. */
export function baseLabel(label: string): string {
  return label.replace(/(?::|\|\|).*/, "");
}

/** The dependents of a word that have one of the relations, subtypes included. */
export function childrenBy(tree: Tree, at: number, ...labels: readonly string[]): number[] {
  return (tree.children[at] ?? []).filter((i) => {
    const label = tree.tokens[i]?.label ?? "";
    return labels.includes(label) || labels.includes(baseLabel(label));
  });
}

/** The indices of a word and of all that depends on it, in order. `without` leaves out a word and what depends on it. */
export function subtree(tree: Tree, at: number, without: (index: number) => boolean = () => false): number[] {
  const found: number[] = [];
  const open = [at];
  while (open.length > 0) {
    const index = open.pop() as number;
    found.push(index);
    for (const child of tree.children[index] ?? []) if (!without(child)) open.push(child);
  }
  return found.sort((one, other) => one - other);
}

/** The words from a word's head up to the root, nearest first. */
export function ancestors(tree: Tree, at: number): number[] {
  const found: number[] = [];
  let head = tree.tokens[at]?.head ?? -1;
  while (head >= 0 && found.length <= tree.tokens.length) {
    found.push(head);
    head = tree.tokens[head]?.head ?? -1;
  }
  return found;
}

/** The text from the first to the last of some words, as it was written. */
export function toTreeText(tree: Tree, indices: readonly number[]): string {
  const first = tree.tokens[indices[0] ?? -1];
  const last = tree.tokens[indices.at(-1) ?? -1];
  return first && last ? tree.text.slice(first.start, last.end) : "";
}
