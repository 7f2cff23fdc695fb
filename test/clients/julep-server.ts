import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type Julep from "@julep/sdk";
import OpenAI from "openai";

/** A running server of Julep's protocol. */
export interface JulepServer extends AsyncDisposable {
  /** The base URL for a client. */
  readonly url: string;
  /** Everything that the server holds, as JSON: agents, users, sessions and their history. */
  dump(): string;
  close(): Promise<void>;
}

/** A model of OpenAI's protocol, which Julep calls. */
export interface UpstreamModel {
  readonly url: string;
  readonly apiKey: string;
}

type ChatMessage = Julep.SessionChatParams.Message;

/** A session, with what Julep keeps of it. */
interface KeptSession {
  readonly session: Julep.Session;
  readonly agent: string | undefined;
  readonly entries: Julep.Entry[];
}

interface ServerState {
  readonly apiKey: string;
  readonly model: OpenAI;
  readonly agents: Map<string, Julep.Agent>;
  readonly users: Map<string, Julep.User>;
  readonly sessions: Map<string, KeptSession>;
}

/** Answers a request: the status, and the body. */
type RouteHandler = (
  state: ServerState,
  id: string,
  body: never,
) => { readonly status: number; readonly body: object } | Promise<{ status: number; body: object }>;

const now = (): string => new Date().toISOString();
const stamped = () => ({ id: randomUUID(), created_at: now(), updated_at: now() });
const NOT_FOUND = { status: 404, body: { detail: "Not found" } };

const ROUTES: { readonly [route: string]: RouteHandler } = {
  "POST /agents": ({ agents }, _id, body: Julep.AgentCreateParams) => {
    const agent: Julep.Agent = { ...stamped(), ...body };
    agents.set(agent.id, agent);
    return { status: 201, body: agent };
  },
  "POST /users": ({ users }, _id, body: Julep.UserCreateParams) => {
    const user: Julep.User = { ...stamped(), ...body };
    users.set(user.id, user);
    return { status: 201, body: user };
  },
  "POST /sessions": ({ sessions }, _id, { agent, ...body }: Julep.SessionCreateParams) => {
    // Julep renders templates unless it is told not to.
    const session: Julep.Session = { ...stamped(), render_templates: true, ...body };
    sessions.set(session.id, { session, agent: agent ?? undefined, entries: [] });
    return { status: 201, body: session };
  },
  "GET /sessions/:id": ({ sessions }, id) => {
    const kept = sessions.get(id);
    return kept ? { status: 200, body: kept.session } : NOT_FOUND;
  },
  "DELETE /sessions/:id": ({ sessions }, id) => {
    const body: Julep.SessionDeleteResponse = { id, deleted_at: now(), jobs: [] };
    return sessions.delete(id) ? { status: 202, body } : NOT_FOUND;
  },
  "GET /sessions/:id/history": ({ sessions }, id) => {
    const kept = sessions.get(id);
    if (!kept) return NOT_FOUND;
    const { entries } = kept;
    const body: Julep.History = { session_id: id, created_at: now(), entries, relations: [] };
    return { status: 200, body };
  },
  "POST /sessions/:id/chat": chat,
};

/** A chat as Julep's own server holds one: the instructions, the history, and the new messages, each a template. */
async function chat(
  { sessions, agents, model }: ServerState,
  id: string,
  { messages, save = true, tools }: Julep.SessionChatParams,
): Promise<{ status: number; body: object }> {
  const kept = sessions.get(id);
  if (!kept) return NOT_FOUND;
  const { session, entries } = kept;
  const agent = agents.get(kept.agent ?? "");
  const system = [agent?.instructions ?? [], session.situation ?? []].flat().join("\n");
  const said = session.render_templates ? messages.map(renderTemplates) : messages;
  const sent = [
    ...(system === "" ? [] : [{ role: "system", content: system }]),
    ...entries.map(({ role, content }) => ({ role, content })),
    ...said,
  ];
  const completion = await model.chat.completions.create({
    model: agent?.model ?? "gpt-4o-mini",
    messages: sent as OpenAI.ChatCompletionMessageParam[],
    ...(tools ? { tools: tools.map(toOpenaiTool) } : {}),
  });
  const choices = completion.choices.map(toChoice);
  const answered = choices[0]?.message;
  if (save) entries.push(...said.map((message) => toEntry(message, "api_request")));
  if (save && answered) entries.push(toEntry(answered, "api_response"));
  const body: Julep.ChatResponse = { id: randomUUID(), created_at: now(), choices, docs: [], jobs: [] };
  return { status: 201, body };
}

/** As Jinja does it where no variable has the name: an expression is empty, and a statement is an error. */
function renderTemplates(message: ChatMessage): ChatMessage {
  if (typeof message.content !== "string") return message;
  if (/\{%/.test(message.content)) throw new Error("unknown tag");
  return { ...message, content: message.content.replace(/\{\{.*?\}\}|\{#.*?#\}/gs, "") };
}

function toOpenaiTool(tool: Julep.SessionChatParams.Tool): OpenAI.ChatCompletionFunctionTool {
  const parameters = tool.function?.parameters as OpenAI.FunctionParameters;
  return { type: "function", function: { name: tool.name, parameters } };
}

function toChoice({
  index,
  message,
  finish_reason,
}: OpenAI.ChatCompletion.Choice): Julep.ChatResponse.SingleChatOutput {
  const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
  const tool_calls = calls.map(({ id, type, function: { name, arguments: given } }) => ({
    id,
    type,
    function: { name, arguments: given },
  }));
  const { content } = message;
  const reason = finish_reason === "function_call" ? "tool_calls" : finish_reason;
  return {
    index,
    finish_reason: reason,
    message: { role: "assistant", content, ...(tool_calls.length > 0 ? { tool_calls } : {}) },
  };
}

function toEntry(
  { role, content }: Pick<ChatMessage, "role"> & { readonly content?: unknown },
  source: Julep.Entry["source"],
): Julep.Entry {
  const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
  const { id, created_at } = stamped();
  return {
    id,
    created_at,
    timestamp: created_at,
    role,
    content: text,
    source,
    token_count: 1,
    tokenizer: "",
  };
}

/**
 * A local server of the part of Julep's protocol that chats use, in the types of Julep's own client: agents, users,
 * sessions, chat and history. As Julep does, it saves what is said unless `save` is false, and renders messages as templates.
 */
export async function julepServer(
  upstream: UpstreamModel,
  { apiKey = "julep-key" }: { readonly apiKey?: string } = {},
): Promise<JulepServer> {
  const state: ServerState = {
    apiKey,
    model: new OpenAI({ baseURL: upstream.url, apiKey: upstream.apiKey, maxRetries: 0 }),
    agents: new Map(),
    users: new Map(),
    sessions: new Map(),
  };
  const server = createServer((request, response) => {
    void answer(state, request, response).catch(() => send(response, 500, { detail: "Internal error" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dump: () => JSON.stringify([state.agents, state.users, state.sessions].map((map) => [...map.values()])),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function answer(state: ServerState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  if (request.headers.authorization !== `Bearer ${state.apiKey}`)
    return send(response, 403, { detail: "Invalid key" });
  const [path = ""] = (request.url ?? "").split("?");
  const [, resource = "", id = "", call] = path.split("/");
  const route = [`/${resource}`, id && "/:id", call && `/${call}`].filter(Boolean).join("");
  const handle = ROUTES[`${request.method} ${route}`];
  if (!handle) return send(response, 404, { detail: "Not found" });
  const { status, body } = await handle(state, id, (text === "" ? {} : JSON.parse(text)) as never);
  send(response, status, body);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
