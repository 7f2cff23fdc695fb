import { randomUUID } from "node:crypto";
import type { InputAttachment } from "../../src/engine/api/attachment-types.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { type ApiKeys, apiKeys, httpApp, passingKeys } from "../../src/http/index.ts";
import { createConversation } from "../../src/http/proxy/conversation/conversation-store.ts";
import { OUTPUT_FIELD, RESPONSE_PART } from "../../src/http/proxy/conversation/stored-context.ts";
import { createMemory } from "../../src/memory.ts";
import { echo } from "./echo.ts";

/** Everything of one user that has a name, and the word that only this user ever said. */
export interface TenantUser {
  readonly project: string;
  readonly user: string;
  /** Stands in their memories, messages, metadata, and in no request of anybody else. */
  readonly canary: string;
  readonly memory: string;
  /** Another memory of theirs, which depends on the first. */
  readonly other: string;
  /** A memory of theirs that has been erased. */
  readonly erased: string;
  readonly message: string;
  /** A picture of theirs, whose bytes hold the word. */
  readonly attachment: string;
  readonly session: string;
  readonly recall: string;
  readonly erasure: string;
  /** Where the list of their memories goes on. */
  readonly cursor: string;
  readonly revision: number;
  /** A grant that they gave: of the first memory, to a user whose name another project has too. */
  readonly grant: string;
  /** A grant that they received, from somebody of their project. */
  readonly received: string;
  /** The word in the memory that it lets them read: they see it, and nobody else does. */
  readonly gift: string;
  /** A group that they made. */
  readonly group: string;
  /** A key of the project, which no actor uses. */
  readonly key: string;
  readonly webhook: string;
  /** A conversation of OpenAI's API, and an item of it. */
  readonly conversation: string;
  readonly item: string;
  /** A response of OpenAI's API that is kept. */
  readonly response: string;
  /** The `Idempotency-Key` under which they said something. */
  readonly idempotencyKey: string;
}

export interface TenantRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

export interface TenantResponse {
  readonly status: number;
  readonly text: string;
  /** Without what differs from request to request: ids of requests, dates, what is left of a rate. */
  readonly headers: string;
}

export interface World {
  readonly keepsake: Keepsake;
  readonly keys: ApiKeys;
  readonly app: ReturnType<typeof httpApp>;
  /** Moves the clock. */
  pass(milliseconds: number): void;
  send(sent: TenantRequest): Promise<TenantResponse>;
  /** What one user's memory holds, as text, and the keys of the project. */
  stateOf(person: TenantUser): Promise<string>;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  let now = Date.parse("2026-03-01T12:00:00Z");
  const clock = () => new Date(now);
  const keepsake = await createMemory({ path: ":memory:", clock, webhooks: { allowsLoopback: true } });
  const keys = apiKeys({ store: passingKeys(), clock });
  const model = await echo();
  // Time enough for the memory, so that it is never left out.
  const upstream = { baseUrl: model.url };
  const app = httpApp({ keepsake, keys, proxy: { upstream, anthropic: upstream, retrievalMs: 5_000 } });
  return {
    keepsake,
    keys,
    app,
    pass: (milliseconds) => {
      now += milliseconds;
    },
    send: (sent) => answer(app, sent),
    async stateOf({ project, user }) {
      const lines: string[] = [];
      for await (const line of keepsake.scope({ project, user }).export()) {
        if (line.type !== "keepsake") lines.push(JSON.stringify(line, withoutUsage));
      }
      const held = keys.list(project).map(({ lastUsedAt: _used, ...key }) => JSON.stringify(key));
      const hooks = (await keepsake.webhooks.list(project)).map((hook) => JSON.stringify(hook));
      return [...lines, ...held, ...hooks].join("\n");
    },
    async close() {
      await model.close();
      await keepsake.close();
    },
  };
}

