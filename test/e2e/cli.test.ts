import { spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

/** What a user runs: made as new as src/ before the tests began. */
const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");

let folder: string;
let place: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-cli-"));
});
beforeEach(() => {
  place = mkdtempSync(join(folder, "place-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
  /** The one document on stdout. */
  // biome-ignore lint/suspicious/noExplicitAny: results are looked into as a script would.
  readonly json: any;
}

interface Around {
  readonly input?: string | Buffer;
  readonly env?: { readonly [name: string]: string };
}

/** Runs the command as a shell would, in the folder of this test. */
function keepsakeWith(around: Around, ...words: readonly string[]): Promise<Ran> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [MAIN, ...words], { cwd: place, env: { PATH, ...around.env } });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  // A command that does not read its stdin closes it early.
  child.stdin.on("error", () => {});
  child.stdin.end(around.input ?? "");
  return new Promise((resolve) => {
    child.once("close", (status) => {
      resolve({
        status,
        out,
        err,
        get json() {
          return JSON.parse(out);
        },
      });
    });
  });
}

const keepsake = (...words: readonly string[]): Promise<Ran> => keepsakeWith({}, ...words);

/** A few at a time: processes mostly start. */
async function each<One>(all: readonly One[], work: (one: One) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += 3) await Promise.all(all.slice(i, i + 3).map(work));
}

const file = (name: string, content: string | Buffer): string => {
  writeFileSync(join(place, name), content);
  return name;
};

const linesOf = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

/** Every file of the folder and what it holds. */
const contents = (): { [name: string]: string } =>
  Object.fromEntries(readdirSync(place).map((name) => [name, readFileSync(join(place, name), "latin1")]));

/** Every byte of every file in the folder. */
const bytes = (): string => Object.values(contents()).join("\n");

describe("the story", () => {
  it("is learnt, answered, changed, forgotten and accounted for", { timeout: 60_000 }, async () => {
    const told = await keepsake("remember", "I use Shram and Magnet as productivity tools.");
    expect(told).toMatchObject({ status: 0, err: "" });
    expect(told.out.match(/^added: /gm)).toHaveLength(2);

    const question = "What productivity tools do I use?";
    expect(await keepsake("answer", question)).toMatchObject({
      status: 0,
      out: "You use Shram and Magnet.\n",
      err: "",
    });

    const changed = await keepsake("remember", "I don't use Magnet anymore.", "--json");
    expect(changed.json).toMatchObject({ revision: 2, memories: [{ action: "superseded" }], pending: 0 });
    expect(await keepsake("answer", question)).toMatchObject({ status: 0, out: "You use Shram.\n" });

    const recalled = await keepsake("recall", "productivity tools", "--explain", "--json");
    expect(recalled.status).toBe(0);
    const found = recalled.json.items.find((item: { type: string }) => item.type === "memory");
    expect(found).toMatchObject({
      type: "memory",
      status: "current",
      claim: { subject: "user", relation: "use", value: "Shram" },
      sources: [{ role: "user" }],
    });
    expect(found.valid_from).toMatch(/^\d{4}-/);
    expect(Object.keys(found.why.arms).length).toBeGreaterThan(0);
    expect(recalled.json.explanation).toMatchObject({ profile: "default" });

    const versions = await keepsake("history", changed.json.memories[0].id);
    expect(versions.out).toMatch(/^1 {2}revision 1 .* added[\s\S]*^2 {2}revision 2 .* superseded/m);

    const plan = await keepsake("forget", "Magnet", "--dry-run", "--json");
    expect(plan.json).toMatchObject({ dry_run: true, memories: [{ id: changed.json.memories[0].id }] });
    expect(bytes()).toContain("Magnet");

    const receipt = await keepsake("forget", "Magnet", "--json");
    expect(receipt.status).toBe(0);
    expect(receipt.json).toMatchObject({ complete: true, erased: { memories: 1, messages: 2 } });
    expect(receipt.out).not.toContain("Magnet");
    expect(bytes()).not.toMatch(/magnet/i);

    expect(await keepsake("answer", question)).toMatchObject({ out: "You use Shram.\n" });
    const [history, exported, audit, doctor] = await Promise.all([
      keepsake("history"),
      keepsake("export"),
      keepsake("audit", "--json"),
      keepsake("doctor", "--json"),
    ]);
    expect(history.out).toMatch(/^ +3 .*forget, 3 places erased$/m);
    expect(`${history.out}${exported.out}`).not.toMatch(/magnet/i);
    expect(audit.json).toMatchObject({ valid: true, receipts: [{ id: receipt.json.id }], broken: [] });
    expect(doctor.json).toEqual({ healthy: true, faults: [] });
  });

  it("is told in a chat, where each line of stdin is a turn", { timeout: 30_000 }, async () => {
    const input = [
      "I use Shram and Magnet as productivity tools.",
      "What productivity tools do I use?",
      "/why",
      "I don't use Magnet anymore.",
      "What productivity tools do I use?",
      "/list",
      "/nonsense",
      "/forget Magnet",
      "/forget Magnet",
      "/quit",
      "I live in Porto.",
    ].join("\n");
    const { status, out, err } = await keepsakeWith({ input }, "chat");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    const said = out.split("\n");
    expect(said).toContain("You use Shram and Magnet.");
    expect(said).toContain("You use Shram.");
    expect(said).toContainEqual(expect.stringMatching(/^ {2}\+ .*\bShram\b/));
    expect(said).toContainEqual(expect.stringMatching(/^ {2}− .*\bMagnet\b/));
    expect(said).toContainEqual(expect.stringMatching(/^ {2}“I use Shram and Magnet.*” {2}user, \d{4}/));
    expect(said).toContain("There is no such command.");
    expect(said).toContain("Erased: 1 memory, words in 2 messages.");
    expect(said.at(-2)).toBe("Nothing like that is known.");
    expect(bytes()).not.toMatch(/magnet/i);
    expect((await keepsake("list")).out).not.toContain("Porto");
  });

  it("is one document where a chat is for a program", { timeout: 30_000 }, async () => {
    const input = "I live in Porto.\nWhere do I live?\n/list\n";
    const { status, json, err } = await keepsakeWith({ input }, "chat", "--json");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(json.turns).toMatchObject([
      { receipt: { memories: [{ action: "added" }] }, turn: 1 },
      { text: "You live in Porto.", answer: { abstained: false } },
      { command: "/list" },
    ]);
    expect(json.session).toMatch(/^chat-/);
  });
});

