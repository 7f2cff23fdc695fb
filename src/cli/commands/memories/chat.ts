import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline";
import { describeExtractor } from "../../../config/memory-from-settings.ts";
import type { ModelSettings } from "../../../config/openai-settings.ts";
import type { Answer } from "../../../domain/recall.ts";
import type { Receipt } from "../../../domain/receipt.ts";
import { stripInvisible } from "../../../domain/text/normalize-text.ts";
import type { Reply, ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { isMemoryError } from "../../../errors.ts";
import type { ReceiptWriter } from "../../../ports/language/reply-writer.ts";
import { EXIT, toShownError } from "../../exit.ts";
import {
  colorText,
  dimText,
  formatCount,
  formatDay,
  formatTable,
  printLine,
  type TextColor,
  toShortLine,
} from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";
import { createWordWrap, wrapWords } from "../../word-wrap.ts";
import { askYesNo, formatPlan, isEmptyPlan } from "./forget.ts";
import { explainModelTrouble, formatAnswerSources } from "./recall.ts";
import { formatWriteReceipt, understandWithin } from "./remember.ts";

/**
 * Runs a conversation. On a terminal it shows a prompt; elsewhere each line of stdin is a turn. With `--json`, it prints
 * all turns as one document at the end.
 */
export async function runChat(options: CommonOptions): Promise<void> {
  await withMemory(options, "writes", async ({ keepsake, memory, clock, print, settings }) => {
    const isTerminal = process.stdin.isTTY && process.stdout.isTTY && !print.json;
    // The random letters keep apart sessions that start in the same second.
    const session = `chat-${clock().toISOString().slice(0, 19)}-${randomUUID().slice(0, 4)}`;
    const lines = createInterface({
      input: process.stdin,
      ...(isTerminal ? { output: process.stdout } : {}),
      terminal: isTerminal,
      prompt: colorText("cyan", "› "),
    });
    const turns: ChatLineOutcome[] = [];
    const chat: ChatSession = {
      memory,
      writer: keepsake.receiptWriter,
      session,
      ...(print.json ? SILENT : createOutput(isTerminal)),
      confirm: isTerminal ? (question) => askYesNo(lines, question) : async () => true,
      learnt: [],
    };
    const isInterrupted = await runConversation(lines, isTerminal, chat, turns, settings.model);
    await waitForExtraction(chat, isInterrupted ? undefined : settings.model);
    if (print.json) print.result({ session, turns }, () => []);
    return isInterrupted ? EXIT.interrupted : EXIT.done;
  });
}

type ChatOutput = Pick<ChatSession, "say" | "write" | "endLine">;

const SILENT: ChatOutput = { say() {}, write() {}, endLine() {} };

/** Writes to stdout. On a terminal, lines are broken between words. */
function createOutput(isTerminal: boolean): ChatOutput {
  const print = (text: string): void => void process.stdout.write(text);
  if (!isTerminal) {
    return { say: printLine, write: (part) => print(stripInvisible(part)), endLine: () => print("\n") };
  }
  // One column stays free: a terminal breaks a full line itself.
  const columns = (): number => Math.max(20, (process.stdout.columns || 80) - 1);
  const wrap = createWordWrap(columns, print);
  return {
    say: (line) => printLine(wrapWords(line, columns(), /^ */.exec(line)?.[0].concat("  "))),
    write: (part) => wrap.write(stripInvisible(part)),
    endLine: () => {
      wrap.end();
      print("\n");
    },
  };
}

function printGreeting(model: ModelSettings | undefined): void {
  printLine(describeExtractor(model));
  printLine(dimText("Tell me about yourself, or ask a question. /help lists commands, /quit exits."));
}

/** How long the end of a chat waits for the model to read the remaining messages. */
const EXTRACTION_TIMEOUT_MS = 20_000;

async function waitForExtraction(
  { memory, say }: ChatSession,
  model: ModelSettings | undefined,
): Promise<void> {
  if (!model) return;
  const { memories, pending, problem } = await understandWithin(memory, EXTRACTION_TIMEOUT_MS);
  for (const line of formatLearnedMemories(memories)) say(line);
  if (pending > 0) {
    say(`Some messages will be processed at the next start${problem === undefined ? "" : `: ${problem}`}`);
  }
}

/** Gives whether the user interrupted the conversation. */
async function runConversation(
  lines: Interface,
  isTerminal: boolean,
  chat: ChatSession,
  turns: ChatLineOutcome[],
  model: ModelSettings | undefined,
): Promise<boolean> {
  let isInterrupted = false;
  if (isTerminal) printGreeting(model);
  lines.on("SIGINT", () => {
    isInterrupted = true;
    lines.close();
  });
  if (isTerminal) lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === "/quit" || text === "/exit") break;
    if (text !== "") turns.push(await runChatLine(chat, text));
    if (isTerminal && !isInterrupted) lines.prompt();
  }
  lines.close();
  if (isTerminal) process.stdout.write("\n");
  return isInterrupted;
}

