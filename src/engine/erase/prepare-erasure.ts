import { applyRedaction, type MessageRedaction, type Tombstone } from "../../domain/change-set.ts";
import type { ErasedValue, ErasureSelection } from "../../domain/erasure-selection.ts";
import type { Metadata } from "../../domain/filters/metadata-filter.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message, Part } from "../../domain/message.ts";
import { collectStrings, isOpaquePart } from "../../domain/opaque-parts.ts";
import type { VersionCut } from "../../domain/receipt.ts";
import { splitWords } from "../../domain/search/search-terms.ts";
import { cutText, GAP_MARK, type TextCut } from "../../domain/text/cut-text.ts";
import {
  createPhraseIndexInSlices,
  findPhrase,
  listSpellings,
  type PhraseIndex,
} from "../../domain/text/phrase-index.ts";
import {
  filterInSlices,
  flatMapInSlices,
  forEachInSlices,
  mapInSlices,
  yieldToEventLoop,
} from "../../domain/time-slicing.ts";
import { joinParts, keepAttachments } from "../attachments/erase-attachments.ts";
import type { Ports } from "../ports.ts";
import { passageIdsOf } from "../search-index/search-index.ts";
import type { UserState } from "../user-state/user-state.ts";
import { createWordTombstones, type ErasureReach } from "./tombstone-filter.ts";
import { hashClaimTombstones } from "./tombstones.ts";

/** A prepared erasure: the changes to write, and the texts that must not remain anywhere. */
export interface PreparedErasure {
  readonly messages: readonly MessageRedaction[];
  readonly emptied: number;
  /** The messages as they will be, for new units. */
  readonly remainingMessages: readonly Message[];
  readonly memories: readonly string[];
  readonly rewrites: readonly Memory[];
  readonly tombstones: readonly Tombstone[];
  readonly dropUnits: readonly string[];
  /** Number of passages among them. */
  readonly passages: number;
  readonly versions: number;
  /** When the oldest erased content was stored: a backup made before does not contain it. */
  readonly oldestStoredAt: string;
  /** The erased words, for the scan that proves their absence. */
  readonly texts: readonly string[];
  /** Matches outside the selected texts. */
  readonly residualMatches: ResidualMatches;
}

/** Items inspected between two yields to the event loop: about two milliseconds. */
const SLICE = 2000;

/** What is known of an erasure beside its selection. */
export interface ErasureKnowledge {
  readonly named?: readonly string[];
  readonly elsewhere?: ResidualMatches;
  readonly isExact?: boolean;
}

/** Turns a selection into an erasure, in slices. `versions` holds all versions of all the user's memories. */
export async function prepareErasure(
  ports: Pick<Ports, "secret" | "vocabulary">,
  state: UserState,
  selection: ErasureSelection,
  versions: readonly Memory[],
  more: ErasureKnowledge = {},
): Promise<PreparedErasure> {
  const gone = new Set([...selection.memories].map(({ id }) => id));
  const cutOut = await flatMapInSlices(selection.cuts, ([id, cuts]) => {
    const message = state.messages.get(id);
    if (!message) return [];
    return [{ message, ...redactMessage(ports, message, cuts, selection.attachments?.get(id)) }];
  });
  const places = new Map(cutOut.map(({ message, text, place }) => [message.id, { text, place }]));
  const cutMessages = await mapInSlices(cutOut, ({ message, redaction }) =>
    applyRedaction(message, redaction),
  );
  const hunted = await findUniqueTexts(ports, state, selection, {
    left: cutMessages,
    named: more.named ?? [],
  });
  const listed = listErasedTexts(selection, versions, state, hunted);
  const texts = more.isExact ? await dropRemaining(state, selection, cutMessages, listed) : listed;
  await yieldToEventLoop();
  const elsewhere =
    more.elsewhere ?? (await findResidualMatches(state, selection, versions, { hunted, cutMessages }));
  const bare = new Set(elsewhere.bare);
  const redactions = cutOut.map(({ redaction }) => (bare.has(redaction.id) ? toBare(redaction) : redaction));
  const left = cutOut.map(({ message }, i) => applyRedaction(message, redactions[i] ?? toBare(message)));
  const cuts = new Map(elsewhere.versions.map((cut) => [`${cut.id}@${cut.version}`, cut]));
  const rewrites = await flatMapInSlices<Memory, Memory>(versions, (version) => {
    if (gone.has(version.id)) return [];
    const moved = rewriteVersion(version, places, gone);
    const cut = cutVersion(moved ?? version, cuts.get(`${version.id}@${version.version}`));
    return cut ?? moved ?? [];
  });
  const passages = await flatMapInSlices(places.keys(), (id) => passageIdsOf(state.searchIndex, id));
  const tombstones = await createTombstones(ports, state, selection);
  const goneVersions = await filterInSlices(versions, ({ id }) => gone.has(id), SLICE);
  const cutVersions = await filterInSlices(
    versions,
    ({ id, version }) => cuts.has(`${id}@${version}`),
    SLICE,
  );
  const stored: readonly (readonly Pick<Message, "storedAt">[])[] = [
    goneVersions,
    cutOut.map(({ message }) => message),
    elsewhere.bare.flatMap((id) => state.messages.get(id) ?? []),
    cutVersions,
  ];
  const since = await findOldestStoredAt(stored);
  await yieldToEventLoop();
  const bared = elsewhere.bare.flatMap((id) =>
    selection.cuts.has(id) ? [] : [state.messages.get(id) ?? []].flat().map(toBare),
  );
  const messages = [...redactions, ...bared];
  return {
    messages,
    emptied: messages.filter(({ content, parts }) => content === "" && !parts).length,
    remainingMessages: left,
    memories: [...gone],
    rewrites,
    tombstones,
    // The unit of a memory has the memory's id.
    dropUnits: [...gone, ...passages],
    passages: passages.length,
    versions: goneVersions.length,
    oldestStoredAt: since,
    texts,
    residualMatches: elsewhere,
  };
}

