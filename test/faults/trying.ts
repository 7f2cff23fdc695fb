import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Running, started } from "../../bench/load/server.ts";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";
import { SPOILT } from "../../src/testing/openai/script.ts";
import { ask, fill, lost, metric, type ServerUnderTest } from "./asking.ts";
import { type InjectedFault, SURFACES } from "./table.ts";

/** A server with a database and a model's server behind it, for one fault. */
interface World {
  readonly path: string;
  /** The file by which its clock is set. */
  readonly clock: string;
  model: OpenaiServer;
  server: Running;
  readonly asked: ServerUnderTest;
}

const HOUR_MS = 3_600_000;
const PATIENCE_MS = 20_000;

/** How a fault begins and ends; what it gives ends it. */
type Begin = (world: World) => Promise<() => void | Promise<void>>;

interface Way {
  readonly begin: Begin;
  readonly settings?: Record<string, string>;
  readonly words?: readonly string[];
  /** Bytes that a file of the server may have. */
  readonly fileLimit?: number;
  readonly leaves?: boolean;
}

const troubled =
  (always: OpenaiServer["always"]): Begin =>
  async ({ model }) => {
    model.always = always;
    return () => {
      model.always = undefined;
    };
  };

const WAYS: { readonly [fault: string]: Way } = {
  "the database is locked": {
    async begin({ path }) {
      // The server may be writing at this moment, in the background.
      const other = new DatabaseSync(path, { timeout: 10_000 });
      other.exec("BEGIN IMMEDIATE");
      return () => {
        other.exec("ROLLBACK");
        other.close();
      };
    },
  },
  "the disk is full": {
    fileLimit: 1_500_000,
    async begin(world) {
      const { asked } = world;
      // Until nothing more goes in; what was acknowledged until then counts.
      for (let i = 0; i < 400; i += 1) if ((await ask(asked, "write")) !== "well") break;
      return () => restarted(world);
    },
  },
  "the search index is lost": {
    async begin(world) {
      await fill(world.asked);
      await restarted(world, () => {
        const file = new DatabaseSync(world.path);
        const { changes } = file.prepare("UPDATE blocks SET bytes = x'00ff00ff'").run();
        if (changes === 0) throw new Error("there was no index to lose");
        file.exec("UPDATE units SET space = '', vector = x''");
        file.close();
      });
      return () => {};
    },
  },
  "the embedder is down": {
    settings: { EMBEDDING_MODEL: "text-embedding-3-small" },
    async begin({ model }) {
      const down = { at: "/embeddings", trouble: { status: 500 } };
      for (let i = 0; i < 500; i += 1) model.troubles.push(down);
      return () => {
        model.troubles.length = 0;
      };
    },
  },
  "the clock jumps": {
    words: ["--import", join(import.meta.dirname, "shifted-clock.mjs")],
    async begin({ clock }) {
      writeFileSync(clock, `${-26 * HOUR_MS}`);
      return () => writeFileSync(clock, `${400 * 24 * HOUR_MS}`);
    },
  },
  "the model answers with broken JSON": { begin: troubled(SPOILT.broken) },
  "the model refuses": { begin: troubled(SPOILT.refused) },
  "the model's server answers 429": {
    begin: troubled({ status: 429, headers: { "retry-after": "1" } }),
  },
  "the model's server answers 500": { begin: troubled({ status: 500 }) },
  "the model is slow": { begin: troubled("hangs") },
  "the model's server hangs up": { begin: troubled("hangs up") },
  "the stream is cut": { begin: troubled({ afterEvents: 2, it: "resets" }) },
  "the client goes in mid-stream": { begin: troubled({ betweenMs: 50 }), leaves: true },
  "the upstream cannot be reached": {
    async begin(world) {
      const { port } = new URL(world.model.url);
      await world.model.close();
      return async () => {
        world.model = await openaiServer({ port: Number(port) });
      };
    },
  },
};

/** Stops the server, and starts another on the same file. */
async function restarted(world: World, between: () => void = () => {}): Promise<void> {
  await world.server.end();
  between();
  world.server = await started(world.path, settingsFor(world));
  Object.assign(world.asked, { url: world.server.url });
}

