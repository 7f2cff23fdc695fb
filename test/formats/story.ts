import type { ErasureReceipt } from "../../src/domain/receipt.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import type { ShownMemory } from "../../src/engine/api/listing-types.ts";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import type { InputMessage } from "../../src/engine/api/writing-types.ts";

// Run inside of old checkouts too: nothing here may be imported at run time but what Node brings.

/** The word that is erased in the story. It may stand nowhere afterwards. */
export const ERASED_WORD = "zqxlocker77";
export const ERASED_SENTENCE: string = `The locker at the rowing club opens with ${ERASED_WORD}.`;
export const IDEMPOTENCY_KEY = "key-1";
export const KEPT_ANSWER: { readonly key: string; readonly request: string } = {
  key: "answer-1",
  request: "a".repeat(64),
};
/** What is asked of the memory, and a word that is in the answer. */
export const QUESTIONS: readonly {
  readonly user: string;
  readonly question: string;
  readonly word: string;
}[] = [
  { user: "ana", question: "Where do I live?", word: "Ghent" },
  { user: "ana", question: "What is my cat called?", word: "Quixote" },
  { user: "ben", question: "Where do I work?", word: "Lumen" },
  { user: "dora", question: "What is my boat called?", word: "Fulmar" },
];
export const SCOPES: readonly { readonly project: string; readonly user: string }[] = [
  { project: "default", user: "ana" },
  { project: "default", user: "ben" },
  { project: "garden", user: "ana" },
];
/** Somebody with enough messages for a search index to be kept; they say the same, so that the file packs well. */
export const TALKER = { project: "default", user: "dora" };
export const TALKER_MESSAGES: number = 300;
/** Its message is not understood yet. */
export const WAITING = { project: "default", user: "cleo" };
export const WAITING_MESSAGE: InputMessage = { id: "m-late", role: "user", content: "I play the cello." };
export const FIRST_MESSAGES: readonly InputMessage[] = [
  { id: "m-1", role: "user", content: "I live in Porto. My cat is called Quixote." },
  { id: "m-2", role: "assistant", content: "Noted." },
];
const START = Date.UTC(2026, 0, 5, 9);

/** What a library of some version gives of a file. */
export interface Readings {
  readonly users: readonly UserReadings[];
  readonly receipts: readonly ErasureReceipt[];
  readonly broken: readonly unknown[];
  /** Absent in a file of a version that had none of them. */
  readonly others?: OtherReadings;
}

/** What one user shows another, pictures, and who is told of changes. */
interface OtherReadings {
  readonly grants: readonly Fields[];
  readonly groups: readonly Fields[];
  readonly attachments: readonly Fields[];
  readonly webhooks: readonly Fields[];
}

export interface UserReadings {
  readonly project: string;
  readonly user: string;
  readonly memories: readonly Fields[];
  /** All versions of each memory, by its id. */
  readonly versions: { readonly [id: string]: readonly Fields[] };
  readonly log: readonly Fields[];
  readonly messages: readonly Fields[];
}

/** The fields of something that a library gave, as JSON. */
export type Fields = { readonly [field: string]: unknown };

/** What an older library may lack. */
type Library = Partial<Keepsake> & Pick<Keepsake, "scope" | "audit" | "close">;

/** A clock that goes on by a second whenever it is read. */
export function steadyClock(from: number = START): () => Date {
  let reads = 0;
  return () => {
    reads += 1;
    return new Date(from + reads * 1000);
  };
}

/** Fills a file with some of all that a memory can hold; made-up sentences, no person's. */
export async function tellStory(memory: Library, folder: string): Promise<void> {
  const ana = memory.scope({ user: "ana" });
  await ana.remember(FIRST_MESSAGES, { session: "s-1", idempotencyKey: IDEMPOTENCY_KEY });
  await ana.remember({ id: "m-3", role: "user", content: ERASED_SENTENCE }, { session: "s-1" });
  await ana.remember({ id: "m-4", role: "user", content: "I live in Ghent now." }, { session: "s-2" });
  await changeByHand(ana);
  await shareAndShow(memory, ana);
  await memory.backup?.(`${folder}/story.backup`);
  const receipt = await ana.forget(ERASED_WORD);
  if (receipt.id === "") throw new Error("the erasure found nothing");
  const ben = memory.scope({ user: "ben" });
  await ben.remember({ id: "b-1", role: "user", content: "I work at Lumen." });
  const garden = memory.scope({ project: "garden", user: "ana" });
  await garden.remember({ id: "g-1", role: "user", content: "My favourite flower is the iris." });
  await talk(memory.scope(TALKER));
  for (const { user, question } of QUESTIONS) await memory.scope({ user }).answer(question);
  await ana.optimize?.();
  await memory.answers?.begin(SCOPES[0] ?? WAITING, { ...KEPT_ANSWER, abandonedMs: 60_000 });
  await memory.answers?.end(SCOPES[0] ?? WAITING, KEPT_ANSWER.key, {
    status: 201,
    body: '{"kept":"yes"}',
  } as never);
}

