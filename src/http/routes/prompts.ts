import * as z from "zod";
import { checkName } from "../../domain/limits.ts";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import type { GivenPrompt } from "../proxy/memory/given-prompts.ts";
import {
  countTextSchema,
  nameSchema,
  timeSchema,
  wholeNumberSchema,
  withSchemaId,
} from "../schemas/fields.ts";
import { omitUndefined } from "../schemas/wire.ts";

const PROMPTS_QUERY = z.strictObject({
  session_id: nameSchema.optional(),
  limit: countTextSchema.optional(),
});

const PROMPTS_SCHEMA: z.ZodType = withSchemaId(
  "GivenPrompts",
  z.object({
    items: z.array(
      z.object({
        at: timeSchema,
        door: z
          .enum(["proxy", "context", "mcp"])
          .describe("The proxy, `POST /api/v1/context`, or a tool of MCP"),
        session_id: z.string().optional(),
        message_id: z.string().optional().describe("The user's message, for a chat through the proxy"),
        request: z.string().describe("What was asked, cut after 1,000 characters"),
        text: z.string().describe("The exact text"),
        tokens: wholeNumberSchema.describe("Its estimated size"),
        recall_id: z.string().optional(),
      }),
    ),
    total: wholeNumberSchema.describe("Number kept, before the limit"),
  }),
);

/** What models were given from memory. */
export const promptOperations: readonly Operation[] = [
  defineOperation({
    id: "listPrompts",
    method: "GET",
    path: "/api/v1/prompts/{user_id}",
    tag: "Search",
    summary: "Gives what models were recently given from memory, word for word",
    description:
      "Newest first: chats through the proxy, contexts, and the MCP tool `context`. This process keeps them in its memory, for " +
      "a day at most, and drops a user's with every erasure for that user. What others share is not among them.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: PROMPTS_QUERY,
    answers: { 200: { says: "The newest.", schema: PROMPTS_SCHEMA } },
    async handle({ exchange, path, query, services, project, agent, memoryOf }) {
      const memory = memoryOf(path.user_id);
      const scope = { project: project(), user: path.user_id, ...(agent === undefined ? {} : { agent }) };
      const all = await services.proxy.prompts.list(scope, memory);
      const { session_id: named, limit = 50 } = query;
      const session = named === undefined ? undefined : checkName(named, "session_id");
      const found = session === undefined ? all : all.filter((one) => one.session === session);
      return exchange.json({ items: found.slice(0, limit).map(promptToWire), total: found.length });
    },
  }),
];

function promptToWire({ at, door, session, message, request, text, tokens, recall }: GivenPrompt): object {
  return omitUndefined({
    at,
    door,
    session_id: session,
    message_id: message,
    request,
    text,
    tokens,
    recall_id: recall,
  });
}
