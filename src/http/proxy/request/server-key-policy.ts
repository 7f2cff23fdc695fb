import { isRefusal, refuseField } from "../../problem.ts";
import { hasRepeatedName } from "./json-edits.ts";
import { FORBIDDEN_FIELDS, type ProxyRequest } from "./proxy-request.ts";
import { type BodyFields, toArray, toFields } from "./reply-reader.ts";

/** The calls that are forwarded with the server's key and a body. */
export type ProxyCall = "chat" | "responses" | "embeddings" | "messages";

/**
 * Refuses a request that could access an object stored at the upstream. Such objects belong to the account, and with the
 * server's key all callers share one account. Known safe fields pass; for others it throws a 400 error that names the field.
 *
 * There are three rules. A field with a name of an id passes only where ids are local to the request. Types of tools and
 * input items pass only if they are listed. An unlisted top-level field may contain numbers and booleans, but no text.
 */
export function checkServerKeyUse({ json, body }: ProxyRequest, call: ProxyCall): void {
  if (body.background !== undefined && body.background !== false && body.background !== null)
    throw createPolicyError("background", BACKGROUND_PROBLEM);
  checkTopFields(body, call);
  if (call === "messages") checkAnthropicTools(body.tools);
  else checkTools(body.tools, "tools");
  if (call === "responses") for (const item of toArray(body.input)) checkItem(item);
  checkIds(body, call === "messages" ? MESSAGES_IDS : OPENAI_IDS);
  if (hasRepeatedName(json, call === "messages" ? MESSAGES_IDS.opaque : OPENAI_IDS.opaque))
    throw refuseField(
      "body",
      `An object in the request has a field twice, or in two spellings. ${OWN_KEY_ADVICE}`,
    );
}

/** Refuses `background` with the built-in model. */
export function checkBuiltInUse({ background }: BodyFields): void {
  if (background === true)
    throw refuseField("background", "The built-in model answers at once: omit background.");
}

const OWN_KEY_ADVICE = "To use the whole API, send your own upstream key in x-keepsake-upstream-key.";
const BACKGROUND_PROBLEM =
  "its response is stored at the upstream and could not be read here. Omit it and wait, or stream";

const FIELD_ADVICE: { readonly [field: string]: string } = {
  previous_response_id: "Send the earlier turns in input instead.",
  conversation: "Send the earlier turns in input instead.",
  prompt: "Send its text in instructions or input instead.",
  file_id: "Send the file's content instead, in file_data or image_url.",
  file_ids: "Send the files' content in the conversation instead.",
  vector_store_ids: "Search yourself, and send the results as text.",
  container: 'Omit it, or use {"type": "auto"}.',
};

/** Top-level fields that may contain text, by call: OpenAI's, and those of compatible servers. */
const COMMON_FIELDS: readonly string[] = [
  "model",
  "user",
  "safety_identifier",
  "metadata",
  "encoding_format",
];
const MODEL_FIELDS: readonly string[] = [
  ...["access_programs", "image", "include", "moderation", "prompt_cache_key", "prompt_cache_options"],
  ...["prompt_cache_retention", "reasoning", "reasoning_effort", "service_tier", "stop", "stream_options"],
  ...["tool_choice", "tools", "verbosity", "web_search_options"],
  // vLLM, Ollama, llama.cpp, OpenRouter, Groq, xAI and similar servers.
  ...[
    "bad_words",
    "chat_template",
    "chat_template_kwargs",
    "documents",
    "enable_thinking",
    "format",
    "grammar",
  ],
  ...[
    "guided_choice",
    "guided_decoding_backend",
    "guided_grammar",
    "guided_json",
    "guided_regex",
    "json_schema",
  ],
  ...[
    "guided_whitespace_pattern",
    "keep_alive",
    "mm_processor_kwargs",
    "models",
    "options",
    "plugins",
    "provider",
  ],
  ...[
    "reasoning_format",
    "route",
    "samplers",
    "search_parameters",
    "structured_outputs",
    "think",
    "thinking",
  ],
  ...["transforms"],
];
const TOP_FIELDS: { readonly [call in ProxyCall]: ReadonlySet<string> } = {
  chat: new Set([
    ...[...COMMON_FIELDS, ...MODEL_FIELDS, "audio", "function_call", "functions", "messages", "modalities"],
    ...["prediction", "response_format"],
  ]),
  responses: new Set([
    ...[
      ...COMMON_FIELDS,
      ...MODEL_FIELDS,
      "context_management",
      "input",
      "instructions",
      "text",
      "truncation",
    ],
  ]),
  embeddings: new Set([
    ...COMMON_FIELDS,
    "input",
    "input_type",
    "prompt_name",
    "task",
    "task_type",
    "truncate",
  ]),
  messages: new Set([
    ...["model", "messages", "system", "metadata", "user", "safety_identifier", "cache_control", "tools"],
    ...["tool_choice", "mcp_servers", "stop_sequences", "thinking", "output_config", "output_format"],
    ...["context_management", "compaction", "fallbacks", "service_tier", "inference_geo", "speed"],
  ]),
};

