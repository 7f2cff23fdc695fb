import type { Received, Reply, ToolCall, Turn } from "./script.ts";

type TurnFields = { readonly [field: string]: unknown };

const toFields = (value: unknown): TurnFields =>
  typeof value === "object" && value !== null ? { ...value } : {};
const toFieldsList = (value: unknown): TurnFields[] => (Array.isArray(value) ? value.map(toFields) : []);

/** The turns of a chat completions request. */
export function readChatTurns(body: TurnFields): Turn[] {
  return toFieldsList(body.messages).map((message) => {
    const calls = toFieldsList(message.tool_calls).map((call): ToolCall => {
      const { name, arguments: given } = toFields(call.function);
      return { id: String(call.id), name: String(name), arguments: String(given) };
    });
    return toTurn(String(message.role), message.content, calls, message.tool_call_id);
  });
}

/**
 * The turns of a responses request: its instructions, the earlier turns, and its input (a text or a list of
 * items).
 */
export function readResponsesTurns(body: TurnFields, earlier: readonly Turn[]): Turn[] {
  const instructions = typeof body.instructions === "string" ? [toTurn("system", body.instructions)] : [];
  const input =
    typeof body.input === "string" ? [toTurn("user", body.input)] : toFieldsList(body.input).map(toItemTurn);
  return [...instructions, ...earlier, ...input];
}

function toItemTurn(item: TurnFields): Turn {
  if (item.type === "function_call") {
    const call = { id: String(item.call_id), name: String(item.name), arguments: String(item.arguments) };
    return toTurn("assistant", "", [call]);
  }
  if (item.type === "function_call_output") return toTurn("tool", item.output, [], item.call_id);
  return toTurn(String(item.role ?? item.type), item.content);
}

function toTurn(role: string, content: unknown, calls: readonly ToolCall[] = [], answers?: unknown): Turn {
  const parts = typeof content === "string" ? [{ text: content, type: "text" }] : toFieldsList(content);
  return {
    role,
    text: parts.flatMap(({ text, refusal }) => text ?? refusal ?? []).join("\n"),
    images: parts.filter(({ type }) => type === "image_url" || type === "input_image").length,
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(answers === undefined ? {} : { toolCallId: String(answers) }),
  };
}

type RequestFields = { readonly [field: string]: unknown };

/** Why OpenAI's server would reject this chat request; undefined if it would accept it. */
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

/** Strict schemas: every property is required, and no others are allowed. */
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

const toWords = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);

/**
 * The model's answer if a test sets none; it is visibly made from the request. It is the earlier line that
 * shares most words with the question ("I was told: …"), otherwise the question itself ("You said: …"). If
 * JSON is requested, it is the smallest value of the schema. If a tool is forced, it calls that tool.
 */
export function createDefaultReply({ body, turns }: Received): Reply {
  const last = turns.at(-1);
  if (last?.role === "tool") return `The tool says: ${last.text}`;
  const tool = findForcedTool(body);
  if (tool !== undefined) return { toolCalls: [{ name: tool, arguments: {} }] };
  const schema = findSchema(body);
  if (schema !== undefined) return JSON.stringify(createSmallest(schema));
  const told = findNearestLine(turns);
  return told === undefined ? `You said: ${last?.text ?? ""}` : `I was told: ${told}`;
}

function findNearestLine(turns: readonly Turn[]): string | undefined {
  const asked = toWords(turns.at(-1)?.text ?? "");
  let best: { line: string; shared: number } | undefined;
  for (const { text } of turns.slice(0, -1)) {
    for (const line of text.split("\n")) {
      const shared = [...toWords(line)].filter((word) => asked.has(word)).length;
      if (shared > (best?.shared ?? 0)) best = { line: line.trim(), shared };
    }
  }
  return best?.line;
}

/** The name of the forced tool, from `tool_choice` of either endpoint. */
function findForcedTool(body: Received["body"]): string | undefined {
  const choice = body.tool_choice;
  if (choice === "required") {
    const [first] = (Array.isArray(body.tools) ? body.tools : []) as [
      { name?: string; function?: { name: string } }?,
    ];
    return first?.function?.name ?? first?.name;
  }
  if (typeof choice !== "object" || choice === null) return undefined;
  const named = choice as { name?: string; function?: { name: string } };
  return named.function?.name ?? named.name;
}

/** The schema of the requested answer; an empty one for any JSON; undefined for free text. */
export function findSchema(body: Received["body"]): { readonly [key: string]: unknown } | undefined {
  const chat = body.response_format as { type?: string; json_schema?: { schema?: object } } | undefined;
  const responses = (body.text as { format?: { type?: string; schema?: object } } | undefined)?.format;
  if (chat?.type === "json_object" || responses?.type === "json_object") return {};
  const schema = chat?.json_schema?.schema ?? responses?.schema;
  return schema && { ...schema };
}

interface ReplySchema {
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [name: string]: ReplySchema };
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ReplySchema[];
}

/** The smallest value of a schema: empty lists and texts, zero, false, the first of several. */
function createSmallest({ type, properties = {}, enum: values, anyOf }: ReplySchema): unknown {
  if (values) return values[0];
  if (anyOf) return createSmallest(anyOf[0] ?? {});
  const kind = typeof type === "string" ? type : type?.[0];
  if (kind === "array") return [];
  if (kind === "string") return "";
  if (kind === "number" || kind === "integer") return 0;
  if (kind === "boolean") return false;
  if (kind === "null") return null;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, createSmallest(schema)]),
  );
}
