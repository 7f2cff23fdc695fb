import { describe, expect, it } from "vitest";
import { memoryCache } from "../adapters/memory/cache.ts";
import { memoryCalls } from "../adapters/memory/calls.ts";
import { memorySessions } from "../adapters/memory/sessions.ts";
import { createMemoryDocuments } from "../adapters/memory/shared-documents.ts";
import type { Cache } from "../ports/cache.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { Calls } from "../ports/language/model-calls.ts";
import type { Sessions, StoredSessionState } from "../ports/sessions.ts";
import type { Documents } from "../ports/stores/documents.ts";
import type { Clock } from "../ports/system.ts";
import { CACHE_CASES } from "./cache-conformance.ts";
import { DOCUMENTS_CASES } from "./documents-conformance.ts";
import { LANGUAGE_MODEL_CASES } from "./language-model-conformance.ts";
import { CALLS_CASES } from "./model-calls-conformance.ts";
import { SESSIONS_CASES } from "./sessions-conformance.ts";
import { type Says, scriptedModel } from "./test-doubles.ts";

/** Faults of an adapter, by what is wrong with it. */
type Faults<Port> = { readonly [what: string]: (port: Port) => Partial<Port> };

/** Runs each case on a new subject, and gives the titles of those that fail. */
async function listFailing<Given>(
  cases: { readonly [title: string]: (given: Given) => Promise<void> },
  open: () => Given,
): Promise<string[]> {
  const failed: string[] = [];
  for (const [title, run] of Object.entries(cases)) await run(open()).catch(() => failed.push(title));
  return failed;
}

/** A clock that a case sets forward, from noon on 21 November 2026. */
function createCaseClock(): { readonly clock: Clock; pass(ms: number): void } {
  let now = Date.parse("2026-11-21T12:00:00.000Z");
  return {
    clock: () => new Date(now),
    pass(ms) {
      now += ms;
    },
  };
}

const ANA = { project: "p", user: "ana" };

const SESSION_FAULTS: Faults<Sessions> = {
  "gives the oldest messages": (sessions) => ({
    recent: async (of, { limit }) => (await sessions.recent(of, { limit: 1000 })).slice(0, limit),
  }),
  "gives messages newest first": (sessions) => ({
    recent: async (of, options) => (await sessions.recent(of, options)).toReversed(),
  }),
  "puts user and session together with a colon": (sessions) => {
    const joined = (of: { project: string; user: string; session: string }) => ({
      ...of,
      user: `${of.user}:${of.session}`,
      session: "one",
    });
    return {
      append: (of, ...rest) => sessions.append(joined(of), ...rest),
      recent: (of, options) => sessions.recent(joined(of), options),
    };
  },
  "keeps what arrives after its erasure": (sessions) => ({
    append: (of, messages, { revision: _revision, ...options } = {}) =>
      sessions.append(of, messages, options),
  }),
  "ends no session": () => ({ end: async () => undefined }),
  "starts a state twice": ({ states }) => ({
    states: {
      ...states,
      change: async (of, changes, options) =>
        (await states.change(of, changes, options)) ??
        states.change(of, changes, { ...options, mode: "update" }),
    },
  }),
  "starts a state where one is to be changed": ({ states }) => ({
    states: {
      ...states,
      change: async (of, changes, options) =>
        (await states.change(of, changes, options)) ??
        states.change(of, changes, { ...options, mode: "create" }),
    },
  }),
  "replaces all fields of a state": ({ states }) => ({
    states: {
      ...states,
      change(of, changes, options) {
        const cleared = { topic: null, context: null, preferences: null, ...changes };
        return states.change(of, options.mode === "update" ? cleared : changes, options);
      },
    },
  }),
  "keeps a state that was written before an erasure": ({ states }) => ({
    states: {
      ...states,
      change: (of, changes, { revision: _revision, ...options }) => states.change(of, changes, options),
    },
  }),
  "keeps states beyond an erasure": ({ states }) => {
    const kept = new Map<string, StoredSessionState>();
    return {
      states: {
        ...states,
        async change(of, changes, options) {
          const state = await states.change(of, changes, options);
          if (state) kept.set(JSON.stringify(of), state);
          return state;
        },
        read: async (of, options) => (await states.read(of, options)) ?? kept.get(JSON.stringify(of)),
        list: async ({ project, user }) =>
          [...kept].flatMap(([key, state]) => {
            const of = JSON.parse(key) as { project: string; user: string; session: string };
            return of.project === project && of.user === user ? [{ session: of.session, ...state }] : [];
          }),
      },
    };
  },
  "lists the states of another user": ({ states }) => ({
    states: { ...states, list: () => states.list(ANA) },
  }),
  "does not count erased states": (sessions) => ({
    async erase(of, what, options) {
      const states = (await sessions.states.list(of)).length;
      return (await sessions.erase(of, what, options)) - states;
    },
  }),
  "ignores an aborted signal": (sessions) => ({
    append: (of, messages, { signal: _signal, ...options } = {}) => sessions.append(of, messages, options),
  }),
};

