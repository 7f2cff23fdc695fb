import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline";
import { describeExtractor } from "../../config/model.ts";
import type { ModelSettings } from "../../config/model-settings.ts";
import { stripInvisible } from "../../domain/unseen.ts";
import { askYesNo } from "../confirm.ts";
import { EXIT } from "../exit.ts";
import { printLine } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";
import { type ChatLineOutcome, type ChatSession, formatLearnedMemories, runChatLine } from "./chat-turn.ts";
import { understandWithin } from "./remember.ts";

/**
 * A conversation. On a terminal with a prompt; else each line of stdin is a turn. With `--json`, all turns are one
 * document at the end.
 */
export async function runChat(options: CommonOptions): Promise<void> {
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
    const turns: ChatLineOutcome[] = [];
    const talk: ChatSession = {
      memory,
      session,
      say: print.json ? () => {} : printLine,
      write: print.json ? () => {} : (part) => void process.stdout.write(stripInvisible(part)),
      confirm: isTerminal ? (question) => askYesNo(lines, question) : async () => true,
    };
    const isBrokenOff = await runConversation(lines, isTerminal, talk, turns, settings.model);
    await waitForExtraction(talk, isBrokenOff ? undefined : settings.model);
    if (print.json) print.result({ session, turns }, () => []);
    return isBrokenOff ? EXIT.interrupted : EXIT.done;
  });
}

function printGreeting(model: ModelSettings | undefined): void {
  printLine(describeExtractor(model));
  printLine("Tell me about yourself, or ask. /help shows more, /quit ends.");
}

/** What the model has not read yet when it is over; for so long it is waited for. */
const EXTRACTION_TIMEOUT_MS = 20_000;

async function waitForExtraction(
  { memory, say }: ChatSession,
  model: ModelSettings | undefined,
): Promise<void> {
  if (!model) return;
  const { memories, pending, problem } = await understandWithin(memory, EXTRACTION_TIMEOUT_MS);
  for (const line of formatLearnedMemories(memories)) say(line);
  if (pending > 0) {
    say(`What was not understood yet waits for the next start${problem === undefined ? "" : `: ${problem}`}`);
  }
}

/** True where it was interrupted. */
async function runConversation(
  lines: Interface,
  isTerminal: boolean,
  talk: ChatSession,
  turns: ChatLineOutcome[],
  model: ModelSettings | undefined,
): Promise<boolean> {
  let isBrokenOff = false;
  if (isTerminal) printGreeting(model);
  lines.on("SIGINT", () => {
    isBrokenOff = true;
    lines.close();
  });
  if (isTerminal) lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === "/quit" || text === "/exit") break;
    if (text !== "") turns.push(await runChatLine(talk, text));
    if (isTerminal && !isBrokenOff) lines.prompt();
  }
  lines.close();
  if (isTerminal) process.stdout.write("\n");
  return isBrokenOff;
}
