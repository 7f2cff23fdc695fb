import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { file, keepsake, place } from "./shell.ts";

const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

describe("an image on the command line", () => {
  it("is remembered by its description, listed, saved and erased", { timeout: 60_000 }, async () => {
    file("cat.gif", GIF);
    const about = ["--description", "My cat is called Quixote."];
    const said = await keepsake("remember", "From the garden:", "--attach", "cat.gif", ...about);
    expect(said).toMatchObject({ status: 0, out: "added: The user's cat is called Quixote.\n" });
    expect((await keepsake("answer", "What is my cat called?")).out).toBe("Your cat is called Quixote.\n");
    const { json } = await keepsake("attachments", "--json");
    expect(json).toMatchObject({ total: 1, items: [{ media_type: "image/gif", size: GIF.length }] });
    const [{ id }] = json.items;
    expect((await keepsake("attachments", "--type", "audio")).status).toBe(3);
    const saved = await keepsake("attachments", id, "--save", "out.gif");
    expect(saved.out).toContain("My cat is called Quixote.");
    expect(readFileSync(join(place, "out.gif")).equals(GIF)).toBe(true);
    expect(statSync(join(place, "out.gif")).mode & 0o777).toBe(0o600);
    expect(await keepsake("attachments", id, "--save", "cat.gif")).toMatchObject({ status: 1 });
    const plan = await keepsake("forget", "--attachment", id, "--dry-run");
    expect(plan.out).toMatch(/^Would be erased: 1 memory, words in 1 message, 1 image or recording\.\n/);
    const erased = await keepsake("forget", "--attachment", id, "--yes");
    expect(erased.out).toMatch(/ 1 image or recording\.\n/);
    expect((await keepsake("attachments")).status).toBe(3);
    expect(readFileSync(join(place, "keepsake.db")).includes(GIF.subarray(13))).toBe(false);
  });

  it.each([
    ["without a text or a file", ["remember"]],
    ["with a description of nothing", ["remember", "Look!", "--description", "A cat."]],
    ["with a file that does not exist", ["remember", "--attach", "none.png"]],
    ["with a file of another format", ["remember", "--attach", "text.png"]],
    ["to be saved without an id", ["attachments", "--save", "x.png"]],
  ])("is refused %s", { timeout: 30_000 }, async (_what, words) => {
    file("text.png", "no picture");
    expect(await keepsake(...words)).toMatchObject({ status: 2, out: "" });
    expect(existsSync(join(place, "x.png"))).toBe(false);
  });
});
