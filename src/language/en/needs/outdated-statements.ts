import { extractTerms } from "../../../domain/search/search-terms.ts";
import { runInSlices } from "../../../domain/time-slicing.ts";
import type { OutdatedReader, TalkStatement } from "../../../ports/language/context-readers.ts";
import type { Embedder } from "../../../ports/language/embedder.ts";
import { OUTDATED_WEIGHTS } from "./outdated-weights.ts";

/** What the words of a later statement say about an earlier one, by kinds of words. */
const ENDS =
  /\b(?:no longer|no more|any ?more|quit|quits|left|stopped|dead|died|dies|sold|scrapped|split up|broke up|gave up|gave (?:the|it|my|that)|given up|packed in|ditched|dropped|cancelled|canceled|goodbye|done with|done for|gone|lost|nicked|stole|stolen|retired|redundant|closed|is shut|market shut|ended|divorced?|single|finished|wiped|instead|forget|had it with|had to stop|stepped down|let (?:\w+ ){1,3}go|taken off|fell through|put down|off for good|'s off|is off|done with|for good|chopped|no \w+ing for me|moved (?:his|her|their) stuff|swapped|switched|moved out)\b/i;
const BEGINS =
  /\b(?:new|now|nowadays|these days|currently|started|starts?|starting|moved|moving|relocated|switched|bought|joined|became|turned into|turned|replaced|upgraded|signed up|went to|went back|first day|at last|finally|all moved|pushed|put me|they've put|today|this time|update|again|in the end|she's here|he's here|married|engaged|accepted|the offer|went up|put it up|raise|down to|up to|rebook\w*|booked|brought forward|have to|i(?:'m| am) on|i got a|weighed|from (?:next|june|july|monday|september|january|the|\d)|since (?:last|monday|friday|september|new))\b/i;
const CORRECTS =
  /\b(?:sorry|actually|i meant|meant|correction|typo|wrong|mistake|misread|swapped the|oops|turns out)\b/i;
