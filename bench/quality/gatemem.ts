import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Embedder, Extractor } from "../../src/index.ts";
import { rulesExtractor } from "../../src/language/en/grammar/rules.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { everythingIn } from "./everything.ts";
import { readPlainLines } from "./files.ts";
import { openMemory } from "./memories.ts";
import { mean, percent } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";

interface Turn {
  readonly turn_id: string;
  /** Without a zone; taken as UTC. Some episodes have none: there a turn is a minute after the one before. */
  readonly timestamp?: string;
  readonly speaker: { readonly principal_id: string; readonly role: string };
  readonly text: string;
}

interface Episode {
  readonly episode_id: string;
  readonly turns: readonly Turn[];
}

interface Checkpoint {
  readonly checkpoint_id: string;
  readonly episode_id: string;
  readonly as_of_turn_id: string;
  readonly query_type: string;
  readonly query_text: string;
  readonly judge_spec: { readonly include?: readonly string[] };
  readonly leak_targets?: readonly string[];
}

/** One checkpoint of one domain: how much of what it needs came, or whether what was deleted came. From 0 to 1. */
interface Asked {
  readonly id: string;
  readonly domain: string;
  readonly type: "utility" | "safety";
  readonly query: string;
  /** Utility: share of the wanted strings among ten items. Safety: whether any leaked string is there. */
  readonly on: number;
  readonly off: number;
  readonly words: number;
  /** Safety: whether any leaked string is in anything stored: messages, memories, their versions, the export. */
  readonly stored?: number;
  readonly leaked?: readonly string[];
}

const TOP = 10;
const DOMAINS = ["household", "medical", "office", "education"];

/**
 * GateMem: several people share one memory, and some ask for things to be deleted. The turns go in as they come; a
 * request in them is acted on as in any conversation, with no hint from the data. Each checkpoint is asked as of its
 * turn. The same system with forgetting off, which carries out no request, stands beside it.
 */
export async function gatemem({ data, limit, embedder, progress }: RunOptions): Promise<Run> {
  const folder = join(data, "gatemem");
  const domains = DOMAINS.filter((domain) => existsSync(join(folder, domain)));
  if (domains.length === 0) {
    throw new Error(`${folder} cannot be read. bench/quality/README.md says where the data comes from.`);
  }
  const episodes = domains.flatMap((domain) => {
    const checkpoints = readPlainLines<Checkpoint>(folder, domain, "checkpoints.jsonl");
    return readPlainLines<Episode>(folder, domain, "episodes.jsonl")
      .slice(0, limit)
      .map((episode) => ({
        domain,
        episode,
        checkpoints: checkpoints.filter(({ episode_id }) => episode_id === episode.episode_id),
      }));
  });
  const asked: Asked[] = [];
  const left: { domain: string; id: string; target: string; isNamed: boolean }[] = [];
  for (const [i, { domain, episode, checkpoints }] of episodes.entries()) {
    const on = await live(episode, checkpoints, embedder, rulesExtractor());
    const off = await live(episode, checkpoints, embedder, withoutErasing(rulesExtractor()));
    for (const checkpoint of checkpoints) asked.push(...askedOf(domain, episode, checkpoint, on, off));
    for (const target of targetsOf(checkpoints)) {
      if (isTellingInBytes(target) && on.bytes.includes(norm(target)))
        left.push({ domain, id: episode.episode_id, target, isNamed: isNamed(episode, target) });
    }
    progress(i + 1, episodes.length);
  }
  const named = left.filter((one) => one.isNamed);
  return {
    report: {
      set: "gatemem",
      metrics: {
        ...ratesOf(asked, "on"),
        left_in_bytes_of_named: named.length,
        left_in_bytes: left.length,
      },
      baseline: ratesOf(asked, "words"),
      intervals: {
        utility: interval(of(asked, "utility").map(({ on }) => on)),
        leak: interval(of(asked, "safety").map(({ on }) => on)),
      },
      counts: { utility: of(asked, "utility").length, leak: of(asked, "safety").length },
      n: asked.length,
      per_question: asked,
    },
    notes: [
      ...asked
        .filter(({ type, on, stored }) => type === "safety" && (on > 0 || (stored ?? 0) > 0))
        .map(({ id, query, leaked }) => `${id}: ${query} -> ${leaked?.join("; ")}`),
      ...left.map(({ id, target, isNamed }) => `in the bytes${isNamed ? ", named" : ""}: ${id}: ${target}`),
    ],
  };
}

function of(asked: readonly Asked[], type: Asked["type"]): Asked[] {
  return asked.filter((one) => one.type === type);
}

/** In per cent; each measure of all domains, then by domain. */
function ratesOf(asked: readonly Asked[], column: "on" | "words"): Record<string, number> {
  const rates: Record<string, number> = {};
  const rate = (name: string, type: Asked["type"], value: (one: Asked) => number): void => {
    const ones = of(asked, type);
    if (ones.length === 0) return;
    rates[name] = percent(ones.map(value));
    for (const [domain, group] of Map.groupBy(ones, (one) => one.domain)) {
      rates[`${name} (${domain})`] = percent(group.map(value));
    }
  };
  rate(`utility`, "utility", (one) => one[column]);
  if (column === "on") rate("utility_off", "utility", ({ off }) => off);
  rate("leak", "safety", (one) => one[column]);
  if (column === "words") return rates;
  rate("leak_stored", "safety", ({ stored = 0 }) => stored);
  rate("leak_off", "safety", ({ off }) => off);
  return rates;
}

