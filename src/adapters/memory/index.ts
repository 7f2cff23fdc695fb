import { randomBytes } from "node:crypto";
import type { BackupNote } from "../../domain/backup.ts";
import type { Link, Unit } from "../../domain/change-set.ts";
import type { JobNote } from "../../domain/job.ts";
import { MOST_RECALLS } from "../../domain/recall-receipt.ts";
import { type Scope, scopeKey } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Record } from "../../ports/record.ts";
import { countHeld, wordsOfMemory, wordsOfMessage, wordsOfReceipt } from "../shared/held-words.ts";
import { houseKeeping } from "./house-keeping.ts";
import { heldAnswers } from "./kept-answers.ts";
import { apply, type Held, newUser, refuseWrong, type User } from "./user.ts";
import { heldWhole } from "./whole.ts";

export { type MemoryCacheOptions, memoryCache } from "./cache.ts";
export { memoryCalls } from "./calls.ts";
export { memoryFollower } from "./follower.ts";
export { memoryRateLimits } from "./rate-limits.ts";
export { memorySessions } from "./sessions.ts";

/** The reference `Record`: in process, exact, and short enough to read as the specification. It keeps nothing. */
export function memoryRecord(): Record {
  const users = new Map<string, User>();
  const read = (scope: Scope): User => {
    if (isClosed) throw closed();
    if (!scope.project.isWellFormed() || !scope.user.isWellFormed()) {
      throw invalid("a name is no well-formed Unicode: it holds half a surrogate pair.");
    }
    return users.get(scopeKey(scope)) ?? newUser(scope);
  };
  let isClosed = false;
  const erasures: { readonly user: User; readonly index: number }[] = [];
  let identity = randomBytes(16).toString("hex");
  const backups = new Map<string, BackupNote>();
  const answers = heldAnswers(read);
  const notes = new Map<string, JobNote>();
  const clear = (taken: string): void => {
    for (const held of [users, backups, answers, notes]) held.clear();
    erasures.length = 0;
    identity = taken;
  };
  const refuseClosed = (): void => {
    if (isClosed) throw closed();
  };

  return {
    name: "memory",
    ...houseKeeping(users, read, notes),
    ...answers.port,
    whole: heldWhole({ users, erasures, answers, notes, backups, clear }, refuseClosed),

    async revision(scope) {
      return read(scope).revision;
    },

    async commit(scope, changes) {
      const user = read(scope);
      refuseWrong(user, changes);
      users.set(scopeKey(scope), user);
      const before = user.erasures.length;
      apply(user, structuredClone(changes));
      if (user.erasures.length > before) erasures.push({ user, index: before });
      if (changes.erase) answers.erase(scope, changes.erase.receipt.id);
      return user.revision;
    },

    async since(scope, revision, options) {
      const user = read(scope);
      const changed = <Value>(held: Map<string, Held<Value>>): Value[] =>
        [...held.values()].filter((one) => one.revision > revision).map(({ value }) => value);
      const gone = (ids: Map<string, number>): string[] =>
        // To somebody who had nothing, nothing is gone.
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
        links: [...user.links.values()].sort(byEnds),
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

    async block(scope) {
      return structuredClone(read(scope).block);
    },

    async keepBlock(scope, block) {
      const user = read(scope);
      if (user.revision > 0 && user.revision === block.revision) user.block = structuredClone(block);
    },

    async keepRecalls(kept) {
      for (const { scope, receipts } of structuredClone(kept)) {
        const user = read(scope);
        if (user.revision === 0) continue;
        for (const receipt of receipts) {
          user.recalls.delete(receipt.id);
          user.recalls.set(receipt.id, receipt);
        }
        const most = user.recalls.size - MOST_RECALLS;
        for (const id of [...user.recalls.keys()].slice(0, Math.max(0, most))) user.recalls.delete(id);
      }
    },

    async recalls(scope, { id, limit }) {
      const kept = [...read(scope).recalls.values()].reverse();
      return structuredClone(kept.filter((one) => id === undefined || one.id === id).slice(0, limit));
    },

    async versions(scope, id) {
      return structuredClone(read(scope).versions.filter((version) => id === undefined || version.id === id));
    },

    async log(scope, { before = Number.POSITIVE_INFINITY, limit }) {
      const entries = read(scope).log.filter(({ revision }) => revision < before);
      return structuredClone(entries.reverse().slice(0, limit));
    },

    async receipt(scope, key) {
      return structuredClone(read(scope).receipts.get(key));
    },

    async erasures(scope) {
      const kept = scope
        ? read(scope).erasures
        : erasures.flatMap(({ user, index }) => user.erasures[index] ?? []);
      return structuredClone(kept);
    },

    async erasureMarks() {
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

    async touched(scope, memories) {
      const user = read(scope);
      const ids = new Set(memories);
      const links = [...user.links.values()].filter(({ from, to }) => ids.has(from) || ids.has(to));
      const receipts = [...user.receipts.values()].filter((kept) =>
        kept.memories.some(({ id }) => ids.has(id)),
      );
      const held = answers.bodies(scope).length;
      return { links: links.length, blocks: user.block ? 1 : 0, answers: receipts.length + held };
    },

    async identity() {
      return identity;
    },

    async backups() {
      return structuredClone([...backups.values()]);
    },

    async noteBackup(note) {
      backups.set(note.name, structuredClone(note));
    },

    async users(project) {
      return [...users.values()]
        .filter(({ scope }) => scope.project === project)
        .map(({ scope }) => scope.user)
        .sort();
    },

    async usersOutside(space, limit) {
      return [...users.values()]
        .map((user) => ({ scope: { ...user.scope }, units: outside(user, space).length }))
        .filter(({ units }) => units > 0)
        .slice(0, limit);
    },

    async unitsOutside(scope, space, limit) {
      const user = read(scope);
      const units = outside(user, space).slice(0, limit);
      const owners = <Value>(type: Unit["type"], held: Map<string, Held<Value>>): Value[] =>
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

    async scrub(scope, texts) {
      const user = read(scope);
      const messages = [...user.messages.values()].flatMap(({ value }) => wordsOfMessage(value));
      const terms = [...user.units.values()].map(({ value }) => value.terms);
      const receipts = [...user.receipts.values()].flatMap(wordsOfReceipt);
      return [
        { place: "messages", found: countHeld(texts, messages) },
        { place: "memories", found: countHeld(texts, user.versions.flatMap(wordsOfMemory)) },
        { place: "text index", found: countHeld(texts, terms) },
        { place: "receipts", found: countHeld(texts, [...receipts, ...answers.bodies(scope)]) },
      ];
    },

    async seal(scope, receipt) {
      const { erasures: kept } = read(scope);
      const index = kept.findIndex(({ id }) => id === receipt.id);
      if (index === -1) throw new MemoryError("not_found", "there is no erasure with this id to seal.");
      kept[index] = structuredClone(receipt);
    },

    async check() {
      return [];
    },

    async close() {
      isClosed = true;
    },
  };
}

function closed(): MemoryError {
  return new MemoryError("unavailable", "this record is closed. Open another.");
}

function outside(user: User, space: string): Unit[] {
  return [...user.units.values()].map(({ value }) => value).filter((unit) => unit.space !== space);
}

function byEnds(one: Link, other: Link): number {
  return compare(one.from, other.from) || compare(one.type, other.type) || compare(one.to, other.to);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
