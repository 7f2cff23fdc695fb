import type { Turn } from "./script.ts";

type Fields = { readonly [field: string]: unknown };

/** What OpenAI's server would refuse this chat request for; undefined where it would take it. */
export function chatProblem(body: Fields, turns: readonly Turn[]): string | undefined {
  if (typeof body.model !== "string") return "you must provide a model parameter";
  if (!Array.isArray(body.messages) || turns.length === 0) return "'messages' must be a list of messages";
  const roles = ["system", "developer", "user", "assistant", "tool", "function"];
  const strange = turns.find(({ role }) => !roles.includes(role));
  if (strange) return `Invalid value: '${strange.role}'. Supported values are: ${roles.join(", ")}.`;
  if (body.stream_options !== undefined && body.stream !== true)
    return "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  return toolProblem(turns) ?? formatProblem(body.response_format, turns);
}

/** The same for a responses request. */
export function responsesProblem(body: Fields, turns: readonly Turn[]): string | undefined {
  if (typeof body.model !== "string") return "you must provide a model parameter";
  if (turns.length === 0) return "Missing required parameter: 'input'.";
  const format = (body.text as { format?: Fields } | undefined)?.format;
  if (format?.type !== "json_schema") return formatProblem(format, turns);
  return typeof format.name === "string" ? schemaProblem(format) : "Missing required parameter: 'name'.";
}

function toolProblem(turns: readonly Turn[]): string | undefined {
  const called = new Set<string>();
  for (const { toolCalls = [], toolCallId } of turns) {
    for (const { id } of toolCalls) called.add(id ?? "");
    if (toolCallId !== undefined && !called.has(toolCallId))
      return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
  }
  return undefined;
}

function formatProblem(format: unknown, turns: readonly Turn[]): string | undefined {
  if (typeof format !== "object" || format === null) return undefined;
  const { type, json_schema: wrapped } = format as { type?: string; json_schema?: Fields };
  if (type === "json_object" && !turns.some(({ text }) => /json/i.test(text)))
    return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  if (type !== "json_schema") return undefined;
  return typeof wrapped?.name === "string" ? schemaProblem(wrapped) : "Missing required parameter: 'name'.";
}

/** Strict schemas: every property is required, and nothing else is allowed. */
function schemaProblem({ name, schema, strict }: Fields): string | undefined {
  if (strict !== true) return undefined;
  const at = firstLoose(schema);
  return at && `Invalid schema for response_format '${String(name)}': ${at}`;
}

function firstLoose(schema: unknown): string | undefined {
  if (Array.isArray(schema)) return schema.map(firstLoose).find((problem) => problem !== undefined);
  if (typeof schema !== "object" || schema === null) return undefined;
  const { type, properties, required, additionalProperties, ...others } = schema as Fields;
  if (type === "object") {
    if (additionalProperties !== false) return "'additionalProperties' is required to be false.";
    const names = Object.keys((properties ?? {}) as Fields);
    const listed = Array.isArray(required) ? required : [];
    if (names.some((name) => !listed.includes(name)))
      return "'required' must be an array including every key in properties.";
  }
  return firstLoose(Object.values({ ...(properties as Fields | undefined), ...others }));
}
