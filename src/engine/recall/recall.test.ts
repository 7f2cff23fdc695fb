import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { uuidv7 } from "../../adapters/system/index.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { RecallOptions } from "../../domain/recall.ts";
import { englishPhrases as phrases } from "../../language/en/phrases.ts";
import { englishPromptGuard } from "../../language/en/prompt-injection/prompt-guard.ts";
import { englishReplies } from "../../language/en/replies/replies.ts";
import { englishVocabulary } from "../../language/en/vocabulary.ts";
import type { Question } from "../../ports/language/question-reader.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import { createUserStates } from "../user-state/user-state.ts";
import { recall } from "./recall.ts";

const SCOPE = { project: "default", user: "ana" };
const NOW = "2026-06-01T00:00:00.000Z";
const embedder = hashEmbedder(256);
let record: MemoryStore;
let question: Question;

beforeEach(() => {
  record = createInMemoryStore();
  question = { asks: "unknown", relations: [] };
});

function ports() {
  return {
    store: record,
    embedder,
    states: createUserStates(record, embedder, { phrases }),
    questions: { read: () => question, isQuestion: () => true },
    promptGuard: englishPromptGuard,
    vocabulary: englishVocabulary,
    replies: englishReplies,
    clock: () => new Date(NOW),
    ids: uuidv7(),
  };
}

function said(id: string, content: string, fields: Partial<Message> = {}): Message {
  const at = fields.at ?? "2026-01-01T00:00:00.000Z";
  return {
    id,
    turn: 0,
    session: "s1",
    role: "user",
    content,
    origin: "user_message",
    at,
    storedAt: at,
    digest: "done",
    ...fields,
  };
}

function held(id: string, text: string, source: Message, fields: Partial<Memory> = {}): Memory {
  return {
    id,
    version: 1,
    text,
    kind: "fact",
    status: "current",
    confidence: 0.9,
    importance: 0.5,
    evidence: 1,
    origin: "user_message",
    at: source.at,
    validFrom: source.at,
    sources: [{ message: source.id, start: 0, end: source.content.length, quote: source.content }],
    revision: 1,
    storedAt: source.at,
    action: "added",
    ...fields,
  };
}

async function store(messages: readonly Message[], memories: readonly Memory[] = [], scope = SCOPE) {
  await record.commit(scope, {
    base: await record.revision(scope),
    at: NOW,
    cause: "remember",
    messages,
    memories,
    units: await createSearchUnits({ embedder }, messages, memories),
  });
}

const ask = (
  query: string,
  options: RecallOptions = {},
  scope: typeof SCOPE & { session?: string } = SCOPE,
) => recall(ports(), scope, query, options);
const ids = async (query: string, options: RecallOptions = {}) =>
  (await ask(query, options)).items.map(({ id }) => id);

