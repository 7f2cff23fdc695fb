import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { folderArchive } from "../adapters/backups/folder-archive.ts";
import { memoryCache } from "../adapters/memory/cache.ts";
import { memoryCalls } from "../adapters/memory/calls.ts";
import { memoryRateLimits } from "../adapters/memory/rate-limits.ts";
import { memorySessions } from "../adapters/memory/sessions.ts";
import { createMemoryDocuments } from "../adapters/memory/shared-documents.ts";
import { isMemoryError, MemoryError } from "../errors.ts";
import type { BackupArchive } from "../ports/backup-archive.ts";
import type { Cache } from "../ports/cache.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { Calls } from "../ports/language/model-calls.ts";
import type { RateLimits } from "../ports/rate-limits.ts";
import type { Sessions, StoredSessionState } from "../ports/sessions.ts";
import type { Documents } from "../ports/stores/documents.ts";
import type { Clock } from "../ports/system.ts";
import { BACKUP_ARCHIVE_CASES } from "./backup-archive-conformance.ts";
import { CACHE_CASES } from "./cache-conformance.ts";
import { DOCUMENTS_CASES } from "./documents-conformance.ts";
import { LANGUAGE_MODEL_CASES } from "./language-model-conformance.ts";
import { CALLS_CASES } from "./model-calls-conformance.ts";
import { type OpenRateLimits, RATE_LIMITS_CASES } from "./rate-limits-conformance.ts";
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

type RateLimitsOptions = Parameters<OpenRateLimits>[0];

/** Limits whose clock is another function of the time since the first look at it. */
function limitsByClock({ perMinute, clock }: RateLimitsOptions, change: (ms: number) => number): RateLimits {
  const begun = clock().getTime();
  return memoryRateLimits({
    perMinute,
    clock: () => new Date(begun + change(clock().getTime() - begun)),
  });
}

/** By the case that must detect it, what is wrong. */
const RATE_LIMIT_FAULTS: {
  readonly [title: string]: { readonly [what: string]: (options: RateLimitsOptions) => RateLimits };
} = {
  "allow the whole allowance at once, then return the time to wait": {
    "accepts every request": (options) => ({ ...memoryRateLimits(options), take: async () => 0 }),
    "returns seconds": (options) => {
      const limits = memoryRateLimits(options);
      return { ...limits, take: async (key) => (await limits.take(key)) / 1000 };
    },
  },
  "take nothing from whoever is refused": {
    "makes a caller wait longer after each refusal": (options) => {
      const limits = memoryRateLimits(options);
      let refused = 0;
      return {
        ...limits,
        async take(key) {
          const wait = await limits.take(key);
          if (wait > 0) refused += 1;
          return wait * refused;
        },
      };
    },
  },
  "fill over a minute, and no higher than the allowance": {
    "fills twice as fast": (options) => limitsByClock(options, (ms) => 2 * ms),
    "fills once a minute": (options) => limitsByClock(options, (ms) => ms - (ms % 60_000)),
  },
  "take many units at once, tell what is left, and take all where more are wanted than there ever are": {
    "takes one unit, whatever is wanted": (options) => {
      const limits = memoryRateLimits(options);
      return { ...limits, spend: (key) => limits.spend(key, 1) };
    },
    "never accepts more than the allowance": (options) => {
      const limits = memoryRateLimits(options);
      return {
        ...limits,
        async spend(key, amount) {
          if (amount > options.perMinute) return { ...(await limits.spend(key, 0)), waitMs: 60_000 };
          return limits.spend(key, amount);
        },
      };
    },
  },
  "know keys apart": {
    "has one allowance for all keys": (options) => {
      const limits = memoryRateLimits(options);
      return { ...limits, take: () => limits.take("all") };
    },
  },
  "neither fill nor empty when the clock is set back": {
    "fills when the clock is set back": (options) => limitsByClock(options, Math.abs),
    "empties when the clock is set back": (options) => {
      const limits = memoryRateLimits(options);
      let last = options.clock().getTime();
      return {
        ...limits,
        async take(key) {
          const now = options.clock().getTime();
          if (now < last) await limits.spend(key, 1);
          last = now;
          return limits.take(key);
        },
      };
    },
  },
};