function checkTopFields(body: BodyFields, call: ProxyCall): void {
  for (const [name, value] of Object.entries(body)) {
    // Removed before the request is forwarded.
    if (FORBIDDEN_FIELDS.has(name) || TOP_FIELDS[call].has(name) || !hasText(value)) continue;
    if (FIELD_ADVICE[name] !== undefined || isIdName(name))
      throw createPolicyError(name, STORED_OBJECT_PROBLEM);
    throw createPolicyError(name, "it is unknown to Keepsake and may name an object that others stored");
  }
}

/** Hosted tools that use only the request. File search is excluded: it reads stored files. */
const ALLOWED_TOOLS: ReadonlySet<string> = new Set([
  ...[
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use",
    "computer_use_preview",
    "custom",
    "function",
  ],
  ...[
    "image_generation",
    "local_shell",
    "mcp",
    "namespace",
    "programmatic_tool_calling",
    "shell",
    "tool_search",
  ],
]);
const WEB_SEARCH = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

function checkTools(tools: unknown, at: string): void {
  for (const tool of toArray(tools)) {
    const { type, function: own, tools: inner, container } = toFields(tool);
    const isPlain = (type === undefined || type === null) && typeof own === "object";
    const isKnown = typeof type === "string" && (ALLOWED_TOOLS.has(type) || WEB_SEARCH.test(type));
    if (!isPlain && !isKnown)
      throw createPolicyError(at, "it has a tool that may read objects that others stored");
    if (typeof container === "string") throw createPolicyError(`${at}[].container`, STORED_OBJECT_PROBLEM);
    if (at === "tools" || at === "input[].tools") checkTools(inner, `${at}[].tools`);
  }
}

/** Anthropic's hosted tools and its schemas for tools of the client. None of them reads stored files by itself. */
const ANTHROPIC_TOOL =
  /^(?:custom|mcp_toolset|(?:advisor|bash|browser_toolset|code_execution|computer|computer_toolset|memory|text_editor|tool_search_tool_bm25|tool_search_tool_regex|web_fetch|web_search)(?:_\d{8})?)$/;

function checkAnthropicTools(tools: unknown): void {
  for (const tool of toArray(tools)) {
    const { type, name } = toFields(tool);
    const isOwn = (type === undefined || type === null) && typeof name === "string";
    if (!isOwn && !(typeof type === "string" && ANTHROPIC_TOOL.test(type)))
      throw createPolicyError("tools", "it has a tool that may read objects that others stored");
  }
}

/** Input items that contain all their data. */
const ALLOWED_ITEMS: ReadonlySet<string> = new Set([
  ...[
    "additional_tools",
    "apply_patch_call",
    "apply_patch_call_output",
    "compaction_trigger",
    "computer_call",
  ],
  ...["computer_call_output", "configuration_update", "custom_tool_call", "custom_tool_call_output"],
  ...["function_call", "function_call_output", "local_shell_call", "local_shell_call_output"],
  ...[
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "program",
    "program_output",
  ],
  ...["shell_call", "shell_call_output", "tool_search_call", "tool_search_output"],
]);
/** Items that refer to stored objects unless they contain this field. */
const REQUIRED_ITEM_FIELDS: { readonly [type: string]: string } = {
  compaction: "encrypted_content",
  message: "content",
  reasoning: "encrypted_content",
  web_search_call: "action",
};

function checkItem(item: unknown): void {
  if (!isNested(item)) return;
  const fields = toFields(item);
  // An item without a type is a message or, with only an id, a reference.
  const type = fields.type ?? "message";
  if (type !== "mcp_list_tools") checkTools(fields.tools, "input[].tools");
  if (typeof type === "string" && ALLOWED_ITEMS.has(type)) return;
  const holds =
    typeof type === "string" && Object.hasOwn(REQUIRED_ITEM_FIELDS, type)
      ? REQUIRED_ITEM_FIELDS[type]
      : undefined;
  const held = holds === undefined ? undefined : fields[holds];
  const isWhole = type === "message" ? typeof fields.role === "string" && isContent(held) : hasText(held);
  // Open models send reasoning items without an id.
  const isOwn = type === "reasoning" && !hasText(fields.id);
  if (!isWhole && !isOwn)
    throw createPolicyError("input", "an item in it names a stored object, or may do so");
}