describe("recall", () => {
  it("gives relevant items with their sources", async () => {
    const tools = said("m1", "I use Shram and Magnet as productivity tools.");
    await store([tools, said("m2", "The weather was lovely in Porto.")]);
    const { items, context, tokens, abstained } = await ask("Which productivity tools do I use?");
    expect(items[0]).toMatchObject({ id: "m1#0", type: "passage", status: "current", text: tools.content });
    expect(items[0]?.sources).toEqual([
      {
        message: "m1",
        session: "s1",
        role: "user",
        at: tools.at,
        start: 0,
        end: tools.content.length,
        quote: tools.content,
      },
    ]);
    expect(context).toContain(
      "[2026-01-01] user: I use Shram and Magnet as productivity tools. (message m1)",
    );
    expect(tokens).toBeGreaterThan(0);
    expect(abstained).toBe(false);
  });

  it("recall returns nothing if nothing is relevant", async () => {
    await store([said("m1", "I use Shram every day.")]);
    expect(await ask("What is my blood type?")).toMatchObject({
      items: [],
      context: "",
      tokens: 0,
      abstained: true,
    });
  });

  it("gives nothing to a user without messages, or to another user", async () => {
    expect((await ask("Which tools do I use?")).abstained).toBe(true);
    await store([said("m1", "My tools are Shram and Magnet.")]);
    expect((await ask("Which tools do I use?", {}, { ...SCOPE, user: "ben" })).items).toEqual([]);
    expect((await ask("Which tools do I use?", {}, { ...SCOPE, project: "other" })).items).toEqual([]);
  });

  it("gives at most the requested number of items, best first, with scores from 0 to 1", async () => {
    await store(
      Array.from({ length: 30 }, (_, i) => said(`m${i}`, `The kettle number ${i} is in the kitchen.`)),
    );
    const { items } = await ask("Which kettle is in the kitchen?", { limit: 5 });
    expect(items).toHaveLength(5);
    const scores = items.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((one, other) => other - one));
    for (const score of scores) expect(score > 0 && score <= 1).toBe(true);
  });

  it("leaves out items below the requested score", async () => {
    await store([
      said("m1", "A red kettle, my red kettle!"),
      said("m2", "The kettle was red but far too big for our hob.", { session: "s2" }),
    ]);
    const [first, second] = (await ask("red kettle")).items;
    expect(second?.score).toBeLessThan(first?.score ?? 0);
    expect(await ids("red kettle", { minScore: first?.score ?? 0 })).toEqual([first?.id]);
  });

  it("gives the same first places whatever the limit", async () => {
    const messages = Array.from({ length: 12 }, (_, i) =>
      said(`m${i}`, `The kettle ${"of the kitchen ".repeat(i % 4)}is mine.`),
    );
    await store(messages, [held("k1", "The user has a kettle.", messages[3] as Message)]);
    const many = await ids("my kettle", { limit: 12 });
    expect(await ids("my kettle", { limit: 4 })).toEqual(many.slice(0, 4));
  });

  it("ranks a turn higher when its neighbouring turns match", async () => {
    const talk = [
      said("a1", "How did the pottery class go, Melanie?", { name: "Caroline" }),
      said("a2", "It went so well, I made a bowl!", { name: "Melanie" }),
    ];
    const rest = Array.from({ length: 20 }, (_, i) =>
      said(`b${i}`, "Nothing much happened at home.", {
        name: i % 2 === 0 ? "Caroline" : "Melanie",
        session: `t${i}`,
      }),
    );
    await store([...rest, ...talk]);
    expect((await ids("What did Melanie do at the pottery class?")).slice(0, 2).sort()).toEqual([
      "a1#0",
      "a2#0",
    ]);
  });

  it("prefers the user's words over an assistant's", async () => {
    await store([
      said("m1", "Bilbao is a fine place for a holiday with trains."),
      said("m2", "Bilbao is a fine place for a holiday with trains too.", { role: "assistant" }),
    ]);
    expect((await ids("A holiday in Bilbao with trains"))[0]).toBe("m1#0");
  });
});

describe("an outdated memory", () => {
  const before = said("m1", "I use Magnet as a window tool.");
  const after = said("m2", "I use Raycast as a window tool.", { at: "2026-02-01T00:00:00.000Z" });
  const claim = (value: string) => ({
    subject: "user",
    relation: "use",
    value,
    qualifier: "as a window tool",
  });
  const magnet = (fields: Partial<Memory> = {}) =>
    held("k1", "The user uses Magnet as a window tool.", before, {
      claim: claim("Magnet"),
      status: "superseded",
      supersededBy: "k2",
      validTo: after.at,
      ...fields,
    });
  const raycast = held("k2", "The user uses Raycast as a window tool.", after, { claim: claim("Raycast") });

  it("is marked and ranks below current ones, as does its passage", async () => {
    await store([before, after], [magnet(), raycast]);
    const { items, context } = await ask("Which window tool do I use?");
    const status = Object.fromEntries(items.map((item) => [item.id, item.status]));
    expect(status).toEqual({ k1: "superseded", "m1#0": "superseded", k2: "current", "m2#0": "current" });
    expect(items.findIndex(({ id }) => id === "k2")).toBeLessThan(items.findIndex(({ id }) => id === "k1"));
    expect(items.findIndex(({ id }) => id === "m2#0")).toBeLessThan(
      items.findIndex(({ id }) => id === "m1#0"),
    );
    expect(context.indexOf("Raycast")).toBeLessThan(context.indexOf("Magnet"));
    expect(context).toContain("[no longer so since 2026-02-01] The user uses Magnet");
  });

  it("is current at an earlier time that the recall asks about", async () => {
    await store([before, after], [magnet(), raycast]);
    const { items } = await ask("Which window tool do I use?", { asOf: "2026-01-15T00:00:00Z" });
    expect(items.map(({ id, status }) => [id, status])).toContainEqual(["k1", "current"]);
    expect(items.map(({ id }) => id)).not.toContain("k2");
    expect(items.map(({ id }) => id)).not.toContain("m2#0");
  });

  it("ranks below current ones when it was never true", async () => {
    await store([before, after], [magnet({ status: "retracted" }), raycast]);
    const { items } = await ask("Which window tool do I use?");
    expect(items.at(-1)).toMatchObject({ status: "retracted" });
  });

  it("does not lower a passage with another current memory", async () => {
    await store([before, after], [magnet(), { ...raycast, sources: magnet().sources }]);
    const { items } = await ask("Which window tool do I use?");
    expect(items.find(({ id }) => id === "m1#0")?.status).toBe("current");
  });

  it("does not lower the words that ended it", async () => {
    const end = said("m3", "I don't use Magnet as a window tool any more.", {
      at: "2026-03-01T00:00:00.000Z",
    });
    const sources = [...magnet().sources, { message: "m3", start: 0, end: 10, quote: "I don't us" }];
    const { supersededBy: _gone, ...ended } = magnet({ sources, validTo: end.at });
    await store([before, end], [ended]);
    const { items } = await ask("Do I use Magnet as a window tool?");
    expect(items.find(({ id }) => id === "m1#0")?.status).toBe("superseded");
    expect(items.find(({ id }) => id === "m3#0")?.status).toBe("current");
  });

  it("has its earlier state when the recall asks what was known then", async () => {
    await store([before], [magnet({ status: "current", storedAt: "2026-01-01T00:00:00.000Z" })]);
    await record.commit(SCOPE, {
      base: 1,
      at: NOW,
      cause: "remember",
      memories: [magnet({ version: 2, storedAt: "2026-02-01T00:00:00.000Z" })],
    });
    const [then] = (await ask("Which window tool?", { knownAt: "2026-01-10T00:00:00Z", types: ["memory"] }))
      .items;
    expect(then?.status).toBe("current");
    expect((await ask("Which window tool?", { types: ["memory"] })).items[0]?.status).toBe("superseded");
    expect(await ids("Which window tool?", { knownAt: "2025-01-10T00:00:00Z" })).toEqual([]);
  });
});

