import { expect, it } from "vitest";
import { createCircuitBreaker } from "./circuit-breaker.ts";

const made = () => {
  let now = 0;
  const states: string[] = [];
  const one = createCircuitBreaker({
    place: "the server",
    failures: 3,
    openMs: 1000,
    now: () => now,
    onChange: (state) => states.push(state),
  });
  const fails = (): void => {
    one.enter();
    one.recordOutcome("badly");
  };
  return { one, states, fails, wait: (ms: number) => (now += ms) };
};

it("opens after several failures in a row, but not for failures between successes", () => {
  const { one, fails } = made();
  for (let i = 0; i < 5; i += 1) {
    fails();
    fails();
    one.enter();
    one.recordOutcome("well");
  }
  expect(one.state()).toBe("closed");
  fails();
  fails();
  fails();
  expect(one.state()).toBe("open");
  expect(() => one.enter()).toThrow("the server failed 3 times in a row. The next attempt is in 1 s.");
});

it("lets one request through as a probe, and doubles the pause each time it fails", () => {
  const { one, fails, wait, states } = made();
  for (let i = 0; i < 3; i += 1) fails();
  wait(1000);
  one.enter();
  expect(one.state()).toBe("half_open");
  expect(() => one.enter()).toThrow("next attempt");
  one.recordOutcome("badly");
  wait(1999);
  expect(() => one.enter()).toThrow("in 1 s");
  wait(1);
  one.enter();
  one.recordOutcome("well");
  expect(one.state()).toBe("closed");
  one.enter();
  expect(states).toEqual(["open", "half_open", "open", "half_open", "closed"]);
});

it("never stays open longer than five minutes", () => {
  const { one, fails, wait } = made();
  for (let i = 0; i < 3; i += 1) fails();
  for (let i = 0; i < 20; i += 1) {
    wait(300_000);
    fails();
  }
  wait(300_000);
  expect(() => one.enter()).not.toThrow();
});

it("ignores an aborted probe: the next request is the probe", () => {
  const { one, fails, wait } = made();
  for (let i = 0; i < 3; i += 1) fails();
  wait(1000);
  one.enter();
  one.recordOutcome("unknown");
  one.enter();
  expect(one.state()).toBe("half_open");
});
