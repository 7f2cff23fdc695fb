import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import {
  type ErasureReceipt,
  KEYS_OF_ENCRYPTED_COPIES_PLACE,
  KEYS_PLACE,
  type VerifiedPlace,
} from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { splitWords } from "../../domain/search/search-terms.ts";
import { createPhraseIndex } from "../../domain/text/phrase-index.ts";
import { forEachInSlices, mapInSlices } from "../../domain/time-slicing.ts";
import { countRemaining } from "../attachments/erase-attachments.ts";
import { eraseFromIndexes } from "../index-sync/erase-from-indexes.ts";
import type { Ports } from "../ports.ts";
import { type ErasedContent, eraseFromStores } from "../secondary-stores/erase-from-stores.ts";
import { eraseFromGrants } from "../sharing/erase-shares.ts";
import { isComplete, RECALL_PLACE, signReceipt } from "../sign-receipt.ts";

/** Scans every place again and seals the receipt with the findings. */
export async function verifyErasure(
  ports: Ports,
  scope: Scope,
  receipt: ErasureReceipt,
  went: {
    readonly texts: readonly string[];
    readonly erased: ErasedContent;
    readonly units: readonly string[];
    readonly attachments: readonly string[];
    readonly samples: readonly Uint8Array[];
  },
): Promise<ErasureReceipt> {
  const { texts } = went;
  const [beside, indexes] = await Promise.all([
    eraseFromStores(ports, scope, went.erased),
    eraseFromIndexes(ports, scope, went.units),
  ]);
  await Promise.all([ports.states.purgeUser(scope), ports.recallWorker?.purgeUser(scope)]);
  const left = await readLeft(ports, scope, receipt);
  const { inside, found } = await findRemainingTexts(left, texts);
  const searched = texts.filter((text) => !inside.has(text));
  // A grant may have been given meanwhile, with the words in it.
  if (ports.store.sharing) await eraseFromGrants(ports, scope, { texts, memories: receipt.ids });
  const places = await ports.store.erasures.scrub(scope, searched, went.samples);
  const attachments =
    went.attachments.length > 0
      ? [{ place: "attachments", found: await countRemaining(ports, scope, went.attachments) }]
      : [];
  const keys = await destroyOldKeys(ports, scope);
  const all = [{ place: RECALL_PLACE, found }, ...places, ...attachments, ...keys, ...beside, ...indexes];
  const sealed = signReceipt(ports.secret, {
    ...receipt,
    verified: all,
    complete: isComplete(all),
  });
  await ports.store.erasures.seal(scope, sealed);
  return sealed;
}

/** Destroys the keys that nothing stored needs any more. Nothing if the texts are not encrypted, or no key was replaced. */
async function destroyOldKeys(
  { store, clock }: Pick<Ports, "store" | "clock">,
  scope: Scope,
): Promise<VerifiedPlace[]> {
  const { destroyed, kept } = (await store.userKeys?.destroyUnused(scope)) ?? { destroyed: 0, kept: 0 };
  if (destroyed + kept === 0) return [];
  const now = clock().toISOString();
  const hasPlainBackup = (await store.backups.list()).some(
    ({ isPlain, until }) => isPlain && (until === undefined || until > now),
  );
  return [{ place: hasPlainBackup ? KEYS_OF_ENCRYPTED_COPIES_PLACE : KEYS_PLACE, found: kept }];
}

/** The texts of a user: those that were there at the erasure, and those that were said or learnt since. */
interface TextsLeft {
  readonly before: readonly string[];
  readonly since: readonly string[];
}

/** Reads what the store and the cache hold. Others may write meanwhile, and somebody may say the same again. */
async function readLeft(
  { store, states }: Pick<Ports, "store" | "states">,
  scope: Scope,
  { revision, at }: ErasureReceipt,
): Promise<TextsLeft> {
  const { messages, memories } = await store.since(scope, 0, { units: false });
  const cached = states.peekTexts(scope, 0);
  const changed = await store.since(scope, revision, { units: false });
  // What was there before may have been changed since; only what is new is not left over.
  const isNewMessage = ({ storedAt }: Message): boolean => storedAt >= at;
  const isNewMemory = ({ version }: Memory): boolean => version === 1;
  const newIds = new Set([
    ...changed.messages.filter(isNewMessage).map(({ id }) => id),
    ...changed.memories.filter(isNewMemory).map(({ id }) => id),
  ]);
  const all = [
    ...(await mapInSlices(messages, ({ id, content }) => ({ id, text: content }))),
    ...(await mapInSlices(cached?.messages.values() ?? [], ({ id, content }) => ({ id, text: content }))),
    ...(await mapInSlices(memories, ({ id, text }) => ({ id, text }))),
    ...(await mapInSlices(cached?.memories.values() ?? [], ({ id, text }) => ({ id, text }))),
  ].filter(({ text }) => text !== "");
  const textsOf = (isNew: boolean): string[] =>
    all.filter(({ id }) => newIds.has(id) === isNew).map(({ text }) => text);
  return { before: textsOf(false), since: textsOf(true) };
}

