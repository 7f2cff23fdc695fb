import { checkWhere } from "../../domain/filters/metadata-filter.ts";
import { compileTextFilter } from "../../domain/filters/text-filter.ts";
import { checkCharacters, checkCount, checkName, checkNewName } from "../../domain/limits.ts";
import { KIND_NAMES } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import {
  type Grant,
  type GrantedContent,
  isInForce,
  isReader,
  type UserGroup,
} from "../../domain/sharing.ts";
import { toIsoTime } from "../../domain/time.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { ShareChanges, SharingStore } from "../../ports/stores/sharing-store.ts";
import type { Ports } from "../ports.ts";
import type {
  GrantListOptions,
  GrantState,
  Grants,
  NewGrant,
  NewGroup,
  ShownGrant,
  ShownGroup,
} from "./sharing-types.ts";

type SharingPorts = Pick<Ports, "store" | "clock" | "ids">;

/** Limits of one user. Ended grants are removed, the oldest first, when a new one needs their place. */
const MAX_GRANTS = 500;
const MAX_GROUPS = 100;
const MAX_MEMBERS = 1000;
/** Limits of one grant. */
const MAX_IDS = 1000;
const MAX_PHRASES = 100;
const MAX_PHRASE_BYTES = 200;
const MAX_GRANT_BYTES = 65_536;

/** Writers that change the same share at once try again. */
const MAX_TRIES = 20;

/** The store of grants. Throws `unsupported` if there is none. */
export function requireSharing({ store }: Pick<Ports, "store">): SharingStore {
  if (store.sharing) return store.sharing;
  throw new MemoryError(
    "unsupported",
    `the store "${store.name}" cannot keep grants. Use another one to share.`,
  );
}

/** All that concerns a user, by kind. */
export interface SharesOfUser {
  readonly grants: readonly Grant[];
  readonly groups: readonly UserGroup[];
}

export async function readShares(sharing: SharingStore, scope: Scope): Promise<SharesOfUser> {
  const shares = await sharing.read(scope);
  return {
    grants: shares.filter((share): share is Grant => share.type === "grant"),
    groups: shares.filter((share): share is UserGroup => share.type === "group"),
  };
}

/** Reads, decides and stores; again if another writer came in between. */
export async function changeShares<Result>(
  ports: Pick<Ports, "store">,
  scope: Scope,
  decide: (shares: SharesOfUser) => { readonly changes?: ShareChanges; readonly result: Result },
): Promise<Result> {
  const sharing = requireSharing(ports);
  for (let attempt = 1; ; attempt += 1) {
    const { changes, result } = decide(await readShares(sharing, scope));
    if (!changes) return result;
    try {
      await sharing.apply(scope.project, changes);
      return result;
    } catch (error) {
      if (attempt === MAX_TRIES || !isMemoryError(error) || error.code !== "conflict") throw error;
    }
  }
}

/**
 * Lets another user, or the members of a group, read what the grant covers. Throws `invalid_input` for a wrong grant,
 * `not_found` for an unknown group, and `over_quota` for too many grants.
 */
export async function share(
  ports: SharingPorts,
  scope: Scope,
  { user, group, until, ...content }: NewGrant,
  { signal }: CallOptions = {},
): Promise<ShownGrant> {
  signal?.throwIfAborted();
  const at = ports.clock().toISOString();
  const what = await checkContent(content);
  const end = until === undefined ? undefined : toIsoTime(until, "until");
  if (end !== undefined && end <= at) throw invalid("until is in the past: name a later time.");
  if ((user === undefined) === (group === undefined))
    throw invalid("name either a user or a group to share with.");
  const to = user === undefined ? undefined : checkNewName(user, "user");
  if (to === scope.user) throw invalid("a grant is for another user.");
  const named = group === undefined ? undefined : checkName(group, "group");
  const id = ports.ids();
  return changeShares(ports, scope, ({ grants, groups }) => {
    const reader = to === undefined ? { group: findGroup(groups, named ?? "").id } : { user: to };
    const given = grants.filter(({ owner }) => owner === scope.user);
    const grant: Grant = {
      type: "grant",
      id,
      project: scope.project,
      owner: scope.user,
      reader,
      what,
      at,
      ...(end === undefined ? {} : { until: end }),
      declinedBy: [],
      version: 1,
    };
    const drop = makeRoom(given, at);
    return { changes: { put: [grant], drop }, result: toShown(grant, scope.user, groups, at) };
  });
}

