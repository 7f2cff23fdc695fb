import { copyFileSync, existsSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { phase } from "../speed/progress.ts";
import { asked, TOO_LATE } from "./asking.ts";
import type { StallCase } from "./cases.ts";
import { type MeasuredCase, measured, type Others, othersOf } from "./measuring.ts";
import { type WatchedServer, watchedServer } from "./server.ts";

/** A checkout that is measured. */
export interface Side {
  readonly name: "before" | "after";
  readonly checkout: string;
}

/** Where files are made, what the model's server is, and the file with the large user. */
export interface StallSetup {
  readonly folder: string;
  readonly upstream: string;
  readonly largeFile: string;
}

/** So much heap stands for a machine of 1 GB: half of its memory. */
const SMALL_HEAP = "--max-old-space-size=512";
type Needs = NonNullable<StallCase["needs"]> | "nothing";
const ORDER: readonly Needs[] = ["nothing", "small memory", "large user", "large user, erased"];

/** All cases once on one side. Those that need the same file share a server, and a server that does not come back is begun anew. */
export async function roundOf(
  side: Side,
  cases: readonly StallCase[],
  place: StallSetup,
  tell: (one: MeasuredCase) => void,
): Promise<MeasuredCase[]> {
  const found: MeasuredCase[] = [];
  for (const needs of ORDER) {
    const own = cases.filter((one) => (one.needs ?? "nothing") === needs);
    if (own.length === 0) continue;
    const database = join(place.folder, `${side.name}.db`);
    clear(database);
    if (needs.startsWith("large user")) copyDatabase(place.largeFile, database);
    found.push(...(await onOneFile({ side, place, database, needs }, own, tell)));
    clear(database);
  }
  return found;
}

interface Where {
  readonly side: Side;
  readonly place: StallSetup;
  readonly database: string;
  readonly needs: Needs;
}

async function onOneFile(
  where: Where,
  cases: readonly StallCase[],
  tell: (one: MeasuredCase) => void,
): Promise<MeasuredCase[]> {
  const found: MeasuredCase[] = [];
  let running = await begun(where);
  try {
    for (const one of cases) {
      const seen = await measured(running.server, running.others, one);
      tell(seen);
      found.push(seen);
      // What is still at work on an earlier case would be measured with the next.
      if (seen.isAlive && seen.outcomes[TOO_LATE] === undefined) continue;
      await ended(running);
      running = await begun(where);
    }
  } finally {
    await ended(running);
  }
  return found;
}

interface Running {
  readonly server: WatchedServer;
  readonly others: Others;
}

async function begun({ side, place, database, needs }: Where): Promise<Running> {
  const words = needs === "small memory" ? [SMALL_HEAP] : [];
  const { checkout } = side;
  const server = await watchedServer({ checkout, database, upstream: place.upstream, words });
  await filledLightly(server);
  return { server, others: othersOf(server) };
}

async function ended({ server, others }: Running): Promise<void> {
  others.stop();
  await server.stop();
}

/** A few memories for each of those who share the server, so that all parts of it are warm. */
async function filledLightly(server: WatchedServer): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const path = "/api/v1/messages";
  for (const user of ["ana", "ben", "carla", "dmitri", "heavy"]) {
    const said = ["I use Shram and Magnet for work.", "I live in Porto.", "My sister Ines has two cats."];
    const messages = said.map((content) => ({ role: "user", content }));
    const body = JSON.stringify({ user_id: user, messages });
    const outcome = await asked(server, { method: "POST", path, body }, { agent, patienceMs: 60_000 });
    if (!outcome.startsWith("2")) throw new Error(`The server's file could not be filled: ${outcome}.`);
    const chat = JSON.stringify({ model: "stub", user, messages: [{ role: "user", content: "Hello." }] });
    await asked(
      server,
      { method: "POST", path: "/v1/chat/completions", body: chat },
      { agent, patienceMs: 60_000 },
    );
  }
  agent.destroy();
}

function copyDatabase(from: string, to: string): void {
  phase("copying the file of the large user");
  copyFileSync(from, to);
  copyFileSync(`${from}.secret`, `${to}.secret`);
}

const BESIDE = ["", "-wal", "-shm", ".secret", ".keys.json", ".erasures"];

function clear(database: string): void {
  for (const end of BESIDE) if (existsSync(database + end)) rmSync(database + end);
}
