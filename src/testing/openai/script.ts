import type { IncomingHttpHeaders } from "node:http";

/** A request as it came, and what became of it. */
export interface Received {
  readonly method: string;
  /** With the query: "/v1/chat/completions". */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly authorization: string | undefined;
  /** The body parsed; empty where there is none. */
  readonly body: { readonly [field: string]: unknown };
  /** The body as it came. */
  readonly raw: Buffer;
  /** When it was whole, in ms of `performance.now()`. */
  readonly at: number;
  /** What was said, oldest first, whichever endpoint it came to; with the turns of `previous_response_id`. */
  readonly turns: readonly Turn[];
  /** The answer's body, byte for byte, as far as it was sent. */
  sent: string;
  /** Whether the client went away before its answer was whole. */
  isGone: boolean;
}

/** One message of a request, from either endpoint. */
export interface Turn {
  /** "system", "developer", "user", "assistant" or "tool". */
  readonly role: string;
  readonly text: string;
  readonly images: number;
  /** On an assistant's turn: the tools that it asked for. */
  readonly toolCalls?: readonly ToolCall[];
  /** On a tool's turn: what it answers. */
  readonly toolCallId?: string;
}

export interface ToolCall {
  readonly id?: string;
  readonly name: string;
  /** An object, or the JSON text as a model would write it. */
  readonly arguments: string | { readonly [name: string]: unknown };
}

/** What the model says. A text is the usual case. */
export type Reply = string | RichReply;

export interface RichReply {
  readonly text?: string;
  /** How a stream cuts the text; without, at each word. */
  readonly parts?: readonly string[];
  readonly toolCalls?: readonly ToolCall[];
  readonly refusal?: string;
  /** Sent as `reasoning_content`, as servers of open models do. */
  readonly reasoning?: string;
  /** Overrides "stop" or "tool_calls". */
  readonly finish?: "stop" | "length" | "content_filter" | "tool_calls";
}

export type ReplyTo = (request: Received) => Reply | Promise<Reply>;

/** What the server does with a request, in place of a right answer. */
export type Trouble =
  /** An error in OpenAI's shape. */
  | {
      readonly status: number;
      readonly headers?: { readonly [name: string]: string };
      readonly code?: string | null;
    }
  /** This text as the whole body, with status 200. */
  | { readonly answer: string }
  /** The right answer changed; of a stream, nothing. */
  | { readonly change: (answer: { readonly [field: string]: unknown }) => unknown }
  /** The model says something else than the script wanted. */
  | { readonly says: (right: RichReply) => Reply }
  /** So long before the headers. */
  | { readonly afterMs: number }
  /** So long before each event of a stream. */
  | { readonly betweenMs: number }
  /** After so many events of a stream: its end without the last ones; the connection reset; an error event; or silence. */
  | { readonly afterEvents: number; readonly it: "ends" | "resets" | "errs" | "hangs" }
  /** Never answers. */
  | "hangs"
  /** Closes the connection without a word. */
  | "hangs up";

/** A trouble that only requests to paths with this ending meet. */
export interface TroubleAt {
  readonly at: string;
  readonly trouble: Trouble;
}

/** The same trouble for the next so many requests: `troubles.push(...times(3, { status: 500 }))`. */
export const times = (count: number, trouble: Trouble): Trouble[] =>
  Array.from({ length: count }, () => trouble);

/** Ways in which models spoil an answer in JSON, or any answer. */
export const SPOILT: {
  readonly [way in
    | "fenced"
    | "broken"
    | "chatty"
    | "refused"
    | "empty"
    | "only thought"
    | "thought aloud"
    | "cut"]: Trouble;
} = {
  fenced: { says: ({ text }) => `\`\`\`json\n${text ?? ""}\n\`\`\`` },
  broken: { says: ({ text = "" }) => text.slice(0, Math.max(1, text.length - 3)) },
  chatty: { says: ({ text }) => `Sure! Here it is:\n\n${text ?? ""}\n\nIs there anything else?` },
  refused: { says: () => ({ refusal: "I'm sorry, but I can't help with that." }) },
  empty: { says: () => "" },
  "only thought": { says: () => ({ reasoning: "The user wants something. Let me think about it." }) },
  "thought aloud": { says: ({ text }) => `<think>The user wants something.</think>${text ?? ""}` },
  cut: {
    says: ({ text = "" }) => ({ text: text.slice(0, Math.ceil(text.length / 2)), finish: "length" }),
  },
};
