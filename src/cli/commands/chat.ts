import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline";
import { whoUnderstands } from "../../config/model.ts";
import type { ModelSettings } from "../../config/model-settings.ts";
import { seen } from "../../domain/unseen.ts";
import { confirmed } from "../confirm.ts";
import { EXIT } from "../exit.ts";
import { say } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";
import { learnt, type Talk, type Turn, turn } from "./chat-turn.ts";
import { withinReason } from "./remember.ts";

/**
 * A conversation. On a terminal with a prompt; else each line of stdin is a turn. With `--json`, all turns are one
 * document at the end.
 */
export async function chat(options: CommonOptions): Promise<void> {
  await withMemory(options, "writes", async ({ memory, clock, print, settings }) => {
    const isTerminal = process.stdin.isTTY && process.stdout.isTTY && !print.json;
    // Cut to the second, with a few letters for those who start two within one.
    const session = `chat-${clock().toISOString().slice(0, 19)}-${randomUUID().slice(0, 4)}`;
    const lines = createInterface({
      input: process.stdin,
      ...(isTerminal ? { output: process.stdout } : {}),
      terminal: isTerminal,
      prompt: "› ",
    });
    const turns: Turn[] = [];
    const talk: Talk = {
      memory,
      session,
      say: print.json ? () => {} : say,
      write: print.json ? () => {} : (part) => void process.stdout.write(seen(part)),
      confirm: isTerminal ? (question) => confirmed(lines, question) : async () => true,
    };
    const isBrokenOff = await conversation(lines, isTerminal, talk, turns, settings.model);
    await readTheRest(talk, isBrokenOff ? undefined : settings.model);
    if (print.json) print.result({ session, turns }, () => []);
    return isBrokenOff ? EXIT.interrupted : EXIT.done;
  });
}

function greet(model: ModelSettings | undefined): void {
  say(whoUnderstands(model));
  say("Tell me about yourself, or ask. /help shows more, /quit ends.");
}

/** What the model has not read yet when it is over; for so long it is waited for. */
const PATIENCE_MS = 20_000;

async function readTheRest({ memory, say }: Talk, model: ModelSettings | undefined): Promise<void> {
  if (!model) return;
  const { memories, pending, problem } = await withinReason(memory, PATIENCE_MS);
  for (const line of learnt(memories)) say(line);
  if (pending > 0) {
    say(`What was not understood yet waits for the next start${problem === undefined ? "" : `: ${problem}`}`);
  }
}

/** True where it was interrupted. */
async function conversation(
  lines: Interface,
  isTerminal: boolean,
  talk: Talk,
  turns: Turn[],
  model: ModelSettings | undefined,
): Promise<boolean> {
  let isBrokenOff = false;
  if (isTerminal) greet(model);
  lines.on("SIGINT", () => {
    isBrokenOff = true;
    lines.close();
  });
  if (isTerminal) lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === "/quit" || text === "/exit") break;
    if (text !== "") turns.push(await turn(talk, text));
    if (isTerminal && !isBrokenOff) lines.prompt();
  }
  lines.close();
  if (isTerminal) process.stdout.write("\n");
  return isBrokenOff;
}