/** The first bytes of a picture and some more: nothing looks at what it shows. */
const PICTURE: Buffer = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("a heron")]);

/** What only newer versions have: grants and groups, pictures, webhooks. */
async function shareAndShow({ webhooks }: Library, ana: ScopedMemory): Promise<void> {
  const has = (name: keyof ScopedMemory): boolean => typeof ana[name] === "function";
  if (has("share")) {
    await ana.share({ user: "ben", about: ["Quixote"] });
    const { name: group } = await ana.saveGroup({ name: "rowers", members: ["ben", "dora"] });
    await ana.share({ group, kinds: ["fact"] });
  }
  if (has("attachments")) {
    const picture = { type: "image" as const, data: PICTURE, description: "A grey heron." };
    await ana.remember({ id: "m-picture", role: "user", content: [picture] });
  }
  await webhooks?.create({ url: "https://127.0.0.1:9/keepsake", enabled: false, label: "for a test" });
}

async function talk(dora: ScopedMemory): Promise<void> {
  const grey = Array.from({ length: TALKER_MESSAGES - 1 }, (_, number) => ({
    id: `d-${number}`,
    role: "assistant" as const,
    content: "The day is grey.",
  }));
  await dora.remember([...grey, { id: "d-boat", role: "user", content: "My boat is called Fulmar." }]);
}

/** Changes that no message asks for: an update, a removal, and one that is undone. */
async function changeByHand(ana: ScopedMemory): Promise<void> {
  const bees = await ana.add({ text: "Ana keeps bees.", metadata: { place: "roof" } });
  await ana.update(idIn(bees), { text: "Ana keeps two hives of bees." });
  await ana.remove(idIn(await ana.add({ text: "Ana owns a kite." })));
  const { revision } = await ana.add({ text: "Ana likes fog." });
  await ana.undo(revision);
}

function idIn({ memories }: { readonly memories: readonly { readonly id: string }[] }): string {
  const id = memories[0]?.id;
  if (id === undefined) throw new Error("nothing was added");
  return id;
}

/** All that the public reads give. */
export async function readAll(memory: Pick<Keepsake, "scope" | "audit">): Promise<Readings> {
  const users = await Promise.all(SCOPES.map((scope) => readUser(memory.scope(scope), scope)));
  const { receipts, broken } = await memory.audit();
  return plain({ users, receipts, broken });
}

/** What the reads of newer versions give. The memory has to be open with `webhooks`. */
export async function readOthers(memory: Pick<Keepsake, "scope" | "webhooks">): Promise<OtherReadings> {
  const ana = memory.scope({ user: "ana" });
  const { given } = await ana.grants();
  const { items } = await ana.attachments();
  const shown = await Promise.all(
    items.map(async (one) => {
      const { bytes } = await ana.attachment(one.id);
      return { ...one, bytes: Buffer.from(bytes ?? []).toString("hex") };
    }),
  );
  const toFields = (all: readonly object[]): Fields[] => all.map((one) => ({ ...one }));
  return plain({
    grants: toFields(given),
    groups: toFields(await ana.groups()),
    attachments: shown,
    webhooks: toFields(await memory.webhooks.list()),
  });
}

async function readUser(
  scoped: ScopedMemory,
  { project, user }: { readonly project: string; readonly user: string },
): Promise<UserReadings> {
  const memories: Fields[] = [];
  const versions: { [id: string]: readonly Fields[] } = {};
  for await (const memory of scoped.list({ status: "all", limit: 1000 })) {
    // How often a memory was used, and how old it is, is not part of what was stored.
    const { usage: _usage, decayScore: _decay, ...stored } = memory as ShownMemory & Fields;
    memories.push(stored);
    versions[memory.id] = (await scoped.history(memory.id)).map((version) => ({ ...version }));
  }
  const log = (await scoped.history(undefined, { limit: 1000 })).map((entry) => ({ ...entry }));
  const messages: Fields[] = [];
  for await (const line of scoped.export()) if (line.type === "message") messages.push({ ...line.message });
  return { project, user, memories, versions, log, messages };
}

function plain<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

if (import.meta.main) {
  // `story.ts CHECKOUT FOLDER`: called by `make.ts`.
  const [, , checkout = "", folder = ""] = process.argv;
  const { createMemory } = await import(`${checkout}/src/memory.ts`);
  const { writeFileSync } = await import("node:fs");
  const path = `${folder}/story`;
  const memory: Keepsake = await createMemory({
    path,
    clock: steadyClock(),
    webhooks: { allowsLoopback: true },
  });
  await tellStory(memory, folder);
  const others = "webhooks" in memory ? { others: await readOthers(memory) } : {};
  const readings: Readings = { ...(await readAll(memory)), ...others };
  await memory.close();
  const late: Keepsake = await createMemory({ path, clock: steadyClock(START + 3_600_000) });
  await late.scope(WAITING).remember(WAITING_MESSAGE, { extract: "later" });
  await late.close();
  writeFileSync(`${folder}/story.json`, JSON.stringify(readings));
}
