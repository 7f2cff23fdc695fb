import type { Received, Reply, Turn } from "./script.ts";

const toWords = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);

/**
 * What the model says when a test does not: visibly made of what it was sent. The line of everything before the question
 * that shares most words with it ("I was told: …"), else the question itself ("You said: …"). Where JSON is asked for it
 * gives the smallest value of the shape; where a tool must be called, it calls the one that is named.
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

/** The name of the tool that must be called, by `tool_choice` of either endpoint. */
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

/** The schema that an answer must have; an empty one for any JSON; undefined where it is free. */
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
