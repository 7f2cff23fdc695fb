import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { StallCase } from "./cases.ts";
import type { OthersSeen } from "./others.ts";
import type { CaseSent } from "./sender.ts";
import type { WatchedServer } from "./server.ts";

/** What was seen in one window: of the server's event loop, and of the others. All times in ms. */
export interface Window {
  readonly ms: number;
  /** The worst delay of the event loop; the length of the window where the server did not come back in it. */
  readonly stall: number;
  readonly p95: number;
  readonly worst: number;
  readonly requests: number;
  /** Requests of others that got no good answer. */
  readonly failed: number;
}

/** A case beside its idle control. */
export interface MeasuredCase {
  readonly name: string;
  readonly during: Window;
  readonly control: Window;
  readonly outcomes: CaseSent["outcomes"];
  /** Until the last answer of the case, in ms. */
  readonly ms: number;
  readonly peakMegabytes?: number;
  /** False where the server ended, or did not come back. */
  readonly isAlive: boolean;
}

/** A case that takes longer is broken off. */
export const PATIENCE_MS = 20_000;
/** What a case leaves behind in the server is done within this, as a rule. */
const TAIL_MS = 700;
const LONGEST_CONTROL_MS = 8000;
const SHORTEST_MS = 1500;

/** Those who share the server: a process that sends light requests until it is ended. */
export interface Others {
  begin(): void;
  /** What they saw since; waits for the answers that are still to come. */
  end(): Promise<OthersSeen>;
  stop(): void;
}

export function othersOf({ url, key }: WatchedServer): Others {
  const child = program("others.ts", [url, key]);
  return {
    begin: () => void child.send("begin"),
    async end() {
      child.send("end");
      return (await heard(child)) as OthersSeen;
    },
    stop: () => void child.kill("SIGKILL"),
  };
}

/** Sends a case while the others go on, and then nothing for as long. */
export async function measured(server: WatchedServer, others: Others, one: StallCase): Promise<MeasuredCase> {
  const sender = program("sender.ts", [one.name, server.url, server.key, String(PATIENCE_MS)]);
  await heard(sender);
  let sent: CaseSent = { outcomes: {}, ms: 0 };
  const during = await windowOf(server, others, async () => {
    const begun = performance.now();
    const told = heard(sender);
    sender.send("go");
    sent = (await told) as CaseSent;
    await pause(Math.max(TAIL_MS, SHORTEST_MS - (performance.now() - begun)));
  });
  const peak = server.peakMegabytes();
  const isBack = server.isAlive() && during.stall < during.ms;
  const control = isBack
    ? await windowOf(server, others, () => pause(Math.min(during.ms, LONGEST_CONTROL_MS)))
    : NOTHING;
  return {
    name: one.name,
    during,
    control,
    outcomes: sent.outcomes,
    ms: sent.ms,
    ...(peak === undefined ? {} : { peakMegabytes: peak }),
    isAlive: isBack,
  };
}

const NOTHING: Window = { ms: 0, stall: 0, p95: 0, worst: 0, requests: 0, failed: 0 };

async function windowOf(server: WatchedServer, others: Others, run: () => Promise<void>): Promise<Window> {
  server.begin();
  others.begin();
  const begun = performance.now();
  await run();
  const ms = performance.now() - begun;
  const delay = await server.worstDelay(PATIENCE_MS / 2);
  const { latencies, failed } = await othersWithin(others);
  const sorted = [...latencies].sort((one, other) => one - other);
  return {
    ms,
    stall: delay ?? ms,
    p95: sorted[Math.floor(sorted.length * 0.95)] ?? ms,
    worst: sorted.at(-1) ?? ms,
    requests: sorted.length,
    failed,
  };
}

/** Where the server does not come back, theirs go unanswered. */
async function othersWithin(others: Others): Promise<OthersSeen> {
  return Promise.race([
    others.end(),
    pause(PATIENCE_MS, { latencies: [], failed: 1 } as OthersSeen, { ref: false }),
  ]);
}

function program(name: string, words: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, name), ...words], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return child;
}

function heard(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const early = (code: number | null): void =>
      reject(new Error(`A process of the measurement ended with ${code}.`));
    child.once("message", (told) => {
      child.off("exit", early);
      resolve(told);
    });
    child.once("exit", early);
  });
}
