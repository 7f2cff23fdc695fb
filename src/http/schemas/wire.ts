import type { Memory } from "../../domain/memory.ts";
import type { Item } from "../../domain/recall.ts";
import type { ErasurePlan, Receipt } from "../../domain/receipt.ts";
import type { ShownMemory } from "../../engine/api/listing-types.ts";
import type { ShownGrant } from "../../engine/sharing/sharing-types.ts";
import type { ReceiptWriter } from "../../ports/language/reply-writer.ts";

/** Fields whose inner keys stay unchanged, because they are the caller's or have their own names. */
const OPAQUE_KEYS: ReadonlySet<string> = new Set([
  ...["metadata", "where", "arms", "parts", "adds", "factors"],
  // Of the state of a session.
  ...["context", "preferences"],
]);

/** Converts values of the library to JSON with keys in snake_case. */
export function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== "object" || value === null) return value;
  // A loop, because creating an object from entries takes five times as long.
  const wire: { [key: string]: unknown } = {};
  for (const [key, held] of Object.entries(value))
    wire[toSnakeCase(key)] = OPAQUE_KEYS.has(key) ? held : toWire(held);
  return wire;
}

/** A cache of converted keys: those of the library, and a few of callers. */
const SNAKE_CASE_KEYS = new Map<string, string>();
const MAX_SNAKE_CASE_KEYS = 1000;

function toSnakeCase(key: string): string {
  const known = SNAKE_CASE_KEYS.get(key);
  if (known !== undefined) return known;
  const converted = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (SNAKE_CASE_KEYS.size < MAX_SNAKE_CASE_KEYS) SNAKE_CASE_KEYS.set(key, converted);
  return converted;
}

/** Addresses a memory's text to the user. */
type TextAddresser = Pick<ReceiptWriter, "addressUser">;

/**
 * Converts a memory and adds common field names: `content`, `type`, `created_at`. `display` is its text addressed to the
 * user: "You use Shram."
 */
export function memoryToWire(user: string, memory: ShownMemory | Memory, writer: TextAddresser): object {
  const { id, text, kind, at, storedAt, metadata } = memory;
  const usage = "usage" in memory ? memory.usage : undefined;
  const turn = metadata?.source_turn;
  return {
    id,
    user_id: user,
    content: text,
    display: writer.addressUser(text),
    type: kind,
    created_at: at,
    updated_at: storedAt,
    ...(turn === undefined ? {} : { source_turn: turn }),
    ...(usage ? { access_count: usage.count } : {}),
    ...(usage?.lastAt === undefined ? {} : { last_accessed: usage.lastAt }),
    ...(toWire(memory) as object),
  };
}

/** Converts a receipt or a plan, and adds each memory's text addressed to the user. */
export function receiptToWire(receipt: Receipt | ErasurePlan, writer: TextAddresser): object {
  const memories = receipt.memories.map((line) => ({ ...line, display: writer.addressUser(line.text) }));
  return toWire({ ...receipt, memories }) as object;
}

/** Converts a grant. Its reader is `to_user` or `to_group`, because `user_id` names the caller's user. */
export function grantToWire({ id, owner, user, group, ...rest }: ShownGrant): object {
  return {
    id,
    owner,
    ...(user === undefined ? {} : { to_user: user }),
    ...(group ? { to_group: group } : {}),
    ...(toWire(rest) as object),
  };
}

/**
 * Converts an item of a recall. `type` is "memory" or "passage", as in the library; a memory also has its text addressed to
 * the user.
 */
export function itemToWire(item: Pick<Item, "id" | "type" | "text">, writer: TextAddresser): object {
  const display = item.type === "memory" ? { display: writer.addressUser(item.text) } : {};
  return { content: item.text, ...display, ...(toWire(item) as object) };
}

/** The same type without undefined fields, for optional fields. */
type DefinedFields<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

export function omitUndefined<Fields extends object>(fields: Fields): DefinedFields<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as DefinedFields<Fields>;
}
