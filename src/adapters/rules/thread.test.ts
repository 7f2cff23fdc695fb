import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { readRequest } from "../../language/en/grammar/forgetting/request-network.ts";
import { rulesExtractor } from "../../language/en/grammar/rules.ts";
import { rateWindow } from "../../language/en/transformer/reader.ts";
import type { WorkerHandle } from "../shared/worker-channel.ts";
import { rulesInThread } from "./thread.ts";

const WORKER = new URL("./thread-worker.ts", import.meta.url);

function message(content: string, number = 1): Message {
  const at = "2026-03-01T12:00:00.000Z";
  return {
    id: `m${number}`,
    turn: number,
    role: "user",
    origin: "user_message",
    content,
    at,
    storedAt: at,
  } as Message;
}

function ended(value: string): Memory {
  const at = "2026-01-01T12:00:00.000Z";
  return {
    id: "was",
    version: 2,
    text: `The user uses ${value}.`,
    kind: "fact",
    status: "superseded",
    claim: { subject: "user", relation: "use", value },
    at,
    storedAt: at,
    sources: [],
  } as unknown as Memory;
}

function brokenThread(): WorkerHandle {
  return new Worker("throw new Error('no memory')", { eval: true });
}

const SAID = [
  "I use Shram and Magnet as productivity tools.",
  "I don't use Magnet anymore.",
  "Forget that I ever mentioned Magnet.",
  "My sister Ana lives in Porto, and she has two cats.",
  "I'm back on Magnet.",
  "Nothing much.",
  "",
];

it("reads what the rules read, also of what ended, and several at once", async () => {
  const [apart, here] = [rulesInThread(), rulesExtractor()];
  const readings = SAID.map((content, i) => ({
    messages: [message(content, i + 1)],
    earlier: SAID.slice(0, i).map((before, turn) => message(before, turn + 1)),
    known: [],
    ended: () => [ended("Magnet")],
  }));
  const [found, wanted] = await Promise.all(
    [apart, here].map((one) => Promise.all(readings.map((reading) => one.propose(reading)))),
  );
  expect(found).toEqual(wanted);
  expect(found?.flat().length).toBeGreaterThan(5);
});

it("rates the clauses of a window as they are rated here, also where the thread cannot begin", async () => {
  const window = { tokens: [2, 40, 71, 102, 9], roles: [0, 0, 1, 1, 1], clauses: [{ from: 2, to: 5 }] };
  const wanted = await rateWindow(window, "meant");
  expect(wanted).toHaveLength(1);
  expect(await rulesInThread().rateWindow(window, "meant")).toEqual(wanted);
  expect(await rulesInThread({ begin: brokenThread }).rateWindow(window, "meant")).toEqual(wanted);
});

it("reads a sentence for a request as it is read here, also where the thread cannot begin", async () => {
  const sentence = "Please forget that I ever mentioned Magnet.";
  const wanted = readRequest(sentence);
  expect(wanted.spans.length).toBeGreaterThan(0);
  expect(await rulesInThread().readRequest(sentence)).toEqual(wanted);
  expect(await rulesInThread({ begin: brokenThread }).readRequest(sentence)).toEqual(wanted);
});

it("holds nobody up while it reads a long message", async () => {
  const apart = rulesInThread();
  await apart.propose({ messages: [message("I live in Porto.")], earlier: [], known: [] });
  const long = Array.from(
    { length: 100 },
    (_, i) => `I have used Tool${i} for ${i + 2} years, and I like it.`,
  );
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const proposals = await apart.propose({ messages: [message(long.join(" "))], earlier: [], known: [] });
  clearInterval(timer);
  expect(proposals.length).toBeGreaterThan(10);
  expect(turns).toBeGreaterThan(20);
});

it("goes on here where the thread ends, and where none can be begun", async () => {
  const reading = { messages: [message("I live in Porto.")], earlier: [], known: [] };
  const wanted = await rulesExtractor().propose(reading);
  expect(wanted.length).toBe(1);
  let begun = 0;
  let thread: Worker | undefined;
  const apart = rulesInThread({
    begin: () => {
      begun += 1;
      thread = new Worker(WORKER);
      return thread;
    },
  });
  expect(await apart.propose(reading)).toEqual(wanted);
  const asked = Promise.all([1, 2, 3].map(() => apart.propose(reading)));
  await thread?.terminate();
  expect(await asked).toEqual([wanted, wanted, wanted]);
  expect(await apart.propose(reading)).toEqual(wanted);
  expect(begun).toBe(1);

  expect(await rulesInThread({ begin: brokenThread }).propose(reading)).toEqual(wanted);
});

it("ends with the signal of whoever asks", async () => {
  const stop = new AbortController();
  const asked = rulesInThread().propose(
    { messages: [message("I live in Porto.")], earlier: [], known: [] },
    { signal: stop.signal },
  );
  stop.abort(new Error("enough"));
  await expect(asked).rejects.toThrow("enough");
});
