import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bytes, each, keepsake, keepsakeWith, place } from "./shell.ts";

describe("a context", () => {
  it("is what a model is told, within a size, or nothing", { timeout: 60_000 }, async () => {
    expect(await keepsake("context", "Plan my work week.")).toMatchObject({ status: 3, out: "" });
    await keepsake("remember", "I use Shram as a productivity tool.");
    const asked = await keepsake("context", "Plan my work week.", "--max-tokens", "300", "--json");
    expect(asked).toMatchObject({ status: 0, json: { left: 0, recall: { abstained: false } } });
    expect(asked.json.text).toContain("Shram");
    expect(asked.json.tokens).toBeLessThanOrEqual(300);
    expect((await keepsake("context", "Plan my work week.")).out).toContain("Shram");
    expect(await keepsake("context", "Plan my work week.", "--max-tokens", "none")).toMatchObject({
      status: 2,
    });
  });
});

describe("the story", () => {
  it("is filtered by texts, weighed, and shows how often it was recalled", { timeout: 60_000 }, async () => {
    const told = await keepsake("remember", "I use Shram and Magnet as productivity tools.", "--json");
    const filtered = await keepsake(
      "recall",
      "productivity tools",
      "--where-text",
      '{"$contains":"Shram and"}',
    );
    expect(filtered.out).toMatch(
      /^[\d.]+ {2}\S+ {2}passage {2}user: I use Shram and Magnet as productivity tools\.\n$/,
    );
    const only = ["--where-text", '{"$contains":"Magnet"}'];
    expect((await keepsake("list", ...only)).out).toMatch(/^\S+ .*uses Magnet as a productivity tool\.\n$/);
    expect((await keepsake("answer", "What productivity tools do I use?", ...only)).out).toBe(
      "You use Magnet.\n",
    );
    expect((await keepsake("context", "plan my work", ...only)).out).toContain("Magnet");
    const plan = await keepsake("forget", ...only, "--dry-run");
    expect(plan.out).toContain("Magnet");
    const weighed = await keepsake("recall", "tools", "--weights", "similarity=1,access=1", "--explain");
    expect(weighed.out).toMatch(/similarity 0\.\d+ \+ access 0\.\d+/);
    const used = await keepsake("get", told.json.memories[0].id);
    expect(used.out).toMatch(/^recalled +1 time, last on /m);
    const { items } = (await keepsake("list", "--json")).json;
    const listed = items.find(({ id }: { id: string }) => id === told.json.memories[0].id);
    expect(listed.usage.count).toBe(1);
    const ofKind = await keepsake("recall", "productivity tools", "--kind", "semantic");
    expect(ofKind.out).toMatch(/ memory .*Magnet/);
    expect(ofKind.out).not.toContain("passage");
    expect(await keepsake("recall", "productivity tools", "--kind", "procedural")).toMatchObject({
      status: 3,
    });
  });

  it("is learnt, answered, changed, forgotten and accounted for", { timeout: 60_000 }, async () => {
    const told = await keepsake("remember", "I use Shram and Magnet as productivity tools.");
    expect(told).toMatchObject({ status: 0, err: "" });
    expect(told.out.match(/^added: /gm)).toHaveLength(2);

    const question = "What are the productivity tools that I use?";
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
    const { checks, ...examined } = doctor.json;
    expect(examined).toEqual({
      healthy: true,
      faults: [],
      integrity: { secret: "same", without_digest: 0, damage_seen: 0 },
      remedies: [],
      repaired: 0,
      durability: "full",
    });
    // A machine may be short of disk; nothing else may be amiss.
    const amiss = checks.filter((check: { name: string; state: string }) => check.state !== "ok");
    expect(amiss.filter((check: { name: string }) => check.name !== "disk")).toEqual([]);
  });

  it("is told in a chat, where each line of stdin is a turn", { timeout: 30_000 }, async () => {
    const input = [
      "I use Shram and Magnet as productivity tools.",
      "What are the productivity tools that I use?",
      "/why",
      "I don't use Magnet anymore.",
      "What are the productivity tools that I use?",
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
    expect(said).toContain("Unknown command.");
    expect(said).toContain("Erased: 1 memory, words in 2 messages.");
    expect(said.at(-2)).toBe("No matching memories.");
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
      [{ KEEPSAKE_PROT: "1" }, 2, /KEEPSAKE_PROT is not a setting\. Did you mean KEEPSAKE_PORT\?/],
      [{ KEEPSAKE_PORT: "99999" }, 2, /KEEPSAKE_PORT: "99999" is not allowed\. Allowed: a number/],
      [{ KEEPSAKE_API_KEY: "geheim" }, 2, /KEEPSAKE_API_KEY: its value is not allowed/],
      [{ MEMORY_DB_URL: "oracle://ana:geheim@db/x" }, 1, /oracle is not supported/],
      [{ MEMORY_DB_URL: "mysql://ana:geheim@db/x" }, 2, /MariaDB needs KEEPSAKE_SECRET/],
      [{ MEMORY_DB_URL: "postgresql://ana:geheim@db/x" }, 2, /PostgreSQL needs KEEPSAKE_SECRET/],
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

    expect((await keepsake("undo", "3")).out).toMatch(/^Undid revision 3, in revision 4\.\nretracted: /);
    expect((await keepsake("list", "--json")).json.total).toBe(2);
    expect((await keepsake("list", "--status", "all", "--json")).json.total).toBe(3);
    expect((await keepsake("undo", "4", "--json")).status).toBe(0);
    expect((await keepsake("list", "--json")).json.total).toBe(3);
  });
});
