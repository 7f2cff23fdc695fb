import { createMissingEmbedder } from "../engine/embedders.ts";
import type { EmbedderPorts, EmbedderSet, Ports } from "../engine/ports.ts";
import type { UserStates } from "../engine/user-state/user-state.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { NamedEmbedderSet } from "./language-ports.ts";

/** What opens the parts that depend on an embedder. */
interface EmbedderParts {
  /** The embedders of the option `embedders`. */
  readonly named: NamedEmbedderSet;
  /** Opens the cache of users for an embedder. */
  openStates(embedder: Embedder): UserStates;
  /** Opens what reads English with the vectors of an embedder. */
  openEnglish(embedder: Embedder): Omit<EmbedderPorts, "embedder" | "states">;
}

/** The default embedder's cache of users, and the set of the other embedders if there are any. */
interface OpenedEmbedders extends Pick<Ports, "states" | "embedders"> {
  close(): Promise<void>;
}

/**
 * Opens a cache of users for each embedder, because each caches vectors of one space. An erasure reaches all of them: a user who
 * has just changed may still be in two.
 */
export function openEmbedderSet(embedder: Embedder, parts: EmbedderParts): OpenedEmbedders {
  const own = parts.openStates(embedder);
  const { names, opened: named, failures } = parts.named;
  if (names.length === 0) return { states: own, close: own.close };
  const caches = [own];
  const purgeUser: UserStates["purgeUser"] = async (scope) => {
    await Promise.all(caches.map((states) => states.purgeUser(scope)));
  };
  const opened = new Map<string, EmbedderPorts>();
  const open = (name: string): EmbedderPorts => {
    const chosen = named.get(name) ?? createMissingEmbedder(name, embedder, failures.get(name));
    const states = parts.openStates(chosen);
    caches.push(states);
    return { embedder: chosen, states: { ...states, purgeUser }, ...parts.openEnglish(chosen) };
  };
  const embedders: EmbedderSet = {
    names,
    failures,
    of(name) {
      const ports = opened.get(name) ?? open(name);
      opened.set(name, ports);
      return ports;
    },
  };
  return {
    states: { ...own, purgeUser },
    embedders,
    async close() {
      for (const states of caches) await states.close();
    },
  };
}