/** The ids of ended grants to remove, so that one more has a place. */
function makeRoom(given: readonly Grant[], now: string): string[] {
  const excess = given.length + 1 - MAX_GRANTS;
  if (excess <= 0) return [];
  const ended = given.filter((grant) => grant.withdrawnAt !== undefined || (grant.until ?? now) < now);
  if (ended.length < excess)
    throw new MemoryError("over_quota", `too many grants: at most ${MAX_GRANTS}. Withdraw some first.`);
  return ended.slice(0, excess).map(({ id }) => id);
}

/** Checks what a grant covers. Throws `invalid_input`. */
async function checkContent(content: GrantedContent): Promise<GrantedContent> {
  for (const name of Object.keys(content)) {
    if (!CONTENT_NAMES.has(name))
      throw invalid(
        `unknown option of a grant. Known options: user, group, until, ${[...CONTENT_NAMES].join(", ")}.`,
      );
  }
  const given = Object.fromEntries(
    Object.entries(content).filter(([, value]) => value !== undefined && value !== false),
  ) as GrantedContent;
  checkFlags(given);
  checkConditions(given);
  if (given.whereText) await compileTextFilter(given.whereText);
  checkCharacters(JSON.stringify(given), "the grant", MAX_GRANT_BYTES);
  return given;
}

function checkConditions(given: GrantedContent): void {
  const { kinds, about, where, whereText, ids } = given;
  const conditions = [kinds, about, where, whereText, ids].filter((one) => one !== undefined);
  if (conditions.length === 0 && given.everything !== true)
    throw invalid("say what to share: kinds, about, where, whereText, ids, or everything: true.");
  if (conditions.length > 0 && given.everything) throw invalid("everything: true takes no other condition.");
  if (kinds) checkList(kinds, "kinds", KIND_NAMES.length).forEach(checkKind);
  if (about) for (const words of checkList(about, "about", MAX_PHRASES)) checkPhrase(words);
  if (ids) for (const id of checkList(ids, "ids", MAX_IDS)) checkName(id, "ids");
  if (where) checkNotEmpty(where, "where");
  if (where) checkWhere(where);
  if (whereText) checkNotEmpty(whereText, "whereText");
}

const CONTENT_NAMES: ReadonlySet<string> = new Set([
  "everything",
  "kinds",
  "about",
  "where",
  "whereText",
  "ids",
  "sensitive",
  "messages",
] satisfies (keyof GrantedContent)[]);

function checkFlags(given: GrantedContent): void {
  for (const name of ["everything", "sensitive", "messages"] as const) {
    if (given[name] !== undefined && given[name] !== true)
      throw invalid(`${name} can only be true or false.`);
  }
}

function checkKind(kind: unknown): void {
  if (!KIND_NAMES.some((known) => known === kind))
    throw invalid(`kinds must be from ${KIND_NAMES.join(", ")}.`);
}

function checkPhrase(words: unknown): void {
  const text = checkName(words, "about");
  checkCharacters(text, "about", MAX_PHRASE_BYTES);
  if (!/[\p{L}\p{N}]/u.test(text)) throw invalid("about takes words.");
}

function checkList(list: unknown, name: string, most: number): readonly unknown[] {
  if (!Array.isArray(list) || list.length === 0) throw invalid(`${name} takes a list of one or more values.`);
  if (list.length > most) throw invalid(`${name} takes at most ${most.toLocaleString("en")} values.`);
  return list;
}

/** An empty filter matches everything, which a grant must say explicitly. */
function checkNotEmpty(filter: unknown, name: string): void {
  if (typeof filter !== "object" || filter === null || Array.isArray(filter))
    throw invalid(`${name} takes an object.`);
  if (Object.keys(filter).length === 0)
    throw invalid(`${name} is empty. To share all memories, use everything: true.`);
}