const CACHE_FAULTS: Faults<Cache> = {
  "keeps no lifetime of an entry": (cache) => ({
    put: (of, name, bytes, { ttlMs: _ttlMs, ...options } = {}) => cache.put(of, name, bytes, options),
  }),
  "keeps what arrives after its erasure": (cache) => ({
    put: (of, name, bytes, { revision: _revision, ...options } = {}) => cache.put(of, name, bytes, options),
  }),
  "drops nothing": () => ({ drop: async () => 0 }),
  "drops the entries of every user": (cache) => ({
    async drop(of, options) {
      await cache.drop({ project: "p", user: "ben" });
      return cache.drop(of, options);
    },
  }),
  "puts user and name together with a colon": (cache) => ({
    put: ({ project, user }, name, ...rest) => cache.put({ project, user: "" }, `${user}:${name}`, ...rest),
    get: ({ project, user }, name, options) => cache.get({ project, user: "" }, `${user}:${name}`, options),
  }),
  "keeps the entry that a too large one replaces": (cache) => ({
    async put(of, name, bytes, options) {
      if (bytes.length <= 100_000) await cache.put(of, name, bytes, options);
    },
  }),
  "ignores an aborted signal": (cache) => ({ get: (of, name) => cache.get(of, name) }),
};

const DOCUMENT_FAULTS: Faults<Documents> = {
  "gives the text for a known mark": (documents) => ({ read: (name) => documents.read(name) }),
  "keeps one document under all names": (documents) => ({
    read: (_name, known) => documents.read("all", known),
    change: (_name, change) => documents.change("all", change),
  }),
  "hides the error of a change": (documents) => ({
    async change(name, change) {
      try {
        return await documents.change(name, change);
      } catch {
        return documents.read(name);
      }
    },
  }),
  "loses simultaneous changes": (documents) => ({
    async change(name, change) {
      const before = await documents.read(name);
      await Promise.resolve();
      return documents.change(name, () => change(before?.text));
    },
  }),
};

const CALL_FAULTS: Faults<Calls> = {
  "gives calls oldest first": (calls) => ({
    list: async (asked) => (await calls.list(asked)).toReversed(),
  }),
  "counts the calls of every user": (calls) => ({
    sums: ({ user: _user, ...asked }) => calls.sums(asked),
  }),
  "includes the end of a period": (calls) => ({
    list: ({ to: _to, ...asked }) => calls.list(asked),
  }),
  "keeps the names of users": () => ({ unname: async () => undefined }),
  "keeps older calls": () => ({ removeBefore: async () => 0 }),
  "forgets turns": (calls) => ({ note: (noted) => calls.note(noted) }),
};

describe("the suite of sessions", () => {
  const open = (fault: (sessions: Sessions) => Partial<Sessions> = () => ({})) => {
    const { clock, pass } = createCaseClock();
    const sessions = memorySessions({ clock });
    return { sessions: { ...sessions, ...fault(sessions) }, pass };
  };

  it("finds no fault in the reference", async () => {
    expect(await listFailing(SESSIONS_CASES, () => open())).toEqual([]);
  });

  it.each(Object.entries(SESSION_FAULTS))("detects one that %s", async (_what, fault) => {
    expect(await listFailing(SESSIONS_CASES, () => open(fault))).not.toEqual([]);
  });
});

