import {
  applyRedaction,
  type ChangeSet,
  type ErasureChange,
  type MessageRedaction,
  type SearchUnit,
} from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { mapInSlices } from "../../domain/time-slicing.ts";
import { MemoryError } from "../../errors.ts";
import type { Delta, MemoryStore } from "../../ports/memory-store.ts";
import type { AnswerCache } from "../../ports/stores/answer-cache.ts";
import type { EncryptionMark, UserKeys } from "../../ports/stores/encryption.ts";
import { collectMemoryTexts, collectMessageTexts, countOccurringTexts } from "../shared/erased-texts.ts";
import type { KeyFolder } from "./key-folder.ts";
import {
  createSealer,
  isMemoryOutdated,
  isMessageOutdated,
  isUnitOutdated,
  listSealedTexts,
  openAnswer,
  openBytes,
  openMemory,
  openMessage,
  openTerms,
  openUnit,
  openVector,
  type Sealer,
  sealAnswerBody,
  sealBytes,
  sealMemory,
  sealMessage,
  sealUnit,
} from "./sealed-rows.ts";

/** Capabilities whose content is not encrypted yet; a store without them refuses what needs them. */
type Withheld = "attachments" | "sharing" | "dump";

/** An encrypting store, over a store that sees only encrypted texts. */
export type SealedStore<Store extends MemoryStore> = Omit<Store, Withheld | "encryptionMark"> & {
  readonly userKeys: UserKeys;
};

/**
 * Encrypts what users said and what was learnt with a key of each user, before it reaches the store, and decrypts what comes
 * back. Ids, names of users and sessions, times, kinds, numbers and sizes stay readable, because the store finds rows by them.
 * Rows whose key is gone are listed as damaged. Attachments, sharing and dumps are withheld.
 */
export function sealedStore<Store extends MemoryStore>(store: Store, folder: KeyFolder): SealedStore<Store> {
  const forReading = async (scope: Scope): Promise<Sealer> => createSealer(scope, await folder.read(scope));
  const forWriting = async (scope: Scope): Promise<Sealer> => createSealer(scope, await folder.ensure(scope));
  /** What erasures of a user replaced, as it was stored: its bytes must be gone too. */
  const replaced = new Map<string, readonly string[]>();
  const { attachments: _a, sharing: _s, dump: _d, encryptionMark: _e, ...rest } = store;
  return {
    ...rest,
    userKeys: createUserKeys(store, folder),

    async commit(scope, changes) {
      const sealer = await forWriting(scope);
      const sealed = await sealChanges(store, sealer, changes);
      const before = changes.erase ? await listErasedTexts(store, scope, changes.erase) : undefined;
      const revision = await store.commit(scope, sealed);
      const key = toScopeKey(scope);
      if (before) replaced.set(key, [...(replaced.get(key) ?? []), ...before]);
      return revision;
    },

    async since(scope, revision, options) {
      const delta = await store.since(scope, revision, options);
      return openDelta(await forReading(scope), delta);
    },

    async read(scope, ids) {
      const { messages, memories } = await store.read(scope, ids);
      const sealer = await forReading(scope);
      return {
        messages: messages.map((row) => openMessage(sealer, row)).flatMap(keepReadable),
        memories: memories.map((row) => openMemory(sealer, row)).flatMap(keepReadable),
      };
    },

    async vectors(scope, ids, space) {
      const vectors = await store.vectors(scope, ids, space);
      const sealer = await forReading(scope);
      return vectors.map((vector, i) => vector && openVector(sealer, vector, { id: ids[i] ?? "", space }));
    },

    async versions(scope, id) {
      const versions = await store.versions(scope, id);
      const sealer = await forReading(scope);
      return mapInSlices(versions, (version) => openMemory(sealer, version).row);
    },

    searchIndexes: {
      async read(scope) {
        const index = await store.searchIndexes.read(scope);
        const bytes =
          index && openBytes(await forReading(scope), index.bytes, ["index", String(index.revision)]);
        return bytes && { revision: index.revision, bytes: new Uint8Array(bytes) };
      },
      async save(scope, { revision, bytes }) {
        if ((await store.revision(scope)) !== revision) return;
        const sealer = await forWriting(scope);
        const sealed = sealBytes(sealer, bytes, ["index", String(revision)]);
        await store.searchIndexes.save(scope, { revision, bytes: new Uint8Array(sealed) });
      },
    },

    staleEmbeddings: {
      ...store.staleEmbeddings,
      async units(scope, space, limit) {
        const found = await store.staleEmbeddings.units(scope, space, limit);
        const sealer = await forReading(scope);
        return {
          ...found,
          units: found.units.map((unit) => ({ ...unit, terms: openTerms(sealer, unit) })),
          messages: found.messages.map((message) => openMessage(sealer, message).row),
          memories: found.memories.map((memory) => openMemory(sealer, memory).row),
        };
      },
    },

    jobs: {
      ...store.jobs,
      async currentMemories(scope, options) {
        const page = await store.jobs.currentMemories(scope, options);
        const sealer = await forReading(scope);
        return { ...page, memories: page.memories.map((memory) => openMemory(sealer, memory).row) };
      },
    },

    answers: createSealedAnswers(store.answers, forReading, forWriting),

    erasures: {
      ...store.erasures,
      async scrub(scope, texts, samples) {
        const key = toScopeKey(scope);
        // Without texts, everything is rewritten.
        const searched = texts.length === 0 ? [] : [...texts, ...(replaced.get(key) ?? [])];
        replaced.delete(key);
        const places = await store.erasures.scrub(scope, searched, samples);
        const counts = await countInRows(store, await forReading(scope), texts);
        return places.map((place) => ({ ...place, found: place.found + (counts.get(place.place) ?? 0) }));
      },
    },
  };
}

