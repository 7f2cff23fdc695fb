import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

/** What a made file has in it. */
export interface MadeFile {
  /** Messages that an import stores. */
  readonly messages: number;
  /** Memories that the file itself has, beside those that are learnt from messages. */
  readonly memories: number;
  readonly bytes: number;
}

/** Makes a file of one format, always the same one for a size. */
export interface FileMaker {
  /** The ending of the file's name, with its dot. */
  readonly ending: string;
  /** What one is counted in. */
  readonly unit: "messages" | "memories";
  /** The largest size that the format can have, and why; none if absent. */
  readonly most?: { readonly size: number; readonly why: string };
  write(path: string, size: number): Promise<MadeFile>;
}

/** Messages of one conversation. */
const MESSAGES = 20;
const FIRST_MS = Date.UTC(2023, 0, 1);
const MINUTE_MS = 60_000;
const CITIES = ["Porto", "Ghent", "Lisbon", "Turin", "Bergen", "Graz", "Split", "Vaasa"];
const REPLY = `Here is what I would change. ${"First, the order of the work should follow the order of the parts. ".repeat(8)}`;

/** What the user says in a message: one in five states something, the rest is talk. */
function sayNumber(number: number): string {
  if (number % 5 !== 0)
    return `Could you look at step ${number} of the plan, and tell me what you would change in it?`;
  if (number % 1000 === 0) return `I live in ${CITIES[(number / 1000) % CITIES.length]} now.`;
  return `I use Tool${number % 20_000}.`;
}

/** One message of a conversation between the user and an assistant. */
interface SpokenTurn {
  readonly number: number;
  readonly isUser: boolean;
  readonly words: string;
  readonly at: Date;
}

interface SpokenConversation {
  readonly number: number;
  readonly turns: readonly SpokenTurn[];
}

function* listConversations(messages: number): Generator<SpokenConversation> {
  for (let number = 0; number * MESSAGES < messages; number += 1) {
    const count = Math.min(MESSAGES, messages - number * MESSAGES);
    yield { number, turns: Array.from({ length: count }, (_, i) => toTurn(number * MESSAGES + i)) };
  }
}

function* listTurns(messages: number): Generator<SpokenTurn> {
  for (const { turns } of listConversations(messages)) yield* turns;
}

function toTurn(number: number): SpokenTurn {
  const isUser = number % 2 === 0;
  const at = new Date(FIRST_MS + number * MINUTE_MS);
  return { number, isUser, words: isUser ? sayNumber(number) : REPLY, at };
}

const toUuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** Writes a file piece by piece. Gives its size in bytes. */
async function writePieces(path: string, pieces: Iterable<string>): Promise<number> {
  const file = createWriteStream(path);
  const written = finished(file);
  for (const piece of pieces) if (!file.write(piece)) await once(file, "drain");
  file.end();
  await written;
  return file.bytesWritten;
}

/** A list in JSON, between a beginning and an end. */
function* toList(items: Iterable<unknown>, begin = "[", end = "]\n"): Generator<string> {
  yield begin;
  let isFirst = true;
  for (const item of items) {
    yield `${isFirst ? "" : ","}\n${JSON.stringify(item)}`;
    isFirst = false;
  }
  yield `\n${end}`;
}

function toChatGpt({ number, turns }: SpokenConversation): object {
  const id = toUuid(number);
  const system = {
    id: "system",
    author: { role: "system", metadata: {} },
    content: { content_type: "text", parts: ["You are an assistant."] },
  };
  const mapping: { [id: string]: object } = {
    root: { id: "root", message: null, parent: null, children: ["system"] },
    system: { id: "system", message: system, parent: "root", children: ["m0"] },
  };
  for (const [i, { isUser, words, at }] of turns.entries()) {
    const key = `m${i}`;
    mapping[key] = {
      id: key,
      parent: i === 0 ? "system" : `m${i - 1}`,
      children: i + 1 < turns.length ? [`m${i + 1}`] : [],
      message: {
        id: key,
        author: { role: isUser ? "user" : "assistant", metadata: {} },
        create_time: at.getTime() / 1000,
        content: { content_type: "text", parts: [words] },
        recipient: "all",
        metadata: { model_slug: "gpt-4o", citations: [], message_type: "next" },
      },
    };
  }
  const create_time = (turns[0]?.at.getTime() ?? FIRST_MS) / 1000;
  const current_node = `m${turns.length - 1}`;
  return { id, conversation_id: id, title: `Plan ${number}`, create_time, mapping, current_node };
}

