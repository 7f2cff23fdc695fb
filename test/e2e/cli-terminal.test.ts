import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { file, keepsake, keepsakeOnTerminal, keepsakeWith, MAIN, place } from "./shell.ts";

const TIMEOUT = { timeout: 120_000 };

/** Stores what is said, in one process. */
const tell = (...lines: readonly string[]) => keepsakeWith({ input: lines.join("\n") }, "chat");

const listIds = async (): Promise<{ readonly id: string; readonly text: string }[]> =>
  (await keepsake("list", "--status", "all", "--json")).json.items;

describe("keepsake list on a terminal", () => {
  it("shows the ends of ids in colour, and other commands take them", TIMEOUT, async () => {
    await tell("I live in Porto.", "I like tea.");
    const listed = await keepsakeOnTerminal({}, "list");
    expect(listed.status).toBe(0);
    expect(listed.out).toContain("\u001b[33m");
    const rows = stripVTControlCharacters(listed.out).trim().split(/\r?\n/);
    const shown = rows.map((row) => row.slice(0, 8));
    const items = await listIds();
    expect(shown.toSorted()).toEqual(items.map(({ id }) => id.slice(-8)).toSorted());
    const [part = ""] = shown;
    expect((await keepsake("get", part, "--json")).json.id).toBe(
      items.find(({ id }) => id.endsWith(part))?.id,
    );
    expect((await keepsake("history", part)).status).toBe(0);
    const asked = await keepsakeOnTerminal({ input: "y\n" }, "forget", "--id", part);
    expect([asked.status, asked.out]).toEqual([
      0,
      expect.stringMatching(/Would be erased: 1 memory[\s\S]*Erased: 1 /),
    ]);
    expect((await listIds()).map(({ id }) => id)).toEqual(
      items.map(({ id }) => id).filter((id) => !id.endsWith(part)),
    );
  });

  it(
    "has no colour with NO_COLOR; elsewhere a list has colour with FORCE_COLOR and whole ids",
    TIMEOUT,
    async () => {
      await tell("I like tea.");
      const plain = await keepsakeOnTerminal({ env: { NO_COLOR: "1" } }, "list");
      expect(plain.out).toMatch(/^[\da-f]{8} {2}[\d-]{10} {2}preference {2}/);
      const piped = await keepsake("list");
      expect(piped.out).toMatch(/^\S{36} {2}[\d-]{10} {2}preference {2}/);
      const forced = await keepsakeWith({ env: { FORCE_COLOR: "1" } }, "list");
      expect(forced.out).toContain("\u001b[33m");
      expect(stripVTControlCharacters(forced.out)).toBe(piped.out);
    },
  );
});

describe("a part of an id", () => {
  it(
    "is refused with a code and advice if several memories have it, and changes nothing",
    TIMEOUT,
    async () => {
      await tell("I use Shram and Magnet as productivity tools.");
      const items = await listIds();
      const [one, other] = items.map(({ id }) => id) as [string, string];
      let length = 6;
      while (one.slice(0, length + 1) === other.slice(0, length + 1)) length += 1;
      const part = one.slice(0, length);
      for (const words of [
        ["get", part],
        ["edit", part, "The user likes nothing."],
        ["forget", "--id", part, "--yes"],
        ["link", part, other],
        ["private", part],
      ]) {
        const ran = await keepsake(...words, "--json");
        expect([words[0], ran.status, ran.json.error]).toEqual([
          words[0],
          2,
          {
            code: "invalid_input",
            message: expect.stringMatching(/^this part of an id fits 2 memories\. Give more/),
          },
        ]);
      }
      expect(await listIds()).toEqual(items);
      expect((await keepsake("get", one.slice(0, 35), "--json")).json.id).toBe(one);
    },
  );

  it(
    "is refused where a command erases or changes something and no person sees what it stands for",
    TIMEOUT,
    async () => {
      await tell("I live in Porto.", "I like tea.");
      const items = await listIds();
      const [part = "", other = ""] = items.map(({ id }) => id.slice(-8));
      const before = items.map(({ id }) => id);
      for (const words of [
        ["forget", "--id", part],
        ["forget", "--id", part, "--yes"],
        ["edit", part, "The user likes nothing."],
        ["link", part, other],
        ["unlink", part, other],
        ["private", part],
        ["share", "ben", "--id", part],
        ["approve", part],
        ["confirm", part],
      ]) {
        const ran = await keepsake(...words);
        expect([words[0], ran.status, ran.err]).toEqual([
          words[0],
          2,
          expect.stringContaining("Give the whole id"),
        ]);
      }
      for (const option of ["--yes", "--json"]) {
        const ran = await keepsakeOnTerminal({ input: "y\n" }, "forget", "--id", part, option);
        expect([option, ran.status]).toEqual([option, 2]);
      }
      expect((await listIds()).map(({ id }) => id)).toEqual(before);
      expect((await keepsake("forget", "--id", before[0] ?? "", "--json")).json.erased.memories).toBe(1);
    },
  );

  it("names an image as the list of images shows it", TIMEOUT, async () => {
    const dot = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
    await keepsake(
      "remember",
      "--attach",
      file("dot.gif", dot),
      "--description",
      "My cat is called Quixote.",
    );
    const [part = ""] = (await keepsake("attachments")).out.split(" ");
    expect((await keepsake("attachments", part)).out).toMatch(/^image, image\/gif/);
    expect((await keepsake("attachments", part, "--save", "saved.gif")).status).toBe(0);
    expect(readdirSync(place)).toContain("saved.gif");
  });

  it("names a grant that is withdrawn", TIMEOUT, async () => {
    await tell("I like tea.");
    const given = await keepsake("share", "ben", "--everything", "--json");
    const part = given.json.id.slice(-8);
    expect((await keepsake("unshare", part)).err).toContain("Give the whole id");
    expect((await keepsakeOnTerminal({}, "unshare", part)).out).toMatch(/^Withdrawn: ben /);
  });
});