/** The mark of a store and the folder of its keys belong together. Throws `forbidden` otherwise. */
export async function checkMark(mark: EncryptionMark, folder: KeyFolder): Promise<void> {
  await mark.write(folder.id);
  if ((await mark.read()) === folder.id) return;
  throw new MemoryError(
    "forbidden",
    "encryption: the folder of keys belongs to another database. Put the right one beside this database.",
  );
}

const keepReadable = <Row>({
  row,
  isReadable,
}: {
  readonly row: Row;
  readonly isReadable: boolean;
}): readonly Row[] => (isReadable ? [row] : []);

async function openDelta(sealer: Sealer, delta: Delta): Promise<Delta> {
  const messages = await mapInSlices(delta.messages, (message) => openMessage(sealer, message));
  const memories = await mapInSlices(delta.memories, (memory) => openMemory(sealer, memory));
  const units = await mapInSlices(delta.units, (unit) => openUnit(sealer, unit));
  const listUnreadable = (
    rows: readonly { readonly row: { readonly id: string }; readonly isReadable: boolean }[],
    known: readonly string[] = [],
  ): string[] => [...new Set([...known, ...rows.flatMap((one) => (one.isReadable ? [] : [one.row.id]))])];
  const damaged = {
    messages: listUnreadable(messages, delta.damaged?.messages),
    memories: listUnreadable(memories, delta.damaged?.memories),
  };
  const hasDamage = damaged.messages.length + damaged.memories.length > 0;
  const { damaged: _known, ...rest } = delta;
  return {
    ...rest,
    messages: messages.map(({ row }) => row),
    memories: memories.map(({ row }) => row),
    units,
    ...(hasDamage ? { damaged } : {}),
  };
}

async function sealChanges(store: MemoryStore, sealer: Sealer, changes: ChangeSet): Promise<ChangeSet> {
  if (changes.attachments && changes.attachments.length > 0) {
    throw new MemoryError(
      "unsupported",
      "encryption: images and recordings cannot be stored in an encrypted database. Send their address or a description.",
    );
  }
  const { messages, memories, units, erase } = changes;
  const erased = erase && (await sealErasure(store, sealer, erase, changes));
  const allUnits = [
    ...(await mapInSlices(units ?? [], (unit) => sealUnit(sealer, unit))),
    ...(erased?.units ?? []),
  ];
  return {
    ...changes,
    ...(messages ? { messages: await mapInSlices(messages, (message) => sealMessage(sealer, message)) } : {}),
    ...(memories ? { memories: await mapInSlices(memories, (memory) => sealMemory(sealer, memory)) } : {}),
    ...(units || allUnits.length > 0 ? { units: allUnits } : {}),
    ...(erased ? { erase: erased.erase } : {}),
  };
}

/** Encrypts what an erasure leaves. If the user has a new key, all that stays is encrypted with it, in the same commit. */
async function sealErasure(
  store: MemoryStore,
  sealer: Sealer,
  erase: ErasureChange,
  changes: ChangeSet,
): Promise<{ readonly erase: ErasureChange; readonly units: readonly SearchUnit[] }> {
  const stay = sealer.keys.length > 1 ? await reseal(store, sealer, erase, changes) : undefined;
  const { messages } = await store.read(sealer.scope, {
    messages: erase.messages.map(({ id }) => id),
    memories: [],
  });
  const stored = new Map(messages.map((message) => [message.id, openMessage(sealer, message).row]));
  for (const message of changes.messages ?? []) stored.set(message.id, message);
  return {
    erase: {
      ...erase,
      messages: [
        ...(await mapInSlices(erase.messages, (redaction) =>
          toSealedRedaction(sealer, stored.get(redaction.id), redaction),
        )),
        ...(stay?.messages ?? []),
      ],
      rewrites: [
        ...(await mapInSlices(erase.rewrites, (memory) => sealMemory(sealer, memory))),
        ...(stay?.memories ?? []),
      ],
    },
    units: stay?.units ?? [],
  };
}

function toSealedRedaction(
  sealer: Sealer,
  message: Message | undefined,
  redaction: MessageRedaction,
): MessageRedaction {
  if (!message) return redaction;
  const { content, parts } = sealMessage(sealer, applyRedaction(message, redaction));
  return { id: redaction.id, content, keepMetadata: false, ...(parts ? { parts } : {}) };
}

