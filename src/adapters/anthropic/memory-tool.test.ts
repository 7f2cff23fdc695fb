import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMemoryError, MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import { createMemoryToolHandlers, type MemoryToolCommands, type UserMemoryToolHandlers } from "./index.ts";

/** Histories to compare: `KEEPSAKE_HISTORIES=1000` for the long run. */
const HISTORIES = Number(process.env.KEEPSAKE_HISTORIES ?? 25);

type AnyCommand = {
  readonly [Name in keyof MemoryToolCommands]: { readonly command: Name } & MemoryToolCommands[Name];
}[keyof MemoryToolCommands];

/** Few names, so that commands meet. Some lie outside, under files, hidden, or are written in another way. */
const path = fc.constantFrom(
  "/memories",
  "/memories/",
  "/memories/a.md",
  "/memories/b.txt",
  "/memories/dir",
  "/memories/dir/a.md",
  "/memories/dir/sub/c.md",
  "/memories/dir/sub",
  "/memories/dir/../a.md",
  "/memories/a.md/under",
  "/memories/.hidden",
  "/memories/node_modules/x",
  "/memories/new/deep/d.md",
  "/memories/../outside",
  "/memoriesx",
  "/elsewhere",
);
const text = fc.constantFrom(
  "",
  "one",
  "one\ntwo",
  "one\ntwo\nthree\n",
  "two",
  "$& $1",
  "\n\n",
  "Käse – 鉄",
  "x".repeat(1500),
);
const command: fc.Arbitrary<AnyCommand> = fc.oneof(
  fc.record({ command: fc.constant("view" as const), path }),
  fc.record({
    command: fc.constant("view" as const),
    path,
    view_range: fc.tuple(fc.integer({ min: -1, max: 4 }), fc.integer({ min: -1, max: 5 })),
  }),
  fc.record({ command: fc.constant("create" as const), path, file_text: text }),
  fc.record({ command: fc.constant("create" as const), path, file_text: text }),
  fc.record({ command: fc.constant("str_replace" as const), path, old_str: text, new_str: text }),
  fc.record({
    command: fc.constant("insert" as const),
    path,
    insert_line: fc.integer({ min: -1, max: 5 }),
    insert_text: text,
  }),
  fc.record({ command: fc.constant("delete" as const), path }),
  fc.record({ command: fc.constant("rename" as const), old_path: path, new_path: path }),
);

/** Gives all values of an iteration. */
async function collect<One>(values: AsyncIterable<One>): Promise<One[]> {
  const all: One[] = [];
  for await (const one of values) all.push(one);
  return all;
}

/** A reply, or what an error says. The sizes of folders differ by machine. */
async function answer(tool: ReturnType<typeof betaMemoryTool>, one: AnyCommand): Promise<string> {
  try {
    const reply = String(await tool.run(one as never));
    return reply
      .replace(/^[\d.]+[BKMG](?=\t.*\/$)/gm, "DIR")
      .replace(/^[\d.]+[BKMG](?=\t\/memories)/m, "DIR");
  } catch (error) {
    return describeFailure(error as Error & { readonly code?: string });
  }
}

/** The errors of the operating system that the file backend passes on, and how ours begin to say the same. */
const SYSTEM_ERRORS: { readonly [code: string]: RegExp } = {
  ENOTDIR: /^The path \S+ lies under a file$/,
  EINVAL: /^The path \S+ lies within \S+$/,
};

/** The kind of a failure: of the system by its code, which is never that of a memory, else by its message. */
function describeFailure(error: Error & { readonly code?: string }): string {
  const { message, code } = error;
  if (isMemoryError(error)) return `error of the memory: ${code}`;
  if (code !== undefined) return `error of the system: ${code}`;
  const [known] = Object.entries(SYSTEM_ERRORS).find(([, pattern]) => pattern.test(message)) ?? [];
  return known === undefined ? `error: ${message}` : `error of the system: ${known}`;
}

