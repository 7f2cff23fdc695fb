import { createHash, randomBytes } from "node:crypto";
import { hasDigest, isStoredAs, listAttachmentParts } from "../../domain/attachment.ts";
import type { MemoryLink, SearchUnit } from "../../domain/change-set.ts";
import type { BackupNote } from "../../domain/operations/backup.ts";
import type { JobRun } from "../../domain/operations/job.ts";
import { MAX_RECALL_RECEIPTS } from "../../domain/recall.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { listParties, type Share, toGroupParty, toUserParty } from "../../domain/sharing.ts";
import { mapInSlices, yieldToEventLoop } from "../../domain/time-slicing.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Fault, MemoryStore } from "../../ports/memory-store.ts";
import type { EmbedderChoice, EmbedderChoices } from "../../ports/stores/embedder-choices.ts";
import type { SharingStore } from "../../ports/stores/sharing-store.ts";
import {
  collectMemoryTexts,
  collectMessageTexts,
  collectReceiptTexts,
  countOccurringTexts,
} from "../shared/erased-texts.ts";
import { createUnencryptedError } from "../shared/stored-rows.ts";
import { createMemoryAnswerCache } from "./answer-cache.ts";
import { createMemoryJobStore } from "./job-store.ts";
import { createMemoryStoreDump } from "./store-dump.ts";
import {
  applyChangeSet,
  checkChangeSet,
  createMemoryUser,
  type MemoryEmbedderChoices,
  type MemoryUser,
  type RevisionedValue,
  toChoiceKey,
} from "./user-data.ts";
import { createMemoryWebhooks, type MemoryWebhooks } from "./webhooks.ts";

export { type MemoryCacheOptions, memoryCache } from "./cache.ts";
export { memoryCalls } from "./calls.ts";
export { memoryRateLimits } from "./rate-limits.ts";
export { memorySessions } from "./sessions.ts";
export { createInMemoryVectorIndex } from "./vector-index.ts";

