import type { TextSpan } from "./sentences.ts";

/** A stretch of a text that is read as something else; without `as` it is not read at all. */
export interface TextReplacement extends TextSpan {
  readonly as?: string;
}

/** A text as it is read, and the way back to the text as it was said. */
export interface RewrittenText {
  readonly text: string;
  /** Where a stretch of `text` stands in what was said: with what was left out inside of it and right behind it. */
  toOrigin(span: TextSpan): TextSpan;
}

/** A text with some stretches left out, or read as something else. Where two meet, the first one counts. */
export function rewriteText(content: string, rewritings: readonly TextReplacement[]): RewrittenText {
  if (rewritings.length === 0) return { text: content, toOrigin: ({ start, end }) => ({ start, end }) };
  const parts: string[] = [];
  // Where each kept or written piece begins: in what is read, and in what was said.
  const marks: { read: number; said: number; isWritten: boolean }[] = [];
  let from = 0;
  let length = 0;
  const put = (text: string, said: number, isWritten: boolean): void => {
    if (text === "") return;
    marks.push({ read: length, said, isWritten });
    parts.push(text);
    length += text.length;
  };
  for (const { start, end, as = "" } of [...rewritings].sort((one, other) => one.start - other.start)) {
    if (start < from) continue;
    put(content.slice(from, start), from, false);
    put(as, start, true);
    from = end;
  }
  put(content.slice(from), from, false);
  const saidAt = (place: number): number => {
    if (place >= length) return content.length;
    const mark = findLastUpTo(marks, place);
    return mark === undefined ? 0 : mark.said + (mark.isWritten ? 0 : place - mark.read);
  };
  return {
    text: parts.join(""),
    toOrigin: ({ start, end }) => ({ start: saidAt(start), end: saidAt(end) }),
  };
}

function findLastUpTo<Mark extends { readonly read: number }>(
  marks: readonly Mark[],
  place: number,
): Mark | undefined {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.read ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return marks[low - 1];
}