describe("the time and the scope", () => {
  it("are what the options say, before the command or behind it", { timeout: 30_000 }, async () => {
    await keepsake("--user", "ana", "remember", "I live in Porto.", "--at", "2023-03-01T09:00:00Z");
    await keepsake("remember", "I live in Ghent now.", "--user", "ana", "--at", "2024-03-01");
    const asked = (...words: readonly string[]) => keepsake("answer", "Where do I live?", ...words);
    const [now, then, other, project] = await Promise.all([
      asked("--user", "ana"),
      asked("--user", "ana", "--as-of", "2023-06-01"),
      asked(),
      asked("--user", "ana", "--project", "elsewhere"),
    ]);
    expect(now.out).toBe("You live in Ghent.\n");
    expect(then.out).toMatch(/Porto/);
    expect(then.out).not.toMatch(/Ghent/);
    expect([other.status, project.status]).toEqual([3, 3]);
    expect((await keepsake("list", "--user", "ana", "--json")).json.items[0].at).toMatch(/^2024-03-01/);
  });

  it("come from the environment where no option names them", { timeout: 30_000 }, async () => {
    const env = { MEMORY_DB_URL: "sqlite:///other.db", MEMORY_RETRIEVAL_TOP_K: "1" };
    await keepsakeWith({ env }, "remember", "I like tea. I like coffee.");
    expect(existsSync(join(place, "other.db"))).toBe(true);
    const one = await keepsakeWith({ env }, "recall", "What do I like?", "--json");
    expect(one.json.items).toHaveLength(1);
    const more = await keepsakeWith({ env }, "recall", "What do I like?", "--json", "--limit", "5");
    expect(more.json.items.length).toBeGreaterThan(1);
    const sure = { ...env, MEMORY_CONFIDENCE_THRESHOLD: "1" };
    expect(
      (await keepsakeWith({ env: sure }, "remember", "I live in Porto.", "--json")).json.memories,
    ).toEqual([]);
  });

  it("stop the start where a setting is none", async () => {
    const bad: readonly (readonly [{ [name: string]: string }, number, RegExp])[] = [
      [{ KEEPSAKE_PROT: "1" }, 2, /KEEPSAKE_PROT is no setting\. Did you mean KEEPSAKE_PORT\?/],
      [{ KEEPSAKE_PORT: "99999" }, 2, /KEEPSAKE_PORT: "99999" is not allowed\. Allowed: a number/],
      [{ KEEPSAKE_API_KEY: "geheim" }, 2, /KEEPSAKE_API_KEY: its value is not allowed/],
      [{ MEMORY_DB_URL: "postgresql://ana:geheim@db/x" }, 1, /postgresql is not supported/],
    ];
    for (const [env, status, words] of bad) {
      const ran = await keepsakeWith({ env }, "list");
      expect(ran).toMatchObject({ status, out: "", err: expect.stringMatching(words) });
      expect(ran.err).not.toContain("geheim");
    }
  });
});