/** The reference `MemoryStore`: in process, not persistent, exact, and short enough to read as the specification. */
export function createInMemoryStore(): MemoryStore {
  const users = new Map<string, MemoryUser>();
  const read = (scope: Scope): MemoryUser => {
    if (isClosed) throw createClosedError();
    if (!scope.project.isWellFormed() || !scope.user.isWellFormed()) {
      throw invalid("a name is not well-formed Unicode: it contains half a surrogate pair.");
    }
    return users.get(toScopeKey(scope)) ?? createMemoryUser(scope);
  };
  let isClosed = false;
  const erasures: { readonly user: MemoryUser; readonly index: number }[] = [];
  let identity = randomBytes(16).toString("hex");
  let keysId: string | undefined;
  const backups = new Map<string, BackupNote>();
  const answers = createMemoryAnswerCache(read);
  const notes = new Map<string, JobRun>();
  const shares = new Map<string, Map<string, Share>>();
  const webhooks: MemoryWebhooks = new Map();
  const choices: MemoryEmbedderChoices = new Map();
  const clear = (taken: string): void => {
    for (const map of [users, backups, answers, notes, shares, webhooks, choices]) map.clear();
    erasures.length = 0;
    identity = taken;
  };
  const refuseClosed = (): void => {
    if (isClosed) throw createClosedError();
  };

  const embedders = createMemoryEmbedderChoices(choices, (...names) => {
    refuseClosed();
    refuseIllFormed(...names);
  });

  return {
    name: "memory",

    jobs: createMemoryJobStore(users, read, notes),

    answers: answers.port,

    sharing: createMemorySharing(shares, refuseClosed),

    webhooks: createMemoryWebhooks(webhooks, users, refuseClosed),

    embedders,

    dump: createMemoryStoreDump(
      { users, erasures, answers, notes, backups, shares, choices, clear },
      refuseClosed,
    ),

    async revision(scope) {
      return read(scope).revision;
    },

    async commit(scope, changes) {
      const user = read(scope);
      checkChangeSet(user, changes);
      users.set(toScopeKey(scope), user);
      const before = user.erasures.length;
      applyChangeSet(user, structuredClone(changes));
      if (user.erasures.length > before) erasures.push({ user, index: before });
      if (changes.erase) answers.erase(scope, changes.erase.receipt.id);
      return user.revision;
    },

    async since(scope, revision, options) {
      const user = read(scope);
      const changed = <Value>(held: Map<string, RevisionedValue<Value>>): Value[] =>
        [...held.values()].filter((one) => one.revision > revision).map(({ value }) => value);
      const gone = (ids: Map<string, number>): string[] =>
        // A user who had nothing before has nothing removed.
        [...(revision === 0 ? [] : ids)]
          .filter(([, when]) => when > revision)
          .map(([id]) => id)
          .sort();
      return structuredClone({
        revision: user.revision,
        messages: changed(user.messages),
        memories: changed(user.heads),
        units: options?.units === false ? [] : changed(user.units).sort((a, b) => (a.id < b.id ? -1 : 1)),
        gone: { units: gone(user.gone.units), memories: gone(user.gone.memories) },
        tombstones: [...user.tombstones.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1)),
        links: [...user.links.values()].sort(compareByEnds),
      });
    },

    async read(scope, { messages, memories }) {
      const user = read(scope);
      return structuredClone({
        messages: messages.flatMap((id) => user.messages.get(id)?.value ?? []),
        memories: memories.flatMap((id) => user.heads.get(id)?.value ?? []),
      });
    },

    async vectors(scope, ids, space) {
      const { units } = read(scope);
      return ids.map((id) => {
        const unit = units.get(id)?.value;
        return unit?.space === space ? unit.vector.slice() : undefined;
      });
    },

    async versions(scope, id) {
      return structuredClone(read(scope).versions.filter((version) => id === undefined || version.id === id));
    },

    async log(scope, { before = Number.POSITIVE_INFINITY, limit }) {
      const entries = read(scope).log.filter(({ revision }) => revision < before);
      return mapInSlices(entries.reverse().slice(0, limit), (entry) => structuredClone(entry));
    },

    async receipt(scope, key) {
      return structuredClone(read(scope).receipts.get(key));
    },

    async identity() {
      return identity;
    },

    async users(project) {
      return [...users.values()]
        .filter(({ scope }) => scope.project === project)
        .map(({ scope }) => scope.user)
        .sort();
    },

    encryptionMark: {
      read: async () => keysId,
      async write(id) {
        if (keysId === undefined && users.size > 0) throw createUnencryptedError();
        keysId ??= id;
      },
    },

    async check() {
      return checkAttachments(users.values());
    },

    async close() {
      isClosed = true;
    },

    searchIndexes: {
      async read(scope) {
        return structuredClone(read(scope).searchIndex);
      },

      async save(scope, index) {
        const user = read(scope);
        if (user.revision > 0 && user.revision === index.revision) user.searchIndex = structuredClone(index);
      },
    },

    recallReceipts: {
      async save(kept) {
        for (const { scope, receipts } of structuredClone(kept)) {
          const user = read(scope);
          if (user.revision === 0) continue;
          for (const receipt of receipts) {
            user.recalls.delete(receipt.id);
            user.recalls.set(receipt.id, receipt);
          }
          const most = user.recalls.size - MAX_RECALL_RECEIPTS;
          for (const id of [...user.recalls.keys()].slice(0, Math.max(0, most))) user.recalls.delete(id);
        }
      },

      async list(scope, { id, limit }) {
        const kept = [...read(scope).recalls.values()].reverse();
        return structuredClone(kept.filter((one) => id === undefined || one.id === id).slice(0, limit));
      },

      async clear(scope) {
        read(scope).recalls.clear();
      },
    },

    usage: {
      async add(added) {
        for (const { scope, uses: more } of structuredClone(added)) {
          const { heads, uses } = read(scope);
          for (const use of more) {
            if (!heads.has(use.id)) continue;
            const { count = 0, lastAt = "" } = uses.get(use.id) ?? {};
            const newest = lastAt > use.lastAt ? lastAt : use.lastAt;
            uses.set(use.id, { id: use.id, count: count + use.count, lastAt: newest });
          }
        }
      },

      async read(scope, ids) {
        const { uses } = read(scope);
        return structuredClone(ids ? ids.flatMap((id) => uses.get(id) ?? []) : [...uses.values()]);
      },
    },

    attachments: {
      async list(scope) {
        return [...read(scope).attachments.values()]
          .map(({ bytes, ...entry }) => ({ ...entry, size: bytes.length }))
          .sort((one, other) => compareStrings(one.digest, other.digest));
      },

      async read(scope, digest) {
        return structuredClone(read(scope).attachments.get(digest));
      },
    },

    erasures: {
      async list(scope) {
        const kept = scope
          ? read(scope).erasures
          : erasures.flatMap(({ user, index }) => user.erasures[index] ?? []);
        return structuredClone(kept);
      },

      async summaries() {
        return erasures.flatMap(({ user, index }) => {
          const receipt = user.erasures[index];
          if (!receipt) return [];
          return {
            receipt: receipt.id,
            project: user.scope.project,
            user: user.scope.user,
            ...(receipt.replays === undefined ? {} : { replays: receipt.replays }),
            hasTrace: user.traces.has(receipt.id),
            isVerified: receipt.verified.length > 0,
            isComplete: receipt.complete,
          };
        });
      },

      async traces(scope) {
        const kept = erasures.filter(({ user }) => !scope || user === read(scope));
        return structuredClone(
          kept.flatMap(({ user, index }) => user.traces.get(user.erasures[index]?.id ?? "") ?? []),
        );
      },

      async countDependents(scope, memories) {
        const user = read(scope);
        const ids = new Set(memories);
        const links = [...user.links.values()].filter(({ from, to }) => ids.has(from) || ids.has(to));
        const receipts = [...user.receipts.values()].filter((kept) =>
          kept.memories.some(({ id }) => ids.has(id)),
        );
        const bodies = answers.bodies(scope).length;
        return { links: links.length, blocks: user.searchIndex ? 1 : 0, answers: receipts.length + bodies };
      },

      async scrub(scope, texts) {
        const user = read(scope);
        const messages = [...user.messages.values()].flatMap(({ value }) => collectMessageTexts(value));
        const terms = [...user.units.values()].map(({ value }) => value.terms);
        const receipts = [...user.receipts.values()].flatMap(collectReceiptTexts);
        return [
          { place: "messages", found: countOccurringTexts(texts, messages) },
          { place: "memories", found: countOccurringTexts(texts, user.versions.flatMap(collectMemoryTexts)) },
          { place: "text index", found: countOccurringTexts(texts, terms) },
          { place: "receipts", found: countOccurringTexts(texts, [...receipts, ...answers.bodies(scope)]) },
        ];
      },

      async seal(scope, receipt) {
        const { erasures: kept } = read(scope);
        const index = kept.findIndex(({ id }) => id === receipt.id);
        if (index === -1) throw new MemoryError("not_found", "there is no erasure receipt with this id.");
        if (kept[index]?.complete !== true) kept[index] = structuredClone(receipt);
      },
    },

    backups: {
      async list() {
        return structuredClone([...backups.values()]);
      },

      async save(note) {
        backups.set(note.name, structuredClone(note));
      },
    },

    staleEmbeddings: {
      async users(space, limit, options) {
        const stored: MemoryUser[] = [];
        for (const user of users.values()) {
          const chosen = options && ((await embedders.read(user.scope)) ?? null);
          if (chosen === options?.chosen) stored.push(user);
        }
        return stored
          .map((user) => ({ scope: { ...user.scope }, units: listStaleUnits(user, space).length }))
          .filter(({ units }) => units > 0)
          .slice(0, limit);
      },

      async units(scope, space, limit) {
        const user = read(scope);
        const units = listStaleUnits(user, space).slice(0, limit);
        const owners = <Value>(
          type: SearchUnit["type"],
          held: Map<string, RevisionedValue<Value>>,
        ): Value[] =>
          [...new Set(units.filter((unit) => unit.type === type).map(({ owner }) => owner))].flatMap(
            (id) => held.get(id)?.value ?? [],
          );
        return structuredClone({
          revision: user.revision,
          units: units.map(({ vector: _vector, ...unit }) => unit),
          messages: owners("passage", user.messages),
          memories: owners("memory", user.heads),
        });
      },

      async count(scope, space) {
        const user = read(scope);
        return { total: user.units.size, stale: listStaleUnits(user, space).length };
      },
    },
  };
}

