import type { Metadata } from "../../domain/filters/metadata-filter.ts";
import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { splitPoints } from "./claude.ts";
import { fromIsoTime, toContentUuid, toLabels, toMemoryId, toMessageEntry, toShortName } from "./entries.ts";
import { type ImportSource, isObjectValue } from "./import-source.ts";
import { describeTooLarge, PASS_LARGE_ELEMENTS, type PathChoice, readJsonItems } from "./json-stream.ts";

type Fields = { readonly [field: string]: unknown };

/** Fields under which exports of mem0 hold their list. */
const MEM0_LISTS = ["results", "memories"];

export function isMem0Memory(value: unknown): value is Fields {
  return isObjectValue(value) && typeof value.memory === "string";
}

/**
 * Reads an export of mem0: a list of memories, or an object that holds it as `results` or `memories`. A list of a whole project
 * has those of many people. All go to one user here, so only those of the first person are given.
 */
export async function* readMem0(source: ImportSource): AsyncIterable<ImportEntry> {
  const choose = (path: string): PathChoice => {
    if (path === "" || MEM0_LISTS.includes(path)) return "enter";
    return path === "[]" || MEM0_LISTS.includes(path.slice(0, -2)) ? "give" : "pass";
  };
  let person: string | undefined;
  for await (const { value, number, isTooLarge } of readJsonItems(source, choose, PASS_LARGE_ELEMENTS)) {
    const place = `memory ${number}`;
    const owner = findOwner(value);
    person ??= owner;
    if (isTooLarge) yield { place, skipped: describeTooLarge(source, "a memory") };
    else if (owner !== undefined && owner !== person)
      yield { place, skipped: "a memory of another user_id than the first one of the file" };
    else yield toMem0Entry(place, value);
  }
}

/** Whose memory it is. One of an agent alone has no person. */
function findOwner(value: unknown): string | undefined {
  const owner = isObjectValue(value) ? value.user_id : undefined;
  return typeof owner === "string" && owner !== "" ? owner : undefined;
}

