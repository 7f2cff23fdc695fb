// Fits the weights by which clauses are rated: node scripts/forgetting/fit-clauses.ts
// The network for clauses has their sum as one sign beside the others. Reads `conversations.txt` and prints the weights and the result of a ten-fold test by conversations.
import { readFileSync } from "node:fs";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import type { Message } from "../../src/domain/message.ts";
import { englishExtractor } from "../../src/language/en/extractor.ts";
import { type Description, readSigns } from "../../src/language/en/forget-requests/retrieve.ts";
import { wantedIn } from "../../src/language/en/forget-requests/wanted.ts";
import type { EraseProposal } from "../../src/ports/language/extractor.ts";
import { toMessage } from "./conversation-messages.ts";

const FOLDS = 10;
const STEPS = 600;
const RATE = 0.2;
const DECAY = 0.002;
/** What is believed before any conversation is read. */
const PRIOR: Readonly<Record<string, number>> = {
  bias: -2.6,
  words: 3.5,
  context: 0.4,
  cosine: 2.5,
  margin: 1,
  near: 2,
  kind: 2.4,
  kindNear: 0.6,
  shape: 1.4,
  shapeName: 1.2,
  nameMissing: -3,
  otherName: -2,
  nameOnly: -2,
  valueMissing: -7,
  valueHeld: 4,
  isCurrent: -3.5,
  isPast: 1,
  byOthers: -4,
  lowerName: -6,
  assistant: -0.3,
  wordsBehind: -1.2,
  cosineBehind: -0.6,
  nearBehind: -0.4,
  kindBroad: 0.6,
  kindNearBroad: 1.5,
  nameHeld: 0.5,
};
/** Signs that may only speak for a clause, and signs that may only speak against it. */
const FOR = new Set([
  "words",
  "context",
  "cosine",
  "margin",
  "near",
  "kind",
  "kindNear",
  "shape",
  "valueHeld",
  "kindBroad",
  "kindNearBroad",
  "isPast",
]);
const AGAINST = new Set([
  "nameMissing",
  "otherName",
  "nameOnly",
  "valueMissing",
  "isCurrent",
  "byOthers",
  "lowerName",
  "wordsBehind",
  "cosineBehind",
  "nearBehind",
  "assistant",
]);

/** Signs that only the network has. */
const OTHERS = new Set(["sum", "nearness", "isBehind", "isOwnMessage", "isOtherSession"]);

interface Row {
  readonly signs: Readonly<Record<string, number>>;
  readonly target: number;
  readonly weight: number;
  readonly of: number;
  readonly text: string;
}

const embedder = staticEmbedder();
const extractor = englishExtractor();
const rows: Row[] = [];
const earlierDescriptions: Description[] = [];
let cases = 0;
for (const block of readFileSync(new URL("conversations.txt", import.meta.url), "utf8").split("\n\n"))
  await readCase(block);

interface Conversation {
  readonly messages: readonly Message[];
  readonly gone: readonly string[];
  readonly kept: readonly string[];
  /** The last message that asks to forget a thing, and what it asks. */
  readonly request?: { readonly message: Message; readonly found: readonly EraseProposal[] };
}

async function readConversation(block: string): Promise<Conversation> {
  const messages: Message[] = [];
  const parts: { readonly [mark in "-" | "+"]: string[] } = { "-": [], "+": [] };
  let request: Conversation["request"];
  for (const line of block.split("\n").filter((one) => !one.startsWith("#"))) {
    const [, by, text = ""] = /^([^\s>]*>|!|-|\+|=)\s?(.*)$/.exec(line) ?? [];
    if (by === undefined || by === "=") continue;
    if (by === "-" || by === "+") {
      parts[by].push(...text.split(" | ").map((one) => one.trim()));
      continue;
    }
    const message = toMessage(by, by === "!" ? `Forget ${text}` : text, messages.length);
    const found = await findRequests(message, messages);
    messages.push(message);
    if (found.length > 0) request = { message, found };
  }
  return { messages, gone: parts["-"], kept: parts["+"], ...(request ? { request } : {}) };
}

async function findRequests(message: Message, earlier: readonly Message[]): Promise<EraseProposal[]> {
  if (message.role !== "user") return [];
  const proposals = await extractor.propose({ messages: [message], earlier: [...earlier], known: [] });
  return proposals.filter((one): one is EraseProposal => one.propose === "erase" && one.about !== undefined);
}

function holdsAny(text: string, some: readonly string[]): boolean {
  const low = text.toLowerCase();
  return some.some((one) => {
    const wanted = one.toLowerCase();
    return low.includes(wanted) || (text.length > 5 && wanted.includes(low));
  });
}

