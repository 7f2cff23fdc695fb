import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { expect, it } from "vitest";
import { childrenOf, type Running, started } from "../../bench/load/server.ts";
import { lives } from "../services/own-server.ts";
import { bytes, place } from "./shell.ts";

const SOON = { timeout: 20_000, interval: 50 };

/** A server that is told of two processors: it begins one process, and does the recalls of half of its users itself. */
const onTwo = (): Promise<Running> => started(join(place, "keepsake.db"), {}, ["--import", TWO]);
const TWO = `data:text/javascript,${encodeURIComponent(
  `import os from "node:os";
  import { syncBuiltinESMExports } from "node:module";
  os.availableParallelism = () => 2;
  syncBuiltinESMExports();`,
)}`;

const begunBy = ({ child: { pid = 0 } }: Running): number[] => childrenOf(pid);

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function post({ url, key }: Running, path: string, body: object): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const say = (server: Running, content: string): Promise<Answer> =>
  post(server, "/api/v1/messages", { user_id: "me", messages: [{ role: "user", content }] });

const ask = (server: Running): Promise<Answer> =>
  post(server, "/api/v1/memories/me/search", { query: "What productivity tools do I use?" });

/** Asks a hundred times a second or more until it is told to stop; gives all answers. */
function askingAlways(server: Running): () => Promise<Answer[]> {
  const answers: Answer[] = [];
  let isOver = false;
  const one = async (): Promise<void> => {
    while (!isOver) {
      answers.push(await ask(server));
      await rest(10);
    }
  };
  const all = Promise.all([one(), one(), one(), one()]);
  return async () => {
    isOver = true;
    await all;
    return answers;
  };
}

it.skipIf(!existsSync("/proc/self/task"))(
  "a server that is asked often searches in another process: the story holds, and it is missed by nobody who asks",
  { timeout: 120_000 },
  async () => {
    const server = await onTwo();
    await say(server, "I use Shram and Magnet as productivity tools.");
    expect((await ask(server)).text).toContain("Magnet");
    // So long as it is asked seldom there is none.
    expect(begunBy(server)).toEqual([]);
    const stop = askingAlways(server);
    await expect.poll(() => begunBy(server).length, SOON).toBeGreaterThan(0);
    await rest(2000);
    await say(server, "I don't use Magnet anymore.");
    expect(JSON.parse((await ask(server)).text).items).toContainEqual(
      expect.objectContaining({ status: "superseded", text: expect.stringContaining("Magnet") }),
    );
    // The other process reads the file all the time, and no erasure has to wait for the next start.
    for (let time = 0; time < 5; time += 1) {
      await say(server, `I use Rectangle${time} as a productivity tool.`);
      expect((await ask(server)).text).toContain(`Rectangle${time}`);
      const erased = JSON.parse((await say(server, `Forget that I ever mentioned Rectangle${time}.`)).text);
      expect(erased.erasures).toMatchObject([{ complete: true }]);
      expect((await ask(server)).text).not.toContain(`Rectangle${time}`);
    }
    for (const pid of begunBy(server)) process.kill(pid, "SIGKILL");
    await rest(500);
    await say(server, "Forget that I ever mentioned Magnet.");
    expect((await ask(server)).text).not.toContain("Magnet");
    const answers = await stop();
    expect(answers.length).toBeGreaterThan(100);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await server.end("SIGTERM")).toBe(0);
    expect(bytes()).not.toContain("Magnet");
  },
);

it.skipIf(!existsSync("/proc/self/task")).each(["SIGTERM", "SIGINT", "SIGKILL"] as const)(
  "a server that ends by %s leaves no process behind",
  { timeout: 120_000 },
  async (signal) => {
    const server = await onTwo();
    await say(server, "I use Shram.");
    const stop = askingAlways(server);
    await expect.poll(() => begunBy(server).length, SOON).toBeGreaterThan(0);
    await rest(1500);
    const begun = begunBy(server);
    await stop();
    expect(await server.end(signal)).toBe(signal === "SIGKILL" ? "SIGKILL" : 0);
    await expect.poll(() => begun.filter(lives), SOON).toEqual([]);
  },
);
