/**
 * Measures whether associations help a recall: `node scripts/associations/recall-with-links.ts [DATA] [CONVERSATIONS] [QUESTIONS] [SEED]`.
 * It reads LoCoMo from `DATA` (default `bench/quality/small`), and draws `QUESTIONS` (50) of each of the first `CONVERSATIONS` (10).
 *
 * Every way gives ten items. The plain one gives the first ten of a recall. The others give up the last three or five places to what
 * is associated with the first items, the strongest first. The figure is the share of the turns that hold the answer among the
 * sources of the ten.
 */
import { interval, numbers } from "../../bench/quality/bootstrap.ts";
import { talksIn } from "../../bench/quality/locomo.ts";
import type { PeopleTalk } from "../../bench/quality/people.ts";
import { createMemory, type ScopedMemory } from "../../src/index.ts";

const [data = "bench/quality/small", talks = "10", questions = "50", seed = "1"] = process.argv.slice(2);
const ITEMS = 10;

interface Way {
  readonly name: string;
  /** Places given to associated memories. */
  readonly places: number;
}

const WAYS: readonly Way[] = [
  { name: "plain", places: 0 },
  { name: "three associated", places: 3 },
  { name: "five associated", places: 5 },
];

/** An item, and the messages that it comes from. */
interface FoundItem {
  readonly id: string;
  readonly isMemory: boolean;
  readonly messages: readonly string[];
}

async function recallItems(memory: ScopedMemory, question: string): Promise<FoundItem[]> {
  const { items } = await memory.recall(question, { limit: ITEMS });
  return items.map(({ id, type, sources }) => ({
    id,
    isMemory: type === "memory",
    messages: sources.map(({ message }) => message),
  }));
}

/** What is associated with some items and is not among them, the strongest first. */
async function findAssociated(memory: ScopedMemory, items: readonly FoundItem[]): Promise<FoundItem[]> {
  const found = new Map<string, { readonly item: FoundItem; readonly strength: number }>();
  for (const { id } of items.filter(({ isMemory }) => isMemory)) {
    for (const { memory: other, strength } of (await memory.related(id, { limit: 20 })).items) {
      if (items.some((item) => item.id === other.id)) continue;
      if (strength <= (found.get(other.id)?.strength ?? 0)) continue;
      const messages = other.sources.map(({ message }) => message);
      found.set(other.id, { item: { id: other.id, isMemory: true, messages }, strength });
    }
  }
  return [...found.values()].sort((one, other) => other.strength - one.strength).map(({ item }) => item);
}

async function recallBy({ places }: Way, memory: ScopedMemory, plain: readonly FoundItem[]) {
  if (places === 0) return plain;
  const first = plain.slice(0, ITEMS - places);
  const associated = await findAssociated(memory, first);
  const chosen = [...first, ...associated.slice(0, places)];
  const ids = new Set(chosen.map(({ id }) => id));
  return [...chosen, ...plain.filter(({ id }) => !ids.has(id))].slice(0, ITEMS);
}

/** By the way, the share of the evidence that was found, question by question. */
async function measureTalk(
  { name, turns, questions: all }: PeopleTalk,
  draw: () => number,
): Promise<Map<string, number[]>> {
  await using keepsake = await createMemory({ path: ":memory:" });
  const memory = keepsake.scope({ user: name });
  for (const { id, session, speaker, text, at } of turns)
    await memory.remember(
      { id, role: "user", name: speaker, content: text, ...(at === undefined ? {} : { at }) },
      { session },
    );
  const drawn = all
    .map((question) => ({ question, place: draw() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, Number(questions));
  const shares = new Map<string, number[]>(WAYS.map((way) => [way.name, []]));
  for (const { question } of drawn) {
    const plain = await recallItems(memory, question.question);
    for (const way of WAYS) {
      const said = new Set((await recallBy(way, memory, plain)).flatMap(({ messages }) => messages));
      const found = [...question.gold].filter((turn) => said.has(turn)).length;
      shares.get(way.name)?.push(found / question.gold.size);
    }
  }
  return shares;
}

const format = (value: number): string => `${value.toFixed(1)} %`;
const meanOf = (values: readonly number[]): number =>
  (100 * values.reduce((sum, value) => sum + value, 0)) / Math.max(1, values.length);

const draw = numbers(Number(seed));
const shares = new Map<string, number[]>(WAYS.map(({ name }) => [name, []]));
for (const talk of talksIn(data).slice(0, Number(talks)))
  for (const [name, values] of await measureTalk(talk, draw)) shares.get(name)?.push(...values);
const plain = shares.get("plain") ?? [];
console.log(`${plain.length} questions, seed ${seed}`);
console.log("| Way | Found among ten | Difference | 95 % |\n|---|---:|---:|---|");
for (const [name, values] of shares) {
  const differences = values.map((value, i) => value - (plain[i] ?? 0));
  const [low, high] = interval(differences);
  const compared =
    name === "plain" ? " | " : `${format(meanOf(differences))} | ${format(low)} to ${format(high)}`;
  console.log(`| ${name} | ${format(meanOf(values))} | ${compared} |`);
}
