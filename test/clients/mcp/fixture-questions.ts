import { randomBytes } from "node:crypto";
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequest,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";

// Tools and a prompt of the conformance suite that ask the client for something. Since 2026-07-28 a result asks, and the client
// calls again with what it got; before, the server sends a request of its own. The SDK does the second from the first.

/** What goes through the client from one round of questions to the next: the tool, and how many rounds it had. */
interface RoundState {
  readonly tool: string;
  readonly round: number;
}

/** Signs what goes through the client, and checks what comes back. */
export const stateCodec: RequestStateCodec<RoundState> = createRequestStateCodec({ key: randomBytes(32) });

const nameSchema = z.object({ name: z.string() });
const okSchema = z.object({ ok: z.boolean() });

/** Asks the user to fill in a form with one field. */
function askFor(field: string, type: "string" | "boolean", message: string): InputRequest {
  const property = type === "string" ? { type } : { type };
  return inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [field]: property }, required: [field] },
  });
}

/** Asks the client's model. */
function askModel(text: string): InputRequest {
  return inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text } }],
    maxTokens: 100,
  });
}

/** A tool that asks in one round. */
interface AskingTool {
  /** What it asks, by key. Where the client cannot be asked any of it, it is empty. */
  questions(context: ServerContext): InputRequests;
  /** Whether the replies of this round are enough. */
  isAnswered(replies: ServerContext["mcpReq"]["inputResponses"]): boolean;
  /** Whether signed state goes through the client, and comes back. */
  readonly hasState?: boolean;
  /** What it says at the end. */
  readonly text?: string;
}

const elicitation: AskingTool = {
  questions: () => ({ user_name: askFor("name", "string", "What is your name?") }),
  isAnswered: (replies) => acceptedContent(replies, "user_name", nameSchema) !== undefined,
};

const confirmation: AskingTool = {
  questions: () => ({ confirm: askFor("ok", "boolean", "Is that right?") }),
  isAnswered: (replies) => acceptedContent(replies, "confirm", okSchema) !== undefined,
  hasState: true,
  // The suite looks for this word.
  text: "state-ok",
};

const sampling: AskingTool = {
  questions: () => ({ completion: askModel("What is the capital of Portugal?") }),
  isAnswered: (replies) => inputResponse(replies, "completion").kind === "sampling",
};

/** Tools that take no arguments, for the revision 2026-07-28. */
const ASKING_TOOLS: { readonly [name: string]: AskingTool } = {
  test_input_required_result_elicitation: elicitation,
  test_streaming_elicitation: elicitation,
  test_input_required_result_request_state: confirmation,
  test_input_required_result_tampered_state: confirmation,
  test_input_required_result_sampling: sampling,
  test_missing_capability: sampling,
  test_input_required_result_list_roots: {
    questions: () => ({ client_roots: inputRequired.listRoots() }),
    isAnswered: (replies) => inputResponse(replies, "client_roots").kind === "roots",
  },
  test_input_required_result_multiple_inputs: {
    questions: () => ({
      ...elicitation.questions({} as ServerContext),
      greeting: askModel("Say hello."),
      client_roots: inputRequired.listRoots(),
    }),
    isAnswered: (replies) =>
      elicitation.isAnswered(replies) &&
      inputResponse(replies, "greeting").kind === "sampling" &&
      inputResponse(replies, "client_roots").kind === "roots",
    hasState: true,
  },
  test_input_required_result_capabilities: {
    questions: ({ mcpReq }) => {
      const envelope: { readonly [key: string]: unknown } = mcpReq.envelope ?? {};
      const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
      return {
        ...(declared?.elicitation ? { name: askFor("name", "string", "What is your name?") } : {}),
        ...(declared?.sampling ? { greeting: askModel("Say hello.") } : {}),
        ...(declared?.roots ? { client_roots: inputRequired.listRoots() } : {}),
      };
    },
    isAnswered: (replies) => Object.keys(replies ?? {}).length > 0,
  },
};

/** Forms of the revision 2025-11-25, by tool: with defaults, and with every kind of choice. */
const FORMS = {
  test_elicitation_sep1034_defaults: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: "string", enum: ["option1", "option2"] },
    titledSingle: { type: "string", oneOf: toTitled("value1", "value2") },
    legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["The first", "The second"] },
    untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2"] } },
    titledMulti: { type: "array", items: { anyOf: toTitled("value1", "value2") } },
  },
} as const;

