import { createHash } from "node:crypto";
import type { MemoryLink } from "../domain/change-set.ts";
import type { Kind } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
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
}

/** Writes an export as Portable AI Memory 1.0: `memory-store.json`, signed, then a file for each conversation. */
export async function* writePam(
  lines: AsyncIterable<ExportLine>,
  options: PamExportOptions,
): AsyncGenerator<ExportedPiece, void, void> {
  const { head, memories, links, sessions } = await collectLines(lines);
  const ids = new Set(memories.map(({ id }) => id));
  const written = memories.map((memory) => toPamMemory(memory, { ids, sessions }));
  const checksum = computeChecksum(written.map((one) => ({ id: String(one.id), json: canonicalize(one) })));
  const exportDate = toPamTime(head.exportedAt);
  const signed = { checksum, export_id: options.exportId, export_date: exportDate, owner_id: head.user };
  const store = {
    schema: PAM_SCHEMA,
    schema_version: "1.0",
    spec_uri: SPEC_URI,
    export_id: options.exportId,
    export_date: exportDate,
    export_type: "full",
    owner: { id: head.user },
    memories: written,
    relations: links
      .filter(({ from, to }) => ids.has(from) && ids.has(to))
      .map((link) => toRelation(link, exportDate)),
    conversations_index: listConversations(written, sessions),
    integrity: { canonicalization: "RFC8785", checksum, total_memories: written.length },
    signature: {
      algorithm: "Ed25519",
      public_key: encodeMultibaseKey(options.signer.publicKey),
      value: options.signer.sign(toSignedText(signed)),
      signed_at: exportDate,
    },
  };
  yield { path: "memory-store.json", text: `${JSON.stringify(store, undefined, 1)}\n` };
  for (const [i, [session, messages]] of [...sessions].entries()) {
    const text = `${JSON.stringify(toConversation(session, messages), undefined, 1)}\n`;
    yield { path: toFileName(i), text };
  }
}

interface CollectedLines {
  readonly head: { readonly user: string; readonly exportedAt: string };
  readonly memories: readonly ShownMemory[];
  readonly links: readonly MemoryLink[];
  readonly sessions: ReadonlyMap<string, readonly Message[]>;
}

async function collectLines(lines: AsyncIterable<ExportLine>): Promise<CollectedLines> {
  let head = { user: "", exportedAt: "" };
  const memories: ShownMemory[] = [];
  const links: MemoryLink[] = [];
  const sessions = new Map<string, Message[]>();
  for await (const line of lines) {
    if (line.type === "keepsake") head = line;
    else if (line.type === "memory") memories.push(line.memory as ShownMemory);
    else if (line.type === "link") links.push(line.link);
    else if (line.type === "message") {
      const message = line.message as Message;
      const session = message.session ?? UNSORTED_SESSION;
      const messages = sessions.get(session) ?? [];
      messages.push(message);
      sessions.set(session, messages);
    }
  }
  return { head, memories, links, sessions };
}

interface PamContext {
  readonly ids: ReadonlySet<string>;
  readonly sessions: ReadonlyMap<string, unknown>;
}

/** Gives a memory. What it was imported with and still fits is given again. */
function toPamMemory(memory: ShownMemory, { ids, sessions }: PamContext): Fields {
  const { [PAM_FIELD]: stored, ...metadata } = memory.metadata ?? {};
  const kept = parseKept(stored);
  const { temporal, provenance, confidence, ...others } = kept;
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
    temporal: toTemporal(isObjectValue(temporal) ? temporal : undefined, memory, ids),
    provenance: isObjectValue(provenance) ? provenance : toProvenance(memory, sessions),
    metadata: toMetadata(kept.metadata, memory, metadata),
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

/** What PAM has no field for stands under `keepsake`. */
function toMetadata(kept: unknown, memory: ShownMemory, metadata: Fields): Fields {
  const { claim, importance, evidence, when, expiresAt, sensitive } = memory;
  const own = {
    importance,
    evidence,
    ...(claim ? { claim } : {}),
    ...(when === undefined ? {} : { when }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(sensitive ? { sensitive } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
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

function listConversations(memories: readonly Fields[], sessions: CollectedLines["sessions"]): Fields[] {
  const derived = new Map<string, string[]>();
  for (const { id, provenance } of memories) {
    const ref = isObjectValue(provenance) ? provenance.conversation_ref : undefined;
    if (typeof ref !== "string") continue;
    const ids = derived.get(ref) ?? [];
    ids.push(String(id));
    derived.set(ref, ids);
  }
  const known = [...sessions].map(([id, messages], i) => ({
    id,
    platform: PLATFORM,
    message_count: messages.length,
    temporal: toSpan(messages),
    derived_memories: derived.get(id) ?? [],
    storage: { type: "file", ref: toFileName(i), format: "json" },
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

function toSpan(messages: readonly Message[]): { created_at: string; updated_at: string } {
  const times = messages.map(({ at }) => new Date(at).toISOString()).toSorted();
  return { created_at: toPamTime(times[0] ?? ""), updated_at: toPamTime(times.at(-1) ?? "") };
}

function toConversation(session: string, messages: readonly Message[]): Fields {
  return {
    schema: `${PAM_SCHEMA}-conversation`,
    schema_version: "1.0",
    id: session,
    provider: { name: PLATFORM, conversation_id: session },
    temporal: toSpan(messages),
    messages: messages.map(({ id, role, content, parts, at, name, metadata }) => ({
      id,
      role,
      content: { type: "text", text: content },
      created_at: toPamTime(at),
      raw_metadata: { keepsake: withoutNulls({ at, name, metadata, parts }) },
    })),
  };
}
