import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { file, keepsakeWith, place } from "./shell.ts";

describe("what Node compiled of the program", () => {
  const words = ["remember", "I live in Zanzibar."];

  it("is kept in a folder of the user's own, with nothing of what was said", async () => {
    const env = { HOME: place, NODE_COMPILE_CACHE: "" };
    expect(await keepsakeWith({ env }, ...words)).toMatchObject({ status: 0, err: "" });
    const folder = join(place, ".cache/keepsake/compiled");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const kept = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
    const files = kept();
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((path) => readFileSync(path).includes("Zanzibar"))).toEqual([]);

    expect(await keepsakeWith({ env }, "list")).toMatchObject({ status: 0, err: "" });
    expect(kept()).toEqual(expect.arrayContaining(files));
  });

  it("is not kept in the folder one stands in, nor where Node is told to keep nothing", async () => {
    const relative = { HOME: place, XDG_CACHE_HOME: "caches", NODE_COMPILE_CACHE: "" };
    expect(await keepsakeWith({ env: relative }, ...words)).toMatchObject({ status: 0, err: "" });
    expect(existsSync(join(place, "caches"))).toBe(false);
    expect(existsSync(join(place, ".cache"))).toBe(true);

    const told = { HOME: place, XDG_CACHE_HOME: join(place, "none"), NODE_DISABLE_COMPILE_CACHE: "1" };
    expect(await keepsakeWith({ env: { ...told, NODE_COMPILE_CACHE: "" } }, "list")).toMatchObject({
      status: 0,
    });
    expect(readdirSync(join(place, "none"), { recursive: true })).toEqual(["keepsake", "keepsake/compiled"]);
  });

  it("is not kept where others may write", async () => {
    const folder = join(place, ".cache/keepsake/compiled");
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    const env = { HOME: place, NODE_COMPILE_CACHE: "" };
    expect(await keepsakeWith({ env }, ...words)).toMatchObject({ status: 0, err: "" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is compiled anew where that folder cannot be made", async () => {
    file(".cache", "in the way");
    const env = { HOME: place, NODE_COMPILE_CACHE: "" };
    expect(await keepsakeWith({ env }, ...words)).toMatchObject({ status: 0, err: "" });
  });
});
