import { createHash, createPublicKey, verify } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ASSOCIATION_TYPES } from "../../domain/change-set.ts";
import type { Metadata } from "../../domain/filters/metadata-filter.ts";
import { INPUT_LIMITS } from "../../domain/limits.ts";
import type { Claim, Kind, SourceSpan, Status } from "../../domain/memory.ts";
import { forEachInSlices, sortInSlices } from "../../domain/time-slicing.ts";
import type { ImportEntry, ImportedMemory } from "../../engine/api/transfer-types.ts";
import { invalid } from "../../errors.ts";
import {
  fromIsoTime,
  isUuid,
  toContentId,
  toLabels,
  toMemoryId,
  toMessageEntry,
  toMessageState,
  toShortName,
} from "./entries.ts";
import { type ImportSource, isObjectValue, toInputMessage } from "./import-source.ts";
import {
  describeTooLarge,
  type JsonItem,
  PASS_LARGE_ELEMENTS,
  type PathChoice,
  readJsonItems,
} from "./json-stream.ts";
import { decodeMultibaseKey } from "./multibase-key.ts";

type Fields = { readonly [field: string]: unknown };

export const PAM_SCHEMA = "portable-ai-memory";
const CONVERSATION_SCHEMA = "portable-ai-memory-conversation";
/** The metadata field that holds what a memory of PAM has and Keepsake has no field for, as JSON. */
export const PAM_FIELD = "pam";

/** The conversation of messages that belong to none. */
export const UNSORTED_SESSION = "keepsake-unsorted";

/** Kinds by the types of PAM. */
export const KIND_OF_TYPE: { readonly [type: string]: Kind } = {
  fact: "fact",
  preference: "preference",
  skill: "fact",
  context: "context",
  relationship: "entity",
  goal: "commitment",
  instruction: "instruction",
  identity: "fact",
  environment: "fact",
  project: "context",
};
/** Kinds of Keepsake that PAM has no type for are custom types of the same name. */
const CUSTOM_KINDS: readonly Kind[] = ["event", "reflection"];

/** The status of a memory by the status of PAM. */
export const STATUS_OF_PAM: { readonly [status: string]: Status } = {
  active: "current",
  deprecated: "current",
  superseded: "superseded",
  retracted: "retracted",
  archived: "retracted",
};

/**
 * Reads a Portable AI Memory (PAM 1.0): `memory-store.json`, one of its conversations, or the folder of both. Checks the
 * checksum and the signature, where there are any, before it gives anything. Throws `invalid_input` if they do not fit.
 */
export async function* readPam(source: ImportSource): AsyncIterable<ImportEntry> {
  if (typeof source !== "string" || !statSync(source, { throwIfNoEntry: false })?.isDirectory()) {
    yield* readPamDocument(source);
    return;
  }
  yield* readPamDocument(join(source, "memory-store.json"));
  const folder = join(source, "conversations");
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const name of readdirSync(folder).sort()) {
    // The memories of the folder are what was learnt from its conversations.
    if (name.endsWith(".json"))
      for await (const entry of readPamDocument(join(folder, name))) yield { ...entry, isRead: true };
  }
}

function choosePath(path: string): PathChoice {
  if (path === "memories" || path === "relations" || path === "messages" || path === "") return "enter";
  return path === "conversations_index" ? "pass" : "give";
}

async function* readPamDocument(source: ImportSource): AsyncIterable<ImportEntry> {
  const document: PamDocument = { root: new Map(), entries: [], memories: [], messages: [], tooLarge: [] };
  for await (const item of readJsonItems(source, choosePath, PASS_LARGE_ELEMENTS)) {
    if (item.isTooLarge) takeTooLarge(document, item, source);
    else takeItem(document, item);
  }
  const { root, entries, memories, messages, tooLarge } = document;
  yield* tooLarge.map(({ entry }) => entry);
  if (root.get("schema") === CONVERSATION_SCHEMA) yield* toConversation(root, messages);
  else {
    checkVersion(root);
    checkWhole(root, tooLarge);
    const unchecked = await checkIntegrity(root, memories);
    if (unchecked !== undefined) yield { place: "signature", skipped: unchecked };
    yield* entries;
  }
}

/** A document as far as it is read. Nothing of it is given before its checksum is checked. */
interface PamDocument {
  readonly root: Map<string, unknown>;
  readonly entries: ImportEntry[];
  readonly memories: HashedMemory[];
  readonly messages: Fields[];
  /** The elements that are too large to be read. */
  readonly tooLarge: { readonly path: string; readonly entry: ImportEntry }[];
}