function toClaude({ number, turns }: SpokenConversation): object {
  return {
    uuid: toUuid(number),
    name: `Plan ${number}`,
    created_at: turns[0]?.at.toISOString(),
    account: { uuid: toUuid(1) },
    chat_messages: turns.map(({ number: place, isUser, words, at }) => ({
      uuid: toUuid(place),
      sender: isUser ? "human" : "assistant",
      text: words,
      content: [
        ...(isUser ? [] : [{ type: "thinking", thinking: "What is the order?" }]),
        { type: "text", text: words },
      ],
      created_at: at.toISOString(),
      attachments: [],
      files: [],
    })),
  };
}

/** One event for each question and its reply, newest first, in the three shapes that Takeout has had. */
function* toGemini(messages: number): Generator<object> {
  for (let number = Math.floor(messages / 2) - 1; number >= 0; number -= 1) {
    const [asked, reply] = [toTurn(2 * number), toTurn(2 * number + 1)];
    const common = { header: "Gemini Apps", products: ["Gemini Apps"], time: asked.at.toISOString() };
    if (number % 3 === 0) {
      const details = [
        { name: "Request", value: asked.words },
        { name: "Response", value: reply.words },
      ];
      yield { ...common, title: "Used Gemini Apps", details };
    } else if (number % 3 === 1) {
      const userInteraction = {
        request: JSON.stringify({ prompt: asked.words }),
        response: JSON.stringify({ text: reply.words }),
      };
      yield { ...common, title: "Used Gemini Apps", userInteractions: [{ userInteraction }] };
    } else {
      const safeHtmlItem = [{ html: `<p>${reply.words}</p>` }];
      yield { ...common, title: `Prompted ${asked.words}`, safeHtmlItem };
    }
  }
}

function* toMem0(memories: number): Generator<object> {
  for (let number = 0; number < memories; number += 1) {
    const time = new Date(FIRST_MS + number * MINUTE_MS).toISOString();
    yield {
      id: toUuid(number),
      memory: `Uses Tool${number} for step ${number} of the plan`,
      user_id: "ana",
      metadata: { source: "chat" },
      categories: ["technology"],
      created_at: time,
      updated_at: time,
    };
  }
}

function* toLetta(messages: number): Generator<object> {
  for (const { number, isUser, words, at } of listTurns(messages)) {
    const message = { type: "user_message", message: words, time: at.toISOString() };
    yield {
      id: `message-${toUuid(number)}`,
      role: isUser ? "user" : "assistant",
      content: [{ type: "text", text: isUser ? JSON.stringify(message) : words }],
      created_at: at.toISOString(),
    };
  }
}

const LETTA_BEGIN =
  '{"agent_type":"memgpt_agent","name":"planner","core_memory":[' +
  '{"label":"persona","value":"I am a planner."},{"label":"human","value":"- Lives in Porto\\n- Owns a boat"}],"messages":[';

/** In the export of an account, the owner is the user, and everybody else is named. */
function* toTelegram(messages: number): Generator<object> {
  for (const { number, isUser, words, at } of listTurns(messages)) {
    yield {
      id: number + 1,
      type: "message",
      date: at.toISOString().slice(0, 19),
      date_unixtime: String(at.getTime() / 1000),
      from: isUser ? "Ana" : "Ben",
      from_id: isUser ? "user1" : "user2",
      text: isUser ? words : [{ type: "bold", text: "Well: " }, words],
      text_entities: [],
    };
  }
}

const TELEGRAM_BEGIN =
  '{"personal_information":{"user_id":1,"first_name":"Ana"},"chats":{"list":[' +
  '{"name":"Ben","type":"personal_chat","id":7,"messages":[';

function* toWhatsApp(messages: number): Generator<string> {
  const [first] = listTurns(1);
  if (first) yield `${toWhatsAppTime(first.at)} - Messages and calls are end-to-end encrypted.\n`;
  for (const { isUser, words, at } of listTurns(messages))
    yield `${toWhatsAppTime(at)} - ${isUser ? "Ana" : "Ben"}: ${words}\n`;
}

function toWhatsAppTime(at: Date): string {
  const pad = (part: number): string => String(part).padStart(2, "0");
  const day = `${pad(at.getUTCDate())}.${pad(at.getUTCMonth() + 1)}.${at.getUTCFullYear()}`;
  return `${day}, ${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}`;
}

