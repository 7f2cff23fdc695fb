// Conversations of short statements, put together by chance from the kinds of facts in `scripts/answers/tellings.txt`: who said what of
// whom, and questions of which a part is answered. They show the reader what natural conversations rarely do: that one fact is another's.
import { readFileSync } from "node:fs";
import { pick, type Random, seeded, shuffle } from "../../bench/speed/vocabulary.ts";
import type { WrittenCase, WrittenQuestion } from "../answers/written-questions.ts";

/** A kind of fact, in the phrasings of a writer; `{v}` and `{w}` stand for values, `{who}` for somebody else. */
export interface FactKind {
  readonly name: string;
  readonly values: readonly string[];
  readonly ofSelf: readonly string[];
  readonly ofOthers: readonly string[];
  /** Without a subject: what follows "The user". */
  readonly inThird: readonly string[];
  readonly asked: readonly string[];
  readonly askedOfOthers: readonly string[];
  /** What looks like the fact and does not answer. */
  readonly misleading: readonly string[];
  /** Other kinds that answer its questions, too. */
  readonly alsoFrom: readonly string[];
}

const SIGNS = {
  "=": "values",
  "+": "ofSelf",
  "*": "ofOthers",
  M: "inThird",
  "?": "asked",
  Q: "askedOfOthers",
  "-": "misleading",
} as const;

/** The kinds of a file, in order. */
export function readFactKinds(file: string | URL): FactKind[] {
  return readFileSync(file, "utf8")
    .split(/\n\s*\n/)
    .flatMap(readKind);
}

function readKind(block: string): FactKind[] {
  const lists = Object.fromEntries(Object.values(SIGNS).map((key) => [key, [] as string[]]));
  let name = "";
  const alsoFrom: string[] = [];
  for (const line of block.split("\n")) {
    const sign = line.slice(0, 1);
    const said = line.slice(1).trim();
    if (sign === "#") name = said;
    if (sign === "~") alsoFrom.push(...said.split(",").map((one) => one.trim()));
    const key = SIGNS[sign as keyof typeof SIGNS];
    if (key) lists[key]?.push(...said.split("|").flatMap((one) => one.trim() || []));
  }
  const kind = { name, alsoFrom, ...lists } as unknown as FactKind;
  const isWhole = name !== "" && kind.values.length > 1 && kind.ofSelf.length > 0 && kind.asked.length > 0;
  return isWhole ? [kind] : [];
}

const RELATIVES =
  "sister brother mother father mum dad wife husband partner daughter son cousin aunt uncle nephew niece grandma grandad flatmate boss colleague neighbour teacher friend best_friend mate ex girlfriend boyfriend";
const ROLES: readonly string[] = RELATIVES.split(" ").map((one) => one.replace("_", " "));
const NAMES: readonly string[] =
  "Lena Omar Priya Tom Aino Mateusz Yuki Chidi Ines Rob Fatima Sven Marta Kofi Elena Hugh Noor Liam Zsófia Dara Paulo Wen Greta Amir Siobhán Jonas Ada Vikram Colette Ravi Mei Bruno Tessa Idris Nell Karim Olga Pete Rosa Finn".split(
    " ",
  );

/** Somebody that a conversation tells of: "my sister Lena", in the words of a statement, a question and a memory. */
interface Person {
  readonly said: string;
  readonly asked: string;
  readonly inThird: string;
}

function drawPeople(random: Random, count: number): Person[] {
  const roles = shuffle(random, ROLES);
  const names = shuffle(random, NAMES);
  return Array.from({ length: count }, (_, i) => {
    const [role, name] = [roles[i] as string, names[i] as string];
    const form = random();
    if (form < 0.3) return { said: name, asked: name, inThird: name };
    if (form < 0.6) return { said: `my ${role}`, asked: `my ${role}`, inThird: `The user's ${role}` };
    const asked = random() < 0.5 ? `my ${role}` : random() < 0.7 ? name : `my ${role} ${name}`;
    return { said: `my ${role} ${name}`, asked, inThird: `The user's ${role} ${name}` };
  });
}

/** Something told: its kind, whose it is, and where its value stands. */
interface Telling {
  readonly kind: FactKind;
  /** Undefined for the user. */
  readonly of: Person | undefined;
  readonly isMisleading: boolean;
  readonly text: string;
  /** Words that hold the answer. */
  readonly answers: readonly string[];
}

const MOST_TOLD = 13;
const LEAST_TOLD = 4;
const QUESTIONS = 12;

/** A conversation of some statements, and questions about it. The same number gives the same. */
export function drawTellings(kinds: readonly FactKind[], number: number): WrittenCase {
  const random = seeded(0x51ed + number * 7919);
  const people = drawPeople(random, 2 + Math.floor(random() * 3));
  const isByHand = random() < 0.2;
  const told = drawKinds(random, kinds).flatMap((kind) => drawTold(random, kind, people, isByHand));
  const messages: { role: "user"; text: string }[] = [];
  const places = new Map<Telling, { message: number; at: number }>();
  for (const telling of shuffle(random, told)) {
    const last = messages.at(-1);
    if (last && random() < 0.15) {
      const joint = /[.!?]$/.test(last.text) ? " " : ". ";
      places.set(telling, { message: messages.length - 1, at: last.text.length + joint.length });
      last.text += joint + telling.text;
    } else {
      places.set(telling, { message: messages.length, at: 0 });
      messages.push({ role: "user", text: telling.text });
    }
  }
  return { messages, questions: drawQuestions(random, kinds, told, people, places), missing: [] };
}