/** Compares the bytes of attachments with their digests, and looks for those that messages name. Nothing else can be damaged. */
async function checkAttachments(users: Iterable<MemoryUser>): Promise<Fault[]> {
  let changed = 0;
  let missing = 0;
  for (const { messages, attachments } of users) {
    const stored = new Map<string, { readonly mediaType: string; readonly size: number }>();
    for (const { digest, mediaType, bytes } of attachments.values()) {
      stored.set(digest, { mediaType, size: bytes.length });
      changed += Number(createHash("sha256").update(bytes).digest("hex") !== digest);
      await yieldToEventLoop();
    }
    const parts = [...messages.values()].flatMap(({ value }) => listAttachmentParts(value));
    missing += parts.filter((part) => hasDigest(part) && !isStoredAs(part, stored.get(part.id))).length;
  }
  return [
    { place: "attachments", problem: "whose bytes are not those that were stored", count: changed },
    { place: "attachments", problem: "missing, or not as their message says", count: missing },
  ].filter(({ count }) => count > 0);
}

function createClosedError(): MemoryError {
  return new MemoryError("unavailable", "this database is closed. Open it again.");
}

function listStaleUnits(user: MemoryUser, space: string): SearchUnit[] {
  return [...user.units.values()].map(({ value }) => value).filter((unit) => unit.space !== space);
}

