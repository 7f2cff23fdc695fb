import { beforeEach, describe, expect, it } from "vitest";
import { type Gathering, gathering } from "./gathering.ts";

const ann = { project: "default", user: "ann" };
const bob = { project: "default", user: "bob" };
let now: number;
let waiting: Gathering;
beforeEach(() => {
  now = 1000;
  waiting = gathering(100, () => now);
});

describe("messages that wait to be read together", () => {
  it("wait until their user pauses, whatever others do", () => {
    waiting.add(ann);
    now += 60;
    waiting.add(ann);
    waiting.add(bob);
    now += 60;
    waiting.add(bob);
    expect(waiting.take()).toEqual([]);
    expect(waiting.next()).toBe(40);
    now += 40;
    expect(waiting.take()).toEqual([ann]);
    expect([waiting.has(ann), waiting.has(bob)]).toEqual([false, true]);
    expect(waiting.next()).toBe(60);
  });

  it("wait no longer where there are enough of them", () => {
    for (let i = 0; i < 11; i += 1) waiting.add(ann);
    expect(waiting.take()).toEqual([]);
    waiting.add(ann);
    expect(waiting.next()).toBe(0);
    expect(waiting.take()).toEqual([ann]);
  });

  it("wait for five pauses at most, in a conversation without any", () => {
    for (let i = 0; i < 10; i += 1, now += 50) waiting.add(ann);
    expect(now).toBe(1500);
    expect(waiting.take()).toEqual([ann]);
    expect(waiting.next()).toBeUndefined();
  });
});
