/** A word of a treebank with its place in the text. */
export interface GoldWord {
  readonly start: number;
  readonly end: number;
  readonly pos: string;
  readonly tag: string;
  /** The index of the head in the text; its own index for a root. */
  readonly head: number;
  readonly label: string;
}

/** Sentences of a treebank in one text. */
export interface GoldText {
  readonly text: string;
  readonly words: readonly GoldWord[];
  /** The index of the first word of each sentence. */
  readonly starts: readonly number[];
}

interface GoldRow {
  readonly word: string;
  readonly hasSpace: boolean;
  readonly columns: readonly string[];
}

/** Texts of `size` sentences each from a CoNLL-U file, as `treebank.py` makes them. */
export function readConllu(content: string, size: number): GoldText[] {
  const blocks = content.trim().split("\n\n").map(readSentence);
  const texts: GoldText[] = [];
  for (let at = 0; at < blocks.length; at += size) texts.push(joinSentences(blocks.slice(at, at + size)));
  return texts;
}

function readSentence(block: string): GoldRow[] {
  const rows: GoldRow[] = [];
  let last = "";
  let hasOuterSpace = true;
  for (const line of block.split("\n")) {
    if (line.startsWith("#")) continue;
    const columns = line.split("\t");
    const [number = "", word = ""] = columns;
    if (number.includes(".")) continue;
    let hasSpace = !columns[9]?.includes("SpaceAfter=No");
    if (number.includes("-")) {
      last = number.split("-")[1] ?? "";
      hasOuterSpace = hasSpace;
      continue;
    }
    if (last) hasSpace = number === last && hasOuterSpace;
    if (number === last) last = "";
    rows.push({ word, hasSpace, columns });
  }
  return rows;
}

function joinSentences(sentences: readonly (readonly GoldRow[])[]): GoldText {
  const words: GoldWord[] = [];
  const starts: number[] = [];
  let text = "";
  for (const rows of sentences) {
    const base = words.length;
    starts.push(base);
    rows.forEach(({ word, hasSpace, columns }, index) => {
      const head = Number(columns[6]);
      const start = text.length;
      text += word;
      words.push({
        start,
        end: text.length,
        pos: columns[3] ?? "",
        tag: columns[4] ?? "",
        head: base + (head === 0 ? index : head - 1),
        label: columns[7] ?? "",
      });
      if (hasSpace) text += " ";
    });
  }
  return { text, words, starts };
}