/** Ends a grant that the user gave, at once. Withdrawing again changes nothing. Throws `not_found`. */
export async function withdraw(
  ports: SharingPorts,
  scope: Scope,
  id: string,
  { signal }: CallOptions = {},
): Promise<ShownGrant> {
  signal?.throwIfAborted();
  const now = ports.clock().toISOString();
  return changeShares(ports, scope, ({ grants, groups }) => {
    const grant = requireGrant(
      grants.filter(({ owner }) => owner === scope.user),
      id,
    );
    const next =
      grant.withdrawnAt === undefined ? { ...grant, withdrawnAt: now, version: grant.version + 1 } : grant;
    const result = toShown(next, scope.user, groups, now);
    return next === grant ? { result } : { changes: { put: [next] }, result };
  });
}

/** Declines a grant that the user received, or accepts it again. Throws `not_found`. */
export async function decline(
  ports: SharingPorts,
  scope: Scope,
  id: string,
  isDeclined: boolean,
  { signal }: CallOptions = {},
): Promise<ShownGrant> {
  signal?.throwIfAborted();
  const now = ports.clock().toISOString();
  return changeShares(ports, scope, ({ grants, groups }) => {
    const grant = requireGrant(
      grants.filter((one) => isReader(one, scope.user, groups)),
      id,
    );
    if (grant.declinedBy.includes(scope.user) === isDeclined)
      return { result: toShown(grant, scope.user, groups, now) };
    const others = grant.declinedBy.filter((user) => user !== scope.user);
    const declinedBy = isDeclined ? [...others, scope.user] : others;
    const next = { ...grant, declinedBy, version: grant.version + 1 };
    return { changes: { put: [next] }, result: toShown(next, scope.user, groups, now) };
  });
}

/** Lists the grants that a user gave and received, newest first. */
export async function listGrants(
  ports: SharingPorts,
  scope: Scope,
  { all = false, signal }: GrantListOptions = {},
): Promise<Grants> {
  signal?.throwIfAborted();
  const now = ports.clock().toISOString();
  const { grants, groups } = await readShares(requireSharing(ports), scope);
  const show = (chosen: readonly Grant[]): ShownGrant[] =>
    chosen
      .map((grant) => toShown(grant, scope.user, groups, now))
      .filter(({ state }) => all || state === "active" || state === "declined")
      .reverse();
  return {
    given: show(grants.filter(({ owner }) => owner === scope.user)),
    received: show(grants.filter((grant) => isReader(grant, scope.user, groups))),
  };
}

/** The grants by which a user may read now. */
export async function findReadable(ports: Pick<Ports, "store" | "clock">, scope: Scope): Promise<Grant[]> {
  const sharing = ports.store.sharing;
  if (!sharing) return [];
  const { grants, groups } = await readShares(sharing, scope);
  const now = ports.clock().toISOString();
  return grants.filter((grant) => isReader(grant, scope.user, groups) && isInForce(grant, scope.user, now));
}

/** A grant with this id. One that does not concern the user is as unknown as any other. Throws `not_found`. */
export function requireGrant(grants: readonly Grant[], id: string): Grant {
  const wanted = checkName(id, "id");
  const found = grants.find((grant) => grant.id === wanted);
  if (found) return found;
  throw new MemoryError("not_found", "there is no such grant.");
}

function toShown(grant: Grant, user: string, groups: readonly UserGroup[], now: string): ShownGrant {
  const { id, owner, reader, what, at, until, withdrawnAt } = grant;
  const group = "group" in reader ? groups.find((one) => one.id === reader.group) : undefined;
  const readers = listReaders(grant, user, group);
  const declinedBy = owner === user && group ? readers.filter((one) => grant.declinedBy.includes(one)) : [];
  return {
    id,
    owner,
    ...("user" in reader ? { user: reader.user } : {}),
    ...(group ? { group: { id: group.id, name: group.name } } : {}),
    what,
    at,
    ...(until === undefined ? {} : { until }),
    state: stateOf(grant, readers, now),
    ...(declinedBy.length === 0 ? {} : { declinedBy }),
    ...(withdrawnAt === undefined ? {} : { withdrawnAt }),
  };
}

