/** Longer words are hashes or encoded data, and have no meaning. */
const LONGEST_WORD = 100;
const WORD_PATTERN = /[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu;
const ASCII = /^\p{ASCII}*$/u;
const UNSPACED_SCRIPT = /\p{Script=Han}/u;

/**
 * The tokens of a text as row numbers. Words are lower-cased, stripped of accents, and cut greedily into the longest pieces of the
 * vocabulary (WordPiece, like BERT's uncased models). Words that cannot be cut are left out.
 */
export function toWordPieces(text: string, vocabulary: ReadonlyMap<string, number>): number[] {
  const lower = text.toLowerCase();
  const folded = ASCII.test(lower) ? lower : lower.normalize("NFD").replace(/\p{Mn}/gu, "");
  const rows: number[] = [];
  for (const word of folded.match(WORD_PATTERN) ?? []) {
    const wordRow = vocabulary.get(word);
    if (wordRow !== undefined) rows.push(wordRow);
    else if (UNSPACED_SCRIPT.test(word)) for (const letter of word) addRow(rows, vocabulary.get(letter));
    else if (word.length <= LONGEST_WORD) rows.push(...cutWord(word, vocabulary));
  }
  return rows;
}

function addRow(rows: number[], row: number | undefined): void {
  if (row !== undefined) rows.push(row);
}

function cutWord(word: string, vocabulary: ReadonlyMap<string, number>): number[] {
  const rows: number[] = [];
  let start = 0;
  while (start < word.length) {
    let end = word.length;
    let row: number | undefined;
    for (; end > start && row === undefined; end -= 1) {
      row = vocabulary.get(start > 0 ? `##${word.slice(start, end)}` : word.slice(start, end));
    }
    if (row === undefined) return [];
    rows.push(row);
    start = end + 1;
  }
  return rows;
}
