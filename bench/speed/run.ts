import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { askers } from "./asked.ts";
import { readsOf, writesOf } from "./calls.ts";
import { filled } from "./filling.ts";
import { type Imported, imports } from "./imports.ts";
import { type Machine, machineOf } from "./machine.ts";
import type { Spread } from "./measure.ts";
import { type Peers, peers } from "./peers.ts";
import { phase } from "./progress.ts";
import { type Crowd, cold } from "./recalls.ts";
import { rulesOf } from "./rules.ts";
import { serverStart } from "./server-start.ts";
import { vectorRecall, vectorsOf } from "./vectors.ts";

/** What a run measures. Times in milliseconds. */
export interface Figures {
  readonly users: number;
  readonly perUser: number;
  readonly recall: { readonly hot: Spread; readonly cold: Spread; readonly afterWrite: Spread };
  readonly remember: Spread;
  readonly answer: Spread;
  /** Of reading one short message by the rules, and nothing else. Absent in results from before it was measured. */
  readonly rules?: Spread;
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
  /** Absent where an earlier run had filled the file. */
  readonly fillSeconds?: number;
  readonly machine: Machine;
}

/** How many there are, where a filled file is kept for the next run, if anywhere, and the checkout that fills it, if another. */
export interface Size {
  readonly users: number;
  readonly perUser: number;
  readonly kept?: string;
  readonly checkout?: string;
}

/** The figures for `users` users of `perUser` memories each, in a folder that is the run's own. */
export async function run(folder: string, size: Size): Promise<Figures> {
  const { users, perUser } = size;
  const machine = machineOf();
  const path = join(folder, "memory.db");
  const fillSeconds = await filled(path, size);
  const bytesPerMemory = Math.round(bytesIn(folder) / (users * perUser));
  const crowd: Crowd = { users, asker: askers(perUser) };
  const first = crowd.asker(1);
  phase("starting the server");
  const startMs = await serverStart(
    path,
    first.person.name,
    Array.from({ length: 6 }, () => first.ask()),
  );
  const reads = await readsOf(path, crowd);
  phase("recall of users not met before");
  const coldRecalls = await cold({ path, embedder: staticEmbedder() }, crowd);
  const writes = await writesOf(path, crowd, perUser);
  phase("rules alone");
  const rules = await rulesOf();
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
    recall: { hot: reads.recall, cold: coldRecalls, afterWrite: writes.afterWrite },
    remember: writes.remember,
    answer: reads.answer,
    rules,
    import: imported,
    peers: others,
    rssMb: reads.rssMb,
    bytesPerMemory,
    startMs,
    vectorRecall10,
    held: { messages: perUser, memories: reads.memories },
    ...(fillSeconds === undefined ? {} : { fillSeconds }),
    machine: machine(),
  };
}

/** What the calls take that a program waits for. */
export interface CallFigures extends Pick<Figures, "users" | "perUser" | "answer" | "remember"> {
  readonly recall: Pick<Figures["recall"], "hot">;
}

/** What the calls take, and nothing that they are compared with. */
export async function runCalls(folder: string, size: Size): Promise<CallFigures> {
  const { users, perUser } = size;
  const path = join(folder, "memory.db");
  await filled(path, size);
  const crowd: Crowd = { users, asker: askers(perUser) };
  const reads = await readsOf(path, crowd);
  const { remember } = await writesOf(path, crowd, perUser);
  return { users, perUser, recall: { hot: reads.recall }, answer: reads.answer, remember };
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}
