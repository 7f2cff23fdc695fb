import { expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createTidyingJob } from "../jobs/background-jobs.ts";
import { createIdempotentAnswers } from "./idempotency.ts";

const ANA = { project: "default", user: "ana" };
const ASKED = { key: "k", request: "a request", abandonedMs: 60_000 };
const ANSWER = { status: 200, headers: {}, body: "{}" };

it("answers are kept for a day, and then deleted by the clean-up job", async () => {
  let now = Date.parse("2026-03-01T12:00:00Z");
  const ports = { store: createInMemoryStore(), clock: () => new Date(now) };
  const answers = createIdempotentAnswers(ports, () => {});
  const tidied = async () => {
    const run = createTidyingJob(ports).run(new AbortController().signal);
    const done: number[] = [];
    for await (const step of run) done.push(step.done);
    return done;
  };
  await answers.begin(ANA, ASKED);
  await answers.end(ANA, "k", ANSWER);
  now += 86_400_000;
  expect(await tidied()).toEqual([]);
  expect((await answers.begin(ANA, ASKED))?.answer).toEqual(ANSWER);
  now += 1;
  expect(await tidied()).toEqual([1]);
  expect(await tidied()).toEqual([]);
  expect(await answers.begin(ANA, ASKED)).toBeUndefined();
});

it("an interrupted request can be sent again after its time limit", async () => {
  let now = Date.parse("2026-03-01T12:00:00Z");
  const answers = createIdempotentAnswers(
    { store: createInMemoryStore(), clock: () => new Date(now) },
    () => {},
  );
  await answers.begin(ANA, ASKED);
  now += 60_000;
  expect((await answers.begin(ANA, ASKED))?.state).toBe("begun");
  now += 1;
  expect(await answers.begin(ANA, ASKED)).toBeUndefined();
});
