/**
 * Draws associations that were inferred, to be judged by a person: `node scripts/associations/draw.ts [DATA] [SEED] [EACH]`. Reads the
 * conversations of `DATA` (default `../shared/data`) that may be built on, a part of each data set. Prints `EACH` (50) associations
 * of each kind, with the sentences of both memories and the words that each was read from.
 */
import { numbers } from "../../bench/quality/bootstrap.ts";
import { createMemory, type Keepsake } from "../../src/index.ts";
import { type DevelopmentMessage, developmentMessages } from "../statements/messages.ts";

const [data = "../shared/data", seed = "1", each = "50"] = process.argv.slice(2);
/** Conversations of each set, messages of each conversation, and associations of a kind that are drawn from one conversation. */
const CONVERSATIONS = 250;
const MESSAGES = 40;
const MOST_OF_ONE = 5;

const KINDS = ["told together", "about the same"];
const random = numbers(Number(seed));

function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const order = items.map((item) => ({ item, place: random() }));
  return order.sort((one, other) => one.place - other.place).map(({ item }) => item);
}

/** The messages by set and conversation. */
function groupMessages(
  messages: readonly DevelopmentMessage[],
): Map<string, Map<string, DevelopmentMessage[]>> {
  const sets = new Map<string, Map<string, DevelopmentMessage[]>>();
  for (const message of messages) {
    if (message.half !== "fit") continue;
    const conversation = message.id.slice(0, message.id.lastIndexOf("/"));
    const known = sets.get(message.set) ?? new Map<string, DevelopmentMessage[]>();
    sets.set(message.set, known.set(conversation, [...(known.get(conversation) ?? []), message]));
  }
  return sets;
}

interface Drawn {
  readonly kind: string;
  readonly lines: string;
}

async function listInferred(memory: Keepsake, user: string): Promise<Drawn[]> {
  const scope = memory.scope({ user });
  const found = new Map<string, Drawn>();
  for await (const one of scope.list({ limit: 1000 })) {
    const { items } = await scope.related(one.id, { limit: 200 });
    for (const { memory: other, path } of items) {
      const kind = path[0]?.inferred;
      if (!kind) continue;
      const [first, second] = one.id < other.id ? [one, other] : [other, one];
      const quotes = [first, second].map(
        ({ text, sources }) => `  ${text}\n    « ${sources.at(-1)?.quote} »`,
      );
      found.set(`${kind} ${first.id} ${second.id}`, { kind, lines: quotes.join("\n") });
    }
  }
  const drawn = shuffle([...found.values()], random);
  return KINDS.flatMap((kind) => drawn.filter((one) => one.kind === kind).slice(0, MOST_OF_ONE));
}

const all: Drawn[] = [];
for (const conversations of groupMessages(developmentMessages(data)).values()) {
  await using memory = await createMemory({ path: ":memory:" });
  for (const [user, messages] of shuffle([...conversations], random).slice(0, CONVERSATIONS)) {
    const said = messages.slice(0, MESSAGES).map(({ content, name, at }) => ({
      role: "user" as const,
      content,
      at,
      ...(name === undefined ? {} : { name }),
    }));
    await memory.scope({ user }).remember(said, { session: "talk" });
    all.push(...(await listInferred(memory, user)));
  }
}
for (const kind of KINDS) {
  const of = all.filter((one) => one.kind === kind);
  process.stdout.write(`${kind}: ${of.length}\n`);
  for (const [number, { lines }] of shuffle(of, random).slice(0, Number(each)).entries())
    process.stdout.write(`${number + 1}.\n${lines}\n`);
}