/** Short times, so that what waits for a model that is slow does not wait long; a busy machine must still make a first chat in them. */
function settingsFor({ model, clock }: Pick<World, "model" | "clock">): Record<string, string> {
  return {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "sk-none",
    KEEPSAKE_UNDERSTAND_AFTER_MS: "0",
    KEEPSAKE_MODEL_TIMEOUT_MS: "700",
    KEEPSAKE_UPSTREAM_TIMEOUT_MS: "6000",
    KEEPSAKE_TEST_CLOCK: clock,
  };
}

/** What one fault came to: each surface as it was, and what is wrong with that. */
export interface FaultTrial {
  readonly seen: { readonly [surface: string]: string };
  readonly faults: readonly string[];
}

export const WAY_NAMES: readonly string[] = Object.keys(WAYS);

/**
 * Brings about a fault behind the built server, asks each surface before, during and after it, and holds what comes against the
 * table: what each gets, that the metrics count it, that all is well again after it, that the server ends in good order, and
 * that everything that was acknowledged is there.
 */
export async function tryFault(fault: InjectedFault): Promise<FaultTrial> {
  const way = WAYS[fault.name];
  if (!way) return { seen: {}, faults: [`there is no way to bring about: ${fault.name}`] };
  const folder = mkdtempSync(join(tmpdir(), "keepsake-faults-"));
  const path = join(folder, "memory.db");
  const clock = join(folder, "clock");
  const model = await openaiServer();
  const settings = { ...settingsFor({ model, clock }), ...way.settings };
  const server = await started(path, settings, way.words, way.fileLimit);
  const asked: ServerUnderTest = { url: server.url, key: server.key, acknowledged: [], number: 0 };
  const world: World = { path, clock, model, server, asked };
  try {
    return await through(fault, way, world);
  } finally {
    await world.server.end("SIGKILL");
    await world.model.close();
    rmSync(folder, { recursive: true });
  }
}

async function through({ expected, counted }: InjectedFault, way: Way, world: World): Promise<FaultTrial> {
  const { asked } = world;
  const faults = await allWell(asked, "before");
  const before = await sumOf(asked, counted);
  const end = await way.begin(world);
  const seen: Record<string, string> = {};
  for (const surface of SURFACES) {
    seen[surface] =
      surface === "ready" && expected.ready === "later"
        ? await askReadyAfterWrite(asked)
        : await ask(asked, surface, way.leaves);
    if (seen[surface] !== expected[surface]) {
      faults.push(`${surface}: ${seen[surface]}, where ${expected[surface]} was to be`);
    }
  }
  if (counted.length > 0 && !(await rises(asked, counted, before))) faults.push("no metric counted it");
  await end();
  faults.push(...(await allWell(asked, "after")));
  const exit = await world.server.end();
  if (exit !== 0) faults.push(`the server ended with ${exit}`);
  faults.push(...(await lost(world.path, asked)));
  return { seen, faults };
}

/**
 * Readiness tells of the last write. A small one of the background may still find room after a request has failed, and then the server
 * is ready again: so readiness is asked for right after a write that failed, a few times at most.
 */
async function askReadyAfterWrite(asked: ServerUnderTest): Promise<string> {
  let outcome = "";
  for (let tries = 0; tries < 5 && outcome !== "later"; tries += 1) {
    await ask(asked, "write");
    outcome = await ask(asked, "ready");
  }
  return outcome;
}

async function allWell(asked: ServerUnderTest, when: string): Promise<string[]> {
  const faults: string[] = [];
  for (const surface of SURFACES) {
    const outcome = await ask(asked, surface);
    if (outcome !== "well") faults.push(`${when}, ${surface}: ${outcome}`);
  }
  return faults;
}

/** What is stored after a chat, and what is read in the background, is counted a moment later. */
async function rises(asked: ServerUnderTest, counted: readonly string[], before: number): Promise<boolean> {
  const begun = performance.now();
  while (performance.now() - begun < PATIENCE_MS) {
    if ((await sumOf(asked, counted)) > before) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function sumOf(asked: ServerUnderTest, counted: readonly string[]): Promise<number> {
  const all = await Promise.all(counted.map((one) => metric(asked, one)));
  return all.reduce((sum, one) => sum + one, 0);
}
