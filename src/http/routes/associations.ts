import * as z from "zod";
import { ASSOCIATION_TYPES } from "../../domain/change-set.ts";
import { defineOperation, ITEM_PATH_PARAMETERS, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { toCursorFields } from "../pagination.ts";
import {
  countTextSchema,
  createCountTextSchema,
  cursorSchema,
  nameSchema,
  shareSchema,
  shareTextSchema,
  toOptional,
} from "../schemas/fields.ts";
import { LINK_PAGE_SCHEMA, LINK_RECEIPT_SCHEMA, RELATED_SCHEMA } from "../schemas/memory.ts";
import { memoryToWire, omitUndefined, toWire } from "../schemas/wire.ts";

const typeSchema = z.enum(ASSOCIATION_TYPES);

const LINK_BODY = z.strictObject({
  from: nameSchema,
  to: nameSchema,
  type: toOptional(typeSchema),
  strength: toOptional(shareSchema),
});

const UNLINK_QUERY = z.strictObject({ from: nameSchema, to: nameSchema, type: typeSchema.optional() });

const LINKS_QUERY = z.strictObject({
  memory: nameSchema.optional(),
  type: typeSchema.optional(),
  cursor: cursorSchema.optional(),
  limit: countTextSchema.optional(),
});

const RELATED_QUERY = z.strictObject({
  depth: createCountTextSchema(1, 5).optional(),
  min_strength: shareTextSchema.optional(),
  limit: createCountTextSchema(1, 200).optional(),
  type: typeSchema.optional(),
  status: z.enum(["current", "superseded", "retracted", "all"]).optional(),
  inferred: z.enum(["true", "false"]).optional(),
});

/** Associations between the memories of a user. */
export const associationOperations: readonly Operation[] = [
  defineOperation({
    id: "linkMemories",
    method: "POST",
    path: "/api/v1/memories/{user_id}/links",
    tag: "Associations",
    summary: "Associates a memory with another, or changes the strength",
    description:
      "What depends on another memory, or is derived from it, is marked for review when that memory changes.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    body: LINK_BODY,
    acceptsIdempotencyKey: true,
    answers: { 201: { says: "What was changed.", schema: LINK_RECEIPT_SCHEMA } },
    problems: [404, 409],
    async handle({ exchange, path, body, memoryOf }) {
      const { from, to, type, strength } = body;
      const receipt = await memoryOf(path.user_id).link(from, to, omitUndefined({ type, strength }));
      return exchange.json(toWire(receipt) as object, 201);
    },
  }),
  defineOperation({
    id: "unlinkMemories",
    method: "DELETE",
    path: "/api/v1/memories/{user_id}/links",
    tag: "Associations",
    summary: "Removes the associations from a memory to another, which `undo` reverts",
    description: "Of one `type`, or of all.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    query: UNLINK_QUERY,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "What was removed.", schema: LINK_RECEIPT_SCHEMA } },
    problems: [404, 409],
    async handle({ exchange, path, query, memoryOf }) {
      const { from, to, type } = query;
      const receipt = await memoryOf(path.user_id).unlink(from, to, omitUndefined({ type }));
      return exchange.json(toWire(receipt) as object);
    },
  }),
  defineOperation({
    id: "listLinks",
    method: "GET",
    path: "/api/v1/memories/{user_id}/links",
    tag: "Associations",
    summary: "Lists stored associations: all, or those of one memory",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: LINKS_QUERY,
    answers: { 200: { says: "A page.", schema: LINK_PAGE_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, query, memoryOf }) {
      const { items, total, cursor } = await memoryOf(path.user_id).links(omitUndefined(query));
      return exchange.json({ items: items.map(toWire), total, ...toCursorFields(cursor) });
    },
  }),
  defineOperation({
    id: "getRelatedMemories",
    method: "GET",
    path: "/api/v1/memories/{user_id}/{id}/related",
    tag: "Associations",
    summary: "Finds memories associated with one, also through others, strongest first",
    description:
      "`depth` is at most 5 (default 1), `limit` at most 200 (default 20). Without `inferred=false`, memories that were " +
      "told in one sentence or are about the same are included.",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    query: RELATED_QUERY,
    answers: { 200: { says: "The memories, and the way to each.", schema: RELATED_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, query, memoryOf, services }) {
      const { depth, min_strength: minStrength, limit, type, status, inferred } = query;
      const { items, total } = await memoryOf(path.user_id).related(
        path.id,
        omitUndefined({
          depth,
          minStrength,
          limit,
          types: type === undefined ? undefined : [type],
          status,
          inferred: inferred === undefined ? undefined : inferred === "true",
        }),
      );
      const found = items.map(({ memory, ...way }) => ({
        memory: memoryToWire(path.user_id, memory, services.keepsake.receiptWriter),
        ...(toWire(way) as object),
      }));
      return exchange.json({ items: found, total });
    },
  }),
];
