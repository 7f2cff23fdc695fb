import * as z from "zod";
import type { Metadata, Where } from "../../domain/filters/metadata-filter.ts";
import type { WhereText } from "../../domain/filters/text-filter.ts";
import { LIST_ORDERS } from "../../domain/memories/memory-order.ts";
import { ORIGINS } from "../../domain/message.ts";
import type { RecallOptions } from "../../domain/recall.ts";
import { FACET_NAMES, type ListOptions, type ShownMemory } from "../../engine/api/listing-types.ts";
import type { MemoryChanges } from "../../engine/api/writing-types.ts";
import { invalid } from "../../errors.ts";
import { noteErasures } from "../idempotency.ts";
import { defineOperation, ITEM_PATH_PARAMETERS, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { PAGE_QUERY, paginate, sendPage, toCursorFields } from "../pagination.ts";
import { withPromptLog } from "../proxy/memory/given-prompts.ts";
import {
  claimSchema,
  countSchema,
  countTextSchema,
  createCountTextSchema,
  cursorSchema,
  filterSchema,
  kindNameSchema,
  metadataSchema,
  momentSchema,
  nameSchema,
  newNameSchema,
  parseTextFilter,
  shareSchema,
  textFilterSchema,
  textFilterTextSchema,
  textSchema,
  toOptional,
  turnNumberSchema,
  weightsSchema,
} from "../schemas/fields.ts";
import {
  ERASURE_RECEIPT_SCHEMA,
  FACETS_SCHEMA,
  MEMORY_PAGE_SCHEMA,
  MEMORY_SCHEMA,
  RECEIPT_SCHEMA,
  VERSIONS_SCHEMA,
  WRITTEN_MEMORY_SCHEMA,
} from "../schemas/memory.ts";
import { CONTEXT_SCHEMA, RECALL_EXPLANATION_SCHEMA, RECALL_SCHEMA } from "../schemas/recall.ts";
import { itemToWire, memoryToWire, omitUndefined, receiptToWire, toWire } from "../schemas/wire.ts";

const MEMORY_FIELDS = {
  kind: toOptional(kindNameSchema),
  type: toOptional(kindNameSchema),
  claim: toOptional(claimSchema),
  source_turn: toOptional(turnNumberSchema),
  confidence: toOptional(shareSchema),
  importance: toOptional(shareSchema),
  valid_from: toOptional(momentSchema),
  expires_at: toOptional(momentSchema),
  metadata: toOptional(metadataSchema),
};

const NEW_MEMORY_BODY = z.strictObject({
  user_id: newNameSchema,
  content: textSchema,
  created_at: toOptional(momentSchema),
  ...MEMORY_FIELDS,
});

const CHANGES_BODY = z.strictObject({
  content: toOptional(textSchema),
  text: toOptional(textSchema),
  valid_to: toOptional(momentSchema),
  /** Times to take away. */
  clear: toOptional(z.array(z.enum(["valid_from", "valid_to", "expires_at"])).max(3)),
  /** Approves a quarantined memory. */
  quarantined: toOptional(z.literal(false)),
  /** Keeps the memory out of every grant, or lets grants cover it. */
  private: toOptional(z.boolean()),
  /** Ends the review of a memory. */
  reviewed: toOptional(z.literal(true)),
  ...MEMORY_FIELDS,
});

/** The names of times that can be taken away, as the engine has them. */
const CLEARABLE_FIELDS = { valid_from: "validFrom", valid_to: "validTo", expires_at: "expiresAt" } as const;

const flagSchema = z.enum(["true", "false"]);

/** The filters of lists of memories, as a query has them. */
const LIST_FILTERS = {
  kind: kindNameSchema.optional(),
  type: kindNameSchema.optional(),
  status: z.enum(["current", "superseded", "retracted", "all"]).optional(),
  quarantined: flagSchema.optional(),
  review: z.literal("true").optional(),
  origin: z.enum(ORIGINS).optional(),
  from: momentSchema.optional(),
  to: momentSchema.optional(),
  session_id: nameSchema.optional(),
  topic: nameSchema.optional(),
  subject: nameSchema.optional(),
  sensitive: flagSchema.optional(),
  as_of: momentSchema.optional(),
  known_at: momentSchema.optional(),
  where_text: textFilterTextSchema.optional(),
};

const FILTERS_SCHEMA = z.strictObject(LIST_FILTERS);

const LIST_QUERY = z.strictObject({
  ...LIST_FILTERS,
  sort: z.enum(LIST_ORDERS).optional(),
  offset: createCountTextSchema(0, 1_000_000).optional(),
  cursor: cursorSchema.optional(),
  limit: countTextSchema.optional(),
});

const FACETS_QUERY = z.strictObject({
  ...LIST_FILTERS,
  by: z.enum(FACET_NAMES),
  zone: nameSchema.optional(),
  limit: countTextSchema.optional(),
});

const UNDO_BODY = z.strictObject({ revision: z.int().min(1).max(1_000_000_000_000) });

/** The memories of a user. */
export const memoryOperations: readonly Operation[] = [
  defineOperation({
    id: "addMemory",
    method: "POST",
    path: "/api/v1/memories",
    tag: "Memories",
    summary: "Adds a memory directly",
    scope: "write",
    body: NEW_MEMORY_BODY,
    acceptsIdempotencyKey: true,
    answers: {
      201: {
        says: "The memory, and the result of the write.",
        schema: WRITTEN_MEMORY_SCHEMA,
        headers: { location: "The URL of the memory." },
      },
    },
    problems: [409],
    async handle({ exchange, body, memoryOf, services }) {
      const memory = memoryOf(body.user_id);
      const fields = { ...toMemoryChanges(body, {}), ...omitUndefined({ at: body.created_at }) };
      const receipt = await memory.add({ text: body.content, ...fields });
      const [line] = receipt.memories;
      const made = memoryToWire(
        body.user_id,
        await memory.get(line?.id ?? ""),
        services.keepsake.receiptWriter,
      );
      const place = `/api/v1/memories/${encodeURIComponent(body.user_id)}/${line?.id}`;
      return exchange.json(
        { ...made, receipt: receiptToWire(receipt, services.keepsake.receiptWriter) },
        201,
        { location: place },
      );
    },
  }),
  defineOperation({
    id: "listMemories",
    method: "GET",
    path: "/api/v1/memories/{user_id}",
    tag: "Memories",
    summary: "Lists a user's memories",
    description:
      "`from` (inclusive) and `to` (exclusive) are when it was said. `subject` is a person or thing: `user/sister`, `Eva`. " +
      "`as_of` gives what was true at a time, and does not go together with `status`; `offset` not with `cursor`. " +
      "`known_at` gives each memory as it was stored at a time.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: LIST_QUERY,
    answers: { 200: { says: "A page, and the cursor of the next.", schema: MEMORY_PAGE_SCHEMA } },
    async handle({ exchange, path, query, memoryOf, services }) {
      const { sort, offset, cursor: after, limit, ...filters } = query;
      const { items, total, cursor } = await memoryOf(path.user_id).list({
        ...toListFilters(filters),
        ...omitUndefined({ sort, offset, cursor: after, limit }),
      });
      const make = (memory: ShownMemory): object =>
        memoryToWire(path.user_id, memory, services.keepsake.receiptWriter);
      return sendPage(exchange, items, make, { total, ...toCursorFields(cursor) });
    },
  }),
  defineOperation({
    id: "listFacets",
    method: "GET",
    path: "/api/v1/memories/{user_id}/facets",
    tag: "Memories",
    summary: "Counts memories by topic, person or thing, kind, or month",
    description:
      "With the filters of the list of memories. Those of most memories first, months newest first. A memory may count under " +
      'several values. Months are those of `zone` ("Europe/Lisbon"), or of UTC.',
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: FACETS_QUERY,
    answers: { 200: { says: "The values and their numbers.", schema: FACETS_SCHEMA } },
    async handle({ exchange, path, query, signal, memoryOf }) {
      const { by, limit, zone, ...filters } = query;
      const options = { ...toListFilters(filters), ...omitUndefined({ limit, zone }), by, signal };
      return exchange.json(await memoryOf(path.user_id).facets(options));
    },
  }),
  defineOperation({
    id: "eraseUser",
    method: "DELETE",
    path: "/api/v1/memories/{user_id}/all",
    tag: "Erasure",
    summary: "Erases everything about a user",
    scope: "erase",
    parameters: USER_PATH_PARAMETERS,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The receipt.", schema: ERASURE_RECEIPT_SCHEMA } },
    problems: [409],
    async handle({ exchange, path, signal, memoryOf }) {
      const receipt = await memoryOf(path.user_id).forget({ everything: true }, { signal });
      noteErasures(exchange, [receipt]);
      return exchange.json(toWire(receipt) as object);
    },
  }),
  defineOperation({
    id: "undo",
    method: "POST",
    path: "/api/v1/memories/{user_id}/undo",
    tag: "History",
    summary: "Undoes a revision",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    body: UNDO_BODY,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The result of the write.", schema: RECEIPT_SCHEMA } },
    problems: [404, 409, 422],
    handle: async ({ exchange, path, body, memoryOf, services }) =>
      exchange.json(
        receiptToWire(await memoryOf(path.user_id).undo(body.revision), services.keepsake.receiptWriter),
      ),
  }),
  defineOperation({
    id: "getMemory",
    method: "GET",
    path: "/api/v1/memories/{user_id}/{id}",
    tag: "Memories",
    summary: "Gives one memory",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    answers: { 200: { says: "The memory.", schema: MEMORY_SCHEMA } },
    problems: [404],
    handle: async ({ exchange, path, memoryOf, services }) =>
      exchange.json(
        memoryToWire(
          path.user_id,
          await memoryOf(path.user_id).get(path.id),
          services.keepsake.receiptWriter,
        ),
      ),
  }),
  defineOperation({
    id: "changeMemory",
    method: "PATCH",
    path: "/api/v1/memories/{user_id}/{id}",
    tag: "Memories",
    summary: "Changes fields of a memory; the history keeps the old version",
    description:
      "`clear` takes times away; without `valid_to`, a memory that had ended is current again, unless another one replaced it. " +
      "`private` is the field of that name in `metadata`: true keeps the memory out of every grant, false lets grants cover it, also " +
      "if it was said in a private message.",
    scope: "write",
    parameters: ITEM_PATH_PARAMETERS,
    body: CHANGES_BODY,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The memory, and the result of the write.", schema: WRITTEN_MEMORY_SCHEMA } },
    problems: [404, 409],
    async handle({ exchange, path, body, memoryOf, services }) {
      const memory = memoryOf(path.user_id);
      const held = await memory.get(path.id);
      const changes: MemoryChanges = {
        ...toMemoryChanges(body, held.metadata ?? {}),
        ...omitUndefined({
          text: body.content ?? body.text,
          validTo: body.valid_to,
          clear: body.clear?.map((name) => CLEARABLE_FIELDS[name]),
          quarantined: body.quarantined,
          reviewed: body.reviewed,
          private: body.private,
        }),
      };
      const receipt = await memory.update(path.id, changes);
      return exchange.json({
        ...memoryToWire(path.user_id, await memory.get(path.id), services.keepsake.receiptWriter),
        receipt: receiptToWire(receipt, services.keepsake.receiptWriter),
      });
    },
  }),
  defineOperation({
    id: "removeMemory",
    method: "DELETE",
    path: "/api/v1/memories/{user_id}/{id}",
    tag: "Memories",
    summary: "Retracts a memory, which `undo` reverts",
    description: "This is not an erasure: the history keeps the memory.",
    scope: "write",
    parameters: ITEM_PATH_PARAMETERS,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The result of the write.", schema: RECEIPT_SCHEMA } },
    problems: [404, 409],
    handle: async ({ exchange, path, memoryOf, services }) =>
      exchange.json(
        receiptToWire(await memoryOf(path.user_id).remove(path.id), services.keepsake.receiptWriter),
      ),
  }),
  defineOperation({
    id: "getMemoryHistory",
    method: "GET",
    path: "/api/v1/memories/{user_id}/{id}/history",
    tag: "History",
    summary: "Lists the versions of a memory, oldest first",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    query: PAGE_QUERY,
    answers: { 200: { says: "A page of versions.", schema: VERSIONS_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, query, memoryOf, services }) {
      const versions = await memoryOf(path.user_id).history(path.id);
      const { items, ...next } = paginate(versions, query, ({ version }) => String(version));
      return exchange.json({
        items: items.map((one) => memoryToWire(path.user_id, one, services.keepsake.receiptWriter)),
        ...next,
      });
    },
  }),
];

/** The options of `list` and `facets` for filters in a query. */
function toListFilters(query: z.infer<typeof FILTERS_SCHEMA>): ListOptions {
  const { kind, type, quarantined, review, session_id, sensitive, as_of, known_at, where_text, ...rest } =
    query;
  return omitUndefined({
    kind: kind ?? type,
    quarantined: toFlag(quarantined),
    review: review === undefined ? undefined : (true as const),
    session: session_id,
    sensitive: toFlag(sensitive),
    asOf: as_of,
    knownAt: known_at,
    whereText: where_text === undefined ? undefined : parseTextFilter(where_text),
    ...rest,
  });
}

function toFlag(text: "true" | "false" | undefined): boolean | undefined {
  return text === undefined ? undefined : text === "true";
}

type MemoryFieldsBody = Omit<
  z.infer<typeof CHANGES_BODY>,
  "content" | "text" | "valid_to" | "clear" | "quarantined" | "private" | "reviewed"
>;

/** Gives the changes of a memory. `source_turn` is stored in its metadata. */
function toMemoryChanges(body: MemoryFieldsBody, held: Metadata): MemoryChanges {
  const asked = body.metadata as Metadata | undefined;
  const turn = body.source_turn;
  return omitUndefined({
    kind: body.type ?? body.kind,
    claim: body.claim,
    confidence: body.confidence,
    importance: body.importance,
    validFrom: body.valid_from,
    expiresAt: body.expires_at,
    metadata: turn === undefined ? asked : { ...(asked ?? held), source_turn: turn },
  });
}

const SEARCH_QUERY = z.strictObject({ query: textSchema.optional(), top_k: countTextSchema.optional() });

const SEARCH_BODY = z.strictObject({
  query: toOptional(textSchema),
  top_k: toOptional(countSchema),
  limit: toOptional(countSchema),
  max_tokens: toOptional(z.int().min(1).max(1_000_000)),
  kinds: toOptional(z.array(kindNameSchema)),
  types: toOptional(z.array(z.enum(["memory", "passage"]))),
  as_of: toOptional(momentSchema),
  known_at: toOptional(momentSchema),
  session_id: toOptional(nameSchema),
  where: toOptional(filterSchema),
  where_text: toOptional(textFilterSchema),
  min_score: toOptional(shareSchema),
  explain: toOptional(z.boolean()),
  record: toOptional(z.boolean()),
  profile: toOptional(textSchema),
  weights: toOptional(weightsSchema),
  shared: toOptional(z.boolean()),
});

const CONTEXT_BODY = z.strictObject({
  user_id: nameSchema,
  request: textSchema,
  max_tokens: toOptional(z.int().min(1).max(1_000_000)),
  as_of: toOptional(momentSchema),
  session_id: toOptional(nameSchema),
  where: toOptional(filterSchema),
  where_text: toOptional(textFilterSchema),
  shared: toOptional(z.boolean()),
});

const EXPLAIN_QUERY = z.strictObject({ about: nameSchema.optional() });

/** Recall by a query string or a JSON body, and explanations of recalls. */
export const searchOperations: readonly Operation[] = [
  defineOperation({
    id: "searchMemories",
    method: "POST",
    path: "/api/v1/memories/{user_id}/search",
    tag: "Search",
    summary: "Finds memories relevant to a query",
    description:
      "The query is in the query string or the body; the body takes precedence. With `record` false it leaves no receipt and " +
      "counts as no use of the memories: for search as one types.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: SEARCH_QUERY,
    body: SEARCH_BODY,
    isBodyOptional: true,
    answers: {
      200: { says: "The relevant items, best first; none if nothing is relevant.", schema: RECALL_SCHEMA },
    },
    async handle({ exchange, path, query: asked, body, memoryOf, services }) {
      const { query, ...options } = toRecallOptions(asked, body);
      const { items, ...found } = await memoryOf(path.user_id).recall(query, options);
      return exchange.json({
        ...(toWire(found) as object),
        items: items.map((item) => itemToWire(item, services.keepsake.receiptWriter)),
      });
    },
  }),
  defineOperation({
    id: "buildContext",
    method: "POST",
    path: "/api/v1/context",
    tag: "Search",
    summary: "Gives what a model is told before it answers a request",
    description:
      "Wishes for answers, a short profile, and everything that bears on the request, without what no longer holds.",
    scope: "read",
    body: CONTEXT_BODY,
    answers: { 200: { says: "The text for the prompt, and what went into it.", schema: CONTEXT_SCHEMA } },
    async handle({ exchange, body, services, project, agent, memoryOf }) {
      const { user_id, request, max_tokens, as_of, session_id, where, where_text, shared } = body;
      const scope = { project: project(), user: user_id, ...(agent === undefined ? {} : { agent }) };
      const log = services.proxy.prompts;
      const memory = withPromptLog(memoryOf(user_id), { log, scope, door: "context" });
      const { recall, items, ...context } = await memory.context(
        request,
        omitUndefined({
          maxTokens: max_tokens,
          asOf: as_of,
          session: session_id,
          where: where as Where | undefined,
          whereText: where_text as WhereText | undefined,
          shared,
        }),
      );
      return exchange.json({
        ...(toWire(context) as object),
        items: items.map((item) => itemToWire(item, services.keepsake.receiptWriter)),
        recall_id: recall.id,
      });
    },
  }),
  defineOperation({
    id: "explainRecall",
    method: "GET",
    path: "/api/v1/memories/{user_id}/recalls/{id}",
    tag: "Search",
    summary: "Explains which items an earlier recall returned or dropped, and why",
    description: "`about` limits it to one memory, passage or message, by id.",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    query: EXPLAIN_QUERY,
    answers: {
      200: {
        says: "The explanation. Items erased since are marked, without their content.",
        schema: RECALL_EXPLANATION_SCHEMA,
      },
    },
    problems: [404],
    async handle({ exchange, path, query, memoryOf }) {
      const explained = await memoryOf(path.user_id).explain(path.id, omitUndefined({ about: query.about }));
      return exchange.json(toWire(explained) as object);
    },
  }),
];

function toRecallOptions(
  asked: z.infer<typeof SEARCH_QUERY>,
  body: z.infer<typeof SEARCH_BODY> | undefined,
): RecallOptions & { query: string } {
  const query = body?.query ?? asked.query;
  if (query === undefined) throw invalid("query: this field is required.");
  return {
    query,
    ...omitUndefined({
      limit: body?.top_k ?? body?.limit ?? asked.top_k,
      maxTokens: body?.max_tokens,
      kinds: body?.kinds,
      types: body?.types,
      asOf: body?.as_of,
      knownAt: body?.known_at,
      session: body?.session_id,
      where: body?.where as Where | undefined,
      whereText: body?.where_text as WhereText | undefined,
      minScore: body?.min_score,
      explain: body?.explain,
      record: body?.record,
      profile: body?.profile,
      weights: body?.weights,
      shared: body?.shared,
    }),
  };
}
