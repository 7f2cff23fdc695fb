import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline";
import { seen } from "../../domain/defang.ts";
import { confirmed } from "../confirm.ts";
import { EXIT } from "../exit.ts";
import { say } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";
import { type Talk, type Turn, turn } from "./chat-turn.ts";

/**
 * A conversation. On a terminal with a prompt; else each line of stdin is a turn. With `--json`, all turns are one
 * document at the end.
 */
export async function chat(options: CommonOptions): Promise<void> {
  await withMemory(options, "writes", async ({ memory, clock, print }) => {
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
    if (isTerminal) greet();
    const isBrokenOff = await conversation(lines, isTerminal, talk, turns);
    if (print.json) print.result({ session, turns }, () => []);
    return isBrokenOff ? EXIT.interrupted : EXIT.done;
  });
}

function greet(): void {
  say("Tell me about yourself, or ask. /help shows more, /quit ends.");
}

/** True where it was interrupted. */
async function conversation(
  lines: Interface,
  isTerminal: boolean,
  talk: Talk,
  turns: Turn[],
): Promise<boolean> {
  let isBrokenOff = false;
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