/** What the erasure does not touch and an earlier key encrypts, encrypted with the newest. What cannot be read stays. */
async function reseal(
  store: MemoryStore,
  sealer: Sealer,
  erase: ErasureChange,
  { dropUnits = [], units: newUnits = [] }: ChangeSet,
): Promise<{
  readonly messages: readonly MessageRedaction[];
  readonly memories: readonly Memory[];
  readonly units: readonly SearchUnit[];
}> {
  const { messages, units } = await store.since(sealer.scope, 0);
  const redacted = new Set(erase.messages.map(({ id }) => id));
  const erased = new Set(erase.memories);
  const rewritten = new Set(erase.rewrites.map(({ id, version }) => `${id} ${version}`));
  const replacedUnits = new Set([...dropUnits, ...newUnits.map(({ id }) => id), ...erased]);
  const oldMessages = messages.filter((one) => !redacted.has(one.id) && isMessageOutdated(sealer, one));
  const oldVersions = (await store.versions(sealer.scope)).filter(
    (one) =>
      !erased.has(one.id) && !rewritten.has(`${one.id} ${one.version}`) && isMemoryOutdated(sealer, one),
  );
  const oldUnits = units.filter((one) => !replacedUnits.has(one.id) && isUnitOutdated(sealer, one));
  return {
    messages: oldMessages.flatMap((message) => {
      const { row, isReadable } = openMessage(sealer, message);
      const { content, parts } = sealMessage(sealer, row);
      return isReadable ? [{ id: row.id, content, keepMetadata: false, ...(parts ? { parts } : {}) }] : [];
    }),
    memories: oldVersions
      .map((version) => openMemory(sealer, version))
      .flatMap(keepReadable)
      .map((version) => sealMemory(sealer, version)),
    units: oldUnits.map((unit) => openUnit(sealer, unit)).map((unit) => sealUnit(sealer, unit)),
  };
}

/** The stored texts that an erasure removes or replaces. */
async function listErasedTexts(
  store: MemoryStore,
  scope: Scope,
  { messages: redactions, memories, rewrites }: ErasureChange,
): Promise<string[]> {
  const { messages } = await store.read(scope, { messages: redactions.map(({ id }) => id), memories: [] });
  const versions = [];
  for (const id of new Set([...memories, ...rewrites.map((one) => one.id)]))
    versions.push(...(await store.versions(scope, id)));
  const gone = new Set(memories);
  const changed = new Set(rewrites.map(({ id, version }) => `${id} ${version}`));
  return [
    ...messages.flatMap(listSealedTexts),
    ...versions
      .filter(({ id, version }) => gone.has(id) || changed.has(`${id} ${version}`))
      .map(({ text }) => text),
  ];
}

/** Counts the texts in what is stored of a user, by place. */
async function countInRows(
  store: MemoryStore,
  sealer: Sealer,
  texts: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { messages, units } = await store.since(sealer.scope, 0);
  const versions = await store.versions(sealer.scope);
  const ofMessages = await mapInSlices(messages, (one) => collectMessageTexts(openMessage(sealer, one).row));
  const ofMemories = await mapInSlices(versions, (one) => collectMemoryTexts(openMemory(sealer, one).row));
  const terms = await mapInSlices(units, (one) => openTerms(sealer, one));
  return new Map([
    ["messages", countOccurringTexts(texts, ofMessages.flat())],
    ["memories", countOccurringTexts(texts, ofMemories.flat())],
    ["text index", countOccurringTexts(texts, terms)],
  ]);
}

function createSealedAnswers(
  answers: AnswerCache,
  forReading: (scope: Scope) => Promise<Sealer>,
  forWriting: (scope: Scope) => Promise<Sealer>,
): AnswerCache {
  return {
    ...answers,
    async beginAnswer(scope, begun, limits) {
      const kept = await answers.beginAnswer(scope, begun, limits);
      return kept && openAnswer(await forReading(scope), kept);
    },
    async endAnswer(scope, key, answer, ownErasures) {
      const sealed = sealAnswerBody(await forWriting(scope), key, answer);
      await answers.endAnswer(scope, key, sealed, ownErasures);
    },
  };
}

function createUserKeys(store: MemoryStore, folder: KeyFolder): UserKeys {
  return {
    renew: (scope) => folder.renew(scope),
    async destroyUnused(scope) {
      const sealer = createSealer(scope, await folder.read(scope));
      const old = sealer.keys.slice(0, -1).map(({ id }) => id);
      if (old.length === 0) return { destroyed: 0, kept: 0 };
      const { messages, units } = await store.since(scope, 0);
      const versions = await store.versions(scope);
      const isNeeded =
        messages.some((one) => isMessageOutdated(sealer, one)) ||
        versions.some((one) => isMemoryOutdated(sealer, one)) ||
        units.some((one) => isUnitOutdated(sealer, one));
      if (isNeeded) return { destroyed: 0, kept: old.length };
      await folder.destroy(scope, old);
      const left = (await folder.read(scope)).filter(({ id }) => old.includes(id)).length;
      return { destroyed: old.length - left, kept: left };
    },
  };
}