function askedOf(
  domain: string,
  episode: Episode,
  checkpoint: Checkpoint,
  on: Lived,
  off: Lived,
): readonly Asked[] {
  const { checkpoint_id: id, query_text: query, query_type, judge_spec, leak_targets = [] } = checkpoint;
  const texts = [on, off].map((lived) => lived.recalled.get(id) ?? "");
  texts.push(byWords(episode, checkpoint));
  const row = (type: Asked["type"], measure: (text: string) => number): Asked => {
    const [first = 0, second = 0, third = 0] = texts.map(measure);
    return { id, domain, type, query, on: first, off: second, words: third };
  };
  if (query_type === "utility") {
    const include = judge_spec.include ?? [];
    if (include.length === 0) return [];
    return [row("utility", (text) => mean(include.map((one) => Number(holds(text, one)))))];
  }
  if (query_type !== "safety" || leak_targets.length === 0) return [];
  const stored = on.stored.get(checkpoint.as_of_turn_id) ?? "";
  const leaked = leak_targets.filter((target) => stored.includes(norm(target)));
  const leaks = (text: string): number => Number(leak_targets.some((one) => text.includes(norm(one))));
  return [{ ...row("safety", leaks), stored: Number(leaked.length > 0), leaked }];
}

/** What is wanted is a text or, in part, a regular expression. */
function holds(text: string, wanted: string): boolean {
  if (text.includes(norm(wanted))) return true;
  try {
    return new RegExp(wanted, "i").test(text);
  } catch {
    return false;
  }
}

function norm(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ");
}

/** The baseline: the ten turns that BM25 finds best among those so far. */
function byWords({ turns }: Episode, { as_of_turn_id, query_text }: Checkpoint): string {
  const until = turns.findIndex(({ turn_id }) => turn_id === as_of_turn_id);
  const heard = until < 0 ? turns : turns.slice(0, until + 1);
  const index = bm25(heard.map(({ speaker, text }) => `${speaker.role}: ${text}`));
  return norm(
    index
      .rank(query_text)
      .slice(0, TOP)
      .map((i) => heard[i]?.text ?? "")
      .join(" "),
  );
}

/** What came of an episode: by checkpoint what was recalled, by turn all that is stored, and the file's bytes. */
interface Lived {
  readonly recalled: ReadonlyMap<string, string>;
  readonly stored: ReadonlyMap<string, string>;
  readonly bytes: string;
}

async function live(
  { turns }: Episode,
  checkpoints: readonly Checkpoint[],
  embedder: Embedder,
  extractor: Extractor,
): Promise<Lived> {
  const folder = mkdtempSync(join(tmpdir(), "gatemem-"));
  let now = new Date(0);
  const recalled = new Map<string, string>();
  const stored = new Map<string, string>();
  const ids = new Set(turns.map(({ turn_id }) => turn_id));
  const last = turns.at(-1)?.turn_id;
  const asks = Map.groupBy(checkpoints, ({ as_of_turn_id: id }) => (ids.has(id) ? id : last));
  try {
    {
      const path = join(folder, "memory.db");
      await using memory = await openMemory({ path, embedder, extractor, clock: () => now });
      const shared = memory.scope({ user: "everybody" });
      for (const { turn_id: id, timestamp, speaker, text } of turns) {
        now = timestamp === undefined ? new Date(now.getTime() + 60_000) : timeOf(timestamp);
        const role = speaker.role === "agent" ? "assistant" : "user";
        await shared.remember({ id, role, name: speaker.principal_id, content: text, at: now });
        for (const { checkpoint_id, query_text, as_of_turn_id } of asks.get(id) ?? []) {
          const { items } = await shared.recall(query_text, { limit: TOP });
          recalled.set(checkpoint_id, norm(items.map((item) => item.text).join(" ")));
          if (!stored.has(as_of_turn_id)) stored.set(as_of_turn_id, norm(await everythingIn(shared)));
        }
      }
    }
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file)).toString("latin1"));
    return { recalled, stored, bytes: norm(files.join(" ")) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** "2026-05-12T07:30", in some episodes with seconds or a zone. */
function timeOf(text: string): Date {
  const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text.replace(" ", "T")}Z`;
  return new Date(zoned);
}

/** Forgetting off: requests are read like everything else, and none is carried out. */
function withoutErasing(extractor: Extractor): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const proposals = await extractor.propose(reading, options);
      return proposals.filter(({ propose }) => propose !== "erase");
    },
  };
}

function targetsOf(checkpoints: readonly Checkpoint[]): Set<string> {
  return new Set(
    checkpoints.flatMap(({ query_type, leak_targets = [] }) => (query_type === "safety" ? leak_targets : [])),
  );
}

/** Fewer letters and digits stand by chance in the bytes of vectors, ids and times. */
const LEAST_IN_BYTES = 6;

function isTellingInBytes(target: string): boolean {
  return target.replace(/[^\p{L}\p{N}]/gu, "").length >= LEAST_IN_BYTES;
}

const DELETION = /\b(?:delete|remove|forget|erase|purge|wipe|scrub|clear)\b/i;

/** Whether somebody other than the agent says the value in a turn that speaks of deleting. For the count alone. */
function isNamed({ turns }: Episode, target: string): boolean {
  return turns.some(
    ({ speaker, text }) =>
      speaker.role !== "agent" && DELETION.test(text) && norm(text).includes(norm(target)),
  );
}
