import { createInterface, type Interface } from "node:readline";
import type { Answer } from "../../domain/recall.ts";
import type { Receipt } from "../../domain/receipt.ts";
import type { ScopedMemory } from "../../engine/surface.ts";
import { shownError } from "../exit.ts";
import { day, dim, printable, short } from "../print.ts";
import { type CommonOptions, EXIT, withMemory } from "../run.ts";

const HELP = [
  "/list          what is known",
  "/why           what the last answer rests on",
  "/forget WHAT   erase something for good",
  "/help          this",
  "/quit          the end (or Ctrl-D)",
];

/** A conversation. On a terminal with a prompt; else it answers each line of stdin. */
export async function chat(options: CommonOptions): Promise<void> {
  await withMemory(options, async ({ memory, clock }) => {
    const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
    const session = `chat-${clock().toISOString()}`;
    const lines = createInterface({
      input: process.stdin,
      output: process.stdout,
      terminal: isTerminal,
      prompt: "› ",
    });
    if (isTerminal) say("Tell me about yourself, or ask. /help shows more.");
    const talk: Talk = { memory, session, last: undefined };
    await conversation(lines, isTerminal, talk);
    return EXIT.done;
  });
}

interface Talk {
  readonly memory: ScopedMemory;
  readonly session: string;
  last: Answer | undefined;
}

async function conversation(lines: Interface, isTerminal: boolean, talk: Talk): Promise<void> {
  if (isTerminal) lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === "/quit" || text === "/exit") break;
    try {
      if (text !== "") await turn(talk, text);
    } catch (error) {
      // A slip in one line must not end the conversation.
      say(`That did not work: ${shownError(error).message}`);
    }
    if (isTerminal) lines.prompt();
  }
  lines.close();
}

async function turn(talk: Talk, text: string): Promise<void> {
  const [name, ...words] = text.split(/\s+/);
  if (!name?.startsWith("/")) return converse(talk, text);
  if (name === "/list") return list(talk);
  if (name === "/why") return why(talk);
  if (name === "/forget" && words.length > 0) return forget(talk, words.join(" "));
  for (const line of HELP) say(line);
}

async function converse(talk: Talk, text: string): Promise<void> {
  const reply = await talk.memory.converse(text, { session: talk.session });
  if (reply.answer) talk.last = reply.answer;
  say(reply.text);
  for (const line of learnt(reply.receipt)) say(dim(line));
}

function learnt({ memories }: Receipt): string[] {
  const marks: { readonly [action: string]: string } = {
    added: "+",
    merged: "=",
    superseded: "−",
    retracted: "−",
  };
  return memories.flatMap(({ action, text }) => (marks[action] ? [`  ${marks[action]} ${short(text)}`] : []));
}

async function list({ memory }: Talk): Promise<void> {
  const { items, total } = await memory.list();
  if (total === 0) say("Nothing is known yet.");
  for (const { text, at } of items) say(`${dim(day(at))}  ${short(text)}`);
  if (items.length < total) say(dim(`… and ${total - items.length} more`));
}

async function why({ memory, last }: Talk): Promise<void> {
  if (!last || last.used.length === 0) return say("There is no answer to explain yet.");
  const items = last.recall.items.filter(({ id }) => last.used.includes(id));
  const known = items.flatMap(({ sources }) => sources);
  const missing = last.used.filter((id) => !items.some((item) => item.id === id));
  for (const id of missing) known.push(...(await memory.get(id)).sources);
  for (const { quote, at, role } of known) say(`${dim(day(at))}  “${short(quote)}” ${dim(role)}`);
}

async function forget({ memory }: Talk, what: string): Promise<void> {
  const { erased, complete } = await memory.forget(what);
  if (erased.memories === 0 && erased.messages === 0) return say("Nothing like that is known.");
  say(
    `Erased: ${erased.memories} memories, words in ${erased.messages} messages.${complete ? "" : " It could not be verified."}`,
  );
}

function say(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}