/** A memory in canonical JSON. */
interface HashedMemory {
  readonly id: string;
  readonly json: string;
}

function takeItem(document: PamDocument, { path, value, number }: JsonItem): void {
  if (path === "memories[]") takeMemory(document, `memory ${number}`, value);
  else if (path === "relations[]") document.entries.push(toLinkEntry(`relation ${number}`, value));
  else if (path === "messages[]") document.messages.push(isObjectValue(value) ? value : {});
  else document.root.set(path, value);
}

function takeMemory({ entries, memories }: PamDocument, place: string, value: unknown): void {
  entries.push(toMemoryEntry(place, value));
  if (isObjectValue(value)) memories.push({ id: String(value.id), json: canonicalize(value) });
}

/** In place of a message that is too large: the others keep their numbers. */
const UNREAD_MESSAGE: Fields = {};

function takeTooLarge(
  { messages, tooLarge }: PamDocument,
  { path, number }: JsonItem,
  source: ImportSource,
): void {
  const what = path === "memories[]" ? "memory" : path === "messages[]" ? "message" : "relation";
  if (what === "message") messages.push(UNREAD_MESSAGE);
  const entry = { place: `${what} ${number}`, skipped: describeTooLarge(source, `a ${what}`) };
  tooLarge.push({ path, entry });
}

/** Throws `invalid_input` for a file with a checksum or a signature that covers a memory which was not read. */
function checkWhole(root: ReadonlyMap<string, unknown>, tooLarge: PamDocument["tooLarge"]): void {
  const unread = tooLarge.find(({ path }) => path === "memories[]");
  const isProtected = ["integrity", "signature"].some((name) => (root.get(name) ?? undefined) !== undefined);
  if (unread && isProtected)
    throw invalid(`the checksum of the file cannot be checked: it has ${unread.entry.skipped}.`);
}

function checkVersion(root: ReadonlyMap<string, unknown>): void {
  if (root.get("schema") !== PAM_SCHEMA)
    throw invalid("the file is not a Portable AI Memory: its schema does not say so.");
  if (!/^1\.\d+/.test(String(root.get("schema_version"))))
    throw invalid("the file is a Portable AI Memory of a version that is not supported; 1.0 is.");
}

/** Canonical JSON (RFC 8785): no spaces, fields in the order of their UTF-16 code units. */
export function canonicalize(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(",")}]`;
  if (!isObjectValue(value)) return JSON.stringify(value) ?? "null";
  const fields = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalize(value[name])}`);
  return `{${fields.join(",")}}`;
}

/** The hash over memories in the order of their ids, each in canonical JSON (RFC 8785). Pauses for other work. */
export async function computeChecksum(memories: readonly HashedMemory[]): Promise<string> {
  const hash = createHash("sha256");
  const sorted = await sortInSlices(memories, (one, other) =>
    one.id < other.id ? -1 : one.id > other.id ? 1 : 0,
  );
  let before = "[";
  await forEachInSlices(sorted, ({ json }) => {
    hash.update(before).update(json);
    before = ",";
  });
  return `sha256:${hash.update(sorted.length === 0 ? "[]" : "]").digest("hex")}`;
}

/** What a signature covers, in canonical JSON. */
export function toSignedText(fields: {
  readonly checksum: unknown;
  readonly export_id: unknown;
  readonly export_date: unknown;
  readonly owner_id: unknown;
}): string {
  return canonicalize(fields);
}

/**
 * Checks the checksum and the signature, each if there is one. Gives why a signature was not checked; undefined if it was, or
 * if there is none. Throws `invalid_input` for one that does not fit.
 */
async function checkIntegrity(
  root: ReadonlyMap<string, unknown>,
  memories: readonly HashedMemory[],
): Promise<string | undefined> {
  const checksum = await computeChecksum(memories);
  const integrity = root.get("integrity");
  if (isObjectValue(integrity)) {
    const { total_memories: total = memories.length } = integrity;
    if (total !== memories.length || integrity.checksum !== checksum)
      throw invalid(
        "the memories do not fit their checksum: the file was damaged or changed. Export it again.",
      );
  }
  const signature = root.get("signature") ?? undefined;
  if (signature === undefined) return undefined;
  if (!isObjectValue(signature) || signature.algorithm !== "Ed25519")
    return "a signature that is not checked, because it is of another kind than Ed25519";
  // Without an `integrity`, it still covers the memories: it signs their checksum.
  if (!isSignatureValid(root, checksum, signature))
    throw invalid("the signature does not fit: the file was changed, or signed by another program wrongly.");
  return undefined;
}

