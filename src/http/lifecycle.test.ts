import { describe, expect, it } from "vitest";
import { lifecycle } from "./lifecycle.ts";

describe("what is at work", () => {
  it("is waited for, with what it left behind", async () => {
    const at = lifecycle();
    const done: string[] = [];
    const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    void at.during(async () => {
      await rest(10);
      done.push("answer");
      at.after(rest(10).then(() => done.push("stored")));
    });
    expect(await at.idle(5000)).toBe(true);
    expect(done).toEqual(["answer", "stored"]);
  });

  it("is not waited for any longer than is said", async () => {
    const at = lifecycle();
    void at.during(() => new Promise(() => {}));
    expect(await at.idle(20)).toBe(false);
  });

  it("that fails has ended too, and its error is the caller's", async () => {
    const at = lifecycle();
    const failing = at.during(() => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await at.idle(1000)).toBe(true);
  });
});
