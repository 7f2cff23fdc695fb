import type { Prompt } from "../../ports/language-model.ts";
import { isObject, parsed } from "./json.ts";
import { shapeInWords } from "./shape-text.ts";
import type { Refused } from "./troubles.ts";

/** How the form of an answer is asked for: as a schema that the server holds the model to; as some JSON; in words alone. */
const FORMS = ["schema", "object", "words"] as const;
type Form = (typeof FORMS)[number];

/** What a server and its model take, learnt from what they refuse. One for each model that is made, kept while it lives. */
export interface Habits {
  form: Form;
  /** Whether the form has given an answer of that form, or no other did better. */
  isFormProven: boolean;
  tokensField: "max_completion_tokens" | "max_tokens";
  takesTemperature: boolean;
  takesStreamOptions: boolean;
}

/** The newer name is OpenAI's and Azure's; all others know the older one. */
export function firstHabits(model: string, { hostname }: URL): Habits {
  const isOpenai = /(?:^|\.)(?:openai\.com|azure\.com|azure\.us|azure\.cn)$/.test(hostname);
  return {
    form: "schema",
    isFormProven: false,
    tokensField: isOpenai ? "max_completion_tokens" : "max_tokens",
    // Models that think before they write take none.
    takesTemperature: !/^(?:o\d|gpt-5)/.test(model),
    takesStreamOptions: true,
  };
}

export function nextForm(form: Form): Form | undefined {
  return FORMS[FORMS.indexOf(form) + 1];
}

/** A request's body. What stays the same from call to call stands first. */
export function bodyOf(model: string, prompt: Prompt, habits: Habits, isStream: boolean): object {
  const { shape, maxTokens } = prompt;
  return {
    model,
    messages: messagesOf(prompt, habits),
    ...(shape && !isStream ? formatOf(shape, habits.form) : {}),
    ...(maxTokens === undefined ? {} : { [habits.tokensField]: maxTokens }),
    ...(habits.takesTemperature ? { temperature: 0 } : {}),
    ...(isStream ? { stream: true } : {}),
    ...(isStream && habits.takesStreamOptions ? { stream_options: { include_usage: true } } : {}),
  };
}

function messagesOf({ turns, shape }: Prompt, { form }: Habits): object[] {
  const sent = turns.map(({ role, content }) => ({ role, content: content.toWellFormed() }));
  const [first] = sent;
  if (!shape || form === "schema" || !first) return sent;
  const words = shapeInWords(shape.schema);
  if (first.role !== "system") return [{ role: "system", content: words }, ...sent];
  return [{ role: "system", content: `${first.content}\n\n${words}` }, ...sent.slice(1)];
}

function formatOf({ name, schema }: NonNullable<Prompt["shape"]>, form: Form): object {
  if (form === "schema") {
    return { response_format: { type: "json_schema", json_schema: { name, strict: true, schema } } };
  }
  return form === "object" ? { response_format: { type: "json_object" } } : {};
}

/**
 * Learns from a refusal: true where the request, made anew, may be taken. What is refused is told by the names in the
 * first words of the server's message, for some repeat what they were sent.
 */
export function amend(habits: Habits, { status, said }: Refused): boolean {
  if (status !== 400 && status !== 422) return false;
  const about = subjectOf(said);
  if (/response_format|json_schema|json_object|structured output|guided|grammar/i.test(about)) {
    const next = nextForm(habits.form);
    if (!next) return false;
    habits.form = next;
    return true;
  }
  if (/stream_options|include_usage/.test(about) && habits.takesStreamOptions) {
    habits.takesStreamOptions = false;
    return true;
  }
  if (/max_completion_tokens|max_tokens/.test(about)) {
    // The name that is refused stands there too: "use 'max_completion_tokens' instead".
    const other = habits.tokensField === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    if (other === "max_completion_tokens" && !about.includes(other)) return false;
    habits.tokensField = other;
    return true;
  }
  if (/temperature/.test(about) && habits.takesTemperature) {
    habits.takesTemperature = false;
    return true;
  }
  return false;
}

const FIRST_WORDS = 300;

function subjectOf(said: string): string {
  const body = parsed(said);
  const error = isObject(body) ? (body.error ?? body.detail ?? body.message) : undefined;
  if (isObject(error)) return `${error.param ?? ""} ${firstWords(String(error.message ?? ""))}`;
  return firstWords(typeof error === "string" ? error : JSON.stringify(error ?? said));
}

function firstWords(message: string): string {
  // What begins like a request's body is one, sent back.
  return message.slice(0, FIRST_WORDS).split('{"model"')[0] ?? "";
}

/** Azure refuses a prompt as a whole where its filter finds something in it. */
export function isFiltered({ status, said }: Refused): boolean {
  return (
    status === 400 &&
    /"(?:code|innererror)"\s*:\s*"?(?:content_filter|ResponsibleAIPolicyViolation)/.test(said)
  );
}
