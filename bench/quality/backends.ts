import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  createMemory,
  type Keepsake,
  type MemoryOptions,
  type MemoryStore,
  type Meter,
  type ScopedMemory,
} from "../../src/index.ts";
import { testMariadb } from "../../test/mariadb/place.ts";
import { testPlace } from "../../test/postgres/place.ts";
import { addressOf, FOLLOWER_PLACES, type FollowerPlace, type TestServers } from "./followers.ts";

/** What evaluations run on, where that is not SQLite alone. */
export interface EvaluationBackends {
  /** A memory of its own on them; it is all gone when it is closed. */
  open(options: MemoryOptions): Promise<Keepsake>;
  /** Of the recalls in which an index was to be asked, how many it answered, in per cent; undefined without one. */
  answered(): number | undefined;
  close(): Promise<void>;
}

/** So long a recall waits for the index here: what is measured is what it finds, not how soon. */
const PATIENT_MS = 30_000;

export async function backendsNamed(
  names: { readonly record: string; readonly follower?: string },
  servers: TestServers,
): Promise<EvaluationBackends> {
  const place = RECORD_PLACES[names.record]?.(servers);
  const followers = await FOLLOWER_PLACES[names.follower ?? ""]?.(servers);
  const counted = { answered: 0, not: 0 };
  return {
    open: (options) => opened(options, { place, followers, counted }),
    answered() {
      const all = counted.answered + counted.not;
      return followers && (all === 0 ? 0 : (100 * counted.answered) / all);
    },
    async close() {
      await place?.clear();
      await followers?.close();
    },
  };
}

/** Room on a database server for stores that nobody else uses. */
interface RecordPlace {
  /** An empty store. */
  open(): Promise<MemoryStore>;
  clear(): Promise<void>;
}

/** The database servers by their names. */
const RECORD_PLACES: { readonly [name: string]: (servers: TestServers) => RecordPlace } = {
  postgres: (servers) => testPlace(addressOf(servers, "KEEPSAKE_TEST_POSTGRES")),
  mariadb: (servers) => testMariadb(addressOf(servers, "KEEPSAKE_TEST_MARIADB")),
};

interface Parts {
  readonly place: RecordPlace | undefined;
  readonly followers: FollowerPlace | undefined;
  readonly counted: { answered: number; not: number };
}

async function opened(options: MemoryOptions, { place, followers, counted }: Parts): Promise<Keepsake> {
  const record = await place?.open();
  const follower = await followers?.open(`t${randomBytes(6).toString("hex")}`);
  const keepsake = await createMemory({
    ...options,
    ...(record ? { record } : {}),
    ...(follower
      ? { index: follower, indexSearch: { from: 0, timeoutMs: PATIENT_MS }, meter: counting(counted) }
      : {}),
  });
  const close = async (): Promise<void> => {
    await keepsake.close();
    await follower?.clear();
    await follower?.close();
    await record?.close();
  };
  const scope: Keepsake["scope"] = (named) =>
    follower ? patient(keepsake, keepsake.scope(named)) : keepsake.scope(named);
  return { ...keepsake, scope, close, [Symbol.asyncDispose]: close };
}

/** Asks when the index has what was said before: a recall that comes sooner goes on from the record, and would show nothing. */
function patient(keepsake: Keepsake, memory: ScopedMemory): ScopedMemory {
  return {
    ...memory,
    async recall(query, options) {
      await caughtUp(keepsake);
      return memory.recall(query, options);
    },
    async answer(question, options) {
      await caughtUp(keepsake);
      return memory.answer(question, options);
    },
  };
}

async function caughtUp(keepsake: Keepsake): Promise<void> {
  const end = performance.now() + PATIENT_MS;
  while (performance.now() < end) {
    const jobs = (await keepsake.jobs()).filter(({ name }) => name.startsWith("following"));
    if (jobs.every(({ left, state }) => left === 0 && state !== "running")) return;
    await pause(2);
  }
  throw new Error("The index has not caught up: see what its server says.");
}

function counting(counted: Parts["counted"]): Meter {
  return {
    count(name, labels = {}, by = 1) {
      if (name !== "memory_index_searches_total") return;
      if (labels.outcome === "answered") counted.answered += by;
      else counted.not += by;
    },
    observe() {},
    set() {},
  };
}
