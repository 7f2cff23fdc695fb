// Fits the weights by which clauses are rated: node scripts/forgetting/fit-clauses.ts
// Reads the conversations beside it and prints the weights and the result of a ten-fold test by conversations.
import { readFileSync } from "node:fs";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import type { Message } from "../../src/domain/message.ts";
import { englishExtractor } from "../../src/language/en/extractor.ts";
import { type Description, rateSegments } from "../../src/language/en/forget-requests/retrieve.ts";
import { wantedIn } from "../../src/language/en/forget-requests/wanted.ts";
import type { EraseProposal } from "../../src/ports/language/extractor.ts";

const FILES = ["cases.txt", "fresh.txt", "more.txt", "third.txt", "fourth.txt", "fifth.txt"];
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
for (const file of FILES) {
  for (const block of readFileSync(new URL(file, import.meta.url), "utf8").split("\n\n"))
    await readCase(block);
}

async function readCase(block: string): Promise<void> {
  const messages: Message[] = [];
  const gone: string[] = [];
  const kept: string[] = [];
  const requests: { message: Message; found: EraseProposal[] }[] = [];
  for (const line of block.split("\n").filter((one) => !one.startsWith("#"))) {
    const [, by, text = ""] = /^([^\s>]*>|!|-|\+|=)\s?(.*)$/.exec(line) ?? [];
    const parts = text
      .split(" | ")
      .map((one) => one.trim())
      .filter((one) => one !== "");
    if (by === "-") gone.push(...parts);
    else if (by === "+") kept.push(...parts);
    else if (by !== undefined && by !== "=") {
      const who = by.replace(/[>!]/, "");
      const at = new Date(Date.parse("2026-03-02T10:00:00Z") + messages.length * 120_000).toISOString();
      const message = {
        id: `m${messages.length}`,
        turn: messages.length + 1,
        role: who === "A" ? "assistant" : "user",
        ...(who === "" || who === "A" ? {} : { name: who }),
        content: by === "!" ? `Forget ${text}` : text,
        origin: "user_message",
        at,
        storedAt: at,
        digest: "done",
        session: "s",
      } as Message;
      const proposals =
        message.role === "user"
          ? await extractor.propose({ messages: [message], earlier: [...messages], known: [] })
          : [];
      const found = proposals.filter(
        (one) => one.propose === "erase" && one.about !== undefined,
      ) as EraseProposal[];
      messages.push(message);
      if (found.length > 0) requests.push({ message, found });
    }
  }
  const request = requests.at(-1);
  if (!request || gone.length === 0) return;
  cases += 1;
  const [proposal] = request.found;
  const phrase = proposal?.about ?? "";
  const wanted = wantedIn(phrase);
  const isOwnText = wanted.head?.isText && wanted.isOwn && request.message.name !== undefined;
  const description: Description = {
    phrase,
    wanted,
    isBroad: proposal?.isBroad ?? false,
    ...(isOwnText ? { speaker: request.message.name as string } : {}),
  };
  const content = { messages: new Map(messages.map((one) => [one.id, one])), memories: new Map() };
  const rated = await rateSegments(embedder, content as never, description, {
    message: request.message,
    spans: request.found,
  });
  const has = (text: string, some: readonly string[]): boolean =>
    some.some(
      (one) =>
        text.toLowerCase().includes(one.toLowerCase()) ||
        (text.length > 5 && one.toLowerCase().includes(text.toLowerCase())),
    );
  if (!rated.some(({ text }) => has(text, gone))) return;
  // The description of another conversation means nothing here.
  const other = earlierDescriptions.at(-7);
  if (other)
    for (const { signs, text } of await rateSegments(embedder, content as never, other, {
      message: request.message,
      spans: request.found,
    }))
      rows.push({ signs, text, of: cases, target: 0, weight: 0.4 });
  earlierDescriptions.push(description);
  for (const { text, signs, message } of rated) {
    const isGone = has(text, gone);
    const isKept = has(text, kept);
    if (isGone && isKept) continue;
    if (message === request.message) continue;
    rows.push({ signs, text, of: cases, target: Number(isGone), weight: isGone ? 1.5 : isKept ? 1 : 0.5 });
  }
}

type Weights = Record<string, number>;

function fit(training: readonly Row[]): Weights {
  const weights: Weights = { ...PRIOR };
  const squares: Weights = {};
  const names = [...new Set(training.flatMap(({ signs }) => Object.keys(signs)))];
  const total = training.reduce((sum, { weight }) => sum + weight, 0);
  for (let step = 0; step < STEPS; step += 1) {
    const slopes: Weights = {};
    for (const { signs, target, weight } of training) {
      const score = names.reduce((sum, name) => sum + (weights[name] ?? 0) * (signs[name] ?? 0), 0);
      const error = (1 / (1 + Math.exp(-score)) - target) * weight;
      for (const name of names)
        if (signs[name]) slopes[name] = (slopes[name] ?? 0) + error * (signs[name] ?? 0);
    }
    for (const name of names) {
      const slope =
        (slopes[name] ?? 0) / total +
        (name === "bias" ? 0 : DECAY * ((weights[name] ?? 0) - (PRIOR[name] ?? 0)));
      squares[name] = (squares[name] ?? 0) + slope * slope;
      let next = (weights[name] ?? 0) - (RATE * slope) / Math.sqrt((squares[name] ?? 0) + 1e-8);
      if (FOR.has(name)) next = Math.max(0, next);
      if (AGAINST.has(name)) next = Math.min(0, next);
      weights[name] = next;
    }
  }
  return weights;
}

const scoreOf = (weights: Weights, { signs }: Row): number =>
  Object.entries(signs).reduce((sum, [name, value]) => sum + value * (weights[name] ?? 0), 0);
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