/** Whose reading the state of a grant tells: the reader's; for the owner of a grant to a group, that of all its members. */
function listReaders(
  { owner, reader }: Grant,
  user: string,
  group: UserGroup | undefined,
): readonly string[] {
  if ("user" in reader) return [reader.user];
  if (owner !== user) return [user];
  return group?.members.filter((member) => member !== owner) ?? [];
}

/** A grant to an empty group is active: a member who joins can read. */
function stateOf(grant: Grant, readers: readonly string[], now: string): GrantState {
  if (grant.withdrawnAt !== undefined) return "withdrawn";
  if (grant.until !== undefined && grant.until <= now) return "expired";
  const isDeclined = readers.length > 0 && readers.every((reader) => !isInForce(grant, reader, now));
  return isDeclined ? "declined" : "active";
}

/** Makes a group, or replaces the members of the one of that name. Throws `invalid_input` and `over_quota`. */
export async function saveGroup(
  ports: SharingPorts,
  scope: Scope,
  { name: given, members: list }: NewGroup,
  { signal }: CallOptions = {},
): Promise<ShownGroup> {
  signal?.throwIfAborted();
  const name = checkNewName(given, "name");
  if (!Array.isArray(list)) throw invalid("members takes a list of users.");
  checkCount(list.length, "the number of members", 0, MAX_MEMBERS);
  const members = [...new Set(list.map((user) => checkNewName(user, "members")))];
  const at = ports.clock().toISOString();
  const id = ports.ids();
  return changeShares(ports, scope, ({ groups }) => {
    const own = groups.filter(({ owner }) => owner === scope.user);
    const before = own.find((group) => group.name === name);
    if (!before && own.length >= MAX_GROUPS)
      throw new MemoryError("over_quota", `too many groups: at most ${MAX_GROUPS}. Delete some first.`);
    const group: UserGroup = before
      ? { ...before, members, version: before.version + 1 }
      : { type: "group", id, project: scope.project, owner: scope.user, name, members, at, version: 1 };
    return { changes: { put: [group] }, result: toShownGroup(group) };
  });
}

/** The groups that a user made or is in. */
export async function listGroups(
  ports: SharingPorts,
  scope: Scope,
  { signal }: CallOptions = {},
): Promise<ShownGroup[]> {
  signal?.throwIfAborted();
  return (await readShares(requireSharing(ports), scope)).groups.map(toShownGroup);
}

/**
 * Deletes a group that the user made, with all grants to it. A member leaves it instead. Throws `not_found` for an unknown
 * group.
 */
export async function deleteGroup(
  ports: SharingPorts,
  scope: Scope,
  named: string,
  { signal }: CallOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  const wanted = checkName(named, "group");
  await changeShares(ports, scope, ({ grants, groups }) => {
    const group = findGroup(groups, wanted);
    if (group.owner !== scope.user)
      return { changes: { put: [withoutMember(group, scope.user)] }, result: undefined };
    return { changes: { drop: [group.id, ...listGrantsTo(grants, group)] }, result: undefined };
  });
}

export const withoutMember = (group: UserGroup, user: string): UserGroup => ({
  ...group,
  members: group.members.filter((one) => one !== user),
  version: group.version + 1,
});

/** The ids of the grants to a group. */
export const listGrantsTo = (grants: readonly Grant[], { id }: UserGroup): string[] =>
  grants.filter(({ reader }) => "group" in reader && reader.group === id).map((grant) => grant.id);

/** A group by its id, or by a name that only one of the user's groups has; the user's own come first. */
function findGroup(groups: readonly UserGroup[], named: string): UserGroup {
  const found = groups.filter(({ id, name }) => id === named || name === named);
  if (found.length > 1) throw invalid("several groups have this name: name the group by its id.");
  if (found[0]) return found[0];
  throw new MemoryError("not_found", "there is no such group.");
}

const toShownGroup = ({ id, owner, name, members, at }: UserGroup): ShownGroup => ({
  id,
  owner,
  name,
  members,
  at,
});