/** An entry of a card's book, without the comma before it. */
const BOOK_ENTRY_BYTES = 160;

function* toBookEntries(memories: number): Generator<object> {
  for (let number = 0; number < memories; number += 1) {
    const content = `{{char}} keeps the map of harbour ${number} in drawer ${number}.`;
    yield { keys: [`harbour ${number}`], content, enabled: true, insertion_order: number };
  }
}

const CARD_BEGIN =
  '{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Mira","description":"","personality":"",' +
  '"scenario":"","first_mes":"Hello.","mes_example":"","system_prompt":"Stay in character.","character_book":{"entries":[';

function* toOpenAi(messages: number): Generator<string> {
  for (const { turns } of listConversations(messages)) {
    const said = turns.map(({ isUser, words }) => ({ role: isUser ? "user" : "assistant", content: words }));
    yield `${JSON.stringify({ messages: [{ role: "system", content: "Help with the plan." }, ...said] })}\n`;
  }
}

/** Memories in canonical JSON, in the order of their ids, so that the checksum can be made while they are written. */
function* toPam(memories: number): Generator<string> {
  const hash = createHash("sha256");
  yield '{"schema":"portable-ai-memory","schema_version":"1.0","owner":{"id":"ana"},"memories":[';
  hash.update("[");
  for (let number = 0; number < memories; number += 1) {
    const created_at = new Date(FIRST_MS + number * MINUTE_MS).toISOString().replace(".000Z", "Z");
    const json = JSON.stringify({
      content: `Uses Tool${number} for step ${number} of the plan`,
      id: toUuid(number),
      provenance: { platform: "chatgpt" },
      status: "active",
      tags: ["plan"],
      temporal: { created_at },
      type: "fact",
    });
    const piece = number === 0 ? json : `,${json}`;
    hash.update(piece);
    yield piece;
  }
  const checksum = `sha256:${hash.update("]").digest("hex")}`;
  const integrity = { canonicalization: "RFC8785", checksum, total_memories: memories };
  yield `],"relations":[],"integrity":${JSON.stringify(integrity)}}\n`;
}

/** A maker of a format whose files are pieces. */
function createMaker(
  ending: string,
  unit: FileMaker["unit"],
  toPieces: (size: number) => Iterable<string>,
  more: { readonly most?: FileMaker["most"]; readonly memories?: number } = {},
): FileMaker {
  return {
    ending,
    unit,
    ...(more.most ? { most: more.most } : {}),
    async write(path, size) {
      const bytes = await writePieces(path, toPieces(size));
      if (unit === "memories") return { messages: 0, memories: size, bytes };
      return { messages: size, memories: more.memories ?? 0, bytes };
    },
  };
}

function* mapItems<Item, Result>(items: Iterable<Item>, change: (item: Item) => Result): Generator<Result> {
  for (const item of items) yield change(item);
}

const CARD_BYTES = 32 * 1024 * 1024;

/** Makers of files by the format that they have. */
export const FILE_MAKERS: { readonly [format: string]: FileMaker } = {
  chatgpt: createMaker(".json", "messages", (size) => toList(mapItems(listConversations(size), toChatGpt))),
  claude: createMaker(".json", "messages", (size) => toList(mapItems(listConversations(size), toClaude))),
  gemini: createMaker(".json", "messages", (size) => toList(toGemini(size))),
  mem0: createMaker(".json", "memories", (size) => toList(toMem0(size), '{"results":[', "]}\n")),
  letta: createMaker(".af", "messages", (size) => toList(toLetta(size), LETTA_BEGIN, "]}\n"), {
    memories: 2,
  }),
  telegram: createMaker(".json", "messages", (size) => toList(toTelegram(size), TELEGRAM_BEGIN, "]}]}}\n")),
  whatsapp: createMaker(".txt", "messages", toWhatsApp),
  character: createMaker(".json", "memories", (size) => toList(toBookEntries(size), CARD_BEGIN, "]}}}\n"), {
    most: {
      size: Math.floor(CARD_BYTES / BOOK_ENTRY_BYTES),
      why: "a card is one document of at most 32 MB",
    },
  }),
  openai: createMaker(".jsonl", "messages", toOpenAi),
  pam: createMaker(".json", "memories", toPam),
};