describe("what is found", () => {
  it("is nothing before anything was said, and no file comes of looking", { timeout: 60_000 }, async () => {
    const looks: readonly (readonly [number, ...string[]])[] = [
      [3, "recall", "tea"],
      [3, "answer", "What do I like?"],
      [3, "get", "nobody"],
      [3, "history", "nobody"],
      [3, "undo", "1"],
      [3, "forget", "tea"],
      [3, "forget", "--id", "nobody"],
      [0, "list"],
      [0, "history"],
      [0, "profile"],
      [0, "export"],
      [1, "doctor"],
      [1, "audit"],
    ];
    await each(looks, async ([status, ...words]) => {
      const ran = await keepsake(...words, "--json");
      expect({ words, status: ran.status, err: ran.err }).toEqual({ words, status, err: "" });
      expect(ran.json).toBeTypeOf("object");
    });
    expect(readdirSync(place)).toEqual([]);
  });

  it("is shown by id, by kind and by page, and taken back", { timeout: 60_000 }, async () => {
    const lines = ["I like tea.", "I like coffee.", "I live in Porto."].join("\n");
    await keepsakeWith({ input: lines }, "chat");
    const page = await keepsake("list", "--limit", "2", "--json");
    expect(page.json).toMatchObject({ total: 3, items: [{ kind: "fact" }, { kind: "preference" }] });
    const rest = await keepsake("list", "--cursor", page.json.cursor, "--json");
    expect(rest.json.items).toHaveLength(1);
    expect((await keepsake("list", "--kind", "fact")).out).toMatch(
      /^\S{36} {2}[\d-]{10} {2}fact {2}.*Porto.*\n$/,
    );

    const [{ id }] = page.json.items;
    expect((await keepsake("get", id)).out).toMatch(/Porto[\s\S]*1 source:\n {2}“I live in Porto/);
    expect((await keepsake("get", id, "--json")).json).toMatchObject({ id, stored_at: expect.any(String) });
    expect((await keepsake("profile")).out).toMatch(/Porto/);
    expect((await keepsake("profile", "--json")).json.kinds.preference).toHaveLength(2);

    expect((await keepsake("undo", "3")).out).toMatch(
      /^Revision 3 is taken back, by revision 4\.\nretracted: /,
    );
    expect((await keepsake("list", "--json")).json.total).toBe(2);
    expect((await keepsake("list", "--status", "all", "--json")).json.total).toBe(3);
    expect((await keepsake("undo", "4", "--json")).status).toBe(0);
    expect((await keepsake("list", "--json")).json.total).toBe(3);
  });
});

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
      out: expect.stringMatching(/Exit status: 0 done; 1 failed/),
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

  it("is refused where it is empty, huge or no text", { timeout: 30_000 }, async () => {
    const bad: readonly (readonly [string | Buffer, RegExp])[] = [
      ["", /empty/],
      ["a".repeat(1_000_001), /too long/],
      ["a".repeat(3_000_000), /too long/],
      [Buffer.from("I like \xff tea", "latin1"), /no UTF-8/],
      // Half a surrogate pair, as some programs write it (CESU-8).
      [Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x62]), /no UTF-8/],
      ["I like \u0000 tea", /control characters/],
      ["I like \u001b[31mtea", /control characters/],
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

describe("import", () => {
  const said = (count: number, more: (number: number) => object = () => ({})) =>
    Array.from({ length: count }, (_, number) => ({
      role: "user",
      content: `I use Tool${number}.`,
      at: new Date(Date.UTC(2023, 0, 1, 0, number)).toISOString(),
      session: `s${Math.floor(number / 50)}`,
      ...more(number),
    }));

  it("takes a conversation in once, however often it is run", { timeout: 60_000 }, async () => {
    file("chat.jsonl", linesOf(said(450)));
    const dry = await keepsake("import", "chat.jsonl", "--dry-run", "--json");
    expect(dry.json.files).toMatchObject([
      { file: "chat.jsonl", format: "jsonl", read: 450, sessions: 9, from: "2023-01-01T00:00:00.000Z" },
    ]);
    expect(existsSync(join(place, "keepsake.db"))).toBe(false);

    const first = await keepsake("import", "chat.jsonl", "--json");
    expect(first).toMatchObject({ status: 0, err: "" });
    expect(first.json).toMatchObject({ read: 450, stored: 450, known: 0, memories: 450 });
    const second = await keepsake("import", "chat.jsonl");
    expect(second.out).toMatch(
      /^chat\.jsonl \(jsonl\): 450 messages read, 0 stored, 450 known before; 0 new memories\.\n$/,
    );
    expect((await keepsake("list", "--json", "--limit", "1")).json.total).toBe(450);
  });

  it("names a bad message by its line, and stores nothing of all the files", {
    timeout: 60_000,
  }, async () => {
    file("good.jsonl", linesOf(said(3)));
    const bad: readonly (readonly [object, RegExp])[] = [
      [{ content: "" }, /content is empty/],
      [{ content: "x".repeat(1_000_001) }, /too long/],
      [{ content: "half \ud800 a pair" }, /surrogate/],
      [{ content: "a \u0000 zero" }, /control characters/],
      [{ at: "9999-01-01" }, /outside the years/],
      [{ role: "robot" }, /role must be one of/],
      [{ metadata: { deep: { er: 1 } } }, /metadata/],
    ];
    for (const [fields, words] of bad) {
      file("bad.jsonl", linesOf(said(1000, (number) => (number === 698 ? fields : {}))));
      const ran = await keepsake("import", "good.jsonl", "bad.jsonl", "--json");
      expect(ran.status).toBe(2);
      expect(ran.json.error).toMatchObject({ code: "invalid_input", message: expect.stringMatching(words) });
      expect(ran.json.error.message).toMatch(/^bad\.jsonl: line 699: .* Nothing was stored\.$/);
    }
    file("torn.jsonl", `${linesOf(said(3))}{"role":"user","con`);
    const torn = await keepsake("import", "good.jsonl", "torn.jsonl");
    expect(torn).toMatchObject({
      status: 2,
      err: "keepsake: torn.jsonl: line 4 is no JSON. Nothing was stored.\n",
    });
    expect((await keepsake("history", "--json")).json).toEqual([]);
  });

  it("says where a file is missing, empty or of no known format", { timeout: 30_000 }, async () => {
    file("empty.jsonl", "");
    file("binary", Buffer.from([0, 1, 2, 255]));
    expect(await keepsake("import", "missing.jsonl")).toMatchObject({
      status: 1,
      err: expect.stringMatching(/not there/),
    });
    expect(await keepsake("import", "empty.jsonl")).toMatchObject({
      status: 2,
      err: expect.stringMatching(/is empty/),
    });
    expect(await keepsake("import", "binary")).toMatchObject({
      status: 2,
      err: expect.stringMatching(/no format/),
    });
  });

  it("takes back what export wrote", { timeout: 60_000 }, async () => {
    const input = "I like tea.\nI live in Porto.\nI live in Ghent now.\nForget that I like tea.";
    await keepsakeWith({ input }, "chat");
    const exported = await keepsake("export", "out.jsonl", "--json");
    expect(exported).toMatchObject({ status: 0, err: "" });
    expect(statSync(join(place, "out.jsonl")).mode & 0o777).toBe(0o600);
    expect(exported.json.lines).toBe(readFileSync(join(place, "out.jsonl"), "utf8").split("\n").length - 1);

    const copied = await keepsake("import", "out.jsonl", "--db", "copy.db", "--json");
    expect(copied.json.files).toMatchObject([{ format: "keepsake", known: 0 }]);
    const told = async (db: string) => {
      const { json } = await keepsake("list", "--status", "all", "--db", db, "--json");
      return json.items.map(({ text, status, at }: { text: string; status: string; at: string }) => [
        text,
        status,
        at,
      ]);
    };
    expect(await told("copy.db")).toEqual(await told("keepsake.db"));
    const again = await keepsake("import", "out.jsonl", "--db", "copy.db", "--json");
    expect(again.json).toMatchObject({ stored: 0, memories: 0 });
  });
});

describe("export", () => {
  it("never takes the database's place, and leaves no half file", { timeout: 30_000 }, async () => {
    await keepsake("remember", "I like tea.");
    const before = readdirSync(place).sort();
    for (const target of ["keepsake.db", "./keepsake.db.secret"]) {
      expect(await keepsake("export", target)).toMatchObject({ status: 2, out: "" });
    }
    expect(await keepsake("export", "nowhere/out.jsonl")).toMatchObject({
      status: 1,
      err: expect.stringMatching(/^keepsake: nowhere\/out\.jsonl: /),
    });
    expect(readdirSync(place).sort()).toEqual(before);
    expect((await keepsake("list", "--json")).json.total).toBe(1);
  });

  it("may be read only in part", { timeout: 30_000 }, async () => {
    file(
      "chat.jsonl",
      linesOf(Array.from({ length: 800 }, (_, i) => ({ content: `Line ${i}. ${"x".repeat(400)}` }))),
    );
    await keepsake("import", "chat.jsonl");
    const shell = spawn(
      "bash",
      ["-c", `"$0" "$1" export | head -n 1; echo "\${PIPESTATUS[0]}"`, process.execPath, MAIN],
      {
        cwd: place,
      },
    );
    let [out, err] = ["", ""];
    shell.stdout.on("data", (text) => {
      out += text;
    });
    shell.stderr.on("data", (text) => {
      err += text;
    });
    await new Promise((resolve) => shell.once("close", resolve));
    expect(out).toMatch(/^\{"type":"keepsake".*\}\n0\n$/);
    expect(err).toBe("");
  });
});

describe("forget", () => {
  it("takes all there is only with --yes", { timeout: 60_000 }, async () => {
    await keepsake("remember", "I like tea. I live in Porto.");
    for (const words of [["--everything"], ["Forget everything you know about me."]]) {
      const ran = await keepsake("forget", ...words);
      expect(ran).toMatchObject({ status: 2, err: expect.stringMatching(/add --yes/) });
    }
    expect((await keepsake("list", "--json")).json.total).toBe(2);
    const gone = await keepsake("forget", "--everything", "--yes");
    expect(gone.status).toBe(0);
    expect(gone.out).toMatch(/^Erased: 2 memories .*\nChecked: none of it is left/);
    expect(bytes()).not.toMatch(/porto/i);
  });

  it("takes ids, and none of them where one is not known", { timeout: 30_000 }, async () => {
    const { json } = await keepsake("remember", "I like tea. I live in Porto.", "--json");
    const [tea, porto] = json.memories.map(({ id }: { id: string }) => id);
    expect((await keepsake("forget", "--id", tea, "--id", "nobody")).status).toBe(3);
    expect((await keepsake("list", "--json")).json.total).toBe(2);
    expect((await keepsake("forget", "--id", tea, "--id", porto, "--json")).json.erased.memories).toBe(2);
    expect((await keepsake("list", "--json")).json.total).toBe(0);
  });
});

describe("serve", () => {
  /** Starts it on a free port; gives what it printed first, and how to stop it. */
  async function started(...words: readonly string[]) {
    const { PATH = "" } = process.env;
    const child = spawn(process.execPath, [MAIN, "serve", "--port", "0", ...words], {
      cwd: place,
      env: { PATH },
    });
    let out = "";
    const begun = new Promise<void>((resolve) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        out += text;
        if (out.includes("\n")) resolve();
      });
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    await begun;
    return {
      out: () => out,
      stop: (signal: NodeJS.Signals) => {
        child.kill(signal);
        return ended;
      },
    };
  }

  it("makes a key once, answers with it, and ends in good order", { timeout: 60_000 }, async () => {
    const server = await started("--json");
    const { url, key, sign_in_url: link } = JSON.parse(server.out());
    expect(link).toBe(`${url}/#key=${key}`);
    const message = async (text: string, bearer: string) => {
      const response = await fetch(`${url}/message`, {
        method: "POST",
        headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        body: JSON.stringify({ userId: "ana", message: text }),
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await message("I use Shram.", "wrong")).toMatchObject({ status: 401 });
    expect(await message("I use Shram.", key)).toMatchObject({ status: 200 });
    // The command line sees at once what the server stored.
    expect((await keepsake("answer", "What do I use?", "--user", "ana")).out).toBe("You use Shram.\n");
    expect(await server.stop("SIGTERM")).toBe(0);
    expect(bytes()).not.toContain(key);

    const again = await started();
    expect(await again.stop("SIGINT")).toBe(0);
    expect(again.out()).toMatch(
      /^Keepsake listens on http:\/\/127\.0\.0\.1:\d+, with keepsake\.db\.\nThe page: /,
    );
    expect(again.out()).not.toContain("ks_");
  });

  it("prints the key and a link to the page at the first start", { timeout: 30_000 }, async () => {
    const server = await started();
    expect(await server.stop("SIGTERM")).toBe(0);
    expect(server.out()).toMatch(
      /Your key, shown this once: {2}(ks_\S+)\n.*http:\/\/127\.0\.0\.1:\d+\/#key=\1\n/,
    );
  });
});
