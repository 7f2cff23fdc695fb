import type { Answer } from "../../domain/recall.ts";
import type { Receipt } from "../../domain/receipt.ts";
import type { Reply, ScopedMemory } from "../../engine/surface.ts";
import { toShownError } from "../exit.ts";
import { dimText, formatCount, formatDay, formatTable, toShortLine } from "../print.ts";
import { formatPlan, isEmptyPlan } from "./forget.ts";
import { formatAnswerSources } from "./sources.ts";
import { explainModelTrouble } from "./trouble.ts";

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