/** Words that two statements share by chance. */
const COMMON: ReadonlySet<string> = new Set(
  extractTerms(
    "year years month months week weeks weekend day days hour hours minute minutes morning evening night time times today thing things lot bit good bad nice right way one two three four five six seven eight nine ten hundred thousand first second last next long little big people monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december quid pounds euros really please want need like get got go going come know think help say said tell told take make made put new now old much many every all half",
  ),
);
const ASKS = /\?\s*$|^(?:what|how|can|could|where|when|which|who|is|are|do|does|should|why)\b/i;
const FORMER = /\b(?:used to|was|were|had|ago|last (?:year|week|month|night|summer)|yesterday)\b/i;
const ALSO = /\b(?:also|too|as well|another|second|third|both)\b/i;
/** What is said of the present: "I'm on", "we live", "car's an old". */
const STATES =
  /\b(?:i'?m|i am|we'?re|we are|i live|we live|i work|i use|i drive|i go|i have|i've got|we have|we've got|my \w+(?: \w+)?(?:'s| is| are)|i keep|i take|i play|i rent|is called|is on|\w+'s an?)\b/i;
const SELF = /\b(?:i|i'm|im|i've|ive|we|we're|we've|my|our|me)\b/i;
const KIN =
  /\b(?:mum|mom|mother|ma|dad|father|parents|sister|brother|son|daughter|wife|husband|boyfriend|girlfriend|partner|friend|mate|colleague|boss|manager|cousin|aunt|uncle|grandad|grandma|gran|nan|kids|boys|baby|neighbour|neighbor|flatmate|roommate|landlord|landlady|cat|dog|he|she|they|his|her|their)\b/gi;
const NUMBER =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|twenty|thirty|forty|fifty|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b/i;

/** Things that have one value at a time, as the words by which people speak of them. */
const SLOTS: readonly string[] = [
  "i work at a company, my job, employer, agency, startup, started a new position, hired",
  "i live in a flat, house, apartment, city, neighbourhood, moved into a new place",
  "my car, i drive a, vehicle, van, bike, electric car, gearbox",
  "my laptop, computer, phone, operating system, linux, windows, mac",
  "the app, tool, software i use for notes, work, accounts",
  "my shift, working hours, start at, nights, earlies, lates, office days",
  "my weight, kilos, stone, pounds, weighed in, scales",
  "blood pressure, dose, tablets, mg, prescribed, medication",
  "appointment, meeting, lesson, class on monday at nine, moved to another day and time",
  "flight, trip, holiday, wedding, booked on a date, venue",
  "boyfriend, girlfriend, husband, wife, relationship, married, single, divorced",
  "dog, cat, pet, died, vet",
  "gym, club, team, group, sport, swimming, running, climbing, choir",
  "vegetarian, vegan, meat, fish, eat, drink, coffee, alcohol, smoke, diet",
  "doctor, dentist, boss, manager, teacher, flatmate, called",
  "school, university, degree, course, thesis, studying",
  "salary, rent, price, budget, savings, bank account, a month",
  "oven, kitchen, heating, internet, phone contract at home",
  "favourite band, team, colour, food, series",
];

type Cue = "ends" | "begins" | "corrects" | "asks" | "former" | "also" | "self" | "states" | "number";
type Cues = { readonly [cue in Cue]: number };

/** A statement as the model sees it. */
export interface ReadStatement {
  readonly text: string;
  /** Centred and of unit length; undefined if there is no vector. */
  readonly vector: Float32Array | undefined;
  /** The fit to each slot. */
  readonly slots: readonly number[];
  readonly terms: ReadonlySet<string>;
  readonly kin: ReadonlySet<string>;
  /** Which kinds of words it has: 1 or 0. */
  readonly cues: Cues;
}

/** How telling it is that two statements share a term, 0 to 1; see `weighTerms`. */
type TermWeights = (term: string) => number;

/** The weights of terms among some statements: 1 for one that hardly any has, 0 for one that all have. */
export function weighTerms(statements: readonly Pick<ReadStatement, "terms">[]): TermWeights {
  const counts = new Map<string, number>();
  for (const { terms } of statements) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const most = Math.log(1 + statements.length);
  return (term) => (most === 0 ? 1 : Math.max(0, 1 - Math.log((counts.get(term) ?? 1) / 2 + 0.5) / most));
}

type StatementReader = (texts: readonly string[]) => Promise<ReadStatement[]>;

/** Statements read lately, by embedder and text: the same ones are compared at each request. */
let readLately = new Map<string, ReadStatement>();
const MAX_READ = 4000;

/** Drops the statements read lately. Call it after an erasure: they hold words. */
export function forgetStatements(): void {
  readLately = new Map();
}

/** Reads statements with the vectors of an embedder. */
export function createStatementReader(embedder: Pick<Embedder, "embed" | "fingerprint">): StatementReader {
  let frame: Promise<StatementFrame> | undefined;
  const readFrame = async (): Promise<StatementFrame> => {
    const vectors = await embedder.embed(SLOTS);
    const mean = meanOf(vectors);
    return { mean, slots: vectors.map((vector) => centre(vector, mean)) };
  };
  return async (texts) => {
    frame ??= readFrame();
    const { mean, slots } = await frame;
    const lately = readLately;
    const keyOf = (text: string): string => `${embedder.fingerprint}\n${text}`;
    // Taken before the wait: another request may empty the cache meanwhile.
    const known = new Map(texts.map((text) => [text, lately.get(keyOf(text))]));
    const missing = [...known].flatMap(([text, one]) => (one === undefined ? [text] : []));
    if (lately.size + missing.length > MAX_READ) lately.clear();
    const vectors = missing.length === 0 ? [] : await embedder.embed(missing);
    const read = new Map(missing.map((text, i) => [text, readStatement(text, vectors[i], { mean, slots })]));
    const readings = texts.map((text) => (read.get(text) ?? known.get(text)) as ReadStatement);
    // Erased meanwhile: nothing of it is kept.
    if (lately === readLately) for (const [text, one] of read) lately.set(keyOf(text), one);
    return readings;
  };
}

interface StatementFrame {
  readonly mean: Float32Array;
  readonly slots: readonly Float32Array[];
}

function readStatement(
  text: string,
  vector: Float32Array | undefined,
  { mean, slots }: StatementFrame,
): ReadStatement {
  const own = vector?.some((part) => part !== 0) ? centre(vector, mean) : undefined;
  return {
    text,
    vector: own,
    slots: slots.map((slot) => (own ? dot(own, slot) : 0)),
    terms: new Set(extractTerms(text).filter((term) => !COMMON.has(term) && !/^\d/.test(term))),
    kin: new Set((text.match(KIN) ?? []).map((word) => word.toLowerCase())),
    cues: readCues(text),
  };
}

function readCues(text: string): Cues {
  return {
    ends: has(ENDS, text),
    begins: has(BEGINS, text),
    corrects: has(CORRECTS, text),
    asks: has(ASKS, text),
    former: has(FORMER, text),
    also: has(ALSO, text),
    self: has(SELF, text),
    states: has(STATES, text),
    number: has(NUMBER, text),
  };
}

/** Whether a later statement can end anything: it says that something begins, ends or was wrong. */
export function mayEnd({ cues }: Pick<ReadStatement, "cues">): boolean {
  return cues.asks === 0 && (cues.ends === 1 || cues.begins === 1 || cues.corrects === 1);
}

/** The values of `OUTDATED_WEIGHTS`, in its order. */
export function readPair(older: ReadStatement, newer: ReadStatement, weightOf: TermWeights): number[] {
  return listValues(older, newer, readShares(older, newer, weightOf), nearnessOf(older, newer));
}

/** What two statements share, apart from their nearness. */
interface PairShares {
  readonly slot: number;
  readonly shared: number;
}

function readShares(older: ReadStatement, newer: ReadStatement, weightOf: TermWeights): PairShares {
  return { slot: shareSlot(older, newer), shared: shareTerms(older, newer, weightOf) };
}

function nearnessOf(older: ReadStatement, newer: ReadStatement): number {
  return older.vector && newer.vector ? Math.max(0, dot(older.vector, newer.vector)) : 0;
}

function listValues(
  older: ReadStatement,
  newer: ReadStatement,
  { slot, shared }: PairShares,
  near: number,
): number[] {
  const { ends, begins, corrects } = newer.cues;
  const cue = Math.min(1, ends + begins + corrects);
  const numbers = older.cues.number * newer.cues.number;
  return [
    1,
    near,
    slot,
    shared,
    ends,
    begins,
    corrects,
    newer.cues.also,
    older.cues.former,
    older.cues.asks,
    older.cues.self,
    countOtherKin(older, newer),
    numbers,
    ends * begins,
    near * slot,
    near * ends,
    near * begins,
    slot * ends,
    slot * begins,
    shared * ends,
    shared * begins,
    near * shared,
    slot * shared,
    corrects * near,
    cue * slot * near,
    newer.cues.self,
    ends * (1 - shared / 2) * (1 - near),
    Math.min(1, older.terms.size / 4),
    Math.min(1, newer.terms.size / 4),
    numbers * near,
    older.cues.states,
    older.cues.states * slot,
  ];
}

/** How well both fit the same slot. */
function shareSlot(older: ReadStatement, newer: ReadStatement): number {
  let slot = 0;
  for (let k = 0; k < older.slots.length; k += 1)
    slot = Math.max(slot, Math.min(older.slots[k] as number, newer.slots[k] as number));
  return slot;
}

function shareTerms(older: ReadStatement, newer: ReadStatement, weightOf: TermWeights): number {
  let shared = 0;
  for (const term of older.terms) if (newer.terms.has(term)) shared += weightOf(term);
  return Math.min(2, shared);
}

/** People who are in one of the two alone. */
function countOtherKin({ kin: one }: ReadStatement, { kin: other }: ReadStatement): number {
  let count = 0;
  for (const person of one) if (!other.has(person)) count += 1;
  for (const person of other) if (!one.has(person)) count += 1;
  return Math.min(2, count);
}

/** A pair below this is left as it is. */
const MIN_CERTAINTY = 0.7;
const MIN_LOGIT = logit(MIN_CERTAINTY);

/** How certain it is that the later statement ended the earlier one, 0 to 1. Certainties below `MIN_CERTAINTY` are 0. */
function judgePair(older: ReadStatement, newer: ReadStatement, weightOf: TermWeights): number {
  const shares = readShares(older, newer, weightOf);
  // All values grow or fall evenly with the nearness, which is dear to compute: few pairs can reach the bar at any.
  const apart = weighValues(listValues(older, newer, shares, 0));
  const same = weighValues(listValues(older, newer, shares, 1));
  if (Math.max(apart, same) < MIN_LOGIT) return 0;
  return 1 / (1 + Math.exp(-(apart + (same - apart) * nearnessOf(older, newer))));
}

function weighValues(values: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += (values[i] as number) * (OUTDATED_WEIGHTS[i] as number);
  return sum;
}

/** What a statement ends is about as certain as what it ends most certainly. */
const MIN_SHARE = 0.6;

/** Finds outdated statements with a fitted model over words and vectors; `scripts/context/fit-changes.ts` fits it. */
export function createOutdatedReader(embedder: Pick<Embedder, "embed" | "fingerprint">): OutdatedReader {
  const read = createStatementReader(embedder);
  return {
    mayEnd: (text) => mayEnd({ cues: readCues(text) }),
    async findOutdated(statements) {
      const readings = await read(statements.map(({ text }) => text));
      const weightOf = weighTerms(readings);
      const outdated = new Map<number, number>();
      const work = function* (): Generator<void, void, void> {
        for (const [later, newer] of readings.entries()) {
          if (!mayEnd(newer)) continue;
          for (const earlier of findEnded(statements, readings, later, weightOf))
            outdated.set(earlier, later);
          yield;
        }
      };
      await runInSlices(work());
      return outdated;
    },
  };
}

/** The positions of what one statement ended. */
function findEnded(
  statements: readonly TalkStatement[],
  readings: readonly ReadStatement[],
  later: number,
  weightOf: TermWeights,
): number[] {
  const newer = readings[later] as ReadStatement;
  const found: { readonly earlier: number; readonly certainty: number }[] = [];
  for (let earlier = 0; earlier < later; earlier += 1) {
    if (!isEarlier(statements, earlier, later)) continue;
    const certainty = judgePair(readings[earlier] as ReadStatement, newer, weightOf);
    if (certainty >= MIN_CERTAINTY) found.push({ earlier, certainty: logit(certainty) });
  }
  const most = found.reduce((top, { certainty }) => Math.max(top, certainty), 0);
  return found.filter(({ certainty }) => certainty >= MIN_SHARE * most).map(({ earlier }) => earlier);
}

function isEarlier(statements: readonly TalkStatement[], earlier: number, later: number): boolean {
  const one = statements[earlier];
  const other = statements[later];
  return one !== undefined && other !== undefined && one.at < other.at;
}

function has(pattern: RegExp, text: string): number {
  return pattern.test(text) ? 1 : 0;
}

function logit(share: number): number {
  return Math.log(share / (1 - share + 1e-9));
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (let i = 0; i < mean.length; i += 1) mean[i] = (mean[i] as number) + (vector[i] as number);
  return mean.map((part) => part / Math.max(1, vectors.length));
}

function centre(vector: Float32Array, mean: Float32Array): Float32Array {
  const centred = vector.map((part, i) => part - (mean[i] as number));
  const length = Math.sqrt(dot(centred, centred));
  return length === 0 ? centred : centred.map((part) => part / length);
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] as number) * (other[i] as number);
  return sum;
}