/** Whether an Ed25519 signature fits. */
function isSignatureValid(
  root: ReadonlyMap<string, unknown>,
  checksum: string,
  { public_key: publicKey, value }: Fields,
): boolean {
  const key = decodeMultibaseKey(publicKey);
  if (!key || typeof value !== "string") return false;
  const owner = root.get("owner");
  const signed = toSignedText({
    checksum,
    export_id: root.get("export_id"),
    export_date: root.get("export_date"),
    owner_id: isObjectValue(owner) ? owner.id : undefined,
  });
  const x = key.toString("base64url");
  const publicOne = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, Buffer.from(signed), publicOne, Buffer.from(value, "base64url"));
}

function toMemoryEntry(place: string, value: unknown): ImportEntry {
  if (!isObjectValue(value) || typeof value.content !== "string" || value.content.trim() === "")
    return { place, skipped: "a memory without words" };
  const { id, type, custom_type: custom, content, status = "active", ...others } = value;
  const temporal = isObjectValue(value.temporal) ? value.temporal : {};
  const own = readOwnFields(value.metadata);
  const kind = isKindName(type) ? KIND_OF_TYPE[type] : CUSTOM_KINDS.find((one) => one === custom);
  const confidence = isObjectValue(value.confidence)
    ? toShare(value.confidence.current ?? value.confidence.initial)
    : undefined;
  const times = [temporal.created_at, temporal.valid_from, temporal.valid_until];
  const [at, validFrom, validTo] = times.map(readTime);
  const memory: ImportedMemory = {
    id: toMemoryId("pam", id),
    text: content,
    kind: kind ?? "fact",
    status: STATUS_OF_PAM[String(status)] ?? "current",
    ...(at === undefined ? {} : { at }),
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validTo === undefined ? {} : { validTo }),
    ...own,
    ...(confidence === undefined ? {} : { confidence }),
    ...(typeof temporal.superseded_by === "string"
      ? { supersededBy: toMemoryId("pam", temporal.superseded_by) }
      : {}),
  };
  const { content_hash: _hash, ...kept } = others;
  const metadata = toKeptFields({ id, type, custom_type: custom, status, ...kept });
  return { place, memory: { ...memory, metadata } };
}

function isKindName(type: unknown): type is string {
  return typeof type === "string" && Object.hasOwn(KIND_OF_TYPE, type);
}

function toShare(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= 1 ? value : undefined;
}

/** Fields of Keepsake that its own exports have under `metadata.keepsake`. */
function readOwnFields(metadata: unknown): Partial<ImportedMemory> {
  const own = isObjectValue(metadata) ? metadata.keepsake : undefined;
  if (!isObjectValue(own)) return {};
  const { when, evidence, agent, session } = own;
  const times = {
    at: readTime(own.at),
    validFrom: readTime(own.valid_from),
    validTo: readTime(own.valid_to),
    expiresAt: readTime(own.expires_at),
  };
  const review = isObjectValue(own.review) ? readReview(own.review) : undefined;
  return {
    isExact: true,
    ...withoutUndefined({ ...times, importance: toShare(own.importance), review }),
    ...(isClaim(own.claim) ? { claim: own.claim } : {}),
    ...(typeof when === "string" ? { when } : {}),
    ...(own.sensitive === true ? { sensitive: true } : {}),
    ...(own.archived === true ? { archived: true } : {}),
    ...(Number.isSafeInteger(evidence) && Number(evidence) > 0 ? { evidence: Number(evidence) } : {}),
    ...(typeof agent === "string" ? { agent } : {}),
    ...(typeof session === "string" ? { session } : {}),
    ...(Array.isArray(own.sources) ? { sources: own.sources.flatMap(readSource) } : {}),
  };
}

function readReview({ since, because }: Fields): ImportedMemory["review"] {
  const time = readTime(since);
  const ids = Array.isArray(because) ? because.filter((one) => typeof one === "string") : [];
  return time === undefined ? undefined : { since: time, because: ids };
}

