import { closeSync, existsSync, openSync } from "node:fs";
import { isMemoryError } from "../../src/errors.ts";
import type { Keepsake } from "../../src/index.ts";
import { createMemory } from "../../src/memory.ts";
import { badgeOf, type Command, type CommandOutcome, outcomeOfError, sentenceOf } from "./many-commands.ts";

/** Sent to a process with the library: to open a file, to close it, or to carry out a command. */
export interface ToChild {
  readonly number: number;
  readonly open?: string;
  readonly close?: true;
  readonly command?: Command;
}

export interface FromChild {
  readonly number: number;
  readonly outcome: CommandOutcome;
}

/** Faults that are planted: locks that are dropped after an erasure, and reads that are answered from the first one. */
const mutant = process.env.MANY_MUTANT;
const firstReads = new Map<string, CommandOutcome>();
let memory: Keepsake | undefined;
let path = "";

if (process.send !== undefined) {
  process.on("message", (message: ToChild) => {
    void carryOut(message).then((outcome) => process.send?.({ number: message.number, outcome }));
  });
}

async function carryOut({ open, close, command }: ToChild): Promise<CommandOutcome> {
  try {
    if (open !== undefined) {
      path = open;
      memory = await createMemory({ path });
    }
    if (close) {
      await memory?.close();
      memory = undefined;
      firstReads.clear();
    }
    if (command === undefined) return { status: "done", text: "" };
    if (memory === undefined) throw new Error("no file is open");
    return mutant === "stale" ? await readOnce(memory, command) : await run(memory, command);
  } catch (error) {
    if (!isMemoryError(error)) return { status: "unknown", code: `internal: ${(error as Error).message}` };
    return outcomeOfError(error.code);
  }
}

async function run(memory: Keepsake, command: Command): Promise<CommandOutcome> {
  if (command.op === "doctor") return { status: "done", text: faultsOf(await memory.check()) };
  if (command.op === "backup") {
    await memory.backup(command.file);
    return { status: "done", text: "" };
  }
  return await runForUser(memory, command);
}

/** Faults in words; empty if there are none. */
function faultsOf(faults: Awaited<ReturnType<Keepsake["check"]>>): string {
  return faults.map(({ count, place, problem }) => `${count} ${place} ${problem}`).join(", ");
}

async function runForUser(
  memory: Keepsake,
  command: Exclude<Command, { op: "doctor" } | { op: "backup" }>,
): Promise<CommandOutcome> {
  const scope = memory.scope({ user: command.user });
  switch (command.op) {
    case "remember": {
      const { word, key, id } = command;
      const message = {
        role: "user",
        content: sentenceOf(word),
        ...(id === undefined ? {} : { id }),
      } as const;
      const { revision } = await scope.remember(message, { idempotencyKey: key });
      return { status: "done", text: "", revision };
    }
    case "import": {
      const messages = command.words.map(
        (word) =>
          ({ id: `i-${word.length}-${idOf(word)}`, role: "user", content: sentenceOf(word) }) as const,
      );
      let stored = 0;
      for await (const progress of scope.import(messages)) stored = progress.stored;
      return { status: "done", text: String(stored) };
    }
    case "add": {
      const { revision, memories } = await scope.add({ text: badgeOf(command.word) });
      return { status: "done", text: "", revision, id: memories[0]?.id ?? "" };
    }
    case "update":
      await scope.update(command.id, { text: badgeOf(command.word) });
      return { status: "done", text: "" };
    case "get":
      return { status: "done", text: (await scope.get(command.id)).text };
    case "undo":
      await scope.undo(command.revision);
      return { status: "done", text: "" };
    case "forget":
    case "erase-user": {
      const what = command.op === "forget" ? command.word : ({ everything: true } as const);
      const { complete } = await scope.forget(what);
      if (mutant === "locks") dropLocks();
      return { status: "done", text: complete ? "complete" : "" };
    }
    case "list":
      return {
        status: "done",
        text: JSON.stringify((await scope.list({ limit: 1000 })).items.map(({ text }) => text)),
      };
    case "export": {
      let text = "";
      for await (const line of scope.export()) text += `${JSON.stringify(line)}\n`;
      return { status: "done", text };
    }
    case "search":
      return {
        status: "done",
        text: JSON.stringify((await scope.recall(`Do I use ${command.word}?`)).items),
      };
  }
}

/** An id that does not hold the word, since ids stay where words are erased. */
export function idOf(word: string): string {
  return [...word].map((letter) => letter.charCodeAt(0)).join("");
}

async function readOnce(memory: Keepsake, command: Command): Promise<CommandOutcome> {
  if (!["list", "export", "get"].includes(command.op)) return await run(memory, command);
  const key = JSON.stringify(command);
  const outcome = firstReads.get(key) ?? (await run(memory, command));
  firstReads.set(key, outcome);
  return outcome;
}

function dropLocks(): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    if (existsSync(file)) closeSync(openSync(file, "r"));
}
