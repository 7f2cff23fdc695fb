import { readdirSync, statSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { createMemory, type InputMessage } from "../../src/index.ts";
import { type Asker, askers } from "./asked.ts";
import { filled } from "./filling.ts";
import { type Imported, imports } from "./imports.ts";
import { rounded, type Spread, settle } from "./measure.ts";
import { type Peers, peers } from "./peers.ts";
import { phase } from "./progress.ts";
import { type Crowd, cold, hot } from "./recalls.ts";
import { serverStart } from "./server-start.ts";
import { vectorRecall, vectorsOf } from "./vectors.ts";

/** What a run measures. Times in milliseconds. */
export interface Figures {
  readonly users: number;
  readonly perUser: number;
  readonly recall: { readonly hot: Spread; readonly cold: Spread; readonly afterWrite: Spread };
  readonly remember: Spread;
  readonly answer: Spread;
  readonly import: Imported;
  readonly peers: Peers;
  /** Of the process that has just answered the hot recalls. */
  readonly rssMb: number;
  /** All files, by the memories in them; each memory's message is in it. */
  readonly bytesPerMemory: number;
  readonly startMs: number;
  readonly vectorRecall10: number;
  /** What the first user holds. */
  readonly held: { readonly messages: number; readonly memories: number };
  readonly fillSeconds: number;
  readonly machine: Machine;
}

interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Of the last minute, before and after the run. */
  readonly load: readonly [before: number, after: number];
}

/** The figures for `users` users of `perUser` memories each, in a folder that is the run's own. */
export async function run(folder: string, users: number, perUser: number): Promise<Figures> {
  const load = loadavg()[0] ?? 0;
  const path = join(folder, "memory.db");
  const fillSeconds = await filled(path, users, perUser);
  const bytesPerMemory = Math.round(bytesIn(folder) / (users * perUser));
  const crowd: Crowd = { users, asker: askers(perUser) };
  const first = crowd.asker(1);
  phase("starting the server");
  const startMs = await serverStart(
    path,
    first.person.name,
    Array.from({ length: 6 }, () => first.ask()),
  );
  const calls = await callsOf(path, crowd, perUser);
  phase("recall of users not met before");
  const coldRecalls = await cold({ path, embedder: staticEmbedder() }, crowd);
  phase("vectors elsewhere");
  const questions = Array.from({ length: perUser > 50_000 ? 50 : 200 }, () => first.ask());
  const vectors = await vectorsOf(first.person, perUser, questions);
  const vectorRecall10 = vectorRecall(vectors);
  const others = await peers(folder, vectors);
  phase("import");
  const imported = await imports(folder);
  return {
    users,
    perUser,
    recall: { hot: calls.recall, cold: coldRecalls, afterWrite: calls.afterWrite },
    remember: calls.remember,
    answer: calls.answer,
    import: imported,
    peers: others,
    rssMb: calls.rssMb,
    bytesPerMemory,
    startMs,
    vectorRecall10,
    held: calls.held,
    fillSeconds,
    machine: machineOf(load),
  };
}

/** The calls of a process in service: recalls first, then what it takes to answer and to write. */
async function callsOf(path: string, crowd: Crowd, perUser: number) {
  const memory = await createMemory({ path });
  const one = memory.scope({ user: crowd.asker(1).person.name });
  const { total } = await one.list({ limit: 1 });
  phase("recall");
  const recall = await hot(memory, crowd, 30, ({ memory, asker }) => memory.recall(asker.ask()));
  const rssMb = rounded(process.memoryUsage.rss() / 1e6);
  phase("answer");
  const answer = await hot(memory, crowd, 10, ({ memory, asker }) => memory.answer(asker.ask()));
  phase("remember");
  const more = (call: number, { person }: Asker): InputMessage => {
    const { role, content, at } = person.said(perUser + call);
    return { role, content, at };
  };
  const remember = await hot(memory, crowd, 15, ({ memory, asker, call }) =>
    memory.remember(more(call, asker)),
  );
  phase("recall after a write");
  const afterWrite = await hot(
    memory,
    crowd,
    10,
    ({ memory, asker }) => memory.recall(asker.ask()),
    ({ memory, asker, call }) => memory.remember(more(1000 + call, asker), { extract: "never" }),
  );
  await memory.close();
  settle();
  return { recall, answer, remember, afterWrite, rssMb, held: { messages: perUser, memories: total } };
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}

function machineOf(before: number): Machine {
  return {
    node: process.version,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    load: [rounded(before), rounded(loadavg()[0] ?? 0)],
  };
}
