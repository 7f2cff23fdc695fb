import type { Answer } from "../../domain/recall.ts";
import type { Receipt } from "../../domain/receipt.ts";
import type { Reply, ScopedMemory } from "../../engine/surface.ts";
import { shownError } from "../exit.ts";
import { day, dim, several, short, table } from "../print.ts";
import { isNothing, planLines } from "./forget.ts";
import { sourceLines } from "./sources.ts";
import { whyNoModel } from "./trouble.ts";

/** A conversation under way. */
export interface Talk {
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
export type Turn =
  | { readonly error: { readonly code: string; readonly message: string } }
  | { readonly command: string }
  | Reply;

const HELP = [
  ["/list", "what is known"],
  ["/why", "what the last answer rests on"],
  ["/forget WHAT", "erase something for good"],
  ["/help", "this"],
  ["/quit", "the end (also Ctrl-D)"],
];

/** Carries out one line. A slip in it does not end the conversation. */
export async function turn(talk: Talk, text: string): Promise<Turn> {
  try {
    if (!text.startsWith("/")) return await converse(talk, text);
    const [command = "", ...words] = text.split(/\s+/);
    await obey(talk, command, words.join(" "));
    return { command };
  } catch (error) {
    const { code, message } = shownError(error);
    talk.say(`That did not work: ${message}`);
    return { error: { code, message } };
  }
}

async function obey(talk: Talk, command: string, rest: string): Promise<void> {
  if (command === "/list") return list(talk);
  if (command === "/why") return why(talk);
  if (command === "/forget" && rest !== "") return forget(talk, rest);
  if (command === "/forget") return talk.say("Forget what? /forget Magnet");
  if (command !== "/help") talk.say("There is no such command.");
  for (const line of table(HELP)) talk.say(line);
}

async function converse(talk: Talk, text: string): Promise<Reply> {
  const parts = talk.memory.converseStream(text, { session: talk.session });
  let next = await parts.next();
  for (; !next.done; next = await parts.next()) talk.write(next.value);
  const reply = next.value;
  if (reply.answer) talk.last = reply.answer;
  talk.say("");
  const why = whyNoModel(reply);
  if (why) talk.say(dim(`  ${why}`));
  for (const line of learnt(reply.receipt.memories)) talk.say(dim(line));
  return reply;
}

const MARKS: { readonly [action: string]: string } = {
  added: "+",
  merged: "=",
  superseded: "−",
  retracted: "−",
};

/** What was learnt, a line for each. */
export function learnt(memories: Receipt["memories"]): string[] {
  return memories.flatMap(({ action, text }) =>
    MARKS[action] && text !== "" ? [`  ${MARKS[action]} ${short(text)}`] : [],
  );
}

async function list({ memory, say }: Talk): Promise<void> {
  const { items, total } = await memory.list();
  if (total === 0) say("Nothing is known yet.");
  for (const { text, at } of items) say(`${dim(day(at))}  ${short(text)}`);
  if (items.length < total) say(dim(`and ${total - items.length} more`));
}

async function why({ memory, last, say }: Talk): Promise<void> {
  const lines = last ? await sourceLines(memory, last, process.stdout) : [];
  if (lines.length === 0) say("There is no answer to explain yet.");
  for (const line of lines) say(line);
}

async function forget({ memory, say, confirm }: Talk, what: string): Promise<void> {
  const plan = await memory.forget(what, { dryRun: true });
  for (const line of planLines(plan)) say(line);
  if (isNothing(plan)) return;
  if (!(await confirm("Erase this for good?"))) return say("Nothing was erased.");
  const { erased, complete } = await memory.forget(what);
  const gone = `${several(erased.memories, "memory", "memories")}, words in ${several(erased.messages, "message")}`;
  say(`Erased: ${gone}.${complete ? "" : " Not every place could be verified: see `keepsake audit`."}`);
}
