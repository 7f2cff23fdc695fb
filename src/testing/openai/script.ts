import type { IncomingHttpHeaders } from "node:http";

/** A received request, and its outcome. */
export interface Received {
  /** The HTTP method. */
  readonly method: string;
  /** With the query: "/v1/chat/completions". */
  readonly path: string;
  /** The request's headers, with names in lowercase. */
  readonly headers: IncomingHttpHeaders;
  /** The `authorization` header. */
  readonly authorization: string | undefined;
  /** The parsed body; empty if there is none. */
  readonly body: { readonly [field: string]: unknown };
  /** The raw body. */
  readonly raw: Buffer;
  /** When the request was complete, in ms of `performance.now()`. */
  readonly at: number;
  /** The turns, oldest first, from either endpoint, with the turns of `previous_response_id`. */
  readonly turns: readonly Turn[];
  /** The body of the answer, byte for byte, as far as it was sent. */
  sent: string;
  /** Whether the client disconnected before its answer was complete. */
  isGone: boolean;
}

/** One message of a request, from either endpoint. */
export interface Turn {
  /** "system", "developer", "user", "assistant" or "tool". */
  readonly role: string;
  /** The text of all its parts. */
  readonly text: string;
  /** The number of images. */
  readonly images: number;
  /** On an assistant's turn: the tools that it called. */
  readonly toolCalls?: readonly ToolCall[];
  /** On a tool's turn: the call that it answers. */
  readonly toolCallId?: string;
}

/** A tool that the model calls. */
export interface ToolCall {
  /** The call's id; counted if absent. */
  readonly id?: string;
  /** The tool's name. */
  readonly name: string;
  /** An object, or the JSON text as a model would write it. */
  readonly arguments: string | { readonly [name: string]: unknown };
}

/** What the model says. Usually a text. */
export type Reply = string | RichReply;

/** What the model says, in parts, with tools or with a refusal. */
export interface RichReply {
  /** The text. */
  readonly text?: string;
  /** How a stream splits the text; by default at each word. */
  readonly parts?: readonly string[];
  /** The tools that it calls. */
  readonly toolCalls?: readonly ToolCall[];
  /** The refusal, in the place of a text. */
  readonly refusal?: string;
  /** Sent as `reasoning_content`, as servers of open models do. */
  readonly reasoning?: string;
  /** Overrides "stop" or "tool_calls". */
  readonly finish?: "stop" | "length" | "content_filter" | "tool_calls";
}

/** Gives what the model says to a request. */
export type ReplyTo = (request: Received) => Reply | Promise<Reply>;

/** What the server does instead of answering correctly. */
export type Trouble =
  /** An error in OpenAI's shape. */
  | {
      readonly status: number;
      readonly headers?: { readonly [name: string]: string };
      readonly code?: string | null;
    }
  /** This text is the whole body, with status 200. */
  | { readonly answer: string }
  /** The right answer, changed; streams are not affected. */
  | { readonly change: (answer: { readonly [field: string]: unknown }) => unknown }
  /** The model says something else than in the script. */
  | { readonly says: (right: RichReply) => Reply }
  /** Delay before the headers, in ms. */
  | { readonly afterMs: number }
  /** Delay before each event of a stream, in ms. */
  | { readonly betweenMs: number }
  /**
   * After this many events of a stream: its end without the last ones, a reset connection, an error event, or
   * silence.
   */
  | { readonly afterEvents: number; readonly it: "ends" | "resets" | "errs" | "hangs" }
  /** Never answers. */
  | "hangs"
  /** Closes the connection without an answer. */
  | "hangs up";

/** A fault only for requests to paths with this ending. */
export interface TroubleAt {
  /** The ending of the path. */
  readonly at: string;
  /** The fault. */
  readonly trouble: Trouble;
}

/** The same fault for the next `count` requests: `troubles.push(...times(3, { status: 500 }))`. */
export const times = (count: number, trouble: Trouble): Trouble[] =>
  Array.from({ length: count }, () => trouble);

/** Common ways in which models spoil JSON answers or any answers. */
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
