import * as z from "zod";
import { estimateTokens } from "../../domain/text/split-text.ts";
import { formatDataBlock } from "../../engine/prompt-block.ts";
import { createTokensSchema, idSchema, LINE_SCHEMA, querySchema } from "../fields.ts";
import { formatItems } from "../lines.ts";
import { defineTool, type McpTool, READ_HINTS, type ToolCall } from "../tool.ts";
import { type Details, findDetails } from "./details.ts";

const NOTHING_FOUND = "Nothing relevant is stored. Say so instead of guessing.";

const recallTool: McpTool = defineTool({
  name: "recall",
  title: "Recall",
  description:
    "Search what the user said and what is known about them, best first. Each line has an id, a day and a short text. " +
    "Use it before you answer anything that may depend on the user. `details` gives more about the ids.",
  permission: "read",
  input: z.strictObject({
    query: querySchema.describe("A question or key words"),
    limit: z.int().min(1).max(50).default(10).describe("The most lines"),
    max_tokens: createTokensSchema(800),
    as_of: z.string().max(40).optional().describe("What was true at this time, ISO 8601"),
  }),
  output: z.object({
    items: z.array(LINE_SCHEMA),
    left: z.int().describe("Found lines that did not fit max_tokens"),
    recall: z.string().describe("The id of this recall, for an explanation"),
  }),
  hints: READ_HINTS,
  async run({ query, limit, max_tokens: maxTokens, as_of: asOf }, call) {
    const options = { limit, signal: call.signal, ...(asOf === undefined ? {} : { asOf }) };
    const found = await call.memory.recall(query, options);
    const { text, lines, left } = formatItems(found.items, query, { ...call, maxTokens });
    const more = left > 0 ? `\n${left} more did not fit: raise max_tokens.` : "";
    return {
      text: text === "" && left === 0 ? NOTHING_FOUND : `${text}${more}`,
      data: { items: lines, left, recall: found.id },
    };
  },
});

const DETAILS_SCHEMA = z.object({
  id: z.string(),
  type: z.enum(["memory", "message"]),
  at: z.string(),
  kind: z.string().optional(),
  status: z.string().optional(),
  until: z.string().optional(),
  replaced_by: z.string().optional(),
  said_by: z.string().optional(),
  session: z.string().optional(),
  text: z.string(),
  sources: z.array(z.object({ message: z.string(), at: z.string(), quote: z.string() })).optional(),
});

const detailsTool: McpTool = defineTool({
  name: "details",
  title: "Details",
  description:
    "Show memories and messages in full, by the ids that another tool gave: the whole text, whether it still holds, what " +
    "replaced it, and the user's own words that it comes from.",
  permission: "read",
  input: z.strictObject({
    ids: z.array(idSchema).min(1).max(20).describe("Ids of memories, messages or quotes"),
    max_tokens: createTokensSchema(2000),
  }),
  output: z.object({
    items: z.array(DETAILS_SCHEMA),
    missing: z.array(z.string()).describe("Ids that are unknown or erased"),
    left: z.array(z.string()).describe("Ids that did not fit max_tokens"),
  }),
  hints: READ_HINTS,
  async run({ ids, max_tokens: maxTokens }, call) {
    const found = new Map<string, Details | undefined>();
    for (const id of new Set(ids)) found.set(id, await findDetails(call, id));
    const missing = [...found].flatMap(([id, details]) => (details ? [] : [id]));
    const { items, left } = fitDetails([...found.values()], maxTokens);
    const notes = [
      ...(missing.length > 0 ? [`${missing.length} of the ids are unknown or erased.`] : []),
      ...(left.length > 0 ? [`${left.length} did not fit: raise max_tokens, or ask for fewer ids.`] : []),
    ];
    const text = [formatDataBlock(items, call.nonce), ...notes].filter((line) => line !== "").join("\n");
    return { text, data: { items, missing, left } };
  },
});

/** Gives the details that fit. The first one is cut rather than left out. */
function fitDetails(
  found: readonly (Details | undefined)[],
  maxTokens: number,
): { readonly items: readonly Details[]; readonly left: readonly string[] } {
  const items: Details[] = [];
  const left: string[] = [];
  let tokens = 0;
  for (const details of found) {
    if (!details) continue;
    const fitting = items.length === 0 ? cutDetails(details, maxTokens) : details;
    const cost = estimateTokens(JSON.stringify(fitting));
    if (tokens + cost > maxTokens && items.length > 0) left.push(details.id);
    else {
      tokens += cost;
      items.push(fitting);
    }
  }
  return { items, left };
}

/** A token has at least about three characters in most languages; the estimate decides. */
function cutDetails(details: Details, maxTokens: number): Details {
  if (estimateTokens(JSON.stringify(details)) <= maxTokens) return details;
  const { sources: _sources, ...rest } = details;
  let length = Math.min(rest.text.length, maxTokens * 4);
  let cut = rest;
  do {
    const text = rest.text.slice(0, length);
    cut = {
      ...rest,
      text: length < rest.text.length ? `${text.isWellFormed() ? text : text.slice(0, -1)}…` : text,
    };
    length = Math.floor(length / 2);
  } while (length > 16 && estimateTokens(JSON.stringify(cut)) > maxTokens);
  return cut;
}

const contextTool: McpTool = defineTool({
  name: "context",
  title: "Context",
  description:
    "Get all that bears on a request of the user, named in it or not: how they want to be answered, who they are, and what " +
    "they said. Use it once at the start of a task.",
  permission: "read",
  input: z.strictObject({
    request: querySchema.describe("The user's request, in their words"),
    max_tokens: createTokensSchema(1000),
  }),
  output: z.object({
    text: z.string(),
    tokens: z.int(),
    left: z.int().describe("Relevant items that did not fit max_tokens"),
    recall: z.string(),
  }),
  hints: READ_HINTS,
  async run({ request, max_tokens: maxTokens }, call) {
    const found = await call.memory.context(request, { maxTokens, signal: call.signal });
    const { text, tokens, left, recall } = found;
    return {
      text: text === "" ? NOTHING_FOUND : formatDataBlock(text, call.nonce),
      data: { text, tokens, left, recall: recall.id },
    };
  },
});

const profileTool: McpTool = defineTool({
  name: "profile",
  title: "Profile",
  description:
    "Get a short page about the user: what holds now. It changes rarely, so one call in a conversation is enough.",
  permission: "read",
  input: z.strictObject({ max_tokens: createTokensSchema(800) }),
  output: z.object({ text: z.string(), left: z.int().describe("Lines that did not fit max_tokens") }),
  hints: READ_HINTS,
  async run({ max_tokens: maxTokens }, call) {
    const { text, left } = await call.memory.profile({ maxTokens, signal: call.signal });
    return { text: text === "" ? NOTHING_KNOWN : formatDataBlock(text, call.nonce), data: { text, left } };
  },
});

const NOTHING_KNOWN = "Nothing is known about the user yet.";

/** The profile as a fenced text, for a resource. */
export async function readProfile({
  memory,
  nonce,
  signal,
}: Pick<ToolCall, "memory" | "nonce" | "signal">): Promise<string> {
  const { text } = await memory.profile({ maxTokens: 800, signal });
  return text === "" ? NOTHING_KNOWN : formatDataBlock(text, nonce);
}

export const readTools: readonly McpTool[] = [recallTool, detailsTool, contextTool, profileTool];
