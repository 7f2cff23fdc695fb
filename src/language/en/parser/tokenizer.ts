import type { ExceptionWord } from "./model-file.ts";

/** A word as spaCy's tokenizer for English cuts it. */
export interface WordSpan {
  readonly text: string;
  /** The usual spelling: lower case, `not` for `n't`, `$` for any currency. */
  readonly norm: string;
  /** Offsets in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Cuts a text into words. Spaces are no words; a run without spaces is cut after 300 characters at the latest. */
export type Tokenizer = (text: string) => WordSpan[];

const MAX_RUN = 300;
/** As far back as a suffix is looked for. The longest is a run of dots. */
const SUFFIX_REACH = 24;

const PUNCTUATION = "…,:;!?¿؟¡()\\[\\]{}<>_#*&。？！，、；：～·।،۔؛٪";
const QUOTES = "'\"”“`‘´’‚„»«「」『』（）〔〕【】《》〈〉⟦⟧";
const CURRENCY = "\\$|[£€¥฿]|US\\$|C\\$|A\\$|[₽﷼₠-₿]";
const UNITS =
  "km|km²|km³|m|m²|m³|dm|dm²|dm³|cm|cm²|cm³|mm|mm²|mm³|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|km/h|kmh|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K|%";
const LOWER = "\\p{Ll}\\p{Lo}";
const UPPER = "\\p{Lu}\\p{Lo}";
const LETTER = "\\p{L}";

const PREFIX = new RegExp(
  `^(?:[§%=—–]|\\+(?![0-9])|[${PUNCTUATION}]|\\.\\.+|[${QUOTES}]|${CURRENCY}|\\p{So})`,
  "u",
);
const SUFFIX = new RegExp(
  `(?:[${PUNCTUATION}]|\\.\\.+|[${QUOTES}]|\\p{So}|['’][sS]|[—–]|(?<=[0-9])\\+|(?<=°[FfCcKk])\\.|(?<=[0-9])(?:${CURRENCY})|` +
    `(?<=[0-9])(?:${UNITS})|(?<=[0-9${LOWER}%²\\-+|${PUNCTUATION}${QUOTES}])\\.|(?<=[${UPPER}][${UPPER}])\\.)$`,
  "u",
);
const INFIX = new RegExp(
  `\\.\\.+|…|\\p{So}|(?<=[0-9])[+\\-*^](?=[0-9-])|(?<=[${LOWER}${QUOTES}])\\.(?=[${UPPER}${QUOTES}])|(?<=${LETTER}),(?=${LETTER})|` +
    `(?<=[${LETTER}0-9])(?:-|–|—|--|---|——|~)(?=${LETTER})|(?<=[${LETTER}0-9])[:<>=/](?=${LETTER})`,
  "gu",
);

/** Diego Perini's pattern (MIT), as spaCy changed it: without a scheme, too, and with a lower-case ending. */
const URL_PATTERN = new RegExp(
  "^(?:[\\w+.-]{2,}://)?(?:\\S+@)?(?:" +
    "(?!(?:10|127)(?:\\.\\d{1,3}){3})(?!(?:169\\.254|192\\.168)(?:\\.\\d{1,3}){2})(?!172\\.(?:1[6-9]|2\\d|3[0-1])(?:\\.\\d{1,3}){2})" +
    "(?:[1-9]\\d?|1\\d\\d|2[01]\\d|22[0-3])(?:\\.(?:1?\\d{1,2}|2[0-4]\\d|25[0-5])){2}(?:\\.(?:[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-4]))" +
    `|(?:(?:[A-Za-z0-9\\u00a1-\\uffff][A-Za-z0-9\\u00a1-\\uffff_-]{0,62})?[A-Za-z0-9\\u00a1-\\uffff]\\.)+[${LOWER}]{2,63}` +
    ")(?::\\d{2,5})?(?:[/?#]\\S*)?$",
  "u",
);

const NORMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "'S": "'s",
    "’s": "'s",
    "’S": "'s",
    "’": "'",
    "‘": "'",
    "´": "'",
    "`": "'",
    "”": '"',
    "“": '"',
    "''": '"',
    "``": '"',
    "´´": '"',
    "„": '"',
    "»": '"',
    "«": '"',
    "‘‘": '"',
    "’’": '"',
    "？": "?",
    "！": "!",
    "，": ",",
    "；": ";",
    "：": ":",
    "。": ".",
    "।": ".",
    "…": "...",
    "—": "-",
    "–": "-",
    "--": "-",
    "---": "-",
    "——": "-",
    "€": "$",
    "£": "$",
    "¥": "$",
    "฿": "$",
    US$: "$",
    C$: "$",
    A$: "$",
    "₺": "$",
    "₹": "$",
    "৳": "$",
    "₩": "$",
    Mex$: "$",
    "₣": "$",
    "E£": "$",
  }),
);

const PLAIN_WORD = /^\p{L}+$/u;

/** A tokenizer with the exceptions of a model. It takes time in proportion to the text's length. */
export function createTokenizer(exceptions: ReadonlyMap<string, readonly ExceptionWord[]>): Tokenizer {
  const joined = findJoinedExceptions(exceptions);
  return (text) => {
    const words: WordSpan[] = [];
    for (const match of text.matchAll(/\S+/g)) {
      for (let at = 0; at < match[0].length; ) {
        const run = takeRun(match[0], at);
        cutRun(run, match.index + at, exceptions, joined, words);
        at += run.length;
      }
    }
    return words;
  };
}

