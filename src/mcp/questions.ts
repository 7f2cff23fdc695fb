import type { InputRequiredResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { ToolQuestion, UserReply } from "./tool.ts";

const KEY = "approval";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** The user agrees only if they accept the form, and choose yes in it. */
const agreementSchema = z.object({
  action: z.literal("accept"),
  content: z.object({ agree: z.literal(true) }),
});

/** What a client declares, in each request since the revision 2026-07-28. */
const capabilitiesSchema = z.object({
  elicitation: z.object({ form: z.unknown(), url: z.unknown() }).partial().optional(),
});

/** Tells whether the client can show a form to the user. One that declares no mode can show forms. */
export function canAskUser(server: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope: { readonly [key: string]: unknown } = mcpReq.envelope ?? {};
  const declared = envelope[CAPABILITIES_KEY] ?? server.server.getClientCapabilities();
  const elicitation = capabilitiesSchema.safeParse(declared).data?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Reads the user's reply to a question. A reply without the question's token is none. */
export function readUserReply({ mcpReq }: ServerContext): UserReply | undefined {
  const response = mcpReq.inputResponses?.[KEY];
  const token = mcpReq.requestState();
  if (response === undefined || typeof token !== "string") return undefined;
  return { agrees: agreementSchema.safeParse(response).success, token };
}

/** Makes the answer of the protocol that has the client ask the user, and then call again. */
export function toInputRequired({ question, label, token }: ToolQuestion): InputRequiredResult {
  return {
    resultType: "input_required",
    inputRequests: {
      [KEY]: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: question,
          requestedSchema: {
            type: "object",
            properties: { agree: { type: "boolean", title: label } },
            required: ["agree"],
          },
        },
      },
    },
    requestState: token,
  };
}
