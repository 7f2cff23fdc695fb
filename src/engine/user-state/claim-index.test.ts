import fc from "fast-check";
import { expect, it } from "vitest";
import type { Claim, Memory } from "../../domain/memory.ts";
import { isSameSlot, toClaimKey } from "../../domain/memory.ts";
import { type ClaimIndex, createClaimIndex } from "./user-data.ts";

const claim: fc.Arbitrary<Claim> = fc.record({
  subject: fc.constantFrom("user", "User", "Ana"),
  relation: fc.constantFrom("use", "be called"),
  value: fc.constantFrom("Shram", "the shram", "Magnet", "magnets"),
});
const id = fc.constantFrom("a", "b", "c", "d", "e");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: id, claim: fc.option(claim, { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ remove: id }) },
  { weight: 2, arbitrary: fc.record({ ask: claim }) },
);

type Step = { put: string; claim: Claim | undefined } | { remove: string } | { ask: Claim };

/** The index, and a plain list of what it should hold. */
interface Both {
  readonly index: ClaimIndex;
  readonly held: Map<string, Claim>;
}

function idsIn({ held }: Both, is: (one: Claim) => boolean): string[] {
  return [...held].flatMap(([one, told]) => (is(told) ? [one] : [])).sort();
}

function expectSame(both: Both, asked: Claim): void {
  const isSame = (one: Claim): boolean => toClaimKey(one) === toClaimKey(asked);
  expect([...both.index.findSame(asked)].sort()).toEqual(idsIn(both, isSame));
  expect([...both.index.findInSlot(asked)].sort()).toEqual(idsIn(both, (one) => isSameSlot(one, asked)));
}

function take(both: Both, one: Step): void {
  const { index, held } = both;
  if ("ask" in one) {
    expectSame(both, one.ask);
    return;
  }
  const id = "put" in one ? one.put : one.remove;
  const told = "put" in one ? one.claim : undefined;
  if ("put" in one) index.put({ id, ...(told ? { claim: told } : {}) } as Memory);
  else index.remove(id);
  if (told) held.set(id, told);
  else held.delete(id);
}

it("gives the same results as a plain list after any sequence of puts, moves, removals and queries", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), claim, (steps, last) => {
      const both = { index: createClaimIndex(), held: new Map<string, Claim>() };
      for (const one of steps) take(both, one);
      expectSame(both, last);
      const namings = idsIn(both, ({ relation }) => relation === "be called");
      expect([...both.index.findNamings()].sort()).toEqual(namings);
    }),
    { numRuns: 500 },
  );
});