/** Whether an input item contains all its data, so that it may be forwarded with the server's key. */
export function isSelfContainedItem(item: unknown): boolean {
  if (!isNested(item)) return false;
  try {
    checkItem(item);
    checkIds({ input: [item] }, OPENAI_IDS);
    return !hasRepeatedName(JSON.stringify(item), OPENAI_IDS.opaque);
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

function isContent(value: unknown): boolean {
  return typeof value === "string" || Array.isArray(value);
}

const STORED_OBJECT_PROBLEM =
  "it names an object stored at the upstream, where all users of this server share one account";

/** Which fields of a request may contain ids, and which are not inspected. */
interface IdRules {
  /** Fields whose ids link parts of one request. */
  readonly local: ReadonlySet<string>;
  /** Fields whose values are the client's own texts or schemas: names in them have no meaning for the upstream. */
  readonly opaque: ReadonlySet<string>;
}

const LOCAL_IDS: ReadonlySet<string> = new Set([
  ...[
    "messages[].id",
    "messages[].tool_call_id",
    "messages[].tool_calls[].id",
    "messages[].reasoning_details[].id",
  ],
  ...["input[].id", "input[].call_id", "input[].approval_request_id", "input[].caller.caller_id"],
  ...["input[].pending_safety_checks[].id", "input[].acknowledged_safety_checks[].id", "plugins[].id"],
]);
const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  ...[
    "arguments",
    "chat_template_kwargs",
    "guided_json",
    "input_schema",
    "json_schema",
    "logit_bias",
    "metadata",
  ],
  ...["parameters", "schema", "structured_outputs"],
]);
const OPENAI_IDS: IdRules = { local: LOCAL_IDS, opaque: OPAQUE_FIELDS };
const MESSAGES_IDS: IdRules = {
  local: new Set([
    "messages[].content[].id",
    "messages[].content[].tool_use_id",
    "messages[].content[].caller.tool_id",
  ]),
  // The arguments of tool calls are objects here.
  opaque: new Set(["input", "input_examples", "input_schema", "metadata", "schema"]),
};
/** Maximum levels of objects and arrays. */
const MAX_LEVELS = 64;

interface NestedValue {
  readonly value: object;
  readonly at: string;
  readonly level: number;
}

function checkIds(body: BodyFields, rules: IdRules): void {
  const waiting: NestedValue[] = [{ value: body, at: "", level: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next.level > MAX_LEVELS)
      throw refuseField("body", `The request is nested deeper than ${MAX_LEVELS} levels.`);
    for (const inner of Array.isArray(next.value)
      ? listNestedElements(next)
      : listCheckedMembers(next, rules))
      waiting.push(inner);
  }
}

function* listNestedElements({ value, at, level }: NestedValue): Generator<NestedValue> {
  for (const inner of Object.values(value))
    if (isNested(inner)) yield { value: inner, at: `${at}[]`, level: level + 1 };
}

function* listCheckedMembers(
  { value, at, level }: NestedValue,
  { local, opaque }: IdRules,
): Generator<NestedValue> {
  for (const [name, inner] of Object.entries(value)) {
    const place = at === "" ? name : `${at}.${name}`;
    checkFieldName(name, { place, value: inner, local });
    if (isNested(inner) && !opaque.has(name)) yield { value: inner, at: place, level: level + 1 };
  }
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Fields that some servers accept in any case. Only the lowercase spelling is checked. */
const CASE_SENSITIVE_FIELDS: ReadonlySet<string> = new Set([
  ...["background", "container", "content", "conversation", "function", "prompt", "role", "tools", "type"],
]);

function checkFieldName(
  name: string,
  { place, value, local }: { place: string; value: unknown; local: ReadonlySet<string> },
): void {
  const small = name.toLowerCase();
  if (small !== name && CASE_SENSITIVE_FIELDS.has(small))
    throw createPolicyError(place, "write it in lowercase");
  if (isIdName(name) && !local.has(place) && hasText(value))
    throw createPolicyError(place, STORED_OBJECT_PROBLEM);
}

/** Whether a name is that of an id: "id", "file_ids", "fileId", "X-File-ID". */
function isIdName(name: string): boolean {
  return /(?:^|[_-])ids?$/i.test(name.replace(/([a-z0-9])([A-Z])/g, "$1_$2"));
}

/** Whether a value contains a non-empty text at any depth. */
function hasText(value: unknown): boolean {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string" && next !== "") return true;
    if (typeof next === "object" && next !== null)
      for (const inner of Object.values(next)) waiting.push(inner);
  }
  return false;
}

/** Field names that may be shown in errors: those of a protocol, not user text. */
const SHOWN_FIELD = /^[A-Za-z][\w.[\]-]{0,127}$/;

function createPolicyError(place: string, why: string): Error {
  const name = place.replace(/^.*\./, "").replace(/\[\]$/, "");
  const advice = Object.hasOwn(FIELD_ADVICE, name) ? `${FIELD_ADVICE[name]} ` : "";
  const field = SHOWN_FIELD.test(place) ? place : "body";
  return refuseField(
    field,
    `With this server's key, ${field === "body" ? "a field of the request" : field} is not forwarded: ${why}. ${advice}${OWN_KEY_ADVICE}`,
  );
}
