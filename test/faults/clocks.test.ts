import { expect, it } from "vitest";
import { wrongClocks } from "./clocks.ts";

// Many more are run by `node test/faults/clocks.ts --rounds N`; here one of each course.
it("on two servers whose clocks jump, run backwards and differ, nothing is lost, wrong or expired early", {
  timeout: 240_000,
}, async () => {
  expect(await wrongClocks(8, 17)).toEqual({
    rounds: 8,
    lost: 0,
    wrong: 0,
    earlyExpiry: 0,
    negativeDurations: 0,
    faults: [],
  });
});
