import type { Turn } from "./script.ts";

type RequestFields = { readonly [field: string]: unknown };

/** What OpenAI's server would refuse this chat request for; undefined where it would take it. */
export function findChatProblem(body: RequestFields, turns: readonly Turn[]): string | undefined {
  if (typeof body.model !== "string") return "you must provide a model parameter";
  if (!Array.isArray(body.messages) || turns.length === 0) return "'messages' must be a list of messages";
  const roles = ["system", "developer", "user", "assistant", "tool", "function"];
  const strange = turns.find(({ role }) => !roles.includes(role));
  if (strange) return `Invalid value: '${strange.role}'. Supported values are: ${roles.join(", ")}.`;
  if (body.stream_options !== undefined && body.stream !== true)
    return "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  return findToolProblem(turns) ?? findFormatProblem(body.response_format, turns);
}

/** The same for a responses request. */
export function findResponsesProblem(body: RequestFields, turns: readonly Turn[]): string | undefined {
  if (typeof body.model !== "string") return "you must provide a model parameter";
  if (turns.length === 0) return "Missing required parameter: 'input'.";
  const format = (body.text as { format?: RequestFields } | undefined)?.format;
  if (format?.type !== "json_schema") return findFormatProblem(format, turns);
  return typeof format.name === "string" ? findSchemaProblem(format) : "Missing required parameter: 'name'.";
}

function findToolProblem(turns: readonly Turn[]): string | undefined {
  const called = new Set<string>();
  for (const { toolCalls = [], toolCallId } of turns) {
    for (const { id } of toolCalls) called.add(id ?? "");
    if (toolCallId !== undefined && !called.has(toolCallId))
      return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
  }
  return undefined;
}

function findFormatProblem(format: unknown, turns: readonly Turn[]): string | undefined {
  if (typeof format !== "object" || format === null) return undefined;
  const { type, json_schema: wrapped } = format as { type?: string; json_schema?: RequestFields };
  if (type === "json_object" && !turns.some(({ text }) => /json/i.test(text)))
    return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  if (type !== "json_schema") return undefined;
  return typeof wrapped?.name === "string"
    ? findSchemaProblem(wrapped)
    : "Missing required parameter: 'name'.";
}

/** Strict schemas: every property is required, and nothing else is allowed. */
function findSchemaProblem({ name, schema, strict }: RequestFields): string | undefined {
  if (strict !== true) return undefined;
  const at = findFirstLoose(schema);
  return at && `Invalid schema for response_format '${String(name)}': ${at}`;
}

function findFirstLoose(schema: unknown): string | undefined {
  if (Array.isArray(schema)) return schema.map(findFirstLoose).find((problem) => problem !== undefined);
  if (typeof schema !== "object" || schema === null) return undefined;
  const { type, properties, required, additionalProperties, ...others } = schema as RequestFields;
  if (type === "object") {
    if (additionalProperties !== false) return "'additionalProperties' is required to be false.";
    const names = Object.keys((properties ?? {}) as RequestFields);
    const listed = Array.isArray(required) ? required : [];
    if (names.some((name) => !listed.includes(name)))
      return "'required' must be an array including every key in properties.";
  }
  return findFirstLoose(Object.values({ ...(properties as RequestFields | undefined), ...others }));
}
