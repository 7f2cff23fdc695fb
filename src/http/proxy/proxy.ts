import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { OnCall } from "../../ports/language/model-calls.ts";
import type { PromptGuard } from "../../ports/language/prompt-guard.ts";
import type { ReceiptWriter } from "../../ports/language/reply-writer.ts";
import type { MessageScanner } from "../../ports/language/vocabulary.ts";
import type { Clock } from "../../ports/system.ts";
import { type Meter, NO_METER } from "../../ports/telemetry.ts";
import { type ConversationCache, createConversationCache, getProfileTokens } from "./memory/conversations.ts";
import { createPromptLog, type PromptLog } from "./memory/given-prompts.ts";
import { createMemoryWriter, type MemoryWriter } from "./memory/memory-writer.ts";
import { createProfileCache, type ProfileCache } from "./memory/profile-cache.ts";
import type { ProviderName } from "./request/dialects.ts";
import { DEFAULT_USER_HEADERS } from "./request/user-id.ts";
import { createUpstreamClient, type Upstream, type UpstreamClient } from "./upstream/upstream-client.ts";

/** Options of the proxy for clients of OpenAI and Anthropic. */
export interface ProxyOptions {
  /** The upstream server of OpenAI's protocol. Without one, the built-in model answers from memory. */
  readonly upstream?: Upstream;
  /** The upstream server of Anthropic's Messages API. Its address may end with the version or not. */
  readonly anthropic?: Upstream;
  /** How long a request waits for memory, in ms (50). */
  readonly retrievalMs?: number;
  /** Budget for injected memory per request, in tokens (4,000). */
  readonly maxTokens?: number;
  /** Headers of other programs that name the user, in lowercase and in order of precedence (Open WebUI's, `x-user-id`). */
  readonly userHeaders?: readonly string[];
  /** Whether to refuse a chat that names no user (false: forward it without memory). */
  readonly isUserRequired?: boolean;
  /** Whether clients may use stored objects and the rest of the API with their own keys (true if the upstream has a key, or is the provider's own). */
  readonly mayPassThrough?: boolean;
  /** How many texts that models were given are kept for each user, in this process and for a day (50). 0: none. */
  readonly keptPrompts?: number;
  /** Time limit of the upstream for a whole response, in ms (600,000, as in OpenAI's clients). */
  readonly deadlineMs?: number;
  /** The current time. Default: the system's. */
  readonly clock?: Clock;
  /** Records metrics. Default: none. */
  readonly meter?: Meter;
  /** Called after each forwarded chat, with its cost. */
  readonly onCall?: OnCall;
  /** Called with errors that clients do not see: the step and the error. */
  readonly onTrouble?: (step: Step, error: unknown) => void;
}

/** Steps that can fail without failing the chat. */
export type Step = "recall" | "forget" | "store";

/** The upstream of one protocol. A key for one provider is never sent to another. */
export interface Provider {
  readonly name: ProviderName;
  readonly upstream: Upstream | undefined;
  /** Whether the upstream has separate accounts for keys, so that a client's key gives access only to that client's objects. */
  readonly hasClientAccounts: boolean;
  /** The client of the configured upstream; without one, of the provider, with the client's key. */
  readonly client: UpstreamClient;
}

/** The parts of the proxy, one set per server. */
export interface OpenAiProxy {
  readonly providers: { readonly [name in ProviderName]: Provider };
  readonly retrievalMs: number;
  readonly maxTokens: number;
  readonly deadlineMs: number;
  readonly userHeaders: readonly string[];
  readonly isUserRequired: boolean;
  readonly clock: Clock;
  readonly conversations: ConversationCache;
  readonly profiles: ProfileCache;
  /** What models were given recently. */
  readonly prompts: PromptLog;
  readonly promptGuard: PromptGuard;
  readonly messageScanner: MessageScanner;
  readonly receiptWriter: ReceiptWriter;
  readonly writer: MemoryWriter;
  readonly onCall: OnCall;
  /** Drops the cached memories of a user, or of all users, after an erasure. */
  forget(scope?: Scope): void;
  reportTrouble(step: Step, error: unknown): void;
  readonly meter: Meter;
  /** Waits until all messages are stored or have failed. No request may follow. */
  close(): Promise<void>;
}

const BASE_URLS: { readonly [name in ProviderName]: string } = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
};

function createProvider(
  name: ProviderName,
  upstream: Upstream | undefined,
  mayPassThrough: boolean | undefined,
): Provider {
  return {
    name,
    upstream,
    // A server without a key accepts any key and has one account for all.
    hasClientAccounts: mayPassThrough ?? (upstream === undefined || upstream.apiKey !== undefined),
    client: createUpstreamClient({ baseUrl: upstream?.baseUrl ?? BASE_URLS[name] }),
  };
}

/** Adds the version to an address, which Anthropic's own programs leave out. */
function withVersion({ baseUrl, ...rest }: Upstream): Upstream {
  const base = new URL(baseUrl);
  const path = base.pathname.replace(/\/+$/, "");
  base.pathname = path.endsWith("/v1") ? path : `${path}/v1`;
  return { ...rest, baseUrl: base.href };
}

export function createProxy(
  {
    promptGuard,
    messageScanner,
    receiptWriter,
  }: Pick<OpenAiProxy, "promptGuard" | "messageScanner" | "receiptWriter">,
  options: ProxyOptions = {},
): OpenAiProxy {
  const {
    upstream,
    anthropic,
    mayPassThrough,
    meter = NO_METER,
    maxTokens = 4000,
    onTrouble,
    onCall = () => {},
  } = options;
  const trouble = (step: Step, error: unknown): void => {
    meter.count("keepsake_proxy_troubles_total", { step });
    onTrouble?.(step, error);
  };
  const held = createMemoryWriter((error) => trouble("store", error));
  const talks = createConversationCache();
  const known = createProfileCache({ maxTokens: getProfileTokens(maxTokens), promptGuard });
  const providers = {
    openai: createProvider("openai", upstream, mayPassThrough),
    anthropic: createProvider("anthropic", anthropic && withVersion(anthropic), mayPassThrough),
  };
  const clock = options.clock ?? (() => new Date(performance.timeOrigin + performance.now()));
  const prompts = createPromptLog({ most: options.keptPrompts, clock });
  return {
    providers,
    retrievalMs: options.retrievalMs ?? 50,
    maxTokens,
    deadlineMs: options.deadlineMs ?? 600_000,
    userHeaders: options.userHeaders ?? DEFAULT_USER_HEADERS,
    isUserRequired: options.isUserRequired ?? false,
    clock,
    conversations: talks,
    profiles: known,
    prompts,
    promptGuard,
    messageScanner,
    receiptWriter,
    forget(scope) {
      const user = scope && toScopeKey(scope);
      talks.forget(user);
      known.forget(user);
      prompts.forget(user);
    },
    writer: held,
    onCall,
    reportTrouble: trouble,
    meter,
    async close() {
      await held.close();
      for (const { client } of Object.values(providers)) client.close();
    },
  };
}
