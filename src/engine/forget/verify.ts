import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { words } from "../../domain/words.ts";
import type { Ports } from "../ports.ts";
import { placesOf } from "./places.ts";
import { sign } from "./seal.ts";

/** Reads every place again and seals the receipt with what was found there. */
export async function verified(
  ports: Ports,
  scope: Scope,
  receipt: ErasureReceipt,
  texts: readonly string[],
): Promise<ErasureReceipt> {
  ports.states.drop(scope);
  const state = await ports.states.of(scope);
  const left = [
    ...[...state.messages.values()].map(({ content }) => content),
    ...[...state.memories.values()].map(({ text }) => text),
  ];
  const lower = left.map((text) => text.toLowerCase());
  // A short text can be part of other words that stay ("Magnet", "magnetic"): there, only whole words count.
  const inside = new Set(texts.filter((text) => lower.some((one) => one.includes(text.toLowerCase()))));
  const found = [...inside].filter((text) =>
    left.some((one) => placesOf(one, words(text)).length > 0),
  ).length;
  const searched = texts.filter((text) => !inside.has(text));
  const places = await ports.record.scrub(scope, searched);
  const all = [{ place: "recall", found }, ...places];
  const sealed = sign(ports.secret, {
    ...receipt,
    verified: all,
    complete: all.every((place) => place.found === 0),
  });
  await ports.record.seal(scope, sealed);
  return sealed;
}

/**
 * Ends what a crash left between an erasure and its check: writes the files anew, where the words may still stand.
 * The words themselves are not known any more, so the receipt stays incomplete and says why. Gives how many it found.
 */
export async function endInterrupted(ports: Pick<Ports, "record" | "secret">): Promise<number> {
  const left = (await ports.record.erasures()).filter(
    ({ complete, verified: places }) => !complete && places.length === 0,
  );
  for (const receipt of left) {
    const scope = { project: receipt.project, user: receipt.user };
    await ports.record.scrub(scope, []);
    const places = [{ place: "files, written anew at the next start", found: 0 }];
    await ports.record.seal(scope, sign(ports.secret, { ...receipt, verified: places }));
  }
  return left.length;
}