describe("keepsake search", () => {
  it("finds by meaning and by parts of words, and leaves no trace", TIMEOUT, async () => {
    await tell("I live in Porto.", "I play the violoncello.", "I moved to Ghent.");
    const meant = await keepsake("search", "Where is my home?");
    expect(meant).toMatchObject({ status: 0, err: "" });
    expect(meant.out).toMatch(/^\S{36} {2}[\d-]{10} {2}fact {2}.*Ghent/);
    const part = await keepsake("search", "oloncel", "--json");
    expect(part.json.items).toMatchObject([{ found_by: "text", status: "current" }]);
    expect(part.json.items[0].text).toContain("violoncello");
    expect((await keepsake("search", "Porto")).out).not.toContain("Porto");
    expect((await keepsake("search", "Porto", "--all")).out).toMatch(/ superseded .*Porto/);
    expect((await keepsake("search", "violoncello", "--kind", "instruction")).status).toBe(3);
    const { usage } = (await keepsake("get", part.json.items[0].id, "--json")).json;
    expect(usage).toEqual({ count: 0 });
    expect(await keepsake("search", "")).toMatchObject({ status: 2, out: "" });
    expect((await keepsake("search", "a (b", "--json")).status).toBe(3);
  });
});

describe("keepsake edit", () => {
  it("changes the text, the kind and the end of a memory, and is undone", TIMEOUT, async () => {
    await tell("I live in Porto.");
    const [{ id }] = (await listIds()) as [{ id: string; text: string }];
    const edited = await keepsake("edit", id, "The user lives in Ghent.");
    expect(edited).toMatchObject({ status: 0, err: "" });
    expect(edited.out).toMatch(/^before: .*Porto\.\nchanged: The user lives in Ghent\.\nrevision 2; /);
    expect((await listIds()).map(({ text }) => text)).toEqual(["The user lives in Ghent."]);
    expect((await keepsake("undo", "2")).status).toBe(0);
    expect((await listIds())[0]?.text).toContain("Porto");
    await keepsake("edit", id, "--kind", "event", "--importance", "0.9");
    expect((await keepsake("get", id, "--json")).json).toMatchObject({ kind: "event", importance: 0.9 });
    const piped = await keepsakeWith({ input: "The user lives in Bruges.\n" }, "edit", id, "-", "--json");
    expect(piped.json.memories).toMatchObject([{ text: "The user lives in Bruges." }]);
    expect((await keepsake("edit", id, "The user lives in Bruges.")).out).toBe("Nothing was changed.\n");
    expect(await keepsake("edit", id)).toMatchObject({ status: 2, out: "" });
    expect(await keepsake("edit", "nobody", "x")).toMatchObject({ status: 3, out: "" });
  });

  it("opens the editor on a terminal, and leaves no copy of the text behind", TIMEOUT, async () => {
    await tell("I live in Porto.");
    const [{ id }] = (await listIds()) as [{ id: string; text: string }];
    const TMPDIR = join(place, "tmp");
    mkdirSync(TMPDIR);
    const edit = (VISUAL: string) => keepsakeOnTerminal({ env: { VISUAL, TMPDIR } }, "edit", id);
    const edited = await edit("sed -i s/Porto/Lisbon/");
    expect(stripVTControlCharacters(edited.out)).toMatch(/changed: .*Lisbon\./);
    expect((await listIds())[0]?.text).toContain("Lisbon");
    expect((await edit("true")).out).toContain("Nothing was changed.");
    const failed = await edit("false");
    expect([failed.status, stripVTControlCharacters(failed.out)]).toEqual([
      1,
      expect.stringMatching(/^keepsake: the editor ended with 1, so nothing was changed\./),
    ]);
    expect((await edit("truncate -s 0")).status).toBe(2);
    expect((await listIds())[0]?.text).toContain("Lisbon");
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  it(
    "keeps what was typed in the editor if the memory changed meanwhile, and names the file",
    TIMEOUT,
    async () => {
      await tell("I live in Porto.");
      const [{ id }] = (await listIds()) as [{ id: string; text: string }];
      file(
        "editor.sh",
        `"${process.execPath}" "${MAIN}" edit ${id} "The user lives in Ghent."\necho "The user lives in Lisbon." > "$1"\n`,
      );
      const TMPDIR = join(place, "tmp");
      mkdirSync(TMPDIR);
      const failed = await keepsakeOnTerminal({ env: { VISUAL: "sh editor.sh", TMPDIR } }, "edit", id);
      const shown = stripVTControlCharacters(failed.out).replace(/\r?\n/g, "\n");
      expect([failed.status === 0, shown]).toEqual([false, expect.stringContaining("has changed meanwhile")]);
      const [, copy = ""] = /Your text is in (\S+)\.\n/.exec(shown) ?? [];
      expect(readFileSync(copy, "utf8")).toBe("The user lives in Lisbon.\n");
      expect((await listIds())[0]?.text).toContain("Ghent");
    },
  );
});

describe("keepsake chat", () => {
  it("takes back with /undo what was learnt last, and then what was learnt before", TIMEOUT, async () => {
    const chat = await tell("I live in Porto.", "I like tea.", "What do I like?", "/undo", "/undo", "/undo");
    expect(chat.status).toBe(0);
    expect(chat.out).toMatch(
      /Undone:\n {2}retracted: .*tea.*\nUndone:\n {2}retracted: .*Porto.*\nThere is nothing to undo in this chat\.\n$/,
    );
    expect((await keepsake("list", "--json")).json.total).toBe(0);
  });

  it("breaks lines between words on a terminal, and shows what is learnt in colour", TIMEOUT, async () => {
    const long = "Tomorrow I will travel with Petra and Quirin from Ghent to Valparaiso by ship.";
    const { out, status } = await keepsakeOnTerminal({ input: `${long}\n/help\n/quit\n` }, "chat");
    expect(status).toBe(0);
    expect(out).toContain("\u001b[32m+");
    const lines = stripVTControlCharacters(out).split(/\r?\n/);
    const help = lines.findIndex((line) => line.includes("/list "));
    expect(help).toBeGreaterThan(0);
    expect(lines.slice(help).filter((line) => line.length > 60)).toEqual([]);
    expect(lines.some((line) => /^ {4}\S/.test(line))).toBe(true);
  });
});

describe("a misspelt command", () => {
  it.each([
    ["serach", "search"],
    ["edti", "edit"],
    ["complettion", "completion"],
  ])("%s is refused with the one that is meant", async (wrong, right) => {
    const ran = await keepsake(wrong, "tea");
    expect([ran.status, ran.err]).toEqual([2, expect.stringContaining(`(Did you mean ${right}?)`)]);
  });
});

describe("keepsake completion", () => {
  /** What bash offers after these words; the last is the beginning of one. */
  function completeInBash(script: string, ...words: readonly string[]): string[] {
    const program = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _keepsake; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const ran = spawnSync("bash", ["-c", program, "bash", "keepsake", ...words], {
      cwd: place,
      encoding: "utf8",
    });
    expect(ran.stderr).toBe("");
    return ran.stdout.split("\n").filter((line) => line !== "");
  }

  it("makes a script with which bash completes commands, options, values and files", TIMEOUT, async () => {
    file("notes file.jsonl", "");
    const { out: script, status } = await keepsake("completion", "bash");
    expect(status).toBe(0);
    const complete = (...words: readonly string[]) => completeInBash(script, ...words);
    expect(complete("sea")).toEqual(["search"]);
    expect(complete("--user", "list", "keys", "ro")).toEqual(["rotate"]);
    expect(complete("list", "--stat")).toEqual(["--status"]);
    expect(complete("list", "--status", "")).toEqual(["current", "superseded", "retracted", "all"]);
    expect(complete("import", "no")).toEqual(["notes file.jsonl"]);
    expect(complete("list", "--db", "no")).toEqual(["notes file.jsonl"]);
    expect(complete("help", "edi")).toEqual(["edit"]);
    expect(complete("remember", "")).toEqual([]);
  });

  it("offers every command that the help lists", TIMEOUT, async () => {
    const { out: help } = await keepsake("--help");
    const commands = [...(help.split("\nCommands:\n")[1] ?? "").matchAll(/^ {2}([a-z][\w-]*)/gm)];
    const names = commands.map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(30);
    const { out: script } = await keepsake("completion", "bash");
    expect(completeInBash(script, "").toSorted()).toEqual(names.toSorted());
  });

  it.each(["zsh", "fish"])(
    "makes a script for %s that the shell can read, where it is installed",
    async (shell) => {
      const { out } = await keepsake("completion", shell);
      expect(out).toContain("search memories by meaning");
      const ran = spawnSync(shell, ["-n", file(`completion.${shell}`, out)], {
        cwd: place,
        encoding: "utf8",
      });
      const isMissing = ran.error !== undefined && "code" in ran.error && ran.error.code === "ENOENT";
      expect(isMissing || (ran.status === 0 && ran.stderr === "")).toBe(true);
    },
  );

  it("names the shells where another is asked for", async () => {
    const ran = await keepsake("completion", "tcsh");
    expect([ran.status, ran.err]).toEqual([2, expect.stringMatching(/bash, zsh, fish/)]);
  });
});