/** Kinds by chance, half of them neighbours in the file, which are near each other in meaning. */
function drawKinds(random: Random, kinds: readonly FactKind[]): FactKind[] {
  const count = LEAST_TOLD + Math.floor(random() * (MOST_TOLD - LEAST_TOLD));
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, kinds.length)) {
    const last = [...chosen].at(-1);
    const near = last === undefined ? 0 : last + Math.floor(random() * 7) - 3;
    chosen.add(
      random() < 0.5 && last !== undefined
        ? Math.min(kinds.length - 1, Math.max(0, near))
        : Math.floor(random() * kinds.length),
    );
  }
  return [...chosen].map((i) => kinds[i] as FactKind);
}

function drawTold(random: Random, kind: FactKind, people: readonly Person[], isByHand: boolean): Telling[] {
  const values = shuffle(random, kind.values);
  const chance = random();
  const ofUser = (): Telling[] => phraseTold(random, kind, undefined, values, isByHand);
  const ofOther = (): Telling[] => phraseTold(random, kind, pick(random, people), values.slice(2), isByHand);
  if (chance < 0.52) return ofUser();
  if (chance < 0.72) return ofOther();
  if (chance < 0.87) return [...ofUser(), ...ofOther()];
  return mislead(random, kind, values);
}

function phraseTold(
  random: Random,
  kind: FactKind,
  of: Person | undefined,
  values: readonly string[],
  isByHand: boolean,
): Telling[] {
  const isThird = isByHand && kind.inThird.length > 0;
  const phrasings = isThird ? kind.inThird : of ? kind.ofOthers : kind.ofSelf;
  if (phrasings.length === 0) return [];
  const phrasing = pick(random, phrasings);
  const { text, used } = fill(phrasing, values, of?.said);
  const whole = isThird
    ? `${of?.inThird ?? "The user"} ${text}.`.replace(/\.+$/, ".")
    : capitalise(random, text);
  return [{ kind, of, isMisleading: false, text: whole, answers: used }];
}

function mislead(random: Random, kind: FactKind, values: readonly string[]): Telling[] {
  if (kind.misleading.length === 0) return [];
  const { text, used } = fill(pick(random, kind.misleading), values, undefined);
  return [{ kind, of: undefined, isMisleading: true, text: capitalise(random, text), answers: used }];
}

/** The phrasing with its values, and those that stand in it. */
function fill(
  phrasing: string,
  values: readonly string[],
  who: string | undefined,
): { text: string; used: string[] } {
  const [v = "", w = ""] = values;
  const used = [phrasing.includes("{v}") ? v : "", phrasing.includes("{w}") ? w : ""].filter(Boolean);
  const subject = who ?? "my friend";
  const text = phrasing
    .replaceAll("{who}'s", `${subject}'s`)
    .replaceAll("{who}", subject)
    .replaceAll("{v}", v)
    .replaceAll("{w}", w);
  return { text, used };
}

/** A capital at the start, mostly. */
function capitalise(random: Random, text: string): string {
  return random() < 0.8 ? text.slice(0, 1).toUpperCase() + text.slice(1) : text;
}

function drawQuestions(
  random: Random,
  kinds: readonly FactKind[],
  told: readonly Telling[],
  people: readonly Person[],
  places: ReadonlyMap<Telling, { readonly message: number; readonly at: number }>,
): WrittenQuestion[] {
  const near = told.map(({ kind }) => kind);
  const wanted = [
    ...told.map(({ kind, of }) => ({ kind, of })),
    // The same of somebody else, the same of the user, and what nobody told.
    ...near.map((kind) => ({ kind, of: random() < 0.5 ? undefined : pick(random, people) })),
    ...Array.from({ length: 4 }, () => ({
      kind: pick(random, kinds),
      of: random() < 0.8 ? undefined : pick(random, people),
    })),
  ];
  const seen = new Set<string>();
  return shuffle(random, wanted)
    .flatMap(({ kind, of }): WrittenQuestion[] => {
      const phrasings = of ? kind.askedOfOthers : kind.asked;
      const key = `${kind.name} ${of?.said}`;
      if (phrasings.length === 0 || seen.has(key)) return [];
      seen.add(key);
      const text = fill(pick(random, phrasings), shuffle(random, kind.values), of?.asked).text;
      const answering = told.filter(
        (one) =>
          one.of === of && !one.isMisleading && (one.kind === kind || kind.alsoFrom.includes(one.kind.name)),
      );
      return [{ text, answers: answering.flatMap((one) => answersIn(one, places.get(one))) }];
    })
    .slice(0, QUESTIONS);
}

/** The words of a telling that answer: its values, or all of it. */
function answersIn(
  { text, answers }: Telling,
  place: { readonly message: number; readonly at: number } | undefined,
): { message: number; start: number; end: number }[] {
  if (!place) return [];
  const { message, at } = place;
  const spans = answers.flatMap((value) => {
    const start = text.indexOf(value);
    return start < 0 ? [] : [{ message, start: at + start, end: at + start + value.length }];
  });
  return spans.length > 0 ? spans : [{ message, start: at, end: at + text.length }];
}
