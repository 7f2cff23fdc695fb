import { describe, expect, it } from "vitest";
import { createIdShortener, selectId } from "./short-ids.ts";

const TEA = "019f1234-5678-7000-8abc-1111aaaa2222";
const PORTO = "019f1234-5678-7001-8abc-3333bbbb4444";

describe("createIdShortener", () => {
  it("gives the last eight characters on a terminal", () => {
    const shorten = createIdShortener([TEA, PORTO], true);
    expect([shorten(TEA), shorten(PORTO)]).toEqual(["aaaa2222", "bbbb4444"]);
  });

  it("gives more characters where two ids end alike", () => {
    const other = TEA.replace("8abc-1111", "8abc-1119");
    const shorten = createIdShortener([TEA, other], true);
    expect([shorten(TEA), shorten(other)]).toEqual(["1aaaa2222", "9aaaa2222"]);
  });

  it("gives whole ids where the output is not a terminal, and ids of another form everywhere", () => {
    expect(createIdShortener([TEA], false)(TEA)).toBe(TEA);
    expect(createIdShortener([TEA, "note-1"], true)("note-1")).toBe("note-1");
  });
});

describe("selectId", () => {
  it("finds an id by its end, by its beginning, and in capitals", () => {
    for (const part of ["bbbb4444", "019f1234-5678-7001", "BBBB4444", "…bbbb4444"])
      expect(selectId([TEA, PORTO], part, "memories")).toBe(PORTO);
  });

  it("refuses a part that several ids have, and says what to do", () => {
    expect(() => selectId([TEA, PORTO], "019f1234", "memories")).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: expect.stringMatching(/^this part of an id fits 2 memories\. Give more of its characters/),
      }),
    );
  });

  it("refuses a part that one id has where parts are not allowed, and takes a whole id and what fits nothing", () => {
    expect(() => selectId([TEA, PORTO], "bbbb4444", "memories", false)).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: expect.stringContaining("Give the whole id"),
      }),
    );
    expect(selectId([TEA, PORTO], PORTO, "memories", false)).toBe(PORTO);
    expect(selectId([TEA, PORTO], "cccc5555", "memories", false)).toBe("cccc5555");
  });

  it("gives back what fits nothing, what is too short, and an id that is another's part", () => {
    expect(selectId([TEA], "abcdef", "memories")).toBe("abcdef");
    expect(selectId([TEA], "2222", "memories")).toBe("2222");
    expect(selectId([`x${TEA}`, TEA], TEA, "memories")).toBe(TEA);
  });
});
