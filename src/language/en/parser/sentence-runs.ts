import type { WordSpan } from "./tokenizer.ts";

const CLOSING = /^(?:["'”’)\]}»]|\.|!|\?)+$/;
const ENDING = /^(?:[!?]|\.|…|\.{2,})$/;
const UNSURE = /^(?:…|\.{2,})$/;

/**
 * Cuts words into runs that no sentence crosses: at line ends, and after `.`, `!` and `?` with what closes a quotation. Dots of
 * omission end a sentence only before a capital. A run has at most `limit` words; the parser may find several sentences in it.
 */
export function findSentenceRuns(words: readonly WordSpan[], text: string, limit: number): WordSpan[][] {
  const runs: WordSpan[][] = [];
  let run: WordSpan[] = [];
  words.forEach((word, index) => {
    run.push(word);
    const next = words[index + 1];
    if (!next || run.length === limit || isBoundary(run, next, text)) {
      runs.push(run);
      run = [];
    }
  });
  return runs;
}

function isBoundary(run: readonly WordSpan[], next: WordSpan, text: string): boolean {
  const last = run.at(-1) as WordSpan;
  if (last.end === next.start) return false;
  if (/[\n\r\u2028\u2029]/.test(text.slice(last.end, next.start))) return true;
  let at = run.length - 1;
  while (at > 0 && CLOSING.test((run[at] as WordSpan).text) && !ENDING.test((run[at] as WordSpan).text))
    at -= 1;
  const mark = (run[at] as WordSpan).text;
  if (!ENDING.test(mark) || at === 0) return false;
  return !UNSURE.test(mark) || /^\p{Lu}/u.test(next.text);
}
