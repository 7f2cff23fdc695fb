import type { TextSpan } from "../../../domain/text/split-text.ts";
import { countPieces, splitIntoPieces } from "../embedding/sentence-vectors.ts";

/** What a word piece is for. Below these are the parts of a request to forget. */
export const ROLES = {
  /** In a sentence that asks to forget, beside its parts. */
  asking: 5,
  /** In the message of the request, beside the sentences that ask. */
  beside: 6,
  user: 7,
  assistant: 8,
  /** Said in another conversation. */
  userEarlier: 9,
  assistantEarlier: 10,
  /** The message of the request, as one of those that may be meant. */
  own: 11,
  /** In a question about what was said. */
  question: 12,
} as const;

/** Pieces of what was said that are read at a time. */
export const WINDOW = 224;
/** The longest part of a message that is read at a time. */
const LONGEST_ENTRY = 120;

/** Word pieces with the role of each. */
export interface RoledPieces {
  readonly tokens: readonly number[];
  readonly roles: readonly number[];
}

/** The first pieces of a text, all in one role. */
export function toRoledPieces(text: string, role: number, most: number): RoledPieces {
  const tokens = splitIntoPieces(text)
    .slice(0, most)
    .map(({ row }) => row);
  return { tokens, roles: tokens.map(() => role) };
}

/** A message, or a part of a long one, with the pieces of each of its clauses: from, to. */
export interface WindowEntry extends RoledPieces {
  readonly clauses: readonly (readonly [number, number])[];
}

/** A request or a question, and some of what was said behind it; clauses by their pieces. */
export interface ClauseWindow extends RoledPieces {
  readonly clauses: readonly {
    readonly from: number;
    readonly to: number;
    readonly entry: number;
    readonly clause: number;
  }[];
}

/** The entries of a message, whose clauses are given in order; each clause is in one of them. */
export function toWindowEntries(
  text: string,
  name: string | undefined,
  clauses: readonly TextSpan[],
  role: number,
): WindowEntry[] {
  const pieces = splitIntoPieces(text);
  const heading = name === undefined ? [] : splitIntoPieces(`${name}:`).map(({ row }) => row);
  const entries: WindowEntry[] = [];
  let [from, first] = [0, 0];
  const rangeOf = ({ start, end }: TextSpan): [number, number] => {
    const begin = pieces.findIndex((one) => one.start >= start);
    const behind = pieces.findIndex((one) => one.start >= end);
    return [begin < 0 ? pieces.length : begin, behind < 0 ? pieces.length : behind];
  };
  const ranges = clauses.map(rangeOf);
  const push = (to: number, last: number): void => {
    const tokens = [...heading, ...pieces.slice(from, to).map(({ row }) => row)].slice(0, LONGEST_ENTRY);
    const place = (piece: number): number =>
      Math.min(tokens.length, Math.max(0, piece - from + heading.length));
    entries.push({
      tokens,
      roles: tokens.map(() => role),
      clauses: ranges.slice(first, last).map(([a, b]) => [place(a), place(b)] as const),
    });
    [from, first] = [to, last];
  };
  for (const [i, [begin]] of ranges.entries())
    if (i > first && (ranges[i]?.[1] ?? 0) - from > LONGEST_ENTRY - heading.length) push(begin, i);
  push(pieces.length, clauses.length);
  return entries;
}

/** Puts a request or a question before each window of entries. */
export function toWindows(request: RoledPieces, entries: readonly WindowEntry[]): ClauseWindow[] {
  const [opening, closing] = [countPieces(), countPieces() + 1];
  const windows: ClauseWindow[] = [];
  const head = { tokens: [opening, ...request.tokens, closing], roles: [0, ...request.roles, 0] };
  let [tokens, roles, clauses] = [[...head.tokens], [...head.roles], [] as ClauseWindow["clauses"][number][]];
  const flush = (): void => {
    if (clauses.length > 0) windows.push({ tokens, roles, clauses });
    [tokens, roles, clauses] = [[...head.tokens], [...head.roles], []];
  };
  for (const [number, entry] of entries.entries()) {
    if (tokens.length + entry.tokens.length + 1 > head.tokens.length + WINDOW) flush();
    const at = tokens.length;
    tokens.push(...entry.tokens, closing);
    roles.push(...entry.roles, 0);
    for (const [i, [from, to]] of entry.clauses.entries())
      if (to > from) clauses.push({ from: at + from, to: at + to, entry: number, clause: i });
  }
  flush();
  return windows;
}

/** What was said at once with a mark for each of its clauses, and how soon it is to be read. */
export interface TextToRead<C = unknown> {
  readonly entries: readonly WindowEntry[];
  readonly clauses: readonly C[];
  readonly promise: number;
}

/** As many of the most promising as fit into `most` pieces, each with the one before it, in order. */
export function chooseTexts<T extends TextToRead>(told: readonly T[], most: number): readonly T[] {
  const lengthOf = ({ entries }: TextToRead): number =>
    entries.reduce((sum, { tokens }) => sum + tokens.length + 1, 0);
  const order = [...told.keys()].sort(
    (one, other) => (told[other]?.promise ?? 0) - (told[one]?.promise ?? 0),
  );
  const chosen = new Set<number>();
  let left = most;
  for (const place of order)
    for (const i of [place, place - 1]) {
      const one = told[i];
      if (!one || chosen.has(i) || lengthOf(one) > left) continue;
      chosen.add(i);
      left -= lengthOf(one);
    }
  return told.filter((_one, i) => chosen.has(i));
}