/** The next piece of a long run; a surrogate pair is not split. */
function takeRun(text: string, at: number): string {
  const run = text.slice(at, at + MAX_RUN);
  return run.length === MAX_RUN && /[\ud800-\udbff]$/.test(run) ? run.slice(0, -1) : run;
}

/** Exceptions of one word that the affix rules would cut (`:)`), with the most pieces that one has. */
function findJoinedExceptions(exceptions: ReadonlyMap<string, readonly ExceptionWord[]>): Set<string> {
  const joined = new Set<string>();
  for (const [text, words] of exceptions) {
    const isCut = PREFIX.test(text) || SUFFIX.test(text) || text.search(INFIX) >= 0;
    if (words.length === 1 && isCut) joined.add(text);
  }
  return joined;
}

function cutRun(
  run: string,
  start: number,
  exceptions: ReadonlyMap<string, readonly ExceptionWord[]>,
  joined: ReadonlySet<string>,
  out: WordSpan[],
): void {
  const known = exceptions.get(run);
  if (known) {
    pushException(known, start, out);
    return;
  }
  if (PLAIN_WORD.test(run)) {
    out.push(createWord(run, start));
    return;
  }
  const words = cutAffixes(run, start, exceptions);
  for (const word of words.length > 1 ? joinExceptions(words, run, start, joined) : words) out.push(word);
}

function pushException(words: readonly ExceptionWord[], start: number, out: WordSpan[]): void {
  let at = start;
  for (const [text, norm] of words) {
    out.push(createWord(text, at, norm));
    at += text.length;
  }
}

function createWord(text: string, start: number, norm?: string): WordSpan {
  return { text, norm: norm ?? NORMS.get(text) ?? text.toLowerCase(), start, end: start + text.length };
}

/** Takes prefixes and suffixes off, until the rest is an exception or has none; then cuts the rest at infixes. */
function cutAffixes(
  run: string,
  start: number,
  exceptions: ReadonlyMap<string, readonly ExceptionWord[]>,
): WordSpan[] {
  const words: WordSpan[] = [];
  const suffixes: WordSpan[] = [];
  let from = 0;
  let to = run.length;
  const isException = (a: number, b: number): boolean => b > a && exceptions.has(run.slice(a, b));
  const takePrefix = (length: number): void => {
    if (length > 0) words.push(createWord(run.slice(from, from + length), start + from));
    from += length;
  };
  const takeSuffix = (length: number): void => {
    if (length > 0) suffixes.push(createWord(run.slice(to - length, to), start + to - length));
    to -= length;
  };
  while (from < to && !isException(from, to)) {
    const prefix = PREFIX.exec(run.slice(from, to))?.[0].length ?? 0;
    if (prefix > 0 && isException(from + prefix, to)) {
      takePrefix(prefix);
      break;
    }
    const suffix = findSuffix(run.slice(from + prefix, to));
    if (suffix > 0 && isException(from, to - suffix)) {
      takeSuffix(suffix);
      break;
    }
    if (prefix === 0 && suffix === 0) break;
    takePrefix(prefix);
    takeSuffix(suffix);
  }
  if (from < to) cutInfixes(run.slice(from, to), start + from, exceptions, words);
  return words.concat(suffixes.reverse());
}

function findSuffix(text: string): number {
  const end = text.slice(-SUFFIX_REACH);
  return SUFFIX.exec(/^[\udc00-\udfff]/.test(end) ? end.slice(1) : end)?.[0].length ?? 0;
}

function cutInfixes(
  text: string,
  start: number,
  exceptions: ReadonlyMap<string, readonly ExceptionWord[]>,
  out: WordSpan[],
): void {
  const known = exceptions.get(text);
  if (known) {
    pushException(known, start, out);
    return;
  }
  if (PLAIN_WORD.test(text) || (text.includes(".") && URL_PATTERN.test(text))) {
    out.push(createWord(text, start));
    return;
  }
  let at = 0;
  for (const match of text.matchAll(INFIX)) {
    if (match.index === 0) continue;
    if (match.index > at) out.push(createWord(text.slice(at, match.index), start + at));
    out.push(createWord(match[0], start + match.index));
    at = match.index + match[0].length;
  }
  if (at < text.length) out.push(createWord(text.slice(at), start + at));
}

/** Most pieces of an exception that the affix rules cut: `(╯°□°）╯︵┻━┻` and the like have more, and stay cut. */
const MAX_PIECES = 6;

/** Joins neighbours which together are an exception, the longest first: `:` and `)` after a word. */
function joinExceptions(
  words: WordSpan[],
  run: string,
  start: number,
  joined: ReadonlySet<string>,
): WordSpan[] {
  const found: { from: number; to: number }[] = [];
  for (let size = Math.min(MAX_PIECES, words.length); size > 1; size -= 1) {
    for (let from = 0; from + size <= words.length; from += 1) {
      const a = (words[from] as WordSpan).start - start;
      const b = (words[from + size - 1] as WordSpan).end - start;
      const isFree = found.every((other) => from + size <= other.from || from >= other.to);
      if (isFree && joined.has(run.slice(a, b))) found.push({ from, to: from + size });
    }
  }
  if (found.length === 0) return words;
  const out: WordSpan[] = [];
  for (let i = 0; i < words.length; ) {
    const join = found.find(({ from }) => from === i);
    const first = words[i] as WordSpan;
    if (join) {
      const last = words[join.to - 1] as WordSpan;
      out.push(createWord(run.slice(first.start - start, last.end - start), first.start));
    } else out.push(first);
    i = join ? join.to : i + 1;
  }
  return out;
}
