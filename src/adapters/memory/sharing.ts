import { listParties, type Share, toGroupParty, toUserParty } from "../../domain/sharing.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { SharingStore } from "../../ports/sharing-store.ts";

/** The reference `SharingStore`: the shares of each project, by id. `check` throws if the store is closed. */
export function createMemorySharing(
  projects: Map<string, Map<string, Share>>,
  check: () => void,
): SharingStore {
  return {
    async read({ project, user }) {
      check();
      refuseIllFormed(project, user);
      const shares = [...(projects.get(project)?.values() ?? [])];
      const concerns = (share: Share, parties: readonly string[]): boolean =>
        listParties(share).some((party) => parties.includes(party));
      const own = shares.filter((share) => concerns(share, [toUserParty(user)]));
      const groups = own.filter(({ type }) => type === "group").map(({ id }) => toGroupParty(id));
      const found = shares.filter((share) => concerns(share, [toUserParty(user), ...groups]));
      return structuredClone(found.sort((one, other) => (one.id < other.id ? -1 : 1)));
    },

    async apply(project, { put = [], drop = [] }) {
      check();
      refuseIllFormed(project, ...put.flatMap(listParties));
      const shares = projects.get(project) ?? new Map<string, Share>();
      const dropped = new Set(drop);
      for (const { id, version } of put) {
        const stored = dropped.has(id) ? 0 : (shares.get(id)?.version ?? 0);
        if (stored !== version - 1)
          throw new MemoryError("conflict", "a grant or group has changed meanwhile. Read it again.");
      }
      for (const id of drop) shares.delete(id);
      for (const share of structuredClone(put)) shares.set(share.id, share);
      projects.set(project, shares);
    },
  };
}

function refuseIllFormed(...names: readonly string[]): void {
  if (names.every((name) => name.isWellFormed())) return;
  throw invalid("a name is not well-formed Unicode: it contains half a surrogate pair.");
}
