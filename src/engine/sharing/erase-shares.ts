import type { Scope } from "../../domain/scope.ts";
import { splitWords } from "../../domain/search/search-terms.ts";
import { type Grant, listGrantTexts } from "../../domain/sharing.ts";
import { createPhraseIndexInSlices } from "../../domain/text/phrase-index.ts";
import type { ShareChanges } from "../../ports/stores/sharing-store.ts";
import type { Ports } from "../ports.ts";
import { changeShares, listGrantsTo, type SharesOfUser, withoutMember } from "./grants.ts";

/** What an erasure removes, as far as it concerns grants. */
interface ErasedWords {
  /** Texts that must not remain anywhere. */
  readonly texts: readonly string[];
  /** Ids of erased memories. */
  readonly memories: readonly string[];
}

/**
 * Removes the grants of a user whose conditions contain erased words, and erased memories from grants that name them. Readers
 * lose what such a grant covers: less is shared, never more. Gives the number of removed grants.
 */
export async function eraseFromGrants(
  ports: Pick<Ports, "store">,
  scope: Scope,
  { texts, memories }: ErasedWords,
): Promise<number> {
  if (!ports.store.sharing) return 0;
  const index = await createPhraseIndexInSlices(texts.map((text) => splitWords(text)));
  const erased = new Set(memories);
  return changeShares(ports, scope, ({ grants }) => {
    const given = grants.filter(({ owner }) => owner === scope.user);
    const changed = given.map((grant) => ({
      grant,
      next: withoutErased(grant, erased, (text) => index.findIn(text).length > 0),
    }));
    const drop = changed.flatMap(({ grant, next }) => (next ? [] : [grant.id]));
    const put = changed.flatMap(({ grant, next }) => (next && next !== grant ? [next] : []));
    return drop.length + put.length === 0 ? { result: 0 } : { changes: { put, drop }, result: drop.length };
  });
}

/** The grant without erased ids; undefined if nothing of it may stay. */
function withoutErased(
  grant: Grant,
  erased: ReadonlySet<string>,
  hasErased: (text: string) => boolean,
): Grant | undefined {
  if (listGrantTexts(grant).some(hasErased)) return undefined;
  const { ids } = grant.what;
  const left = ids?.filter((id) => !erased.has(id));
  if (!ids || !left || left.length === ids.length) return grant;
  if (left.length === 0) return undefined;
  return { ...grant, what: { ...grant.what, ids: left }, version: grant.version + 1 };
}

/**
 * Removes a user from all sharing: grants given and received, own groups with the grants to them, and memberships. Gives the
 * number of removed grants.
 */
export async function eraseUserShares(ports: Pick<Ports, "store">, scope: Scope): Promise<number> {
  if (!ports.store.sharing) return 0;
  return changeShares(ports, scope, (shares) => {
    const changes = removeUser(shares, scope.user);
    const grants = new Set(shares.grants.map(({ id }) => id));
    const removed = (changes.drop ?? []).filter((id) => grants.has(id)).length;
    const isNothing = (changes.drop ?? []).length + (changes.put ?? []).length === 0;
    return isNothing ? { result: 0 } : { changes, result: removed };
  });
}

function removeUser({ grants, groups }: SharesOfUser, user: string): ShareChanges {
  const own = groups.filter(({ owner }) => owner === user);
  const drop = new Set([
    ...own.map(({ id }) => id),
    ...own.flatMap((group) => listGrantsTo(grants, group)),
    ...grants
      .filter(({ owner, reader }) => owner === user || ("user" in reader && reader.user === user))
      .map(({ id }) => id),
  ]);
  return {
    drop: [...drop],
    put: [
      ...groups
        .filter(({ owner, members }) => owner !== user && members.includes(user))
        .map((group) => withoutMember(group, user)),
      ...grants
        .filter(({ id, declinedBy }) => !drop.has(id) && declinedBy.includes(user))
        .map((grant) => ({
          ...grant,
          declinedBy: grant.declinedBy.filter((one) => one !== user),
          version: grant.version + 1,
        })),
    ],
  };
}