/** When the oldest of what changes was stored; empty if nothing does. */
async function findOldestStoredAt(
  changed: readonly (readonly Pick<Message, "storedAt">[])[],
): Promise<string> {
  let oldest = "";
  for (const some of changed) {
    await forEachInSlices(
      some,
      ({ storedAt }) => {
        if (oldest === "" || storedAt < oldest) oldest = storedAt;
      },
      SLICE,
    );
  }
  return oldest;
}

function redactMessage(
  { vocabulary }: Pick<Ports, "vocabulary">,
  message: Message,
  cuts: readonly TextCut[],
  attachments?: ReadonlySet<number>,
): ReturnType<typeof cutText> & { redaction: MessageRedaction } {
  const cut = cutText(message.content, cuts);
  const erased = cuts.map(({ start, end }) => message.content.slice(start, end).toLowerCase());
  const metadata = JSON.stringify(message.metadata ?? {}).toLowerCase();
  const touched = erased.some((text) =>
    splitWords(text).some((word) => vocabulary.isDistinctive(word) && metadata.includes(word)),
  );
  // Where single attachments are named, the others stay, even without a word.
  const isEmptied = cut.text === "" && attachments === undefined;
  const others = message.parts && !isEmptied ? keepAttachments(message, cuts, attachments) : [];
  const parts = joinParts(cut.text, others);
  return {
    ...cut,
    redaction: {
      id: message.id,
      content: cut.text,
      keepMetadata: (cut.text !== "" || parts.length > 0) && !touched,
      ...(message.parts && parts.length > 0 ? { parts } : {}),
    },
  };
}

/** A version whose quotes have moved, or that named an erased memory; undefined if it is unaffected. */
function rewriteVersion(
  version: Memory,
  places: ReadonlyMap<string, { text: string; place(old: number): number }>,
  gone: ReadonlySet<string>,
): Memory | undefined {
  const isLinked = version.supersededBy !== undefined && gone.has(version.supersededBy);
  if (!isLinked && !version.sources.some(({ message }) => places.has(message))) return undefined;
  const sources = version.sources.flatMap((source) => {
    const moved = places.get(source.message);
    if (!moved) return [source];
    const start = moved.place(source.start);
    const end = moved.place(source.end);
    const quote = moved.text.slice(start, end);
    return quote.replaceAll(GAP_MARK, "").trim() === ""
      ? []
      : [{ message: source.message, start, end, quote }];
  });
  const { supersededBy, ...rest } = version;
  return { ...rest, sources, ...(supersededBy && !isLinked ? { supersededBy } : {}) };
}

async function createTombstones(
  ports: Pick<Ports, "secret" | "vocabulary">,
  state: UserState,
  selection: ErasureSelection,
): Promise<Tombstone[]> {
  const shared = await findSharedValues(state, selection);
  const tombstones = new Map<string, Tombstone>();
  await forEachInSlices(selection.memories, ({ claim, at, sources }) => {
    if (!claim) return;
    const saidAt = sources.flatMap(({ message }) => state.messages.get(message)?.at ?? []);
    const last = [at, ...saidAt].sort().at(-1) ?? at;
    const hashes = hashClaimTombstones(ports, state.scope, claim);
    tombstones.set(hashes.claim, { hash: hashes.claim, of: "claim", at: last });
    const isShared = shared.has(splitWords(claim.value).join(" "));
    if (hashes.words && !isShared)
      tombstones.set(hashes.words, { hash: hashes.words, of: "words", at: last });
  });
  let lastSaid = "";
  await forEachInSlices(
    selection.cuts.keys(),
    (id) => {
      lastSaid = pickLater(lastSaid, state.messages.get(id)?.at ?? "");
    },
    SLICE,
  );
  for (const { text, barring } of listTombstoneTexts(selection)) {
    const all = createWordTombstones(ports, state.scope, { text, barring, at: lastSaid });
    for (const one of all) tombstones.set(one.hash, one);
  }
  return [...tombstones.values()];
}

