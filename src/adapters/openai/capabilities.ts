import type { Prompt } from "../../ports/language/language-model.ts";
import { isJsonObject, parseJson } from "../shared/model-calls/json-values.ts";
import type { RequestRefusal } from "../shared/model-calls/model-server.ts";

/** How the shape of an answer is requested: by a schema that the server enforces, as any JSON object, or in words only. */
const ANSWER_FORMS = ["schema", "object", "words"] as const;
type StructuredAnswerForm = (typeof ANSWER_FORMS)[number];

/** What a server and its model accept, learnt from refused requests. Each model object has its own. */
export interface ServerCapabilities {
  form: StructuredAnswerForm;
  /** Whether this form has produced a valid answer, or no other form did better. */
  isFormProven: boolean;
  tokensField: "max_completion_tokens" | "max_tokens";
  takesTemperature: boolean;
  takesStreamOptions: boolean;
}

/** OpenAI and Azure use the newer name; all others know the older one. */
export function guessCapabilities(model: string, { hostname }: URL): ServerCapabilities {
  const isOpenai = /(?:^|\.)(?:openai\.com|azure\.com|azure\.us|azure\.cn)$/.test(hostname);
  return {
    form: "schema",
    isFormProven: false,
    tokensField: isOpenai ? "max_completion_tokens" : "max_tokens",
    // Reasoning models accept no temperature.
    takesTemperature: !/^(?:o\d|gpt-5)/.test(model),
    takesStreamOptions: true,
  };
}

export function getNextForm(form: StructuredAnswerForm): StructuredAnswerForm | undefined {
  return ANSWER_FORMS[ANSWER_FORMS.indexOf(form) + 1];
}

/** The body of a request. Parts that are the same in each call come first. */
export function toChatBody(
  model: string,
  prompt: Prompt,
  capabilities: ServerCapabilities,
  isStream: boolean,
): object {
  const { shape, maxTokens } = prompt;
  return {
    model,
    messages: toMessages(prompt, capabilities),
    ...(shape && !isStream ? toResponseFormat(shape, capabilities.form) : {}),
    ...(maxTokens === undefined ? {} : { [capabilities.tokensField]: maxTokens }),
    ...(capabilities.takesTemperature ? { temperature: 0 } : {}),
    ...(isStream ? { stream: true } : {}),
    ...(isStream && capabilities.takesStreamOptions ? { stream_options: { include_usage: true } } : {}),
  };
}

function toMessages({ turns, shape }: Prompt, { form }: ServerCapabilities): object[] {
  const sent = turns.map(({ role, content }) => ({ role, content: content.toWellFormed() }));
  const [first] = sent;
  if (!shape || form === "schema" || !first) return sent;
  const words = describeShape(shape.schema);
  if (first.role !== "system") return [{ role: "system", content: words }, ...sent];
  return [{ role: "system", content: `${first.content}\n\n${words}` }, ...sent.slice(1)];
}

function toResponseFormat(
  { name, schema }: NonNullable<Prompt["shape"]>,
  form: StructuredAnswerForm,
): object {
  if (form === "schema") {
    return { response_format: { type: "json_schema", json_schema: { name, strict: true, schema } } };
  }
  return form === "object" ? { response_format: { type: "json_object" } } : {};
}

/**
 * Adapts to a refusal. True if a changed request may succeed. It looks for parameter names in the first words of the server's
 * message only, because some servers repeat the request.
 */
export function amendCapabilities(
  capabilities: ServerCapabilities,
  { status, said }: RequestRefusal,
): boolean {
  if (status !== 400 && status !== 422) return false;
  const subject = findRefusalSubject(said);
  if (/response_format|json_schema|json_object|structured output|guided|grammar/i.test(subject)) {
    const next = getNextForm(capabilities.form);
    if (!next) return false;
    capabilities.form = next;
    return true;
  }
  if (/stream_options|include_usage/.test(subject) && capabilities.takesStreamOptions) {
    capabilities.takesStreamOptions = false;
    return true;
  }
  if (/max_completion_tokens|max_tokens/.test(subject)) {
    // The refused name may occur too: "use 'max_completion_tokens' instead".
    const other = capabilities.tokensField === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    if (other === "max_completion_tokens" && !subject.includes(other)) return false;
    capabilities.tokensField = other;
    return true;
  }
  if (/temperature/.test(subject) && capabilities.takesTemperature) {
    capabilities.takesTemperature = false;
    return true;
  }
  return false;
}

const FIRST_WORDS = 300;

function findRefusalSubject(said: string): string {
  const body = parseJson(said);
  const error = isJsonObject(body) ? (body.error ?? body.detail ?? body.message) : undefined;
  if (isJsonObject(error)) return `${error.param ?? ""} ${takeFirstWords(String(error.message ?? ""))}`;
  return takeFirstWords(typeof error === "string" ? error : JSON.stringify(error ?? said));
}

function takeFirstWords(message: string): string {
  // Text that begins like the body of a request is a copy of it.
  return message.slice(0, FIRST_WORDS).split('{"model"')[0] ?? "";
}

/** Azure refuses a whole prompt if its filter rejects a part of it. */
export function isFiltered({ status, said }: RequestRefusal): boolean {
  return (
    status === 400 &&
    /"(?:code|innererror)"\s*:\s*"?(?:content_filter|ResponsibleAIPolicyViolation)/.test(said)
  );
}

type ShapeSchema = { readonly [key: string]: unknown };

/**
 * A JSON Schema in words, for servers that do not accept it as such. It is written like a type instead of as the schema itself,
 * because small models answer a schema with the schema.
 */
export function describeShape(schema: ShapeSchema): string {
  return (
    "Answer with one JSON object of this form and nothing else: no words before or after it, no code fence.\n" +
    describeType(schema, 0)
  );
}

function describeType(schema: ShapeSchema, depth: number): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (Array.isArray(schema.anyOf)) {
    return schema.anyOf.map((one) => describeType(isJsonObject(one) ? one : {}, depth)).join(" | ");
  }
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => describeType({ ...schema, type }, depth)).join(" | ");
  }
  if (schema.type === "array") {
    return `[${describeType(isJsonObject(schema.items) ? schema.items : {}, depth)}, …]`;
  }
  if (schema.type === "object") return describeFields(schema, depth);
  return schema.type === "integer" ? "whole number" : String(schema.type ?? "anything");
}

function describeFields({ properties }: ShapeSchema, depth: number): string {
  const indent = "  ".repeat(depth + 1);
  const lines = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, field]) => {
    const comment =
      isJsonObject(field) && typeof field.description === "string" ? ` // ${field.description}` : "";
    return `${indent}${JSON.stringify(name)}: ${describeType(isJsonObject(field) ? field : {}, depth + 1)},${comment}`;
  });
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}