describe("the suite of rate limits", () => {
  it("finds no fault in the reference", async () => {
    const open = () => async (options: RateLimitsOptions) => memoryRateLimits(options);
    expect(await listFailing(RATE_LIMITS_CASES, open)).toEqual([]);
  });

  it("has a fault for each case", () => {
    expect(Object.keys(RATE_LIMIT_FAULTS)).toEqual(Object.keys(RATE_LIMITS_CASES));
  });

  const planted = Object.entries(RATE_LIMIT_FAULTS).flatMap(([title, faults]) =>
    Object.entries(faults).map(([what, fault]) => ({ title, what, fault })),
  );
  it.each(planted)("detects one that $what", async ({ title, fault }) => {
    const open = () => async (options: RateLimitsOptions) => fault(options);
    expect(await listFailing(RATE_LIMITS_CASES, open)).toContain(title);
  });
});

const ARCHIVE_FAULTS: { readonly [title: string]: Faults<BackupArchive> } = {
  "gives back what it was given, byte for byte, for its owner alone": {
    "adds a byte to what it gives back": (archive) => ({
      async fetch(name, file) {
        await archive.fetch(name, file);
        appendFileSync(file, "\n");
      },
    }),
    "lets everybody read what it gives back": (archive) => ({
      async fetch(name, file) {
        await archive.fetch(name, file);
        chmodSync(file, 0o644);
      },
    }),
    "lists no sizes": (archive) => ({
      list: async () => (await archive.list()).map((one) => ({ ...one, bytes: 0 })),
    }),
  },
  "lists by name, replaces a backup of the same name, and removes one": {
    "lists the last name first": (archive) => ({
      list: async () => [...(await archive.list())].reverse(),
    }),
    "keeps the first of two backups with the same name": (archive) => ({
      async put(name, ...rest) {
        if ((await archive.list()).every((one) => one.name !== name)) await archive.put(name, ...rest);
      },
    }),
    "removes nothing": () => ({ remove: async () => undefined }),
    "removes every backup": (archive) => ({
      async remove() {
        for (const { name } of await archive.list()) await archive.remove(name);
      },
    }),
    "refuses to remove a backup that is not there": (archive) => ({
      async remove(name) {
        const isThere = (await archive.list()).some((one) => one.name === name);
        if (!isThere) throw new MemoryError("not_found", "there is no such backup.");
        await archive.remove(name);
      },
    }),
  },
  "throws not_found for a backup that is not there, and refuses other names": {
    "gives an empty file for a backup that is not there": (archive) => ({
      fetch: (name, file) => archive.fetch(name, file).catch(() => writeFileSync(file, "")),
    }),
    "ignores other names": (archive) => ({
      remove: (name) =>
        archive.remove(name).catch((error: unknown) => {
          if (!isMemoryError(error) || error.code !== "invalid_input") throw error;
        }),
    }),
  },
  "does not start a transfer that is aborted": {
    "ignores an aborted signal": (archive) => ({
      put: (name, file, digest) => archive.put(name, file, digest),
    }),
  },
};

describe("the suite of archives of backups", () => {
  const made: string[] = [];
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  const makeFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-planted-"));
    made.push(folder);
    return folder;
  };
  const open = (fault: (archive: BackupArchive) => Partial<BackupArchive> = () => ({})) => {
    const archive = folderArchive({ path: makeFolder() });
    return { archive: { ...archive, ...fault(archive) }, folder: makeFolder() };
  };

  it("finds no fault in the reference", async () => {
    expect(await listFailing(BACKUP_ARCHIVE_CASES, () => open())).toEqual([]);
  });

  it("has a fault for each case", () => {
    expect(Object.keys(ARCHIVE_FAULTS)).toEqual(Object.keys(BACKUP_ARCHIVE_CASES));
  });

  const planted = Object.entries(ARCHIVE_FAULTS).flatMap(([title, faults]) =>
    Object.entries(faults).map(([what, fault]) => ({ title, what, fault })),
  );
  it.each(planted)("detects one that $what", async ({ title, fault }) => {
    expect(await listFailing(BACKUP_ARCHIVE_CASES, () => open(fault))).toContain(title);
  });
});
