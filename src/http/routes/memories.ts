import * as z from "zod";
import type { Metadata } from "../../domain/filter.ts";
import type { MemoryChanges, ShownMemory } from "../../engine/surface.ts";
import {
  claim,
  countText,
  cursor,
  kind,
  maybe,
  metadata,
  moment,
  newName,
  share,
  text,
  turn,
} from "../fields.ts";
import { noteErasures } from "../once.ts";
import { OF_ONE, OF_USER, type Operation, operation } from "../operation.ts";
import { cursorsTo, PAGE, pageOf, sendPage } from "../pages.ts";
import { MEMORY, MEMORY_PAGE, VERSIONS, WRITTEN_MEMORY } from "../shapes/memory.ts";
import { ERASURE_RECEIPT, RECEIPT } from "../shapes/receipt.ts";
import { given, memoryToWire, receiptToWire, toWire } from "../wire.ts";

const FIELDS = {
  kind: maybe(kind),
  type: maybe(kind),
  claim: maybe(claim),
  source_turn: maybe(turn),
  confidence: maybe(share),
  importance: maybe(share),
  valid_from: maybe(moment),
  expires_at: maybe(moment),
  metadata: maybe(metadata),
};

const NEW_MEMORY = z.strictObject({ user_id: newName, content: text, created_at: maybe(moment), ...FIELDS });

const CHANGES = z.strictObject({
  content: maybe(text),
  text: maybe(text),
  valid_to: maybe(moment),
  /** Lets in what was set aside. */
  quarantined: maybe(z.literal(false)),
  ...FIELDS,
});

const LIST = z.strictObject({
  kind: kind.optional(),
  type: kind.optional(),
  status: z.enum(["current", "superseded", "retracted", "all"]).optional(),
  quarantined: z.enum(["true", "false"]).optional(),
  cursor: cursor.optional(),
  limit: countText.optional(),
});

const UNDO = z.strictObject({ revision: z.int().min(1).max(1_000_000_000_000) });

