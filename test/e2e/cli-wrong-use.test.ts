import { chmodSync, copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contents, each, file, keepsake, keepsakeWith, place } from "./shell.ts";

describe("wrong use", () => {
  const wrong: readonly (readonly string[])[] = [
    [],
    ["nonsense"],
    ["remember"],
    ["remember", "one", "two"],
    ["remember", "hello", "--nonsense"],
    ["remember", "hello", "--role", "robot"],
    ["remember", ""],
    ["remember", " \n "],
    ["remember", "hello", "--at", "yesterday"],
    ["remember", "hello", "--at", "9999-01-01"],
    ["remember", "hello", "--at", "2024-05-01T10:00:00"],
    ["remember", "hello", "--user", ""],
    ["remember", "hello", "--id", "i".repeat(600)],
    ["recall", ""],
    ["recall", "tea", "--limit", "0"],
    ["recall", "tea", "--limit", "many"],
    ["recall", "tea", "--as-of", "9999-01-01"],
    ["recall", "tea", "--where-text", "tea"],
    ["recall", "tea", "--where-text", '{"$contain":"tea"}'],
    ["recall", "tea", "--where-text", '{"$regex":"("}'],
    ["recall", "tea", "--weights", "likeness=1"],
    ["recall", "tea", "--weights", "access=0"],
    ["recall", "tea", "--profile", "nonsense"],
    ["list", "--kind", "nonsense"],
    ["list", "--cursor", "nonsense"],
    ["undo", "nonsense"],
    ["forget"],
    ["forget", "tea", "--id", "x"],
    ["import"],
    ["import", "x", "--format", "nonsense"],
    ["serve", "--port", "70000"],
    ["serve", "--at", "2024-01-01"],
  ];

  it("ends with 2 and says what is wrong, to people and to programs", { timeout: 60_000 }, async () => {
    await each(wrong, async (words) => {
      const [people, program] = await Promise.all([keepsake(...words), keepsake(...words, "--json")]);
      expect({ words, status: people.status, out: people.out }).toEqual({ words, status: 2, out: "" });
      expect(people.err).not.toMatch(/^ {4}at |node:internal/m);
      expect({ words, status: program.status, err: program.err }).toEqual({ words, status: 2, err: "" });
      expect(program.json).toEqual({
        error: { code: "invalid_input", message: expect.stringMatching(/\.$|\)$/) },
      });
    });
  });

  it("never repeats a sentence that somebody wrote", async () => {
    for (const words of [["I have a secret illness"], ["remember", "- a secret illness"]]) {
      const ran = await keepsake(...words);
      expect(ran.status).toBe(2);
      expect(ran.err).not.toContain("illness");
    }
  });

  it("is helped, without a database", async () => {
    const [help, command, version] = await Promise.all([
      keepsake("--help"),
      keepsake("help", "forget"),
      keepsake("--version"),
    ]);
    expect(help).toMatchObject({
      status: 0,
      err: "",
      out: expect.stringMatching(/Exit status: 0 success; 1 failure/),
    });
    expect(command).toMatchObject({
      status: 0,
      out: expect.stringMatching(/--dry-run[\s\S]*--db[\s\S]*Examples:/),
    });
    expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(readdirSync(place)).toEqual([]);
  });
});

describe("stdin", () => {
  it("is a message, without the line break at its end", async () => {
    await keepsakeWith({ input: "I like tea.\r\n" }, "remember", "-");
    expect((await keepsake("export")).out).toContain('"content":"I like tea."');
  });

  it("is kept without the control characters in it, and the receipt says so", async () => {
    const ran = await keepsakeWith({ input: "I like \u001b[31mtea\u0000" }, "remember", "-", "--json");
    expect(ran).toMatchObject({ status: 0 });
    expect(JSON.parse(ran.out).memories).toContainEqual(
      expect.objectContaining({ action: "refused", why: expect.stringContaining("replaced: 2") }),
    );
    // JSON writes control characters as escapes.
    expect((await keepsake("export")).out).not.toContain("\\u00");
  });

  it("is refused where it is empty, huge or no text", { timeout: 30_000 }, async () => {
    const bad: readonly (readonly [string | Buffer, RegExp])[] = [
      ["", /empty/],
      ["a".repeat(1_000_001), /too long/],
      ["a".repeat(3_000_000), /too long/],
      [Buffer.from("I like \xff tea", "latin1"), /not UTF-8/],
      // Half a surrogate pair, as some programs write it (CESU-8).
      [Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x62]), /not UTF-8/],
    ];
    for (const [input, words] of bad) {
      const ran = await keepsakeWith({ input }, "remember", "-");
      expect(ran).toMatchObject({ status: 2, out: "", err: expect.stringMatching(words) });
    }
    expect((await keepsake("list", "--status", "all", "--json")).json.total).toBe(0);
  });
});

describe("a database that cannot be used", () => {
  it("is refused with a code, and left as it is", { timeout: 60_000 }, async () => {
    await keepsake("remember", "I like tea.", "--db", "whole.db");
    const whole = readFileSync(join(place, "whole.db"));
    file("text.db", "this is no database");
    file("half.db", whole.subarray(0, Math.floor(whole.length / 2)));
    file("damaged.db", Buffer.from(whole).fill(0xaa, 9000, 40_000));
    copyFileSync(join(place, "whole.db"), join(place, "read-only.db"));
    chmodSync(join(place, "read-only.db"), 0o444);
    const bad: { readonly [db: string]: string } = {
      "text.db": "corrupt",
      "half.db": "corrupt",
      "damaged.db": "corrupt",
      "read-only.db": "unavailable",
      ".": "unavailable",
      "nowhere/x.db": "unavailable",
    };
    const before = contents();
    for (const [db, code] of Object.entries(bad)) {
      for (const words of [["list"], ["remember", "I like coffee."]]) {
        const ran = await keepsake(...words, "--db", db, "--json");
        expect({ db, words, status: ran.status, err: ran.err }).toEqual({ db, words, status: 1, err: "" });
        expect(ran.json.error).toEqual({ code, message: expect.stringMatching(/\.$/) });
      }
    }
    expect(contents()).toEqual(before);
    expect((await keepsake("doctor", "--db", "damaged.db")).status).toBe(1);
  });
});
