import { expect, it } from "vitest";
import { rulesExtractor } from "../../language/en/grammar/rules.ts";
import type { EndProposal } from "../../ports/language/extractor.ts";
import { dropSweeps, getHeldSweeps, holdSweep } from "./confirmations.ts";

const ANA = { project: "p", user: "ana" };
const BOB = { project: "p", user: "bob" };

it("an erasure drops the pending confirmations of its user, and of no other", () => {
  const by = rulesExtractor();
  const sweep: EndProposal = {
    propose: "retract",
    message: "m",
    start: 0,
    end: 1,
    target: { value: "Quillon" },
  };
  for (const scope of [ANA, BOB]) holdSweep(by, scope, sweep);
  dropSweeps(by, ANA);
  expect([getHeldSweeps(by, ANA, "m"), getHeldSweeps(by, BOB, "m")]).toEqual([[], [sweep]]);
  dropSweeps(by);
  expect(getHeldSweeps(by, BOB, "m")).toEqual([]);
});
