import { describe, expect, it } from "vitest";
import { invalid } from "../errors.ts";
import { EXIT, toShownError } from "./exit.ts";

describe("an error that the command line shows", () => {
  it("is that of the library, with its exit status", () => {
    expect(toShownError(invalid("session: too long."))).toEqual({
      code: "invalid_input",
      message: "session: too long.",
      status: EXIT.wrongUse,
    });
  });

  it("says what to do about a file, a full disk, a broken one and a time that ran out", async () => {
    const [full, denied, broken] = ["ENOSPC", "EACCES", "EIO"].map((code) =>
      Object.assign(new Error("/home/ana"), { code }),
    );
    const signal = AbortSignal.timeout(1);
    const late = await new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(signal.reason));
    });
    for (const error of [full, denied, broken, late]) {
      const { code, message } = toShownError(error);
      expect(code).toBe("unavailable");
      expect(message).toMatch(/again|Check/);
      expect(message).not.toContain("ana");
    }
  });

  it("gives the name alone of any other, which may contain what a user said", () => {
    const { code, message } = toShownError(new TypeError("I live in Porto"));
    expect([code, message]).toEqual(["internal", "internal error (TypeError). Please report it."]);
  });
});
