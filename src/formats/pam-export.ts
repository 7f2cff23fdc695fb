import { createHash } from "node:crypto";
import type { MemoryLink } from "../domain/change-set.ts";
import { isUndone, type Kind } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { createPause, mapInSlices } from "../domain/time-slicing.ts";
import type { ShownMemory } from "../engine/api/listing-types.ts";
import type { ExportedPiece, ExportLine } from "../engine/api/transfer-types.ts";
import { toContentUuid } from "./importers/entries.ts";
import { isObjectValue } from "./importers/import-source.ts";
import { encodeMultibaseKey } from "./importers/multibase-key.ts";
import {
  canonicalize,
  computeChecksum,
  KIND_OF_TYPE,
  PAM_FIELD,
  PAM_SCHEMA,
  STATUS_OF_PAM,
  toSignedText,
  UNSORTED_SESSION,
} from "./importers/pam.ts";

type Fields = { readonly [field: string]: unknown };

const SPEC_URI = "https://portable-ai-memory.org/spec/v1.0";
const PLATFORM = "keepsake";
/** Types of PAM by the kinds of Keepsake. Other kinds are custom types of the same name. */
const TYPE_OF_KIND: { readonly [kind in Kind]?: string } = {
  fact: "fact",
  preference: "preference",
  commitment: "goal",
  instruction: "instruction",
  entity: "relationship",
  context: "context",
};
const PAM_OF_STATUS = { current: "active", superseded: "superseded", retracted: "retracted" } as const;
/** Types of relations that PAM has, too. */
const RELATIONS: readonly string[] = ["related_to", "extends", "contradicts", "derived_from", "supersedes"];

/** Signs an export with an Ed25519 key. */
interface ExportSigner {
  /** The 32 bytes of the public key. */
  readonly publicKey: Uint8Array;
  /** Gives the signature of a text, base64url. */
  sign(text: string): string;
}

interface PamExportOptions {
  /** A UUID that names this export. */
  readonly exportId: string;
  readonly signer: ExportSigner;
  /** Whether to write a file for each conversation (default true). Without them, the index names no files. */
  readonly conversations?: boolean;
}

/**
 * Writes an export as Portable AI Memory 1.0: `memory-store.json`, signed, then a file for each conversation, all of them in
 * pieces. PAM has no field for what waits for a review, so that a reader would act on it: such memories are left out.
 */
export async function* writePam(
  lines: AsyncIterable<ExportLine>,
  options: PamExportOptions,
): AsyncGenerator<ExportedPiece, void, void> {
  const { head, memories, quarantined, links, sessions } = await collectLines(lines);
  const ids = new Set(memories.map(({ id }) => id));
  const written = await mapInSlices(memories, (memory) => toPamMemory(memory, { ids, sessions }));
  const checksum = await computeChecksum(
    await mapInSlices(written, (one) => ({ id: String(one.id), json: canonicalize(one) })),
  );
  const exportDate = toPamTime(head.exportedAt);
  const signed = { checksum, export_id: options.exportId, export_date: exportDate, owner_id: head.user };
  const relations = links
    .filter(({ from, to }) => ids.has(from) && ids.has(to))
    .map((link) => toRelation(link, exportDate));
  const index = listConversations(written, sessions, options.conversations ?? true);
  const store: JsonField[] = [
    ["schema", PAM_SCHEMA],
    ["schema_version", "1.0"],
    ["spec_uri", SPEC_URI],
    ["export_id", options.exportId],
    ["export_date", exportDate],
    ["export_type", "full"],
    ["owner", { id: head.user }],
    ["memories", undefined, written],
    ["relations", undefined, relations],
    ["conversations_index", undefined, index],
    ["integrity", { canonicalization: "RFC8785", checksum, total_memories: written.length }],
    [
      "signature",
      {
        algorithm: "Ed25519",
        public_key: encodeMultibaseKey(options.signer.publicKey),
        value: options.signer.sign(toSignedText(signed)),
        signed_at: exportDate,
      },
    ],
  ];
  let isFirst = true;
  for await (const text of writeInPieces(store)) {
    yield { path: "memory-store.json", text, ...(isFirst && quarantined > 0 ? { quarantined } : {}) };
    isFirst = false;
  }
  if (options.conversations === false) return;
  for (const [i, [session, collected]] of [...sessions].entries())
    for await (const text of writeInPieces(toConversation(session, collected)))
      yield { path: toFileName(i), text };
}

/** A field of a file: a value, or a list that is written element by element. */
type JsonField =
  | readonly [name: string, value: unknown]
  | readonly [name: string, value: undefined, elements: Iterable<unknown>];

/** Characters of a piece: small enough to be made at once, large enough to be sent. */
const PIECE_LENGTH = 65_536;

