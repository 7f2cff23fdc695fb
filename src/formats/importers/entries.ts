import { createHash } from "node:crypto";
import type { Metadata } from "../../domain/filters/metadata-filter.ts";
import { INPUT_LIMITS, toStorableText } from "../../domain/limits.ts";
import type { Role } from "../../domain/message.ts";
import type { ImportEntry, ImportedMessageState } from "../../engine/api/transfer-types.ts";

/** Characters of a title or a name that are kept. */
const MOST_NAME_LENGTH = 120;

/** A message as another program has it. Fields that no store accepts are mended. */
interface ForeignMessage {
  readonly id: string;
  readonly role: Role;
  readonly text: string;
  readonly at?: string | undefined;
  readonly name?: string | undefined;
  readonly session?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

/** Gives the entry for a message. One without words, or longer than the limit, is passed over. */
export function toMessageEntry(
  place: string,
  { id, role, text, at, name, session, metadata }: ForeignMessage,
): ImportEntry {
  const content = toStorableText(text).text;
  if (content.trim() === "") return { place, skipped: "a message without words" };
  if (Buffer.byteLength(content) > INPUT_LIMITS.textBytes)
    return { place, skipped: "a message of more than 1 MB" };
  return {
    place,
    message: {
      id,
      role,
      content,
      ...(at === undefined ? {} : { at }),
      ...(name === undefined ? {} : { name }),
      ...(session === undefined ? {} : { session }),
      ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }),
    },
  };
}

/** Gives how a message of a Keepsake export was labelled and read. Leaves out what no message has. */
export function toMessageState(
  fields: {
    readonly [field in keyof ImportedMessageState]?: unknown;
  },
): ImportedMessageState {
  const digest = DIGESTS.find((one) => one === fields.digest);
  return {
    ...(typeof fields.agent === "string" ? { agent: fields.agent } : {}),
    ...(digest === undefined ? {} : { digest }),
    ...(fields.heard === true ? { heard: true } : {}),
  };
}

const DIGESTS = ["pending", "done", "never"] as const;

/** Gives a title or a name in one short line; undefined if nothing is left of it. */
export function toShortName(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  const name = toStorableText(text)
    .text.replace(/\s+/g, " ")
    .trim()
    .slice(0, MOST_NAME_LENGTH)
    .toWellFormed();
  return name === "" ? undefined : name;
}

/** Gives metadata with the defined values. */
export function toLabels(fields: { readonly [name: string]: string | undefined }): Metadata {
  const defined = Object.entries(fields).filter((one): one is [string, string] => one[1] !== undefined);
  return Object.fromEntries(defined);
}

/** Gives an id that is the same for the same content. */
export function toContentId(prefix: string, ...parts: readonly unknown[]): string {
  return `${prefix}:${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)}`;
}

/** Gives a UUID (version 8) that is the same for the same content. */
export function toContentUuid(...parts: readonly unknown[]): string {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `a${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join("-");
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Gives an id that is a UUID as it is, and any other as a UUID made of it. */
export function toMemoryId(format: string, id: unknown): string {
  return typeof id === "string" && isUuid(id) ? id.toLowerCase() : toContentUuid(format, id);
}

export function isUuid(id: string): boolean {
  return UUID.test(id);
}

const EARLIEST_MS = Date.UTC(1990, 0, 1);
const LATEST_MS = Date.UTC(2900, 0, 1);

/** Gives seconds since 1970 as ISO 8601; undefined for zero and anything that is not a time. */
export function fromEpochSeconds(seconds: unknown): string | undefined {
  const value = typeof seconds === "string" ? Number(seconds) : seconds;
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  const time = value * 1000;
  return time < EARLIEST_MS || time > LATEST_MS ? undefined : new Date(time).toISOString();
}

/**
 * Gives a time in ISO 8601; one without a zone is in UTC. Undefined for anything that is not a time, and for times before the
 * earliest that messages have (in ms since 1970; default 1990).
 */
export function fromIsoTime(text: unknown, earliest: number = EARLIEST_MS): string | undefined {
  if (typeof text !== "string" || !/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  const isZoned = /(?:Z|[+-]\d{2}:?\d{2})$/.test(text) || /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = Date.parse(isZoned ? text : `${text.replace(" ", "T")}Z`);
  return Number.isNaN(time) || time < earliest || time > LATEST_MS ? undefined : new Date(time).toISOString();
}
