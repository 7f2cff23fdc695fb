import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { OnCall } from "../../ports/language/model-calls.ts";
import type { Clock } from "../../ports/system.ts";
import { type Meter, NO_METER } from "../../ports/telemetry.ts";
import { type ConversationCache, createConversationCache, getProfileTokens } from "./memory/conversations.ts";
import { createMemoryWriter, type MemoryWriter } from "./memory/memory-writer.ts";
import { createProfileCache, type ProfileCache } from "./memory/profile-cache.ts";
import { DEFAULT_USER_HEADERS } from "./request/user-id.ts";
import { createUpstreamClient, type Upstream, type UpstreamClient } from "./upstream/upstream-client.ts";

export interface ProxyOptions {
  /** Where requests are passed on to; without one, the built-in model answers from memory. */
  readonly upstream?: Upstream;
  /** How long a request waits for the memory, in ms (50). */
  readonly retrievalMs?: number;
  /** A budget for all that is put into a request, in tokens (4,000). */
  readonly maxTokens?: number;
  /** Headers of other programs that name the user, in small letters and in order of precedence (Open WebUI's, `x-user-id`). */
  readonly userHeaders?: readonly string[];
  /** Whether a chat that names no user is refused (false: it is passed on without memory). */
  readonly isUserRequired?: boolean;
  /** Whether clients may use stored objects and the rest of the API with their own keys (true where the upstream has a key, or is OpenAI). */
  readonly mayPassThrough?: boolean;
  /** How long the upstream may take for all of its answer, in ms (600,000: as long as OpenAI's clients wait). */
  readonly deadlineMs?: number;
  readonly clock?: Clock;
  readonly meter?: Meter;
  readonly onCall?: OnCall;
  /** Is told of trouble that no client sees: which step, and what was thrown. */
  readonly onTrouble?: (step: Step, error: unknown) => void;
}

/** What can fail without failing the chat. */
export type Step = "recall" | "forget" | "store";

/** The proxy's parts, one set for a server. */
export interface OpenAiProxy {
  readonly upstream: Upstream | undefined;
  readonly retrievalMs: number;
  readonly maxTokens: number;
  readonly deadlineMs: number;
  readonly userHeaders: readonly string[];
  readonly isUserRequired: boolean;
  /** Whether the upstream tells accounts apart by keys, so that a client's own key reaches that client's objects alone. */
  readonly hasClientAccounts: boolean;
  readonly clock: Clock;
  readonly conversations: ConversationCache;
  readonly profiles: ProfileCache;
  readonly writer: MemoryWriter;
  /** To the upstream of the settings; where they name none, to OpenAI, with a key that the client brings. */
  readonly client: UpstreamClient;
  readonly onCall: OnCall;
  /** Drops what is held of a user's memories, or of all users' where none is named: words of it were erased. */
  forget(scope?: Scope): void;
  reportTrouble(step: Step, error: unknown): void;
  readonly meter: Meter;
  /** Resolves when all that was said is stored; no request may come after it. */
  close(): Promise<void>;
}

const OPENAI_BASE_URL = "https://api.openai.com/v1";

export function createProxy(options: ProxyOptions = {}): OpenAiProxy {
  const { upstream, meter = NO_METER, maxTokens = 4000, onTrouble, onCall = () => {} } = options;
  const trouble = (step: Step, error: unknown): void => {
    meter.count("keepsake_proxy_troubles_total", { step });
    onTrouble?.(step, error);
  };
  const held = createMemoryWriter((error) => trouble("store", error));
  const talks = createConversationCache();
  const known = createProfileCache({ maxTokens: getProfileTokens(maxTokens) });
  const out = createUpstreamClient({ baseUrl: upstream?.baseUrl ?? OPENAI_BASE_URL });
  return {
    upstream,
    retrievalMs: options.retrievalMs ?? 50,
    maxTokens,
    deadlineMs: options.deadlineMs ?? 600_000,
    userHeaders: options.userHeaders ?? DEFAULT_USER_HEADERS,
    isUserRequired: options.isUserRequired ?? false,
    // A server that needs no key takes any, and has one account for all.
    hasClientAccounts: options.mayPassThrough ?? (upstream === undefined || upstream.apiKey !== undefined),
    clock: options.clock ?? (() => new Date(performance.timeOrigin + performance.now())),
    conversations: talks,
    profiles: known,
    forget(scope) {
      const user = scope && toScopeKey(scope);
      talks.forget(user);
      known.forget(user);
    },
    writer: held,
    client: out,
    onCall,
    reportTrouble: trouble,
    meter,
    async close() {
      await held.waitForAllWrites();
      out.close();
    },
  };
}