/** Writes an object as JSON, in pieces, with pauses for other work. */
async function* writeInPieces(fields: readonly JsonField[]): AsyncGenerator<string, void, void> {
  const pause = createPause();
  let piece = "";
  for (const text of toJsonText(fields)) {
    piece += text;
    await pause();
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

function* toJsonText(fields: readonly JsonField[]): Generator<string, void, void> {
  let before = "{";
  for (const [name, value, elements] of fields) {
    yield `${before}\n ${JSON.stringify(name)}: `;
    before = ",";
    if (elements) yield* toListText(elements);
    else yield JSON.stringify(value, undefined, 1);
  }
  yield "\n}\n";
}

function* toListText(elements: Iterable<unknown>): Generator<string, void, void> {
  let before = "[";
  for (const element of elements) {
    yield `${before}\n  ${JSON.stringify(element)}`;
    before = ",";
  }
  yield before === "[" ? "[]" : "\n ]";
}

/** The messages of a session, and the times of its first and last. */
interface CollectedSession {
  readonly messages: Message[];
  from: string;
  to: string;
}

interface CollectedLines {
  readonly head: { readonly user: string; readonly exportedAt: string };
  readonly memories: readonly ShownMemory[];
  /** Memories that wait for a review. */
  readonly quarantined: number;
  readonly links: readonly MemoryLink[];
  readonly sessions: ReadonlyMap<string, CollectedSession>;
}

async function collectLines(lines: AsyncIterable<ExportLine>): Promise<CollectedLines> {
  const pause = createPause();
  let head = { user: "", exportedAt: "" };
  let quarantined = 0;
  const memories: ShownMemory[] = [];
  const links: MemoryLink[] = [];
  const sessions = new Map<string, CollectedSession>();
  for await (const line of lines) {
    await pause();
    if (line.type === "keepsake") head = line;
    else if (line.type === "link") links.push(line.link);
    else if (line.type === "message") collectMessage(sessions, line.message as Message);
    else if (line.type === "memory") {
      const memory = line.memory as ShownMemory;
      if (memory.quarantined) quarantined += 1;
      else if (!isUndone(memory)) memories.push(memory);
    }
  }
  return { head, memories, quarantined, links, sessions };
}

function collectMessage(sessions: Map<string, CollectedSession>, message: Message): void {
  const name = message.session ?? UNSORTED_SESSION;
  const at = new Date(message.at).toISOString();
  const session = sessions.get(name) ?? { messages: [], from: at, to: at };
  sessions.set(name, session);
  session.messages.push(message);
  if (at < session.from) session.from = at;
  if (at > session.to) session.to = at;
}

interface PamContext {
  readonly ids: ReadonlySet<string>;
  readonly sessions: ReadonlyMap<string, unknown>;
}

/** Gives a memory. What it was imported with and still fits is given again. */
function toPamMemory(memory: ShownMemory, { ids, sessions }: PamContext): Fields {
  const { [PAM_FIELD]: stored, ...metadata } = memory.metadata ?? {};
  const kept = parseKept(stored);
  const { temporal: before, provenance, confidence, ...others } = kept;
  const temporal = toTemporal(isObjectValue(before) ? before : undefined, memory, ids);
  const type = isObjectValue(kept) && fitsKind(kept, memory.kind) ? {} : toType(memory.kind);
  const status =
    STATUS_OF_PAM[String(kept.status)] === memory.status ? {} : { status: PAM_OF_STATUS[memory.status] };
  return withoutNulls({
    tags: [],
    ...others,
    ...type,
    ...status,
    id: memory.id,
    content: memory.text,
    content_hash: hashContent(memory.text),
    confidence: toConfidence(confidence, memory.confidence),
    temporal,
    provenance: isObjectValue(provenance) ? provenance : toProvenance(memory, sessions),
    metadata: toMetadata(kept.metadata, memory, { temporal, metadata }),
  });
}

function parseKept(stored: unknown): Fields {
  try {
    const kept: unknown = JSON.parse(String(stored));
    return isObjectValue(kept) ? kept : {};
  } catch {
    return {};
  }
}

function fitsKind({ type, custom_type: custom }: Fields, kind: Kind): boolean {
  if (type === "custom")
    return (
      custom === kind ||
      (kind === "fact" && typeof custom === "string" && custom !== "event" && custom !== "reflection")
    );
  return typeof type === "string" && KIND_OF_TYPE[type] === kind;
}

function toType(kind: Kind): Fields {
  const type = TYPE_OF_KIND[kind];
  return type === undefined ? { type: "custom", custom_type: kind } : { type, custom_type: undefined };
}

function toConfidence(kept: unknown, confidence: number): Fields {
  const before = isObjectValue(kept) ? kept : { initial: confidence };
  const known = before.current ?? before.initial;
  return known === confidence ? before : { ...before, current: confidence };
}

function toTemporal(kept: Fields | undefined, memory: ShownMemory, ids: ReadonlySet<string>): Fields {
  const { at, validFrom, validTo, supersededBy, version, storedAt } = memory;
  const isReplaced = supersededBy !== undefined && ids.has(supersededBy);
  const times = kept ?? {
    created_at: toPamTime(at),
    ...(version > 1 && storedAt > at ? { updated_at: toPamTime(storedAt) } : {}),
  };
  return {
    ...times,
    ...(validFrom === undefined || kept ? {} : { valid_from: toPamTime(validFrom) }),
    ...(validTo === undefined || kept?.valid_until !== undefined ? {} : { valid_until: toPamTime(validTo) }),
    ...(isReplaced ? { superseded_by: supersededBy } : {}),
  };
}

function toProvenance(
  { session, sources, origin, storedAt }: ShownMemory,
  sessions: PamContext["sessions"],
): Fields {
  return {
    platform: PLATFORM,
    ...(session !== undefined && sessions.has(session) ? { conversation_ref: session } : {}),
    ...(sources[0] ? { message_ref: sources[0].message } : {}),
    extraction_method:
      origin === "user_message" ? "explicit_user_input" : origin === "api" ? "manual" : "api_export",
    extracted_at: toPamTime(storedAt),
  };
}

/** What PAM has no field for is under `keepsake`, and so are times that its own fields, kept from another program, do not say. */
function toMetadata(
  kept: unknown,
  memory: ShownMemory,
  { temporal, metadata }: { readonly temporal: Fields; readonly metadata: Fields },
): Fields {
  const { claim, importance, evidence, when, expiresAt, sensitive, archived, review } = memory;
  const { at, validFrom, validTo, agent, session, sources } = memory;
  const unlessSaid = (time: string | undefined, said: unknown) =>
    time !== undefined && (typeof said !== "string" || Date.parse(said) !== Date.parse(time))
      ? time
      : undefined;
  const own = withoutNulls({
    importance,
    evidence,
    claim,
    when,
    at: unlessSaid(at, temporal.created_at),
    valid_from: unlessSaid(validFrom, temporal.valid_from),
    valid_to: unlessSaid(validTo, temporal.valid_until),
    expires_at: expiresAt,
    sensitive: sensitive || undefined,
    archived: archived || undefined,
    agent,
    session,
    review: review && { since: review.since, because: review.because },
    sources:
      sources.length === 0
        ? undefined
        : sources.map(({ message, start, quote }) => ({ message, start, quote })),
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  });
  return { ...(isObjectValue(kept) ? kept : {}), keepsake: own };
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

/** The hash of a text, without regard to case, spaces and the form of its letters. */
export function hashContent(text: string): string {
  const plain = text.trim().toLowerCase().normalize("NFC").replace(/\s+/g, " ");
  return `sha256:${createHash("sha256").update(plain).digest("hex")}`;
}

/** Seconds, or microseconds where there are fractions: other programs write times so, and the checksum covers them. */
function toPamTime(iso: string): string {
  const time = new Date(iso).toISOString();
  return time.endsWith(".000Z") ? time.replace(".000Z", "Z") : time.replace(/(\d{3})Z$/, "$1000Z");
}

function toRelation({ from, to, type, strength }: MemoryLink, at: string): Fields {
  return {
    id: toContentUuid("relation", from, type, to),
    from,
    to,
    type: RELATIONS.includes(type) ? type : "related_to",
    confidence: strength,
    created_at: at,
  };
}

/** The conversations with the memories that came from them; with their files, if they are written. */
function listConversations(
  memories: readonly Fields[],
  sessions: CollectedLines["sessions"],
  hasFiles: boolean,
): Fields[] {
  const derived = new Map<string, string[]>();
  for (const { id, provenance } of memories) {
    const ref = isObjectValue(provenance) ? provenance.conversation_ref : undefined;
    if (typeof ref !== "string") continue;
    const ids = derived.get(ref) ?? [];
    derived.set(ref, ids);
    ids.push(String(id));
  }
  const known = [...sessions].map(([id, session], i) => ({
    id,
    platform: PLATFORM,
    message_count: session.messages.length,
    temporal: toSpan(session),
    derived_memories: derived.get(id) ?? [],
    ...(hasFiles ? { storage: { type: "file", ref: toFileName(i), format: "json" } } : {}),
  }));
  // Conversations that memories name, and that did not come with them.
  const others = [...derived].filter(([id]) => !sessions.has(id));
  const created_at = toPamTime(new Date(0).toISOString());
  return [
    ...known,
    ...others.map(([id, ids]) => ({
      id,
      platform: PLATFORM,
      temporal: { created_at },
      derived_memories: ids,
    })),
  ];
}

function toFileName(i: number): string {
  return `conversations/${String(i + 1).padStart(6, "0")}.json`;
}

function toSpan({ from, to }: CollectedSession): { created_at: string; updated_at: string } {
  return { created_at: toPamTime(from), updated_at: toPamTime(to) };
}

function toConversation(session: string, collected: CollectedSession): JsonField[] {
  return [
    ["schema", `${PAM_SCHEMA}-conversation`],
    ["schema_version", "1.0"],
    ["id", session],
    ["provider", { name: PLATFORM, conversation_id: session }],
    ["temporal", toSpan(collected)],
    ["messages", undefined, toPamMessages(collected.messages)],
  ];
}

function* toPamMessages(messages: readonly Message[]): Generator<Fields, void, void> {
  for (const { id, role, content, parts, at, name, metadata, agent, digest, heard } of messages)
    yield {
      id,
      role,
      content: { type: "text", text: content },
      created_at: toPamTime(at),
      raw_metadata: { keepsake: withoutNulls({ at, name, metadata, parts, agent, digest, heard }) },
    };
}
