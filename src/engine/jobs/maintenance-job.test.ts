import { beforeEach, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import { englishAnswerer } from "../../language/en/answers/answers.ts";
import { englishForgetRequests } from "../../language/en/forget-requests/forget-requests.ts";
import { createNeedReader } from "../../language/en/needs/needs.ts";
import { createOutdatedReader } from "../../language/en/needs/outdated-statements.ts";
import { englishPhrases as phrases } from "../../language/en/phrases.ts";
import { englishProfileWriter } from "../../language/en/profile/profile-lines.ts";
import { englishPromptGuard } from "../../language/en/prompt-injection/prompt-guard.ts";
import { englishReplies } from "../../language/en/replies/replies.ts";
import { englishVocabulary } from "../../language/en/vocabulary.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMemory } from "../../testing/memory-store/change-sets.ts";
import { hashEmbedder, scriptedExtractor } from "../../testing/test-doubles.ts";
import type { Ports } from "../ports.ts";
import { createUserStates } from "../user-state/user-state.ts";
import type { MaintenanceTask } from "./apply-edits.ts";
import type { JobStep } from "./job.ts";
import { createMaintenanceJob } from "./maintenance-job.ts";
import { cleanUpTask, consolidationTask, expiryTask } from "./optimize.ts";

let record: MemoryStore & { looked: string[] };
let now: Date;

beforeEach(() => {
  now = new Date("2026-03-01T10:00:00Z");
  const plain = createInMemoryStore();
  const looked: string[] = [];
  record = {
    ...plain,
    looked,
    jobs: {
      ...plain.jobs,
      currentMemories(scope, options) {
        looked.push(scope.user);
        return plain.jobs.currentMemories(scope, options);
      },
    },
  };
});

function ports(fields: Partial<Ports> = {}): Ports {
  const embedder = hashEmbedder(16);
  const questions: Ports["questions"] = {
    isQuestion: () => false,
    read: () => ({ asks: "unknown", relations: [] }),
  };
  return {
    store: record,
    embedder,
    extractor: scriptedExtractor(),
    questions,
    answerer: englishAnswerer({ questions, embedder }),
    needs: createNeedReader(embedder),
    outdated: createOutdatedReader(embedder),
    replies: englishReplies,
    profileWriter: englishProfileWriter,
    forgetRequests: englishForgetRequests(questions),
    promptGuard: englishPromptGuard,
    vocabulary: englishVocabulary,
    clock: () => now,
    ids: () => "id",
    secret: { key: new Uint8Array(32) } as unknown as Ports["secret"],
    states: createUserStates(record, embedder, { phrases }),
    ...fields,
  };
}

const scopeOf = (user: string): Scope => ({ project: "default", user });

/** A user with two memories that say the same. */
async function doubled(user: string): Promise<void> {
  const text = "The user uses Shram.";
  await record.commit(
    scopeOf(user),
    makeChangeSet({ memories: [makeMemory("a", 1, { text }), makeMemory("b", 1, { text })] }),
  );
}

async function run(
  task: MaintenanceTask,
  with_: Ports = ports(),
  steps = Number.POSITIVE_INFINITY,
): Promise<JobStep> {
  let last: JobStep = { done: 0 };
  let seen = 0;
  for await (const step of createMaintenanceJob(with_, task).run(new AbortController().signal)) {
    last = step;
    seen += 1;
    if (seen >= steps) break;
  }
  return last;
}

const current = async (user: string): Promise<number> =>
  (await record.jobs.currentMemories(scopeOf(user), { limit: 10 })).memories.length;

it("visits every user once, and skips users without changes", async () => {
  for (const user of ["ann", "bob", "cid"]) await doubled(user);
  expect(await run(consolidationTask)).toMatchObject({ done: 3 });
  expect([await current("ann"), await current("cid")]).toEqual([1, 1]);
  record.looked.length = 0;
  expect(await run(consolidationTask)).toMatchObject({ done: 0 });
  expect(record.looked).toEqual([]);
  await record.commit(scopeOf("bob"), makeChangeSet({ base: 2, memories: [makeMemory("c")] }));
  await run(consolidationTask);
  expect(record.looked).toEqual(["bob"]);
});

it("resumes after an interruption", async () => {
  const users = Array.from({ length: 50 }, (_, i) => `user-${i}`);
  for (const user of users) await doubled(user);
  await run(consolidationTask, ports(), 30);
  record.looked.length = 0;
  expect((await run(consolidationTask)).done).toBeLessThan(users.length);
  // The one at which it was broken off is looked at again, and none before it.
  expect(record.looked).toHaveLength(21);
  for (const user of users) expect(await current(user)).toBe(1);
});

it("visits a user again when an edit is due, without any change", async () => {
  const expiresAt = "2026-03-02T00:00:00.000Z";
  await record.commit(scopeOf("ann"), makeChangeSet({ memories: [makeMemory("a", 1, { expiresAt })] }));
  expect(await run(expiryTask)).toMatchObject({ done: 0 });
  record.looked.length = 0;
  await run(expiryTask);
  expect(record.looked).toEqual([]);
  now = new Date("2026-03-02T00:00:00Z");
  expect(await run(expiryTask)).toMatchObject({ done: 1 });
});

it("counts edits left to people, and applies them only when configured", async () => {
  const old = { at: "2024-01-01T00:00:00.000Z", storedAt: "2024-01-01T00:00:00.000Z", importance: 0.1 };
  await record.commit(scopeOf("ann"), makeChangeSet({ memories: [makeMemory("a", 1, old)] }));
  expect(await run(cleanUpTask)).toMatchObject({ done: 0, found: 1 });
  expect(await run(cleanUpTask)).toMatchObject({ done: 0, found: 1 });
  expect(await current("ann")).toBe(1);
  now = new Date("2026-03-09T00:00:00Z");
  expect(await run(cleanUpTask, ports({ cleansUp: true }))).toMatchObject({ done: 1 });
  expect(await current("ann")).toBe(0);
});

it("reads a user with many memories in pages, with rests in between", async () => {
  const many = Array.from({ length: 600 }, (_, i) => makeMemory(`m${i}`));
  await record.commit(scopeOf("ann"), makeChangeSet({ memories: many }));
  let steps = 0;
  for await (const _ of createMaintenanceJob(ports(), consolidationTask).run(new AbortController().signal))
    steps += 1;
  expect(record.looked).toHaveLength(6);
  expect(steps).toBeGreaterThanOrEqual(3);
});

it("leaves a user who writes during the visit for the next round", async () => {
  const many = Array.from({ length: 300 }, (_, i) => makeMemory(`m${i}`));
  await record.commit(scopeOf("ann"), makeChangeSet({ memories: many }));
  const generator = createMaintenanceJob(ports(), consolidationTask).run(new AbortController().signal);
  await generator.next();
  await record.commit(scopeOf("ann"), makeChangeSet({ base: 1, memories: [makeMemory("new")] }));
  for await (const _ of generator);
  expect((await record.jobs.jobProgress("consolidation", { limit: 1 })).users[0]?.visit).toBeUndefined();
});

it("a failing user does not delay the others", async () => {
  for (const user of ["ann", "bob", "cid"]) await doubled(user);
  const failing: MaintenanceTask = {
    ...consolidationTask,
    async plan(with_, looking) {
      if (looking.scope.user === "ann") throw new TypeError("broken");
      return consolidationTask.plan(with_, looking);
    },
  };
  await expect(run(failing)).rejects.toThrow("broken");
  expect([await current("ann"), await current("cid")]).toEqual([2, 1]);
});

it("a user is quarantined after five failures, and tried again after a change", async () => {
  for (const user of ["ann", "bob"]) await doubled(user);
  let isBroken = true;
  let tries = 0;
  const failing: MaintenanceTask = {
    ...consolidationTask,
    async plan(with_, looking) {
      if (looking.scope.user !== "ann") return consolidationTask.plan(with_, looking);
      tries += 1;
      if (isBroken) throw new TypeError("broken");
      return consolidationTask.plan(with_, looking);
    },
  };
  for (let attempt = 1; attempt < 5; attempt += 1) await expect(run(failing)).rejects.toThrow("broken");
  await run(failing);
  await run(failing);
  expect(tries).toBe(5);
  expect(await record.jobs.failedProgress({ attempts: 5, limit: 9 })).toMatchObject([
    { job: "consolidation", scope: scopeOf("ann"), visit: { failed: { attempts: 5, problem: "internal" } } },
  ]);
  await record.commit(scopeOf("ann"), makeChangeSet({ base: 1, memories: [makeMemory("c")] }));
  await run(failing);
  expect(tries).toBe(6);
  isBroken = false;
  await record.commit(scopeOf("ann"), makeChangeSet({ base: 2, memories: [makeMemory("d")] }));
  expect(await run(failing)).toMatchObject({ done: 1 });
  expect(await record.jobs.failedProgress({ attempts: 1, limit: 9 })).toEqual([]);
});

it("a temporary failure quarantines no user", async () => {
  await doubled("ann");
  const failing: MaintenanceTask = {
    ...consolidationTask,
    async plan() {
      throw new MemoryError("over_quota", "the budget is used up.");
    },
  };
  for (let attempt = 0; attempt < 7; attempt += 1) {
    await expect(run(failing)).rejects.toMatchObject({ code: "over_quota" });
  }
  expect(await record.jobs.failedProgress({ attempts: 1, limit: 9 })).toEqual([]);
});

it("saves the progress made before a failure", async () => {
  for (const user of ["ann", "bob"]) await doubled(user);
  const failing: MaintenanceTask = {
    ...consolidationTask,
    async plan(with_, looking) {
      if (looking.scope.user === "bob") throw new MemoryError("unavailable", "the database is locked.");
      return consolidationTask.plan(with_, looking);
    },
  };
  await expect(run(failing)).rejects.toMatchObject({ code: "unavailable" });
  expect((await record.jobs.jobProgress("consolidation", { limit: 1 })).users[0]?.visit).toMatchObject({
    revision: 2,
  });
});
