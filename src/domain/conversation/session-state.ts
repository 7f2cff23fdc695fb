import { invalid } from "../../errors.ts";
import { checkCharacters } from "../limits.ts";

/** A value of JSON: text, a number, true, false, null, a list or an object. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };
/** An object of JSON. */
export type JsonObject = { readonly [name: string]: JsonValue };

/** What a conversation is about now: small, and kept for a day after the last change or message. */
export interface SessionState {
  /** What it is about, at most 500 bytes of UTF-8. */
  readonly topic?: string;
  /** What a program needs to go on: at most 8,192 bytes as JSON. */
  readonly context?: JsonObject;
  /** Wishes for this conversation: at most 8,192 bytes as JSON. */
  readonly preferences?: JsonObject;
}

/** Changes of the state of a session. A field that is left out stays; null removes it. */
export type SessionStateChanges = {
  readonly [field in SessionStateField]?: SessionState[field] | null | undefined;
};

export const SESSION_STATE_FIELDS = ["topic", "context", "preferences"] as const;
export type SessionStateField = (typeof SESSION_STATE_FIELDS)[number];

const MAX_TOPIC_BYTES = 500;
const MAX_OBJECT_BYTES = 8192;
const MAX_DEPTH = 8;

/** Gives the fields to set, and null for those to remove. Throws `invalid_input` for a wrong or too large one. */
export function checkSessionState(changes: SessionStateChanges): SessionStateChanges {
  if (typeof changes !== "object" || changes === null || Array.isArray(changes))
    throw invalid(`the state of a session has ${SESSION_STATE_FIELDS.join(", ")}.`);
  const { topic, context, preferences } = changes;
  return {
    ...(topic === undefined ? {} : { topic: topic === null ? null : checkTopic(topic) }),
    ...(context === undefined ? {} : { context: checkObject(context, "context") }),
    ...(preferences === undefined ? {} : { preferences: checkObject(preferences, "preferences") }),
  };
}

function checkTopic(topic: unknown): string {
  if (typeof topic !== "string" || topic.trim() === "") throw invalid("topic must be a text with a word.");
  return checkCharacters(topic, "topic", MAX_TOPIC_BYTES);
}

function checkObject(value: unknown, name: string): JsonObject | null {
  if (value === null) return null;
  if (!isPlainObject(value)) throw invalid(`${name} must be an object of JSON.`);
  checkJson(value, name, 0);
  checkCharacters(JSON.stringify(value), name, MAX_OBJECT_BYTES);
  return value;
}

function isPlainObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function checkJson(value: unknown, name: string, depth: number): void {
  if (depth > MAX_DEPTH) throw invalid(`${name} is nested too deeply. Limit: ${MAX_DEPTH} levels.`);
  if (value === null || typeof value === "boolean") return;
  if (typeof value === "string") {
    checkCharacters(value, name, MAX_OBJECT_BYTES);
    return;
  }
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (!Array.isArray(value) && !isPlainObject(value))
    throw invalid(
      `${name} must be an object of JSON: texts, finite numbers, true, false, null, lists, objects.`,
    );
  for (const [key, inner] of Object.entries(value)) {
    checkCharacters(key, name, MAX_OBJECT_BYTES);
    checkJson(inner, name, depth + 1);
  }
}