async function answer(
  app: World["app"],
  { method, path, body, headers = {} }: TenantRequest,
): Promise<TenantResponse> {
  const response = await app.request(path, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const changing = /^(?:x-request-id|date|(?:x-)?ratelimit.*|retry-after)$/;
  const kept = [...response.headers].filter(([name]) => !changing.test(name));
  return { status: response.status, text: await response.text(), headers: JSON.stringify(kept) };
}

/** Lets somebody say, add, recall and erase something, so that they have one of everything that has an id. */
export async function settle(
  world: World,
  project: string,
  user: string,
  canary: string,
): Promise<TenantUser> {
  const memory = world.keepsake.scope({ project, user });
  const idempotencyKey = `once-${canary}-k`;
  const session = `session-${project}-${user}`;
  const { messages } = await memory.remember(
    [
      {
        id: `message-${project}-${user}`,
        role: "user",
        content: `I use ${canary} as a tool.`,
        name: "Someone",
        metadata: { mark: canary },
      },
    ],
    { session, idempotencyKey },
  );
  const picture = { type: "image", data: Buffer.from(`GIF89a ${canary}`), description: `This is ${canary}.` };
  await memory.remember({ role: "user", content: [picture as InputAttachment] }, { extract: "never" });
  const [attachment] = (await memory.attachments()).items;
  const gone = await memory.add({ text: `Stale${canary} is over.` });
  const erasure = await memory.forget({ ids: [gone.memories[0]?.id ?? ""] });
  const other = await memory.add({ text: `The other word is ${canary} too.` });
  const added = await memory.add({ text: `The word is ${canary}.`, metadata: { mark: canary } });
  const ids = [added, other].map(({ memories }) => memories[0]?.id ?? "");
  await memory.link(ids[1] ?? "", ids[0] ?? "", { type: "depends_on" });
  const grant = await memory.share({ user: user === "cem" ? "nobody" : "cem", where: { mark: canary } });
  const giver = world.keepsake.scope({ project, user: `giver of ${user}` });
  const gift = `${canary}gift`;
  await giver.add({ text: `The word of the giver is ${gift}.` });
  const received = await giver.share({ user, everything: true });
  const group = await memory.saveGroup({ name: "home", members: [`friend of ${user}`] });
  const recalled = await memory.recall(`Which word is ${canary}?`);
  await world.keepsake.scope({ project, user }).recall("word");
  const { cursor = "" } = await memory.list({ limit: 1 });
  // Nothing listens there, and nothing is sent.
  const hook = { url: "http://127.0.0.1:9/", enabled: false, label: `of ${canary}` };
  const webhook = await world.keepsake.webhooks.create(hook, project);
  const { entry } = world.keys.create({ project, label: `of ${canary}` });
  const conversation = await createConversation(memory, {
    metadata: { mark: canary },
    items: [{ role: "assistant", content: `Here is ${canary}.` }],
  });
  return {
    project,
    user,
    canary,
    memory: ids[0] ?? "",
    other: ids[1] ?? "",
    erased: gone.memories[0]?.id ?? "",
    message: messages[0] ?? "",
    attachment: attachment?.id ?? "",
    session,
    recall: recalled.id,
    erasure: erasure.id,
    cursor,
    revision: await revisionOf(memory),
    grant: grant.id,
    received: received.id,
    gift,
    group: group.id,
    key: entry.id,
    webhook: webhook.id,
    conversation: conversation.id,
    item: conversation.items[0]?.id ?? "",
    response: await keepResponse(memory, canary),
    idempotencyKey,
  };
}

/** Keeps a response of OpenAI's API, whose input has the word. */
async function keepResponse(memory: ScopedMemory, canary: string): Promise<string> {
  const id = `resp_${randomUUID()}`;
  const said = { id: `${id}.0.msg_1`, role: "assistant" as const, content: `It was ${canary}.` };
  const record = { type: RESPONSE_PART, said: [said.id], [OUTPUT_FIELD]: [] };
  await memory.remember([said, { id, role: "system", content: [record] }], { session: "answers" });
  return id;
}

async function revisionOf(memory: ScopedMemory): Promise<number> {
  const [newest] = await memory.history(undefined, { limit: 1 });
  return newest?.revision ?? 0;
}

/** A recall by whoever may read is counted, and changes nothing else. */
const withoutUsage = (key: string, value: unknown): unknown => (key === "usage" ? undefined : value);