describe("the suite of caches", () => {
  const open = (fault: (cache: Cache) => Partial<Cache> = () => ({})) => {
    const { clock, pass } = createCaseClock();
    const cache = memoryCache({ clock, ttlMs: 3_600_000, entryBytes: 100_000 });
    return { cache: { ...cache, ...fault(cache) }, pass };
  };

  it("finds no fault in the reference", async () => {
    expect(await listFailing(CACHE_CASES, () => open())).toEqual([]);
  });

  it.each(Object.entries(CACHE_FAULTS))("detects one that %s", async (_what, fault) => {
    expect(await listFailing(CACHE_CASES, () => open(fault))).not.toEqual([]);
  });
});

describe("the suite of documents", () => {
  const cases = Object.fromEntries(
    Object.entries(DOCUMENTS_CASES).map(([title, run]) => [title, (one: Documents) => run(one, one)]),
  );

  it("finds no fault in the reference", async () => {
    expect(await listFailing(cases, createMemoryDocuments)).toEqual([]);
  });

  it.each(Object.entries(DOCUMENT_FAULTS))("detects one that %s", async (_what, fault) => {
    const open = (): Documents => {
      const documents = createMemoryDocuments();
      return { ...documents, ...fault(documents) };
    };
    expect(await listFailing(cases, open)).not.toEqual([]);
  });
});

describe("the suite of ledgers of calls", () => {
  it("finds no fault in the reference", async () => {
    expect(await listFailing(CALLS_CASES, memoryCalls)).toEqual([]);
  });

  it.each(Object.entries(CALL_FAULTS))("detects one that %s", async (_what, fault) => {
    const open = (): Calls => {
      const calls = memoryCalls();
      return { ...calls, ...fault(calls) };
    };
    expect(await listFailing(CALLS_CASES, open)).not.toEqual([]);
  });
});

const MODEL_FAULTS: Faults<LanguageModel> = {
  "has no host": () => ({ host: "" }),
  "shows its reasoning": (model) => ({
    async complete(prompt, options) {
      const completion = await model.complete(prompt, options);
      return { ...completion, text: `<think>Hm.</think>${completion.text}` };
    },
  }),
  "counts no tokens": (model) => ({
    async complete(prompt, options) {
      const completion = await model.complete(prompt, options);
      return { ...completion, usage: { tokensIn: 0, tokensCached: 0, tokensOut: 0 } };
    },
  }),
  "parses no answer": (model) => ({
    async complete(prompt, options) {
      const { value: _value, ...completion } = await model.complete(prompt, options);
      return completion;
    },
  }),
  "streams everything as one part": (model) => ({
    async *stream(prompt, options) {
      const completion = await model.complete(prompt, options);
      yield completion.text;
      return completion;
    },
  }),
  "ignores an aborted signal": (model) => ({ complete: (prompt) => model.complete(prompt) }),
  "answers the last question to every caller": (model) => {
    let last = "";
    return {
      async complete(prompt, options) {
        last = prompt.turns.at(-1)?.content ?? "";
        await Promise.resolve();
        return model.complete({ ...prompt, turns: [{ role: "user", content: last }] }, options);
      },
    };
  },
};

describe("the suite of language models", () => {
  const open = (fault: (model: LanguageModel) => Partial<LanguageModel> = () => ({})) => {
    let script: { says: (prompt: Parameters<Says>[0]) => string; afterMs: number } = {
      says: () => "",
      afterMs: 0,
    };
    const model = scriptedModel(async (prompt) => {
      const { says, afterMs } = script;
      if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs).unref());
      return says(prompt);
    });
    const makeSay = (says: (typeof script)["says"], afterMs = 0): void => {
      script = { says, afterMs };
    };
    return { model: { ...model, ...fault(model) }, makeSay };
  };
  const cases = Object.fromEntries(
    Object.entries(LANGUAGE_MODEL_CASES).map(([title, run]) => [
      title,
      ({ model, makeSay }: ReturnType<typeof open>) => run(model, makeSay),
    ]),
  );

  it("finds no fault in the reference", async () => {
    expect(await listFailing(cases, () => open())).toEqual([]);
  });

  it.each(Object.entries(MODEL_FAULTS))("detects one that %s", async (_what, fault) => {
    expect(await listFailing(cases, () => open(fault))).not.toEqual([]);
  });
});