function compareByEnds(one: MemoryLink, other: MemoryLink): number {
  return (
    compareStrings(one.from, other.from) ||
    compareStrings(one.type, other.type) ||
    compareStrings(one.to, other.to)
  );
}

function compareStrings(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

export { createInMemoryVectorIndex as memoryFollower } from "./vector-index.ts";
/** Earlier names, kept until version 1.0. */
export { createInMemoryStore as memoryRecord };

/** The reference `SharingStore`: the shares of each project, by id. `check` throws if the store is closed. */
function createMemorySharing(projects: Map<string, Map<string, Share>>, check: () => void): SharingStore {
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

/** The reference `EmbedderChoices`. `check` throws if the store is closed, or for names that are not well-formed. */
function createMemoryEmbedderChoices(
  choices: MemoryEmbedderChoices,
  check: (...names: readonly string[]) => void,
): EmbedderChoices {
  const find = (choice: Omit<EmbedderChoice, "embedder">) => choices.get(toChoiceKey(choice))?.embedder;
  return {
    async read({ project, user }) {
      check(project, user);
      return find({ project, user }) ?? find({ project });
    },

    async list(project) {
      check(project);
      const own = [...choices.values()].filter((choice) => choice.project === project);
      return structuredClone(
        own.sort(({ user: one = "" }, { user: other = "" }) => compareStrings(one, other)),
      );
    },

    async save(choice) {
      check(choice.project, choice.user ?? "");
      choices.set(toChoiceKey(choice), structuredClone(choice));
    },

    async remove(choice) {
      check(choice.project, choice.user ?? "");
      choices.delete(toChoiceKey(choice));
    },
  };
}