/**
 * The texts that occur, which a search of the rows and files would find, and how many of those from before the erasure do, as
 * whole words.
 */
async function findRemainingTexts(
  { before, since }: TextsLeft,
  texts: readonly string[],
): Promise<{ readonly inside: ReadonlySet<string>; readonly found: number }> {
  const lower = texts.map((text) => text.toLowerCase());
  // A short text can be part of other remaining words ("Magnet", "magnetic"); there, only whole words count.
  const inside = new Set<string>();
  await forEachInSlices(
    [...before, ...since],
    (one) => {
      const all = one.toLowerCase();
      for (const [i, text] of texts.entries()) if (all.includes(lower[i] ?? "")) inside.add(text);
    },
    50,
  );
  const index = createPhraseIndex([...inside].map((text) => splitWords(text)));
  const whole = new Set<readonly string[]>();
  if (inside.size > 0)
    await forEachInSlices(before, (one) => index.findIn(one).forEach((run) => void whole.add(run)));
  return { inside, found: whole.size };
}

/** What an erasure is finished with. */
type FinishingPorts = Pick<
  Ports,
  "store" | "secret" | "sessions" | "cache" | "followers" | "clock" | "meter"
>;

/**
 * Completes erasures that a crash interrupted before verification: rewrites the files that may still contain
 * the words. The words themselves are no longer known, so a receipt without any verification stays incomplete
 * and says why. One that lacked only the files, because another process was reading them, becomes complete.
 * Gives the number completed.
 */
export async function finishInterruptedErasures(
  ports: FinishingPorts,
  isMeant: (receipt: ErasureReceipt) => boolean = isUnfinished,
): Promise<number> {
  const open = (await ports.store.erasures.summaries()).filter(({ isComplete }) => !isComplete);
  let ended = 0;
  for (const { receipt: id, project, user } of open) {
    const scope = { project, user };
    const receipt = (await ports.store.erasures.list(scope)).find((one) => one.id === id);
    if (!receipt || !isMeant(receipt)) continue;
    const left = await ports.store.erasures.scrub(scope, []);
    if (left.some(({ found }) => found > 0)) continue;
    const places = receipt.verified.map((one) => (one.place === FILES ? { ...one, found: 0 } : one));
    // Interrupted before any place was checked, it did not reach the secondary stores either.
    const erased = { messages: "everything", revision: receipt.revision } as const;
    const beside = places.length === 0 ? await eraseFromStores(ports, scope, erased) : [];
    const indexes = places.length === 0 ? await eraseFromIndexes(ports, scope, [UNKNOWN_UNIT]) : [];
    const keys = await destroyOldKeys(ports, scope);
    const all = [...places, { place: FILES_REWRITTEN, found: 0 }, ...keys, ...beside, ...indexes];
    await ports.store.erasures.seal(
      scope,
      signReceipt(ports.secret, { ...receipt, verified: all, complete: isComplete(all) }),
    );
    ended += 1;
  }
  return ended;
}

/**
 * Rewrites the files for erasures that found words in them because another process was reading. Gives the number of those that are
 * left.
 */
export async function retryFiles(ports: FinishingPorts): Promise<number> {
  const isLeft = ({ complete, verified }: ErasureReceipt): boolean => !complete && hasFilesLeft(verified);
  await finishInterruptedErasures(ports, isLeft);
  const open = (await ports.store.erasures.summaries()).filter(({ isComplete }) => !isComplete);
  const users = new Map(
    open.map(({ project, user }) => [JSON.stringify([project, user]), { project, user }]),
  );
  const lists = await Promise.all([...users.values()].map((scope) => ports.store.erasures.list(scope)));
  return lists.flat().filter(isLeft).length;
}

/** The erased units are no longer known; an index is checked by the erasure's trace when it is fed. */
const UNKNOWN_UNIT = "";
const FILES = "files";
const FILES_REWRITTEN = "files, written anew at the next start";

/**
 * Whether rewriting the files may complete it: it was not verified at all, or a reader held the log
 * meanwhile.
 */
function isUnfinished({ verified: places }: ErasureReceipt): boolean {
  return places.length === 0 || hasFilesLeft(places);
}

function hasFilesLeft(places: readonly VerifiedPlace[]): boolean {
  if (places.some(({ place }) => place === FILES_REWRITTEN)) return false;
  return places.some(({ place, found }) => place === FILES && found > 0);
}