function toMem0Entry(place: string, value: unknown): ImportEntry {
  const text = isMem0Memory(value) ? String(value.memory).trim() : "";
  if (!isMem0Memory(value) || text === "") return { place, skipped: "a memory without words" };
  const created = fromIsoTime(value.created_at);
  const at = fromIsoTime(value.updated_at) ?? created;
  const expiresAt = fromIsoTime(value.expiration_date);
  const metadata = toMem0Labels(value);
  return {
    place,
    memory: {
      id: toMemoryId("mem0", value.id ?? text),
      text,
      ...(at === undefined ? {} : { at }),
      ...(created === undefined ? {} : { validFrom: created }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    },
  };
}

/** Plain metadata of mem0, and its categories. */
function toMem0Labels({ metadata, categories }: Fields): Metadata {
  const own = isObjectValue(metadata) ? Object.entries(metadata) : [];
  const plain = own.filter(
    ([name, value]) =>
      name !== "" && !name.startsWith("$") && ["string", "number", "boolean"].includes(typeof value),
  );
  const short = plain
    .slice(0, 32)
    .map(([name, value]) => [name, typeof value === "string" ? (toShortName(value) ?? "") : value]);
  const named = Array.isArray(categories)
    ? categories.flatMap((one) => toShortName(one) ?? []).slice(0, 16)
    : [];
  return { ...Object.fromEntries(short), ...(named.length > 0 ? { categories: named } : {}) };
}

/** Reads an agent file of Letta (`.af`), of the first or the second shape: what its memory blocks say, and its messages. */
export async function* readLetta(source: ImportSource): AsyncIterable<ImportEntry> {
  const given = ["core_memory[]", "blocks[]", "messages[]", "agents[].messages[]", "agents[].core_memory[]"];
  const choose = (path: string): PathChoice => {
    if (given.includes(path)) return "give";
    return path === "" || given.some((one) => one.startsWith(`${path}[`) || one.startsWith(`${path}.`))
      ? "enter"
      : "pass";
  };
  let session: string | undefined;
  for await (const item of readJsonItems(source, choose, PASS_LARGE_ELEMENTS)) {
    const { path, value, number, isTooLarge } = item;
    const isMessage = path.endsWith("messages[]");
    // A list of messages is that of one agent.
    if (isMessage && number === 1) session = undefined;
    if (isTooLarge) {
      const what = isMessage ? "message" : "block";
      yield { place: `${what} ${number}`, skipped: describeTooLarge(source, `a ${what}`) };
    }
    if (!isObjectValue(value)) continue;
    if (!isMessage) {
      yield* readBlock(`block ${number}`, value);
      continue;
    }
    const entry = toLettaMessage(`message ${number}`, value, session);
    session = entry.message?.session ?? session;
    yield entry;
  }
}

function* readBlock(place: string, { label, value, updated_at: updated }: Fields): Iterable<ImportEntry> {
  if (typeof value !== "string") return;
  // The other blocks are the agent's: who it is, and how it works.
  if (label !== "human") {
    yield { place, skipped: "a block about the agent" };
    return;
  }
  const at = fromIsoTime(updated);
  for (const { point } of splitPoints(value)) {
    yield {
      place,
      memory: {
        id: toContentUuid("letta", point),
        text: point,
        ...(at === undefined ? {} : { at }),
        metadata: toLabels({ block: "human" }),
      },
    };
  }
}

/** Gives a message. Its session is that of the agent's first message, which names it: files number agents from 0 on. */
function toLettaMessage(place: string, message: Fields, session: string | undefined): ImportEntry {
  const { role, created_at: created, id } = message;
  if (role === "system") return { place, skipped: "a system message" };
  if (role === "tool") return { place, skipped: "what a tool gave" };
  if (role !== "user" && role !== "assistant") return { place, skipped: "a message of an unknown author" };
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const sent = calls.flatMap(readSentMessage);
  if (calls.length > 0 && sent.length === 0) return { place, skipped: "a call of a tool" };
  const text = sent.length > 0 ? sent.join("\n") : readLettaText(message);
  if (text === undefined) return { place, skipped: "a notice of the program" };
  // Files of the second shape number messages from 0 on, too: "message-0".
  const isOwnId = id !== undefined && !/^message-\d+$/.test(String(id));
  const name = isOwnId ? String(id) : toContentUuid("letta", created, role, text);
  return toMessageEntry(place, {
    id: `letta:${name}`,
    role,
    text,
    at: fromIsoTime(created),
    session: session ?? `letta:${name}`,
  });
}

/** A user's text may be wrapped in JSON with its type; notices of the program are, too. */
function readLettaText({ content, text: plain }: Fields): string | undefined {
  const parts = Array.isArray(content) ? content.filter(isObjectValue) : [];
  const own = typeof content === "string" ? content : typeof plain === "string" ? plain : "";
  const text =
    parts.length === 0
      ? own
      : parts.flatMap((one) => (typeof one.text === "string" ? one.text : [])).join("\n");
  if (!text.startsWith("{")) return text;
  try {
    const wrapped: unknown = JSON.parse(text);
    if (!isObjectValue(wrapped) || typeof wrapped.type !== "string") return text;
    return wrapped.type === "user_message" && typeof wrapped.message === "string"
      ? wrapped.message
      : undefined;
  } catch {
    return text;
  }
}

/** An agent may speak by calling `send_message`. The text beside a call is what it thought. */
function readSentMessage(call: unknown): string[] {
  const made = isObjectValue(call) && isObjectValue(call.function) ? call.function : {};
  if (made.name !== "send_message" || typeof made.arguments !== "string") return [];
  try {
    const given: unknown = JSON.parse(made.arguments);
    return isObjectValue(given) && typeof given.message === "string" ? [given.message] : [];
  } catch {
    return [];
  }
}
