import type { SearchUnit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message, Part } from "../../domain/message.ts";
import type { StoredAnswer } from "../../domain/operations/stored-answer.ts";
import type { Scope } from "../../domain/scope.ts";
import { decodeVector, encodeVector } from "../shared/stored-rows.ts";
import type { UserKeySet } from "./key-folder.ts";
import { decrypt, encrypt } from "./key-wrappers.ts";

/** Encrypts and decrypts what a user said or what was learnt, with the user's keys. Ids, times and sizes stay readable. */
export interface Sealer {
  readonly keys: UserKeySet;
  readonly scope: Scope;
}

const KEY_ID_BYTES = 8;
/** The version, the length of the text in UTF-16 code units, and the bytes. */
const SEALED_TEXT = /^e1\.([0-9a-z]+)\.([\w-]+)$/;
/** Replaces each character of a text whose key is gone. Positions in the text stay valid, for erasures. */
const UNREADABLE = "\u2588";

export function createSealer(scope: Scope, keys: UserKeySet): Sealer {
  return { scope, keys };
}

/** Encrypts bytes. `place` names the row and the field: the bytes can be read nowhere else. */
export function sealBytes({ scope, keys }: Sealer, bytes: Uint8Array, place: readonly string[]): Buffer {
  const current = keys.at(-1);
  if (!current) throw new TypeError("a user without a key");
  return Buffer.concat([
    Buffer.from(current.id, "hex"),
    encrypt(current.key, bytes, toContext(scope, place)),
  ]);
}

/** Decrypts bytes. Undefined if the key is gone, or they were changed or moved. */
export function openBytes(
  { scope, keys }: Sealer,
  sealed: Uint8Array,
  place: readonly string[],
): Buffer | undefined {
  const id = Buffer.from(sealed.subarray(0, KEY_ID_BYTES)).toString("hex");
  const key = keys.find((one) => one.id === id);
  return key && decrypt(key.key, sealed.subarray(KEY_ID_BYTES), toContext(scope, place));
}

function toContext({ project, user }: Scope, place: readonly string[]): string {
  return JSON.stringify([project, user, ...place]);
}

/** A text without any visible character stays as it is: the store tells emptied messages by it. */
const isBlank = (text: string): boolean => text.trim() === "";

/** `length` is kept readable: that of the text that others see. */
function sealText(sealer: Sealer, text: string, place: readonly string[], length = text.length): string {
  const bytes = sealBytes(sealer, Buffer.from(text), place);
  return `e1.${length.toString(36)}.${bytes.toString("base64url")}`;
}

function openText(sealer: Sealer, sealed: string, place: readonly string[]): string | undefined {
  const [, , body] = SEALED_TEXT.exec(sealed) ?? [];
  return body === undefined
    ? undefined
    : openBytes(sealer, Buffer.from(body, "base64url"), place)?.toString("utf8");
}

function toUnreadable(sealed: string): string {
  const [, length = "1"] = SEALED_TEXT.exec(sealed) ?? [];
  return UNREADABLE.repeat(Number.parseInt(length, 36));
}

/** The id of the key that a text was encrypted with. */
function readKeyId(sealed: string): string | undefined {
  const [, , body] = SEALED_TEXT.exec(sealed) ?? [];
  return body === undefined
    ? undefined
    : Buffer.from(body, "base64url").subarray(0, KEY_ID_BYTES).toString("hex");
}

function sealField(sealer: Sealer, text: string, place: readonly string[]): string {
  return isBlank(text) ? text : sealText(sealer, text, place);
}

/** Undefined if it cannot be read. */
function openField(sealer: Sealer, sealed: string, place: readonly string[]): string | undefined {
  return isBlank(sealed) ? sealed : openText(sealer, sealed, place);
}

/** A row as it is given to readers, and whether its texts could be read. */
export interface OpenedRow<Row> {
  readonly row: Row;
  readonly isReadable: boolean;
}

/** What a message has besides its content: in one part of a type that no other code knows. */
const SEALED_PART = "sealed";

export function sealMessage(sealer: Sealer, { name, parts, metadata, ...message }: Message): Message {
  const beside = { ...defined({ name, parts, metadata }) };
  const place = ["message", message.id];
  return {
    ...message,
    content: sealField(sealer, message.content, [...place, "content"]),
    ...(Object.keys(beside).length === 0
      ? {}
      : {
          parts: [
            { type: SEALED_PART, value: sealText(sealer, JSON.stringify(beside), [...place, "beside"]) },
          ],
        }),
  };
}

export function openMessage(sealer: Sealer, { parts, ...message }: Message): OpenedRow<Message> {
  const place = ["message", message.id];
  const content = openField(sealer, message.content, [...place, "content"]);
  const sealed = readSealedPart(parts);
  const beside = sealed === undefined ? "{}" : openText(sealer, sealed, [...place, "beside"]);
  return {
    row: {
      ...message,
      content: content ?? toUnreadable(message.content),
      ...(beside === undefined ? {} : (JSON.parse(beside) as Pick<Message, "name" | "parts" | "metadata">)),
    },
    isReadable: content !== undefined && beside !== undefined,
  };
}

function readSealedPart(parts: readonly Part[] | undefined): string | undefined {
  const value =
    parts?.[0]?.type === SEALED_PART ? (parts[0] as { readonly value?: unknown }).value : undefined;
  return typeof value === "string" ? value : undefined;
}