/** The values of erased memories that occur as words in the texts of remaining memories. */
async function findSharedValues(
  state: UserState,
  { memories }: ErasureSelection,
): Promise<ReadonlySet<string>> {
  const shared = new Set<string>();
  if (memories.size === state.memories.size) return shared;
  const index = await createPhraseIndexInSlices(
    await flatMapInSlices<Memory, readonly string[]>(memories, ({ claim }) =>
      claim ? [splitWords(claim.value)] : [],
    ),
  );
  await forEachInSlices(state.memories.values(), (memory) => {
    if (memories.has(memory)) return;
    for (const run of index.findIn(memory.text)) shared.add(run.join(" "));
  });
  return shared;
}

/** A wording with fewer words gets no tombstone: everybody says such. */
const LEAST_WORDS = 4;

function listTombstoneTexts({
  values = [],
  wordings = [],
}: ErasureSelection): { text: string; barring: ErasureReach }[] {
  return [
    ...values.flatMap((value) =>
      listSpellings(value).map((text) => ({ text, barring: chooseTombstoneScope(value) })),
    ),
    ...wordings
      .filter((text) => splitWords(text).length >= LEAST_WORDS)
      .map((text) => ({ text, barring: "everywhere" as const })),
  ];
}

function chooseTombstoneScope({ text, isName, isDistinct }: ErasedValue): ErasureReach {
  if (isName && splitWords(text).length === 1) return "as a name";
  return isDistinct ? "everywhere" : "where it is spoken of";
}

function pickLater(one: string, other: string): string {
  return other > one ? other : one;
}

/** Maximum number of texts in the byte scan: the most distinctive ones first. */
const MOST_TEXTS = 300;

function listErasedTexts(
  selection: ErasureSelection,
  versions: readonly Memory[],
  state: UserState,
  hunted: readonly string[],
): string[] {
  const texts = new Set<string>();
  for (const text of iterateErasedTexts(selection, versions, state, hunted)) {
    if (texts.size === MOST_TEXTS) break;
    texts.add(text);
  }
  return [...texts];
}

/** Without the texts that other content has, too: it was not chosen, so it stays, and nothing is left over. */
async function dropRemaining(
  state: UserState,
  selection: ErasureSelection,
  left: readonly Message[],
  texts: readonly string[],
): Promise<string[]> {
  const stays = await findRemainingValues(state, selection, left, texts);
  return texts.filter((text) => !stays.has(text));
}

function* iterateErasedTexts(
  selection: ErasureSelection,
  versions: readonly Memory[],
  state: UserState,
  hunted: readonly string[],
): Generator<string> {
  for (const value of selection.values ?? [])
    if (chooseTombstoneScope(value) === "everywhere") yield* listSpellings(value);
  yield* hunted;
  const gone = new Set([...selection.memories].map(({ id }) => id));
  for (const { id, text } of versions) if (gone.has(id)) yield text;
  for (const [id, cuts] of selection.cuts) {
    const content = state.messages.get(id)?.content ?? "";
    for (const { start, end } of cuts) {
      const text = content.slice(start, end).trim();
      if (text.length >= 3) yield text.slice(0, 400);
    }
  }
}

/**
 * The distinctive words that must not remain anywhere: the named words, and the values of the erased
 * memories. Excludes words that the plan keeps because other content depends on them.
 */
async function findUniqueTexts(
  { vocabulary }: Pick<Ports, "vocabulary">,
  state: UserState,
  selection: ErasureSelection,
  { left, named }: { readonly left: readonly Message[]; readonly named: readonly string[] },
): Promise<string[]> {
  const values = await flatMapInSlices<Memory, string>(
    selection.memories,
    ({ claim }) => claim?.value ?? [],
    SLICE,
  );
  const distinct = (selection.values ?? []).filter((value) => chooseTombstoneScope(value) === "everywhere");
  const texts = new Set([...named, ...values, ...distinct.map(({ text }) => text)]);
  const telling = await filterInSlices(texts, vocabulary.isDistinctive);
  const stays = await findRemainingValues(state, selection, left, telling);
  return telling.filter((text) => !stays.has(text));
}