describe("Anthropic's memory tool over a user's memory", () => {
  it("answers random histories of commands as the file backend of the SDK does", {
    timeout: 3_600_000,
  }, async () => {
    const memory = await createMemory({ path: ":memory:", jobs: "elsewhere" });
    let [user, count, differences] = [0, 0, 0];
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 20 }), async (commands) => {
          user += 1;
          const folder = mkdtempSync(join(tmpdir(), "keepsake-memory-tool-"));
          const theirs = betaMemoryTool(await BetaLocalFilesystemMemoryTool.init(folder));
          const handlers = createMemoryToolHandlers(memory.scope({ user: `user${user}` }));
          const ours = betaMemoryTool(handlers as never);
          try {
            for (const one of commands) {
              const [our, their] = [await answer(ours, one), await answer(theirs, one)];
              count += 1;
              if (our !== their) differences += 1;
              expect(our).toBe(their);
            }
          } finally {
            rmSync(folder, { recursive: true });
          }
        }),
        { numRuns: HISTORIES },
      );
    } finally {
      process.stdout.write(`${user} histories, ${count} commands, ${differences} differences\n`);
      await memory.close();
    }
  });

  it("tells an error of the memory from one of the system, and one of the system from another", async () => {
    const full = new MemoryError("over_quota", "the quota is used up.");
    const under = new Error("The path /memories/a/b lies under a file");
    const within = new Error("The path /memories/a/b lies within /memories/a");
    const system = Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" });
    expect([full, under, within, system, new Error("No.")].map(describeFailure)).toEqual([
      "error of the memory: over_quota",
      "error of the system: ENOTDIR",
      "error of the system: EINVAL",
      "error of the system: ENOTDIR",
      "error: No.",
    ]);
  });

  it("keeps versions, is found by recall, walled by user, and gone after an erasure", async () => {
    const memory = await createMemory({ path: ":memory:", jobs: "elsewhere" });
    try {
      const ana = memory.scope({ user: "ana" });
      const files: UserMemoryToolHandlers = createMemoryToolHandlers(ana);
      await files.create({ path: "/memories/pets.md", file_text: "The parrot is called Quetzal." });
      await files.str_replace({ path: "/memories/pets.md", old_str: "Quetzal", new_str: "Zephyr" });
      const [item] = (await ana.recall("What is the parrot called?")).items;
      expect(item?.text).toContain("Zephyr");
      expect((await ana.history(item?.id ?? "")).map(({ version }) => version)).toEqual([1, 2]);
      const bo = createMemoryToolHandlers(memory.scope({ user: "bo" }));
      await expect(bo.view({ path: "/memories/pets.md" })).rejects.toThrow(/does not exist/);
      await files.delete({ path: "/memories/pets.md" });
      await expect(files.view({ path: "/memories/pets.md" })).rejects.toThrow(/does not exist/);
      await ana.forget({ everything: true });
      expect(JSON.stringify(await collect(ana.export()))).not.toMatch(/Quetzal|Zephyr/);
    } finally {
      await memory.close();
    }
  });

  it("erases on delete, if that is asked for, and runs commands of one set of handlers one at a time", async () => {
    const memory = await createMemory({ path: ":memory:", jobs: "elsewhere" });
    try {
      const ana = memory.scope({ user: "ana" });
      const files = createMemoryToolHandlers(ana, { erases: true });
      const replies = await Promise.allSettled([
        files.create({ path: "/memories/a", file_text: "one" }),
        files.create({ path: "/memories/a", file_text: "two" }),
        files.insert({ path: "/memories/a", insert_line: 1, insert_text: "three" }),
      ]);
      expect(replies.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      await files.delete({ path: "/memories/a" });
      expect(await collect(ana.list({ status: "all" }))).toEqual([]);
      expect((await ana.erasures()).length).toBe(1);
    } finally {
      await memory.close();
    }
  });
});