/** The memories of one user, by hand. */
export const memoryOperations: readonly Operation[] = [
  operation({
    id: "addMemory",
    method: "POST",
    path: "/api/v1/memories",
    tag: "Memories",
    summary: "Stores a memory as such",
    scope: "write",
    body: NEW_MEMORY,
    takesKey: true,
    answers: {
      201: {
        says: "The memory, and what was done.",
        schema: WRITTEN_MEMORY,
        headers: { location: "Where it is found." },
      },
    },
    problems: [409],
    async handle({ exchange, body, memoryOf }) {
      const memory = memoryOf(body.user_id);
      const fields = { ...fieldsOf(body, {}), ...given({ at: body.created_at }) };
      const receipt = await memory.add({ text: body.content, ...fields });
      const [line] = receipt.memories;
      const made = memoryToWire(body.user_id, await memory.get(line?.id ?? ""));
      const place = `/api/v1/memories/${encodeURIComponent(body.user_id)}/${line?.id}`;
      return exchange.json({ ...made, receipt: receiptToWire(receipt) }, 201, { location: place });
    },
  }),
  operation({
    id: "listMemories",
    method: "GET",
    path: "/api/v1/memories/{user_id}",
    tag: "Memories",
    summary: "A user's memories, a page at a time",
    scope: "read",
    parameters: OF_USER,
    query: LIST,
    answers: { 200: { says: "A page, and the cursor of the next one.", schema: MEMORY_PAGE } },
    async handle({ exchange, path, query, memoryOf }) {
      const { type, kind: asked = type, quarantined, ...rest } = query;
      const aside = quarantined === undefined ? undefined : quarantined === "true";
      const { items, total, cursor } = await memoryOf(path.user_id).list(
        given({ kind: asked, quarantined: aside, ...rest }),
      );
      const make = (memory: ShownMemory): object => memoryToWire(path.user_id, memory);
      return sendPage(exchange, items, make, { total, ...cursorsTo(cursor) });
    },
  }),
  operation({
    id: "eraseUser",
    method: "DELETE",
    path: "/api/v1/memories/{user_id}/all",
    tag: "Erasure",
    summary: "Erases all that is known about a user",
    scope: "erase",
    parameters: OF_USER,
    takesKey: true,
    answers: { 200: { says: "The receipt.", schema: ERASURE_RECEIPT } },
    problems: [409],
    async handle({ exchange, path, memoryOf }) {
      const receipt = await memoryOf(path.user_id).forget({ everything: true });
      noteErasures(exchange, [receipt]);
      return exchange.json(toWire(receipt) as object);
    },
  }),
  operation({
    id: "undo",
    method: "POST",
    path: "/api/v1/memories/{user_id}/undo",
    tag: "History",
    summary: "Takes a revision back",
    scope: "write",
    parameters: OF_USER,
    body: UNDO,
    takesKey: true,
    answers: { 200: { says: "What was done.", schema: RECEIPT } },
    problems: [404, 409, 422],
    handle: async ({ exchange, path, body, memoryOf }) =>
      exchange.json(receiptToWire(await memoryOf(path.user_id).undo(body.revision))),
  }),
  operation({
    id: "getMemory",
    method: "GET",
    path: "/api/v1/memories/{user_id}/{id}",
    tag: "Memories",
    summary: "One memory",
    scope: "read",
    parameters: OF_ONE,
    answers: { 200: { says: "The memory.", schema: MEMORY } },
    problems: [404],
    handle: async ({ exchange, path, memoryOf }) =>
      exchange.json(memoryToWire(path.user_id, await memoryOf(path.user_id).get(path.id))),
  }),
  operation({
    id: "changeMemory",
    method: "PATCH",
    path: "/api/v1/memories/{user_id}/{id}",
    tag: "Memories",
    summary: "Changes fields of a memory; history keeps what it was",
    scope: "write",
    parameters: OF_ONE,
    body: CHANGES,
    takesKey: true,
    answers: { 200: { says: "The memory, and what was done.", schema: WRITTEN_MEMORY } },
    problems: [404, 409],
    async handle({ exchange, path, body, memoryOf }) {
      const memory = memoryOf(path.user_id);
      const held = await memory.get(path.id);
      const changes: MemoryChanges = {
        ...fieldsOf(body, held.metadata ?? {}),
        ...given({ text: body.content ?? body.text, validTo: body.valid_to, quarantined: body.quarantined }),
      };
      const receipt = await memory.update(path.id, changes);
      return exchange.json({
        ...memoryToWire(path.user_id, await memory.get(path.id)),
        receipt: receiptToWire(receipt),
      });
    },
  }),
  operation({
    id: "removeMemory",
    method: "DELETE",
    path: "/api/v1/memories/{user_id}/{id}",
    tag: "Memories",
    summary: "Puts a memory into the bin, from which undo takes it out again",
    description: "It is not an erasure: history keeps it.",
    scope: "write",
    parameters: OF_ONE,
    takesKey: true,
    answers: { 200: { says: "What was done.", schema: RECEIPT } },
    problems: [404, 409],
    handle: async ({ exchange, path, memoryOf }) =>
      exchange.json(receiptToWire(await memoryOf(path.user_id).remove(path.id))),
  }),
  operation({
    id: "getMemoryHistory",
    method: "GET",
    path: "/api/v1/memories/{user_id}/{id}/history",
    tag: "History",
    summary: "All versions of a memory, oldest first",
    scope: "read",
    parameters: OF_ONE,
    query: PAGE,
    answers: { 200: { says: "A page of the versions.", schema: VERSIONS } },
    problems: [404],
    async handle({ exchange, path, query, memoryOf }) {
      const versions = await memoryOf(path.user_id).history(path.id);
      const { items, ...next } = pageOf(versions, query, ({ version }) => String(version));
      return exchange.json({ items: items.map((one) => memoryToWire(path.user_id, one)), ...next });
    },
  }),
];

type Fields = Omit<z.infer<typeof CHANGES>, "content" | "text" | "valid_to" | "quarantined">;

/** `source_turn` has no place of its own in a memory: it is kept in the metadata. */
function fieldsOf(body: Fields, held: Metadata): MemoryChanges {
  const asked = body.metadata as Metadata | undefined;
  const turn = body.source_turn;
  return given({
    kind: body.type ?? body.kind,
    claim: body.claim,
    confidence: body.confidence,
    importance: body.importance,
    validFrom: body.valid_from,
    expiresAt: body.expires_at,
    metadata: turn === undefined ? asked : { ...(asked ?? held), source_turn: turn },
  });
}