/** The state of a running conversation. */
interface ChatSession {
  readonly memory: ScopedMemory;
  readonly writer: ReceiptWriter;
  readonly session: string;
  readonly say: (line: string) => void;
  /** Shows a part of a line at once; on a terminal, without its last word. */
  readonly write: (part: string) => void;
  /** Shows the rest of that line, and ends it. */
  readonly endLine: () => void;
  /** Asks the user; true if stdin is not a terminal. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** The last answer, for /why. */
  last?: Answer;
  /** The revisions of this chat that changed a memory, for /undo. The newest is last. */
  readonly learnt: number[];
}

/** The result of one line, for `--json`. */
type ChatLineOutcome =
  | { readonly error: { readonly code: string; readonly message: string } }
  | { readonly command: string }
  | Reply;

const CHAT_HELP = [
  ["/list", "list what is known"],
  ["/why", "show the sources of the last answer"],
  ["/undo", "take back what was learnt last; again, what was learnt before"],
  ["/forget WHAT", "erase something permanently"],
  ["/help", "show this help"],
  ["/quit", "exit (also Ctrl-D)"],
];

/** Runs one line. An error in it does not end the conversation. */
async function runChatLine(chat: ChatSession, text: string): Promise<ChatLineOutcome> {
  try {
    if (!text.startsWith("/")) return await replyToText(chat, text);
    const [command = "", ...words] = text.split(/\s+/);
    await runChatCommand(chat, command, words.join(" "));
    return { command };
  } catch (error) {
    const { code, message } = toShownError(error);
    chat.say(`Failed: ${message}`);
    return { error: { code, message } };
  }
}

async function runChatCommand(chat: ChatSession, command: string, rest: string): Promise<void> {
  if (command === "/list") return showMemories(chat);
  if (command === "/why") return showAnswerSources(chat);
  if (command === "/undo") return undoInChat(chat);
  if (command === "/forget" && rest !== "") return forgetInChat(chat, rest);
  if (command === "/forget") return chat.say("Forget what? Example: /forget Magnet");
  if (command !== "/help") chat.say("Unknown command.");
  const rows = CHAT_HELP.map(([name = "", what = ""]) => [colorText("cyan", name), what]);
  for (const line of formatTable(rows)) chat.say(line);
}

async function replyToText(chat: ChatSession, text: string): Promise<Reply> {
  const parts = chat.memory.converseStream(text, { session: chat.session });
  let next = await parts.next();
  for (; !next.done; next = await parts.next()) chat.write(next.value);
  const reply = next.value;
  if (reply.answer) chat.last = reply.answer;
  chat.endLine();
  const why = explainModelTrouble(reply);
  if (why) chat.say(dimText(`  ${why}`));
  const { memories, revision } = reply.receipt;
  for (const line of formatLearnedMemories(memories)) chat.say(line);
  if (memories.some(({ action }) => CHANGE_MARKS[action])) chat.learnt.push(revision);
  return reply;
}

const CHANGE_MARKS: { readonly [action: string]: readonly [mark: string, color: TextColor] } = {
  added: ["+", "green"],
  merged: ["=", "dim"],
  superseded: ["−", "yellow"],
  retracted: ["−", "yellow"],
};

/** Gives a line for each memory that was added, merged or replaced. */
function formatLearnedMemories(memories: Receipt["memories"]): string[] {
  return memories.flatMap(({ action, text }) => {
    const [mark, color] = CHANGE_MARKS[action] ?? [];
    return mark && color && text !== "" ? [`  ${colorText(color, mark)} ${dimText(toShortLine(text))}`] : [];
  });
}

/** Takes back the newest revision of this chat that changed a memory. What was erased stays erased. */
async function undoInChat({ memory, writer, learnt, say }: ChatSession): Promise<void> {
  const revision = learnt.at(-1);
  if (revision === undefined) return say("There is nothing to undo in this chat.");
  const receipt = await memory.undo(revision).catch((error: unknown) => {
    // An erasure never can be: the next /undo goes on before it.
    if (isMemoryError(error) && error.code === "unsupported") learnt.pop();
    throw error;
  });
  learnt.pop();
  say("Undone:");
  for (const line of formatWriteReceipt(receipt, writer)) say(`  ${line}`);
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
  if (!(await confirm("Erase this permanently?"))) return say("Nothing was erased.");
  const { erased, complete } = await memory.forget(what);
  const counts = `${formatCount(erased.memories, "memory", "memories")}, words in ${formatCount(erased.messages, "message")}`;
  say(`Erased: ${counts}.${complete ? "" : " Not every store could be verified: see `keepsake audit`."}`);
}
