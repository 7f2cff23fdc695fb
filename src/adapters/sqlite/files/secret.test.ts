import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fileSecret, textSecret } from "./secret.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-secret-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a secret in a file", () => {
  it("is created once, for its owner only, and stays the same", () => {
    const path = join(folder, "once.secret");
    const made = fileSecret(path);
    const again = fileSecret(path);
    expect([made.isNew, again.isNew]).toEqual([true, false]);
    expect(again.secret.sign("word")).toBe(made.secret.sign("word"));
    expect(made.secret.sign("word")).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["once.secret"]);
  });

  it("removes drafts of processes that have ended, and leaves those of a running one", () => {
    const path = join(folder, "left.secret");
    fileSecret(path);
    const ended = spawnSync(process.execPath, ["--version"]).pid;
    const drafts = [`${path}.${ended}.new`, `${path}.${process.pid}.new`, `${path}.copy.new`];
    for (const draft of drafts) writeFileSync(draft, "a draft");
    fileSecret(path);
    expect(drafts.map((draft) => existsSync(draft))).toEqual([false, true, true]);
  });

  it("differs between files", () => {
    const [one, other] = ["one.secret", "other.secret"].map((name) => fileSecret(join(folder, name)));
    expect(one?.secret.sign("word")).not.toBe(other?.secret.sign("word"));
  });

  it.each(["", "half a secret", "0123"])("is refused and left unchanged if it contains %j", (text) => {
    const path = join(folder, "broken.secret");
    writeFileSync(path, text);
    expect(() => fileSecret(path)).toThrow(expect.objectContaining({ code: "corrupt" }));
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("throws `unavailable` if its folder does not exist", () => {
    const path = join(folder, "nowhere", "x.secret");
    expect(() => fileSecret(path)).toThrow(expect.objectContaining({ code: "unavailable" }));
  });
});

describe("a secret from a setting", () => {
  it("is the same for the same text", () => {
    const text = "a text of sixteen and more";
    expect(textSecret(text).sign("word")).toBe(textSecret(text).sign("word"));
    expect(textSecret(text).sign("word")).not.toBe(textSecret(`${text}!`).sign("word"));
  });

  it("accepts the content of a secret file, so that a secret can be moved", () => {
    const path = join(folder, "moved.secret");
    const { secret } = fileSecret(path);
    expect(textSecret(readFileSync(path, "utf8")).sign("word")).toBe(secret.sign("word"));
  });

  it("is refused if it is easy to guess", () => {
    expect(() => textSecret("short")).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});