describe("filters of a recall", () => {
  const message = said("m1", "My kettle is red.", { metadata: { app: "kitchen" } });

  it.each<[string, Partial<Memory>]>([
    ["quarantined", { quarantined: true }],
    ["expired", { expiresAt: "2026-05-31T00:00:00.000Z" }],
  ])("never give a memory that is %s", async (_name, fields) => {
    await store([message], [held("k1", "The user's kettle is red.", message, fields)]);
    expect(await ids("Is my kettle red?")).toEqual(["m1#0"]);
  });

  it("never give an undone message", async () => {
    await store([{ ...message, undone: true }, said("m2", "The kettle is old.")]);
    expect(await ids("my kettle")).toEqual(["m2#0"]);
  });

  it.each<[string, RecallOptions, string[]]>([
    ["types", { types: ["passage"] }, ["m1#0", "m2#0"]],
    ["kinds", { kinds: ["preference"] }, ["k2"]],
    ["session", { session: "s2" }, ["k2", "m2#0"]],
    ["where", { where: { app: "kitchen" } }, ["k1", "m1#0"]],
    ["where of its own", { where: { colour: { $exists: true } } }, ["k2"]],
  ])("limit results to %s", async (_name, options, wanted) => {
    const other = said("m2", "I want a blue kettle.", { session: "s2" });
    await store(
      [message, other],
      [
        held("k1", "The user's kettle is red.", message),
        held("k2", "The user wants a blue kettle.", other, {
          kind: "preference",
          metadata: { colour: "blue" },
        }),
      ],
    );
    expect((await ids("my kettle", options)).sort()).toEqual(wanted);
  });

  it("find allowed items, however far below the excluded ones", async () => {
    const many = Array.from({ length: 60 }, (_, i) =>
      said(`m${i}`, "My red kettle, red kettle, red kettle!"),
    );
    await store([...many, said("other", "We once had a kettle of some kind at home.", { session: "s2" })]);
    expect(await ids("my red kettle at home", { session: "s2" })).toEqual(["other#0"]);
  });

  it("limit results to the session and the agent of the scope", async () => {
    await store([message, said("m2", "The kettle is old.", { session: "s2", agent: "cook" })]);
    expect((await ask("kettle", {}, { ...SCOPE, session: "s2" })).items.map(({ id }) => id)).toEqual([
      "m2#0",
    ]);
    const cooks: typeof SCOPE & { agent: string } = { ...SCOPE, agent: "cook" };
    expect((await ask("kettle", {}, cooks)).items.map(({ id }) => id)).toEqual(["m2#0"]);
  });

  it.each<[string, object]>([
    ["an unknown option", { limits: 3 }],
    ["a limit of nothing", { limit: 0 }],
    ["a limit that is no number", { limit: "3" }],
    ["a score beyond 1", { minScore: 2 }],
    ["an unknown kind", { kinds: ["facts"] }],
    ["an unknown type", { types: ["vector"] }],
    ["a time without a zone", { asOf: "yesterday" }],
    ["a filter that is misspelt", { where: { app: { $equals: "x" } } }],
    ["an unknown profile", { profile: "best" }],
  ])("refuses %s", async (_name, options) => {
    await expect(ask("my kettle", options)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it.each(["", "  ", "a\u0000b"])("refuses %j as a query", async (query) => {
    await expect(ask(query)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("handles a query of a megabyte quickly, and finds the answer to the question at its end", async () => {
    await store([
      message,
      ...Array.from({ length: 10 }, (_, i) => said(`o${i}`, `Nothing new on day ${i}.`)),
    ]);
    const query = `${"Lorem ipsum dolor sit amet. ".repeat(30_000)} Where is my red kettle?`;
    const began = performance.now();
    expect(await ids(query)).toEqual(["m1#0"]);
    expect(performance.now() - began).toBeLessThan(2000);
  });

  it("stops when its signal is aborted", async () => {
    await expect(ask("kettle", { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });
});

describe("a change between two recalls", () => {
  it("is visible to the second: a deletion, an addition in its place, a replacement", async () => {
    const states = createUserStates(record, embedder, { phrases });
    const found = async (query: string) =>
      (await recall({ ...ports(), states }, SCOPE, query)).items.map(({ id }) => id).sort();
    const first = said("m1", "The kettle is red.");
    const second = said("m2", "The lamp is green.");
    await store([first, second], [held("k1", "The user has a red kettle.", first)]);
    expect(await found("kettle")).toEqual(["k1", "m1#0"]);
    await record.commit(SCOPE, { base: 1, at: NOW, cause: "forget", dropUnits: ["m1#0"] });
    await store([said("m3", "The guitar is loud.")]);
    expect(await found("kettle")).toEqual(["k1"]);
    expect(await found("guitar")).toEqual(["m3#0"]);
    const changed = held("k1", "The user has a violin.", second, { version: 2 });
    await store([], [changed]);
    expect(await found("kettle")).toEqual([]);
    expect(await found("violin")).toContain("k1");
  });

  it("is visible when everything is cached, and cached data is not read again", async () => {
    let reads = 0;
    const counted: MemoryStore = {
      ...record,
      read(scope, wanted) {
        reads += 1;
        return record.read(scope, wanted);
      },
    };
    const own = { ...ports(), store: counted, states: createUserStates(counted, embedder, { phrases }) };
    const found = async (by = own) =>
      (await recall(by, SCOPE, "kettle")).items.map(({ text }) => text).sort();
    const first = said("m1", "The kettle is red.");
    await store([first], [held("k1", "The user has a red kettle.", first)]);
    await own.states.of(SCOPE);
    expect(await found()).toEqual(["The kettle is red.", "The user has a red kettle."]);
    // Another process writes, and erases.
    await store([], [held("k1", "The user has a blue kettle.", first, { version: 2 })]);
    expect(await found()).toContain("The user has a blue kettle.");
    await record.commit(SCOPE, { base: 2, at: NOW, cause: "forget", dropUnits: ["m1#0"] });
    expect(await found()).toEqual(["The user has a blue kettle."]);
    expect(reads).toBe(0);
    const other = { ...own, states: createUserStates(counted, embedder, { phrases }) };
    expect(await found(other)).toEqual(["The user has a blue kettle."]);
    expect(reads).toBe(1);
  });
});

describe("claims", () => {
  const work = said("m1", "I started as a locksmith last week.");
  const home = said("m2", "We had a lovely day.");

  it("are found when the question shares no word with them", async () => {
    await store(
      [work, home],
      [
        held("k1", "The user works as a locksmith.", work, {
          claim: { subject: "user", relation: "work as", value: "a locksmith" },
        }),
      ],
    );
    expect((await ask("What is my occupation?")).items[0]?.id).toBe("k1");
  });

  it("about another person are no answer", async () => {
    await store(
      [work],
      [
        held("k1", "The user's sister works as a vet.", work, {
          claim: { subject: "user/sister", relation: "work as", value: "a vet" },
        }),
      ],
    );
    question = { asks: "value", subject: "user/brother", relations: ["work as"] };
    expect((await ask("What is his occupation?")).abstained).toBe(true);
  });
});

describe("explain", () => {
  it("gives the reason for each item and what was left out", async () => {
    const message = said("m1", "My kettle is red.");
    await store(
      [message, said("m2", "The kettle is old.")],
      [held("k1", "The user's kettle is red.", message, { quarantined: true })],
    );
    const { items, explanation } = await ask("red kettle", { explain: true, limit: 1 });
    const [item] = items;
    expect(item?.why?.words.toSorted()).toEqual(["kettle", "red"]);
    expect(item?.why?.arms.words).toMatchObject({ rank: 1 });
    expect(item?.why?.parts.words).toBeGreaterThan(0);
    expect(explanation).toMatchObject({ query: "red kettle", profile: "default", considered: 3 });
    const reasons = Object.fromEntries((explanation?.dropped ?? []).map(({ id, why }) => [id, why]));
    expect(reasons.k1).toBe("quarantined");
    expect(reasons["m2#0"]).toBe("beyond the limit");
  });

  it("gives the nearest items when none was near enough", async () => {
    await store([
      said("m1", "We saw a red kettle, a green lamp, a loud guitar, an old piano and the sea in Porto."),
    ]);
    const query = "Which kettle did the plumber from Leeds repair with his spanner on Tuesday afternoon?";
    const { abstained, explanation } = await ask(query, { explain: true });
    expect(abstained).toBe(true);
    expect(explanation?.dropped).toMatchObject([
      { id: "m1#0", type: "passage", why: "it has too little to do with the query" },
    ]);
  });

  it("is absent when it was not requested", async () => {
    await store([said("m1", "My kettle is red.")]);
    const { items, explanation } = await ask("red kettle");
    expect(explanation).toBeUndefined();
    expect(items[0]?.why).toBeUndefined();
  });
});

describe("for any stored messages", () => {
  const word = fc.constantFrom("kettle", "garden", "Porto", "sister", "guitar", "rain", "lamp");
  const texts = fc.array(fc.array(word, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 12 });

  it("the order of results depends neither on the storage order nor on the way of storing", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.infiniteStream(fc.nat()), async (all, order) => {
        const messages = all.map((words, i) => said(`m${i}`, words.join(" "), { session: `s${i}` }));
        const shuffled = messages
          .map((message) => ({ message, key: order.next().value as number }))
          .sort((one, other) => one.key - other.key)
          .map(({ message }) => message);
        record = createInMemoryStore();
        await store(messages);
        const wanted = await ids("the kettle in the garden");
        record = createInMemoryStore();
        const states = createUserStates(record, embedder, { phrases });
        for (const message of shuffled) {
          await store([message]);
          // Asked after each write, so that the index grows step by step.
          await recall({ ...ports(), states }, SCOPE, "the kettle in the garden");
        }
        const { items } = await recall({ ...ports(), states }, SCOPE, "the kettle in the garden");
        expect(items.map(({ id }) => id)).toEqual(wanted);
      }),
      { numRuns: 40 },
    );
  });

  it("an irrelevant item never displaces a relevant one", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(50), { maxLength: 20 }), async (relevant, noise) => {
        record = createInMemoryStore();
        await store([
          ...relevant.map((words, i) => said(`r${i}`, `telescope ${words.join(" ")}`, { session: `r${i}` })),
          ...noise.map((n, i) => said(`x${i}`, `zinnia${n} quokka`, { session: `x${i}` })),
        ]);
        const found = await ids("where is the telescope", { limit: relevant.length });
        expect(found.every((id) => id.startsWith("r"))).toBe(true);
        expect(found.length).toBeGreaterThan(0);
      }),
      { numRuns: 40 },
    );
  });

  it("every quote is at the position that its source gives", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (all) => {
        record = createInMemoryStore();
        const messages = all.map((words, i) => said(`m${i}`, words.join(" ").repeat(1 + 90 * (i % 3))));
        await store(messages);
        for (const { sources } of (await ask("kettle garden Porto sister")).items) {
          for (const { message, start, end, quote } of sources) {
            expect(messages.find(({ id }) => id === message)?.content.slice(start, end)).toBe(quote);
          }
        }
      }),
      { numRuns: 20 },
    );
  });
});
