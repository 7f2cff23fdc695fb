/** Programs that call hooks. */
export const HOOK_CLIENTS = ["claude-code", "codex", "cursor"] as const;
export type HookClient = (typeof HOOK_CLIENTS)[number];

/** What happens at an event: memory is given, or words are stored. */
type HookKind = "start" | "prompt" | "reply";

/** The events of each client that are used, by their own names. */
export const HOOK_EVENTS: { readonly [client in HookClient]: { readonly [event: string]: HookKind } } = {
  "claude-code": { SessionStart: "start", UserPromptSubmit: "prompt", Stop: "reply" },
  codex: { SessionStart: "start", UserPromptSubmit: "prompt", Stop: "reply" },
  cursor: { sessionStart: "start", beforeSubmitPrompt: "prompt", afterAgentResponse: "reply" },
};

/** One event, as it is handed to the process that has the memory open. */
export interface HookRequest {
  /** The id of the message that is stored: an event that is handled twice is stored once. */
  readonly id: string;
  readonly kind: HookKind;
  readonly user: string;
  readonly project: string;
  /** The user's agent; absent if the client's command names none. */
  readonly agent?: string;
  /** The conversation; absent if the client names none. */
  readonly session?: string;
  /** What the user or the model said; empty at the start of a session. */
  readonly text: string;
  /** The name of the folder that a session is started in; absent at other events, or if the client names none. */
  readonly folder?: string;
  /** When it happened (ISO 8601). */
  readonly at: string;
}

/** Longer texts are cut: people do not type them, and a hook must be quick. In characters. */
const MAX_TEXT_LENGTH = 100_000;
const MAX_NAME_LENGTH = 200;
/** A session has at most 512 bytes, and a character at most 3. */
const MAX_SESSION_LENGTH = 160;

/** Reads an event of a client. Gives undefined for one that is not used or has no words. */
export function parseHookEvent(
  client: HookClient,
  event: string,
  input: unknown,
): Pick<HookRequest, "kind" | "session" | "text" | "folder"> | undefined {
  const kind = Object.hasOwn(HOOK_EVENTS[client], event) ? HOOK_EVENTS[client][event] : undefined;
  if (kind === undefined || typeof input !== "object" || input === null) return undefined;
  const fields = input as { readonly [name: string]: unknown };
  const text =
    kind === "start"
      ? ""
      : toText(kind === "prompt" ? fields.prompt : (fields.last_assistant_message ?? fields.text));
  if (kind !== "start" && text.trim() === "") return undefined;
  const session = toText(fields.session_id ?? fields.conversation_id)
    .slice(0, MAX_SESSION_LENGTH)
    .toWellFormed();
  const folder = kind === "start" ? toFolderName(fields) : "";
  return {
    kind,
    text: text.slice(0, MAX_TEXT_LENGTH).toWellFormed(),
    ...(session === "" ? {} : { session }),
    ...(folder === "" ? {} : { folder }),
  };
}

/** The name of the folder that the client works in. Cursor gives a list; the first one counts. */
function toFolderName({ cwd, workspace_roots: roots }: { readonly [name: string]: unknown }): string {
  const path = toText(cwd) || toText(Array.isArray(roots) ? roots[0] : undefined);
  const name = path.split(/[\\/]/).findLast((part) => part !== "") ?? "";
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed();
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * Formats what a client adds to the model's context. Empty for nothing: no client misreads that. Cursor takes a context at the
 * start of a session only.
 */
export function formatHookOutput(client: HookClient, event: string, context: string): string {
  if (context === "") return "";
  if (client === "cursor")
    return event === "sessionStart" ? JSON.stringify({ additional_context: context }) : "";
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: context } });
}
