import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline";
import { describeExtractor } from "../../config/memory-from-settings.ts";
import type { ModelSettings } from "../../config/openai-settings.ts";
import type { Answer } from "../../domain/recall.ts";
import type { Receipt } from "../../domain/receipt.ts";
import { stripInvisible } from "../../domain/text/normalize-text.ts";
import type { Reply, ScopedMemory } from "../../engine/api.ts";
import { EXIT, toShownError } from "../exit.ts";
import { dimText, formatCount, formatDay, formatTable, printLine, toShortLine } from "../printer.ts";
import { type CommonOptions, withMemory } from "../with-memory.ts";
import { askYesNo, formatPlan, isEmptyPlan } from "./forget.ts";
import { explainModelTrouble, formatAnswerSources } from "./recall.ts";
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

/** A conversation under way. */
export interface ChatSession {
  readonly memory: ScopedMemory;
  readonly session: string;
  readonly say: (line: string) => void;
  /** Shows a part of a line as it comes. */
  readonly write: (part: string) => void;
  /** Asks a person; true where there is none. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** The last answer that was given, for /why. */
  last?: Answer;
}

/** What a line did, for programs. */
export type ChatLineOutcome =
  | { readonly error: { readonly code: string; readonly message: string } }
  | { readonly command: string }
  | Reply;

const CHAT_HELP = [
  ["/list", "what is known"],
  ["/why", "what the last answer rests on"],
  ["/forget WHAT", "erase something for good"],
  ["/help", "this"],
  ["/quit", "the end (also Ctrl-D)"],
];

/** Carries out one line. A slip in it does not end the conversation. */
export async function runChatLine(talk: ChatSession, text: string): Promise<ChatLineOutcome> {
  try {
    if (!text.startsWith("/")) return await replyToText(talk, text);
    const [command = "", ...words] = text.split(/\s+/);
    await runChatCommand(talk, command, words.join(" "));
    return { command };
  } catch (error) {
    const { code, message } = toShownError(error);
    talk.say(`That did not work: ${message}`);
    return { error: { code, message } };
  }
}

async function runChatCommand(talk: ChatSession, command: string, rest: string): Promise<void> {
  if (command === "/list") return showMemories(talk);
  if (command === "/why") return showAnswerSources(talk);
  if (command === "/forget" && rest !== "") return forgetInChat(talk, rest);
  if (command === "/forget") return talk.say("Forget what? /forget Magnet");
  if (command !== "/help") talk.say("There is no such command.");
  for (const line of formatTable(CHAT_HELP)) talk.say(line);
}

async function replyToText(talk: ChatSession, text: string): Promise<Reply> {
  const parts = talk.memory.converseStream(text, { session: talk.session });
  let next = await parts.next();
  for (; !next.done; next = await parts.next()) talk.write(next.value);
  const reply = next.value;
  if (reply.answer) talk.last = reply.answer;
  talk.say("");
  const why = explainModelTrouble(reply);
  if (why) talk.say(dimText(`  ${why}`));
  for (const line of formatLearnedMemories(reply.receipt.memories)) talk.say(dimText(line));
  return reply;
}

const CHANGE_MARKS: { readonly [action: string]: string } = {
  added: "+",
  merged: "=",
  superseded: "−",
  retracted: "−",
};

/** What was learnt, a line for each. */
export function formatLearnedMemories(memories: Receipt["memories"]): string[] {
  return memories.flatMap(({ action, text }) =>
    CHANGE_MARKS[action] && text !== "" ? [`  ${CHANGE_MARKS[action]} ${toShortLine(text)}`] : [],
  );
}

async function showMemories({ memory, say }: ChatSession): Promise<void> {
  const { items, total } = await memory.list();
  if (total === 0) say("Nothing is known yet.");
  for (const { text, at } of items) say(`${dimText(formatDay(at))}  ${toShortLine(text)}`);
  if (items.length < total) say(dimText(`and ${total - items.length} more`));
}

async function showAnswerSources({ memory, last, say }: ChatSession): Promise<void> {
  const lines = last ? await formatAnswerSources(memory, last, process.stdout) : [];
  if (lines.length === 0) say("There is no answer to explain yet.");
  for (const line of lines) say(line);
}

async function forgetInChat({ memory, say, confirm }: ChatSession, what: string): Promise<void> {
  const plan = await memory.forget(what, { dryRun: true });
  for (const line of formatPlan(plan)) say(line);
  if (isEmptyPlan(plan)) return;
  if (!(await confirm("Erase this for good?"))) return say("Nothing was erased.");
  const { erased, complete } = await memory.forget(what);
  const gone = `${formatCount(erased.memories, "memory", "memories")}, words in ${formatCount(erased.messages, "message")}`;
  say(`Erased: ${gone}.${complete ? "" : " Not every place could be verified: see `keepsake audit`."}`);
}