function toTitled(...values: readonly string[]): { const: string; title: string }[] {
  return values.map((value) => ({ const: value, title: `The ${value}` }));
}

function describeReplies(context: ServerContext, text = "Answered"): CallToolResult {
  const replies = JSON.stringify(context.mcpReq.inputResponses ?? {});
  return { content: [{ type: "text", text: `${text}: ${replies}` }] };
}

/** Asks until the replies are enough. */
async function askInOneRound(
  name: string,
  { questions, isAnswered, hasState, text }: AskingTool,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { inputResponses, requestState } = context.mcpReq;
  const state = requestState<RoundState>();
  const hasOwnState = !hasState || state?.tool === name;
  if (hasOwnState && isAnswered(inputResponses)) return describeReplies(context, text);
  const inputRequests = questions(context);
  if (Object.keys(inputRequests).length === 0) return describeReplies(context, "The client cannot be asked");
  if (!hasState) return inputRequired({ inputRequests });
  const requestStateToSend = await stateCodec.mint({ tool: name, round: 1 }, context);
  return inputRequired({ inputRequests, requestState: requestStateToSend });
}

/** Asks for a name, then for a colour. */
async function askInTwoRounds(context: ServerContext): Promise<CallToolResult | InputRequiredResult> {
  const tool = "test_input_required_result_multi_round";
  const state = context.mcpReq.requestState<RoundState>();
  const round = state?.tool === tool ? state.round + 1 : 1;
  if (round > 2) return describeReplies(context);
  const questions: { readonly [round: number]: InputRequests } = {
    1: { step1: askFor("name", "string", "What is your name?") },
    2: { step2: askFor("color", "string", "Which colour do you like?") },
  };
  return inputRequired({
    inputRequests: questions[round] ?? {},
    requestState: await stateCodec.mint({ tool, round }, context),
  });
}

/** Registers the tools and the prompt that ask the client. */
export function registerQuestions(server: McpServer): void {
  for (const [name, tool] of Object.entries(ASKING_TOOLS)) {
    server.registerTool(name, { description: "Asks the client." }, (context) =>
      askInOneRound(name, tool, context),
    );
  }
  server.registerTool(
    "test_input_required_result_multi_round",
    { description: "Asks the client twice." },
    askInTwoRounds,
  );
  for (const [name, properties] of Object.entries(FORMS)) {
    server.registerTool(name, { description: "Shows the user a form." }, (context) =>
      askOnce(context, "form", () =>
        inputRequired.elicit({
          message: "Please fill in the form.",
          requestedSchema: { type: "object", properties },
        } as Parameters<typeof inputRequired.elicit>[0]),
      ),
    );
  }
  server.registerTool(
    "test_sampling",
    { description: "Asks the client's model.", inputSchema: z.object({ prompt: z.string() }) },
    ({ prompt }, context) => askOnce(context, "completion", () => askModel(prompt)),
  );
  server.registerTool(
    "test_elicitation",
    { description: "Asks the user.", inputSchema: z.object({ message: z.string() }) },
    ({ message }, context) => askOnce(context, "username", () => askFor("username", "string", message)),
  );
  server.registerPrompt(
    "test_input_required_result_prompt",
    { description: "Asks the user for a context." },
    (context) => {
      const schema = z.object({ context: z.string() });
      const given = acceptedContent(context.mcpReq.inputResponses, "user_context", schema);
      if (given)
        return { messages: [{ role: "user", content: { type: "text", text: `About ${given.context}.` } }] };
      const question = askFor("context", "string", "Which context?");
      return inputRequired({ inputRequests: { user_context: question } });
    },
  );
}

/** Asks one thing, whatever the reply is. */
function askOnce(
  context: ServerContext,
  key: string,
  ask: () => InputRequest,
): CallToolResult | InputRequiredResult {
  if (inputResponse(context.mcpReq.inputResponses, key).kind !== "missing") return describeReplies(context);
  return inputRequired({ inputRequests: { [key]: ask() } });
}