export function sealMemory(
  sealer: Sealer,
  { text, claim, metadata, why, sources, ...memory }: Memory,
): Memory {
  const quotes = sources.map(({ quote }) => quote);
  const body = JSON.stringify({ text, quotes, ...defined({ claim, metadata, why }) });
  return {
    ...memory,
    text: sealText(sealer, body, toMemoryPlace(memory), text.length),
    sources: sources.map((source) => ({ ...source, quote: "" })),
  };
}

interface MemoryBody extends Pick<Memory, "text" | "claim" | "metadata" | "why"> {
  readonly quotes: readonly string[];
}

export function openMemory(sealer: Sealer, memory: Memory): OpenedRow<Memory> {
  const body = openText(sealer, memory.text, toMemoryPlace(memory));
  if (body === undefined) return { row: { ...memory, text: toUnreadable(memory.text) }, isReadable: false };
  const { quotes, ...texts } = JSON.parse(body) as MemoryBody;
  const sources = memory.sources.map((source, i) => ({ ...source, quote: quotes[i] ?? "" }));
  return { row: { ...memory, ...texts, sources }, isReadable: true };
}

const toMemoryPlace = ({ id, version }: Pick<Memory, "id" | "version">): string[] => [
  "memory",
  id,
  String(version),
];

const FLOAT_BYTES = 4;

export function sealUnit(sealer: Sealer, unit: SearchUnit): SearchUnit {
  const { id, terms, vector, space } = unit;
  return {
    ...unit,
    terms: sealField(sealer, terms, ["unit", id, "terms"]),
    vector: vector.length === 0 ? vector : sealVector(sealer, vector, toVectorPlace(id, space)),
  };
}

const toVectorPlace = (id: string, space: string): string[] => ["unit", id, "vector", space];

/** The bytes as a vector of other numbers, because the store keeps vectors. The first byte is the number of bytes that fill it. */
function sealVector(sealer: Sealer, vector: Float32Array, place: readonly string[]): Float32Array {
  const bytes = encodeVector(vector);
  const fill = (FLOAT_BYTES - ((bytes.length + 1) % FLOAT_BYTES)) % FLOAT_BYTES;
  const sealed = sealBytes(sealer, Buffer.concat([Buffer.from([fill]), bytes, Buffer.alloc(fill)]), place);
  return new Float32Array(new Uint8Array(sealed).buffer);
}

/** Undefined if it cannot be read. */
export function openVector(
  sealer: Sealer,
  vector: Float32Array,
  { id, space }: Pick<SearchUnit, "id" | "space">,
): Float32Array | undefined {
  if (vector.length === 0) return vector;
  const sealed = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const bytes = openBytes(sealer, sealed, toVectorPlace(id, space));
  return bytes && decodeVector(new Uint8Array(bytes.subarray(1, bytes.length - (bytes[0] ?? 0))));
}

export function openTerms(sealer: Sealer, { id, terms }: Pick<SearchUnit, "id" | "terms">): string {
  return openField(sealer, terms, ["unit", id, "terms"]) ?? "";
}

/** A unit that cannot be read has no words and no vector: no search finds it. */
export function openUnit(sealer: Sealer, unit: SearchUnit): SearchUnit {
  const vector = openVector(sealer, unit.vector, unit);
  return {
    ...unit,
    terms: openTerms(sealer, unit),
    vector: vector ?? new Float32Array(0),
    ...(vector ? {} : { space: "" }),
  };
}

/** The texts of a message as they are stored, which an erasure removes. */
export function listSealedTexts({ content, parts }: Message): string[] {
  return [content, readSealedPart(parts) ?? ""].filter((text) => SEALED_TEXT.test(text));
}

/** Whether a message is encrypted with a key before the newest. */
export function isMessageOutdated(sealer: Sealer, message: Message): boolean {
  return listSealedTexts(message).some((text) => isOldKey(sealer, readKeyId(text)));
}

export function isMemoryOutdated(sealer: Sealer, { text }: Memory): boolean {
  return isOldKey(sealer, readKeyId(text));
}

export function isUnitOutdated(sealer: Sealer, { terms, vector }: SearchUnit): boolean {
  const id = Buffer.from(vector.buffer, vector.byteOffset, Math.min(KEY_ID_BYTES, vector.byteLength));
  return isOldKey(sealer, id.toString("hex")) || isOldKey(sealer, readKeyId(terms));
}

/** A key that was destroyed is not meant: nothing can be read with it. */
function isOldKey({ keys }: Sealer, id: string | undefined): boolean {
  return keys.slice(0, -1).some((one) => one.id === id);
}

function defined<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<Fields>;
}

/** The body of an HTTP answer, encrypted. */
export function sealAnswerBody<Answer extends { readonly body: string }>(
  sealer: Sealer,
  key: string,
  answer: Answer,
): Answer {
  return { ...answer, body: sealField(sealer, answer.body, ["answer", key]) };
}

export function sealAnswer(sealer: Sealer, kept: StoredAnswer): StoredAnswer {
  return kept.answer ? { ...kept, answer: sealAnswerBody(sealer, kept.key, kept.answer) } : kept;
}

/** An answer whose key is gone is as good as erased. */
export function openAnswer(sealer: Sealer, { answer, ...kept }: StoredAnswer): StoredAnswer {
  if (!answer) return kept;
  const body = openField(sealer, answer.body, ["answer", kept.key]);
  return body === undefined
    ? { ...kept, request: "", state: "erased" }
    : { ...kept, answer: { ...answer, body } };
}