async function readCase(block: string): Promise<void> {
  const { messages, gone, kept, request } = await readConversation(block);
  if (!request || gone.length === 0) return;
  cases += 1;
  const description = describe(request);
  const content = { messages: new Map(messages.map((one) => [one.id, one])), memories: new Map() };
  const source = { message: request.message, spans: request.found };
  const rated = await readSigns(embedder, content as never, description, source);
  if (!rated.some(({ text }) => holdsAny(text, gone))) return;
  // The description of another conversation means nothing here.
  const other = earlierDescriptions.at(-7);
  const foreign = other ? await readSigns(embedder, content as never, other, source) : [];
  for (const { signs, text } of foreign)
    rows.push({ signs: ownSigns(signs), text, of: cases, target: 0, weight: 0.4 });
  earlierDescriptions.push(description);
  for (const { text, signs, message } of rated) {
    const [isGone, isKept] = [holdsAny(text, gone), holdsAny(text, kept)];
    if ((isGone && isKept) || message === request.message) continue;
    const weight = isGone ? 1.5 : Number(isKept) / 2 + 0.5;
    rows.push({ signs: ownSigns(signs), text, of: cases, target: Number(isGone), weight });
  }
}

/** The signs that are summed up: without their sum, and without where a clause stands. */
function ownSigns(signs: Readonly<Record<string, number>>): Record<string, number> {
  const own = Object.entries(signs).filter(([name]) => !OTHERS.has(name));
  return { bias: 1, ...Object.fromEntries(own) };
}

function describe({ message, found }: NonNullable<Conversation["request"]>): Description {
  const phrase = found[0]?.about ?? "";
  const wanted = wantedIn(phrase);
  const isOwnText = wanted.head?.isText && wanted.isOwn && message.name !== undefined;
  const speaker = isOwnText ? { speaker: message.name as string } : {};
  return { phrase, wanted, isBroad: found[0]?.isBroad ?? false, ...speaker };
}

type Weights = Record<string, number>;

function fit(training: readonly Row[]): Weights {
  const weights: Weights = { ...PRIOR };
  const squares: Weights = {};
  const names = [...new Set(training.flatMap(({ signs }) => Object.keys(signs)))];
  const total = training.reduce((sum, { weight }) => sum + weight, 0);
  for (let step = 0; step < STEPS; step += 1) {
    const slopes = slopesOf(training, weights);
    for (const name of names) {
      const slope = (slopes[name] ?? 0) / total + pullOf(name, weights);
      squares[name] = (squares[name] ?? 0) + slope * slope;
      weights[name] = limit(
        name,
        (weights[name] ?? 0) - (RATE * slope) / Math.sqrt((squares[name] ?? 0) + 1e-8),
      );
    }
  }
  return weights;
}

/** Back to what was believed before. */
function pullOf(name: string, weights: Weights): number {
  return name === "bias" ? 0 : DECAY * ((weights[name] ?? 0) - (PRIOR[name] ?? 0));
}

function limit(name: string, weight: number): number {
  if (FOR.has(name)) return Math.max(0, weight);
  return AGAINST.has(name) ? Math.min(0, weight) : weight;
}

function slopesOf(training: readonly Row[], weights: Weights): Weights {
  const slopes: Weights = {};
  for (const row of training) {
    const error = (1 / (1 + Math.exp(-scoreOf(weights, row))) - row.target) * row.weight;
    for (const [name, value] of Object.entries(row.signs)) slopes[name] = (slopes[name] ?? 0) + error * value;
  }
  return slopes;
}

function scoreOf(weights: Weights, { signs }: Row): number {
  return Object.entries(signs).reduce((sum, [name, value]) => sum + value * (weights[name] ?? 0), 0);
}

let [top, all] = [0, 0];
let [right, wrongly, missed] = [0, 0, 0];
for (let fold = 0; fold < FOLDS; fold += 1) {
  const weights = fit(rows.filter(({ of }) => of % FOLDS !== fold));
  for (const some of Map.groupBy(
    rows.filter(({ of }) => of % FOLDS === fold),
    ({ of }) => of,
  ).values()) {
    const best = some
      .filter(({ weight }) => weight !== 0.4)
      .toSorted((one, other) => scoreOf(weights, other) - scoreOf(weights, one))[0];
    all += 1;
    if (best?.target === 1) top += 1;
    else if (process.argv.includes("--show"))
      console.log(
        "not best:",
        best?.text,
        "| wanted:",
        some
          .filter(({ target }) => target === 1)
          .map(({ text }) => text)
          .join(" / "),
      );
    for (const row of some) {
      const p = 1 / (1 + Math.exp(-scoreOf(weights, row)));
      if (row.target === 1 && p >= 0.5) right += 1;
      else if (row.target === 1) {
        missed += 1;
        if (process.argv.includes("--show")) console.log("missed", p.toFixed(2), row.text);
      } else if (p >= 0.5) {
        wrongly += 1;
        if (process.argv.includes("--show")) console.log("wrongly", p.toFixed(2), row.text);
      }
    }
  }
}
console.log(
  `${cases} conversations, ${rows.length} clauses; best clause right ${top}/${all}; found ${right}, missed ${missed}, wrongly ${wrongly}`,
);
const weights = fit(rows);
for (const [name, weight] of Object.entries(weights)) console.log(`  ${name}: ${weight.toFixed(2)},`);