function readSource(source: unknown): SourceSpan | [] {
  if (!isObjectValue(source)) return [];
  const { message, start, quote } = source;
  if (typeof message !== "string" || typeof quote !== "string" || quote === "") return [];
  if (!Number.isSafeInteger(start) || Number(start) < 0) return [];
  return { message, start: Number(start), end: Number(start) + quote.length, quote };
}

/** A time in ISO 8601, of any year that Keepsake stores: what holds since 1984 began before there were programs to say so. */
function readTime(text: unknown): string | undefined {
  return fromIsoTime(text, EARLIEST_YEAR_MS);
}

const EARLIEST_YEAR_MS = Date.UTC(1000, 0, 1);

/** The fields that have a value. */
function withoutUndefined<Given extends object>(
  fields: Given,
): { readonly [field in keyof Given]?: Exclude<Given[field], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [field in keyof Given]?: Exclude<Given[field], undefined> };
}

function isClaim(value: unknown): value is Claim {
  return (
    isObjectValue(value) &&
    [value.subject, value.relation, value.value].every((one) => typeof one === "string")
  );
}

/** The caller's own metadata, and everything else of the memory as one text, if it fits. */
function toKeptFields(fields: Fields): Metadata {
  const metadata = isObjectValue(fields.metadata) ? fields.metadata : {};
  const own =
    isObjectValue(metadata.keepsake) && isObjectValue(metadata.keepsake.metadata)
      ? metadata.keepsake.metadata
      : {};
  const text = JSON.stringify(fields);
  const kept = { ...(own as Metadata), [PAM_FIELD]: text };
  return JSON.stringify(kept).length <= INPUT_LIMITS.metadataBytes ? kept : (own as Metadata);
}

function toLinkEntry(place: string, value: unknown): ImportEntry {
  if (!isObjectValue(value)) return { place, skipped: "a relation of an unknown shape" };
  const type = ASSOCIATION_TYPES.find((one) => one === value.type);
  if (!type) return { place, skipped: `a relation of the type ${toShortName(value.type) ?? "unknown"}` };
  return {
    place,
    link: {
      from: toMemoryId("pam", value.from),
      to: toMemoryId("pam", value.to),
      type,
      strength: toShare(value.confidence) ?? 1,
    },
  };
}

function* toConversation(
  root: ReadonlyMap<string, unknown>,
  messages: readonly Fields[],
): Iterable<ImportEntry> {
  const id = typeof root.get("id") === "string" ? String(root.get("id")) : toContentId("pam", messages[0]);
  const title = toShortName(root.get("title"));
  for (const [i, message] of messages.entries()) {
    if (message === UNREAD_MESSAGE) continue;
    const place = `message ${i + 1} of conversation ${id}`;
    const { role } = message;
    const own = toOwnMessage(place, message, id);
    if (own) yield own;
    else if (role !== "user" && role !== "assistant")
      yield { place, skipped: "a message of a system or a tool" };
    else
      yield toMessageEntry(place, {
        id: toForeignId(id, i, message),
        role,
        text: readText(message.content),
        at: fromIsoTime(message.created_at),
        session: id,
        metadata: toLabels({ title }),
      });
  }
}

/** Programs number messages anew in each conversation. Only a UUID is the same everywhere. */
function toForeignId(conversation: string, i: number, message: Fields): string {
  const { id, role, content, created_at: at } = message;
  if (typeof id === "string" && isUuid(id)) return id;
  if (typeof id === "string" || typeof id === "number") return `pam:${conversation}:${id}`;
  return toContentId("pam", conversation, i, role, at, readText(content));
}

/** Gives a message that Keepsake exported, with every field that it had. */
function toOwnMessage(place: string, message: Fields, id: string): ImportEntry | undefined {
  const own = isObjectValue(message.raw_metadata) ? message.raw_metadata.keepsake : undefined;
  if (!isObjectValue(own)) return undefined;
  const { at, name, metadata, parts } = own;
  const session = id === UNSORTED_SESSION ? undefined : id;
  const content = parts ?? readText(message.content);
  return {
    place,
    message: toInputMessage({ id: message.id, role: message.role, content, at, name, session, metadata }),
    state: toMessageState(own),
  };
}

function readText(content: unknown): string {
  if (!isObjectValue(content)) return "";
  if (typeof content.text === "string") return content.text;
  const parts = Array.isArray(content.parts) ? content.parts.filter(isObjectValue) : [];
  return parts.flatMap(({ text }) => (typeof text === "string" ? text : [])).join("\n");
}