/** Which of the values occur, as words, in the remaining messages and memories. */
async function findRemainingValues(
  state: UserState,
  selection: ErasureSelection,
  left: readonly Message[],
  values: readonly string[],
): Promise<ReadonlySet<string>> {
  const stays = new Set<string>();
  const runs = await mapInSlices(values, (value) => splitWords(value));
  const byRun = Map.groupBy(values, (_value, i) => runs[i]?.join(" ") ?? "");
  const index = await createPhraseIndexInSlices(runs);
  const look = (text: string): void => {
    const lower = text.toLowerCase();
    for (const run of index.findIn(text)) {
      for (const value of byRun.get(run.join(" ")) ?? []) {
        if (lower.includes(value.toLowerCase())) stays.add(value);
      }
    }
  };
  const cut = new Map(left.map((message) => [message.id, message]));
  await forEachInSlices(state.messages.values(), (message) => look((cut.get(message.id) ?? message).content));
  await forEachInSlices(state.memories.values(), (memory) => {
    if (!selection.memories.has(memory)) look(memory.text);
  });
  return stays;
}

/** Matches of erased words outside the texts that a selection covers. */
export interface ResidualMatches {
  /** Remaining messages whose metadata and opaque parts are erased. */
  readonly bare: readonly string[];
  /** Versions of remaining memories: older wordings with the words, and metadata. */
  readonly versions: readonly VersionCut[];
}

/**
 * Finds words in metadata, in opaque parts (the arguments of a tool) and in older versions of remaining memories. "uses Magnet", corrected to "uses
 * Shram" by hand, is a memory about Shram whose history mentions Magnet.
 */
async function findResidualMatches(
  state: UserState,
  selection: ErasureSelection,
  versions: readonly Memory[],
  { hunted, cutMessages }: { readonly hunted: readonly string[]; readonly cutMessages: readonly Message[] },
): Promise<ResidualMatches> {
  if (hunted.length === 0) return { bare: [], versions: [] };
  const hunting = await mapInSlices(hunted, (text) => splitWords(text));
  const runs = await createPhraseIndexInSlices(hunting.filter((run) => run.length > 0));
  const holds = (metadata: Metadata | undefined): boolean =>
    // Each value on its own line: "[2,350]" is two numbers.
    metadata !== undefined && findCuts(JSON.stringify(metadata, null, 1), runs).length > 0;
  const isHeldInPart = (part: Part): boolean =>
    isOpaquePart(part) &&
    findCuts([JSON.stringify(part, null, 1), ...collectStrings(part)].join("\n"), runs).length > 0;
  const gone = new Set([...selection.memories].map(({ id }) => id));
  const cut = new Map(cutMessages.map((message) => [message.id, message]));
  const bare = await filterInSlices(state.messages.values(), (message) => {
    const { metadata, parts = [] } = cut.get(message.id) ?? message;
    return holds(metadata) || parts.some(isHeldInPart);
  });
  return {
    bare: bare.map(({ id }) => id),
    versions: await flatMapInSlices<Memory, VersionCut>(versions, (version) => {
      const { id, text, claim, metadata } = version;
      if (gone.has(id)) return [];
      const isNewest = state.memories.get(id)?.version === version.version;
      const cuts = isNewest ? [] : findCuts(text, runs);
      const dropsClaim = !isNewest && claim && findCuts(Object.values(claim).join("\n"), runs).length > 0;
      const dropsMetadata = holds(metadata);
      if (cuts.length === 0 && !dropsClaim && !dropsMetadata) return [];
      return {
        id,
        version: version.version,
        length: text.length,
        cuts,
        ...(dropsClaim ? { dropsClaim } : {}),
        ...(dropsMetadata ? { dropsMetadata } : {}),
      };
    }),
  };
}

function findCuts(text: string, runs: PhraseIndex): TextCut[] {
  return runs
    .findIn(text)
    .flatMap((run) => findPhrase(text, run))
    .map(({ start, end }) => ({ start, end, put: GAP_MARK }));
}

/** A version after a redaction; undefined if the text has changed since the redaction was planned. */
function cutVersion(version: Memory, cut: VersionCut | undefined): Memory | undefined {
  if (!cut || cut.length !== version.text.length) return undefined;
  const { claim, metadata, ...rest } = version;
  return {
    ...rest,
    text: cutText(version.text, cut.cuts).text,
    ...(claim && !cut.dropsClaim ? { claim } : {}),
    ...(metadata && !cut.dropsMetadata ? { metadata } : {}),
  };
}

/** A message without its metadata and opaque parts. */
function toBare({ id, content, parts = [] }: Pick<Message, "id" | "content" | "parts">): MessageRedaction {
  const left = parts.filter((part) => !isOpaquePart(part));
  return { id, content, keepMetadata: false, ...(left.length > 0 ? { parts: left } : {}) };
}
