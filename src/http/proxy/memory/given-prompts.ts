import type { LogEntry } from "../../../domain/change-set.ts";
import { type Scope, toScopeKey } from "../../../domain/scope.ts";
import { estimateTokens } from "../../../domain/text/split-text.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { Clock } from "../../../ports/system.ts";
import { createLruCache, createSweep, type LruCache } from "./lru-cache.ts";

/** How a model was given a text: in a chat through the proxy, by `POST /api/v1/context`, or by a tool of MCP. */
export type PromptDoor = "proxy" | "context" | "mcp";

/** What a model was given from memory before it answered. */
export interface GivenPrompt {
  /** When it was given (ISO 8601). */
  readonly at: string;
  readonly door: PromptDoor;
  /** The agent that the request named. */
  readonly agent?: string | undefined;
  /** The session and the id of the user's message, for a chat through the proxy. */
  readonly session?: string | undefined;
  readonly message?: string | undefined;
  /** What was asked, cut after 1,000 characters. */
  readonly request: string;
  /** The exact text, and its estimated size in tokens. */
  readonly text: string;
  readonly tokens: number;
  /** The recall behind it, which `explain` explains. */
  readonly recall?: string | undefined;
  /** The user's revision that was read, or an earlier one. */
  readonly revision: number;
}

type NewPrompt = Omit<GivenPrompt, "at" | "agent" | "tokens">;

/** Keeps what models were given recently, in this process only. */
export interface PromptLog {
  /** Call it before memory is read. Its result keeps a prompt, unless something was erased meanwhile. */
  begin(scope: Scope): (prompt: NewPrompt) => void;
  /** Gives the prompts of a user, newest first. It drops those from before an erasure by any process, or an expiry. */
  list(scope: Scope, memory: ScopedMemory): Promise<readonly GivenPrompt[]>;
  /** Drops the prompts of a user (`toScopeKey`), or of all. */
  forget(user?: string): void;
}

/** Number of prompts kept for each user, unless a setting says otherwise. */
const DEFAULT_PROMPTS = 50;
const MAX_USERS = 2000;
/** Approximate maximum size of all prompts. */
const MAX_BYTES = 16_000_000;
const DAY_MS = 86_400_000;
const MAX_REQUEST_LENGTH = 1000;
/** Overhead of a prompt beyond its texts. */
const PROMPT_BYTES = 300;

export function createPromptLog({
  most = DEFAULT_PROMPTS,
  clock,
  mostBytes = MAX_BYTES,
  keptMs = DAY_MS,
}: {
  readonly most?: number | undefined;
  readonly clock: Clock;
  readonly mostBytes?: number;
  /** How long a prompt is kept, in ms. Default: a day. */
  readonly keptMs?: number;
}): PromptLog {
  const held = createLruCache<readonly GivenPrompt[]>({
    most: MAX_USERS,
    idleMs: keptMs,
    mostBytes,
    sizeOf: measure,
  });
  let erasures = 0;
  const getAge = ({ at }: GivenPrompt): number => clock().getTime() - Date.parse(at);
  const isFresh = (prompt: GivenPrompt): boolean => getAge(prompt) < keptMs;
  const watch = watchAges(held, getAge, keptMs);
  return {
    begin(scope) {
      const before = erasures;
      return (prompt) => {
        if (most === 0 || prompt.text === "" || erasures !== before) return;
        const key = toUserKey(scope);
        const { agent } = scope;
        const { text, request, message } = prompt;
        const given: GivenPrompt = {
          ...prompt,
          request: request.slice(0, MAX_REQUEST_LENGTH).toWellFormed(),
          at: clock().toISOString(),
          tokens: estimateTokens(text),
          agent,
        };
        // A repeated request is the same turn.
        const others = (held.get(key) ?? []).filter(
          (one) => message === undefined || one.message !== message,
        );
        held.set(key, [given, ...others.filter(isFresh)].slice(0, most));
        watch();
      };
    },
    async list(scope, memory) {
      const key = toUserKey(scope);
      const all = held.get(key) ?? [];
      const bar = await findLastRemoval(memory, Math.min(...all.map(({ revision }) => revision)));
      // Other prompts may have been added or dropped meanwhile.
      const left = (held.get(key) ?? []).filter((one) => one.revision >= bar && isFresh(one));
      replacePrompts(held, key, left);
      return left.filter(({ agent }) => scope.agent === undefined || agent === scope.agent);
    },
    forget(user) {
      erasures += 1;
      if (user !== undefined) return held.delete(user);
      for (const key of [...held.keys()]) held.delete(key);
    },
  };
}

type PromptCache = LruCache<readonly GivenPrompt[]>;

/** Gives a function to call after a prompt was kept: it is removed in time, even without a further request. */
function watchAges(held: PromptCache, getAge: (prompt: GivenPrompt) => number, keptMs: number): () => void {
  return createSweep(
    () => {
      // The oldest of a user is the last.
      const ages = [...held.values()].flatMap((prompts) => prompts.slice(-1).map(getAge));
      return ages.length === 0 ? undefined : keptMs - Math.max(0, ...ages);
    },
    () => {
      for (const key of [...held.keys()])
        replacePrompts(
          held,
          key,
          (held.get(key) ?? []).filter((one) => getAge(one) < keptMs),
        );
    },
  );
}

function replacePrompts(held: PromptCache, key: string, prompts: readonly GivenPrompt[]): void {
  if (prompts.length > 0) held.set(key, prompts);
  else held.delete(key);
}

/** The same memory, whose contexts are kept. One with what other users share is not: they may take it back. */
export function withPromptLog(
  memory: ScopedMemory,
  { log, scope, door }: { readonly log: PromptLog; readonly scope: Scope; readonly door: PromptDoor },
): ScopedMemory {
  return {
    ...memory,
    async context(request, options) {
      const keep = log.begin(scope);
      const revision = await memory.revision();
      const found = await memory.context(request, options);
      const isShared = found.items.some(({ owner }) => owner !== undefined);
      if (!isShared) keep({ door, request, text: found.text, recall: found.recall.id, revision });
      return found;
    },
  };
}

/** The key of a user, with all agents. */
function toUserKey({ project, user }: Scope): string {
  return toScopeKey({ project, user });
}

function measure(prompts: readonly GivenPrompt[]): number {
  return prompts.reduce(
    (sum, { text, request }) => sum + 2 * (text.length + request.length) + PROMPT_BYTES,
    0,
  );
}

/** Log entries per read. */
const PAGE = 200;

/** The newest revision after `since` that erased something, or ended what had expired; `since` for none. */
async function findLastRemoval(memory: ScopedMemory, since: number): Promise<number> {
  if (!Number.isFinite(since)) return 0;
  if ((await memory.revision()) <= since) return since;
  let before: number | undefined;
  for (;;) {
    const entries = await memory.history(undefined, {
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    const found = entries.find((entry) => entry.revision <= since || isRemoval(entry));
    if (found) return Math.max(since, found.revision);
    const last = entries.at(-1);
    if (!last || entries.length < PAGE) return since;
    before = last.revision;
  }
}

/** Whether an entry erased something, or ended memories whose time was over. */
function isRemoval({ erased, cause, memories }: LogEntry): boolean {
  return (
    erased.length > 0 || (cause === "optimize" && memories.some(({ action }) => action === "superseded"))
  );
}
