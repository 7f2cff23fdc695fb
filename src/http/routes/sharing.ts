import * as z from "zod";
import type { Where } from "../../domain/filters/metadata-filter.ts";
import type { WhereText } from "../../domain/filters/text-filter.ts";
import type { NewGrant, ShownGrant } from "../../engine/sharing/sharing-types.ts";
import { defineOperation, ITEM_PATH_PARAMETERS, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import {
  countTextSchema,
  filterSchema,
  kindNameSchema,
  momentSchema,
  nameSchema,
  newNameSchema,
  textFilterSchema,
  toOptional,
} from "../schemas/fields.ts";
import {
  GRANT_SCHEMA,
  GRANTS_SCHEMA,
  GROUP_SCHEMA,
  GROUPS_SCHEMA,
  SHARED_MEMORIES_SCHEMA,
} from "../schemas/sharing.ts";
import { grantToWire, omitUndefined, toWire } from "../schemas/wire.ts";

const phraseSchema = z.string().meta({
  pattern: "^[ -~]*[A-Za-z0-9][ -~]*$",
  maxLength: 200,
  description: "A word or phrase: at most 200 bytes of UTF-8",
});

/** What a grant covers, in a request. */
const CONTENT_FIELDS = {
  everything: toOptional(z.boolean()),
  kinds: toOptional(z.array(kindNameSchema).min(1).max(100)),
  about: toOptional(z.array(phraseSchema).min(1).max(100)),
  where: toOptional(filterSchema),
  where_text: toOptional(textFilterSchema),
  ids: toOptional(z.array(nameSchema).min(1).max(1000)),
  sensitive: toOptional(z.boolean()),
  messages: toOptional(z.boolean()),
};

const NEW_GRANT_BODY = z.strictObject({
  to_user: toOptional(newNameSchema),
  to_group: toOptional(nameSchema),
  until: toOptional(momentSchema),
  ...CONTENT_FIELDS,
});

const DECLINE_BODY = z.strictObject({ declined: z.boolean() });

const NEW_GROUP_BODY = z.strictObject({
  name: newNameSchema,
  members: z.array(newNameSchema).max(1000),
});

const GRANTS_QUERY = z.strictObject({ all: z.enum(["true", "false"]).optional() });
const SHARED_QUERY = z.strictObject({ grant: nameSchema.optional(), limit: countTextSchema.optional() });

function toNewGrant({
  to_user: user,
  to_group: group,
  where_text: whereText,
  where,
  ...given
}: z.infer<typeof NEW_GRANT_BODY>): NewGrant {
  return omitUndefined({
    ...given,
    user,
    group,
    where: where as Where | undefined,
    whereText: whereText as WhereText | undefined,
  }) as NewGrant;
}

const sendGrant = (
  exchange: { json(body: object, status?: 200 | 201): Response },
  grant: ShownGrant,
  status: 200 | 201,
) => exchange.json(grantToWire(grant), status);

/** Sharing with consent: grants and groups. */
export const sharingOperations: readonly Operation[] = [
  defineOperation({
    id: "share",
    method: "POST",
    path: "/api/v1/grants/{user_id}",
    tag: "Sharing",
    summary: "Lets another user or a group read some of the user's memories",
    description:
      "Name `to_user` or `to_group`, and what: `everything`, or one or more of `kinds`, `about`, `where`, `where_text`, `ids`. " +
      "Nothing is copied: a change or an erasure by the owner reaches every reader at once.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    body: NEW_GRANT_BODY,
    acceptsIdempotencyKey: true,
    answers: { 201: { says: "The grant.", schema: GRANT_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, body, memoryOf }) {
      return sendGrant(exchange, await memoryOf(path.user_id).share(toNewGrant(body)), 201);
    },
  }),
  defineOperation({
    id: "listGrants",
    method: "GET",
    path: "/api/v1/grants/{user_id}",
    tag: "Sharing",
    summary: "Lists the grants that a user gave and received, newest first",
    description: "With `all=true` also those that were withdrawn or have expired.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: GRANTS_QUERY,
    answers: { 200: { says: "The grants.", schema: GRANTS_SCHEMA } },
    async handle({ exchange, path, query, memoryOf }) {
      const { given, received } = await memoryOf(path.user_id).grants({ all: query.all === "true" });
      return exchange.json({ given: given.map(grantToWire), received: received.map(grantToWire) });
    },
  }),
  defineOperation({
    id: "answerGrant",
    method: "PATCH",
    path: "/api/v1/grants/{user_id}/{id}",
    tag: "Sharing",
    summary: "Declines a grant that the user received, or accepts it again",
    scope: "write",
    acceptsIdempotencyKey: true,
    parameters: ITEM_PATH_PARAMETERS,
    body: DECLINE_BODY,
    answers: { 200: { says: "The grant.", schema: GRANT_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, body, memoryOf }) {
      const memory = memoryOf(path.user_id);
      return sendGrant(
        exchange,
        await (body.declined ? memory.decline(path.id) : memory.accept(path.id)),
        200,
      );
    },
  }),
  defineOperation({
    id: "withdrawGrant",
    method: "DELETE",
    path: "/api/v1/grants/{user_id}/{id}",
    tag: "Sharing",
    summary: "Ends a grant that the user gave, at once",
    scope: "write",
    acceptsIdempotencyKey: true,
    parameters: ITEM_PATH_PARAMETERS,
    answers: { 200: { says: "The grant.", schema: GRANT_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, memoryOf }) {
      return sendGrant(exchange, await memoryOf(path.user_id).withdraw(path.id), 200);
    },
  }),
  defineOperation({
    id: "listShared",
    method: "GET",
    path: "/api/v1/shared/{user_id}",
    tag: "Sharing",
    summary: "Lists the memories that others let the user read, newest first",
    description: "`grant` limits it to one grant; the owner may name it too, to see what readers see.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: SHARED_QUERY,
    answers: { 200: { says: "The memories.", schema: SHARED_MEMORIES_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, query, memoryOf }) {
      return exchange.json(toWire(await memoryOf(path.user_id).shared(omitUndefined(query))) as object);
    },
  }),
  defineOperation({
    id: "saveGroup",
    method: "POST",
    path: "/api/v1/groups/{user_id}",
    tag: "Sharing",
    summary: "Makes a group, or replaces the members of the user's group of that name",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    body: NEW_GROUP_BODY,
    acceptsIdempotencyKey: true,
    answers: { 201: { says: "The group.", schema: GROUP_SCHEMA } },
    async handle({ exchange, path, body, memoryOf }) {
      return exchange.json(toWire(await memoryOf(path.user_id).saveGroup(body)) as object, 201);
    },
  }),
  defineOperation({
    id: "listGroups",
    method: "GET",
    path: "/api/v1/groups/{user_id}",
    tag: "Sharing",
    summary: "Lists the groups that the user made or is in",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    answers: { 200: { says: "The groups.", schema: GROUPS_SCHEMA } },
    async handle({ exchange, path, memoryOf }) {
      return exchange.json({ groups: (await memoryOf(path.user_id).groups()).map(toWire) });
    },
  }),
  defineOperation({
    id: "deleteGroup",
    method: "DELETE",
    path: "/api/v1/groups/{user_id}/{id}",
    tag: "Sharing",
    summary: "Deletes a group of the user, with all grants to it; a member leaves it instead",
    description: "`id` is the id or the name of the group.",
    scope: "write",
    acceptsIdempotencyKey: true,
    parameters: ITEM_PATH_PARAMETERS,
    answers: { 204: { says: "It is done." } },
    problems: [404],
    async handle({ exchange, path, memoryOf }) {
      await memoryOf(path.user_id).deleteGroup(path.id);
      return exchange.body(null, 204);
    },
  }),
];
