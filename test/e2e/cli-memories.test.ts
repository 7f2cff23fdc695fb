import { describe, expect, it } from "vitest";
import { keepsake, keepsakeWith } from "./shell.ts";

/** The commands about memories among each other: what they print for a person and for a program, and how they end. */

const TIMEOUT = { timeout: 120_000 };

/** Stores statements, and gives the id of the memory whose text has a word. */
async function remember(...statements: readonly string[]): Promise<(word: string) => string> {
  for (const statement of statements) await keepsake("remember", statement);
  const { items } = (await keepsake("list", "--json")).json;
  return (word) => items.find(({ text }: { text: string }) => text.includes(word))?.id ?? "";
}

describe("link, links, related, confirm and unlink", () => {
  it("associate two memories, show it from both ends, and take it back", TIMEOUT, async () => {
    const idOf = await remember("I live in Ghent.", "I train at the gym on Coupure.");
    const [home, gym] = [idOf("Ghent"), idOf("Coupure")];
    const linked = await keepsake("link", gym, home, "--type", "depends_on", "--strength", "0.9");
    expect(linked).toMatchObject({ status: 0, err: "" });
    expect(linked.out).toMatch(/^associated: “.*Coupure\.” depends_on 0\.9 “.*Ghent\.”\nrevision 3; /);
    const link = { from: gym, type: "depends_on", to: home, strength: 0.9 };
    expect((await keepsake("links", "--json")).json).toEqual({ items: [link], total: 1 });
    expect((await keepsake("links", home, "--type", "extends")).err).toBe("No associations found.\n");
    expect((await keepsake("related", home)).out).toMatch(
      /^\S{36} {2}0\.90 {2}← depends_on {2}.*Coupure\.\n$/,
    );
    expect(await keepsake("related", home, "--min-strength", "0.95")).toMatchObject({ status: 3, out: "" });
    await keepsake("remember", "I moved to Porto.");
    expect((await keepsake("list", "--review")).out).toMatch(/^\S{36} .*to review .*Coupure\.\n$/);
    expect(await keepsake("confirm", gym)).toMatchObject({ status: 0, out: "Confirmed.\n" });
    expect(await keepsake("confirm", gym)).toMatchObject({ status: 2, out: "" });
    const unlinked = await keepsake("unlink", gym, home);
    expect(unlinked.out).toMatch(/^removed: “.*Coupure\.” depends_on 0\.9 /);
    expect(await keepsake("unlink", gym, home)).toMatchObject({ status: 3, out: "" });
    expect(await keepsake("link", gym, gym)).toMatchObject({ status: 2, out: "" });
    expect(await keepsake("link", gym, home, "--type", "likes")).toMatchObject({ status: 2, out: "" });
  });
});

describe("share, grants, shared, decline, private and unshare", () => {
  const as = (user: string, ...words: readonly string[]) => keepsake("--user", user, ...words);

  it("let another user read a memory until it is declined, private or withdrawn", TIMEOUT, async () => {
    await as("ana", "remember", "My spare key is at the bakery. I like tea.");
    const given = await as("ana", "share", "ben", "--about", "spare key", "--until", "2099-12-31");
    expect(given.out).toMatch(
      /^ben may now read memories about “spare key” until 2099-12-31T00:00:00\.000Z\.\n1 memory at present; /,
    );
    const [grant] = (await as("ana", "grants", "--json")).json.given;
    const grants = await as("ben", "grants");
    expect(grants.out).toMatch(
      /^Received:\n {2}\S{36} {2}\S+ {2}from ana {2}active {2}memories about “spare key”/,
    );
    const shared = await as("ben", "shared");
    expect(shared).toMatchObject({ status: 0, err: "" });
    expect(shared.out).toMatch(/^\S+ {2}ana {2}ana's spare key is at the bakery\.\n$/);
    const asked = () => as("ben", "answer", "Where is the spare key?");
    expect((await asked()).out).toBe("ana shares: Ana's spare key is at the bakery.\n");
    expect((await as("ben", "decline", grant.id)).out).toBe("Declined: its memories are not recalled.\n");
    expect((await asked()).status).toBe(3);
    expect((await as("ana", "grants")).out).toContain("  declined  ");
    expect((await as("ben", "decline", grant.id, "--undo")).out).toBe("Accepted.\n");
    const [{ id }] = (await as("ben", "shared", "--json")).json.items;
    expect((await as("ana", "private", id)).out).toMatch(/^Private: no grant covers it\.\n/);
    expect(await as("ben", "shared")).toMatchObject({ status: 3, out: "", err: "Nothing is shared.\n" });
    expect((await as("ana", "private", id, "--undo")).out).toMatch(/^Grants may cover it\.\n/);
    expect((await asked()).status).toBe(0);
    expect((await as("ben", "unshare", grant.id)).status).toBe(3);
    expect((await as("ana", "unshare", grant.id)).out).toBe("Withdrawn: ben may not read it any more.\n");
    expect((await asked()).status).toBe(3);
    expect((await as("ana", "grants", "--all")).out).toContain("  withdrawn  ");
    expect(await as("ana", "share", "ben")).toMatchObject({ status: 2, out: "" });
  });

  it("share with a group, whose owner sees who declined it", TIMEOUT, async () => {
    await as("ana", "remember", "The bins go out on Tuesday.");
    const group = await as("ana", "group", "home", "--members", "ana,ben,cleo");
    expect(group.out).toBe("home (made by ana): ana, ben, cleo\n");
    await as("ana", "share", "--group", "home", "--everything", "--messages");
    const [grant] = (await as("ben", "grants", "--json")).json.received;
    expect(grant).toMatchObject({ owner: "ana", group: { name: "home" } });
    await as("ben", "decline", grant.id);
    expect((await as("ana", "grants")).out).toContain("  active, declined by ben  ");
    expect((await as("ana", "group")).out).toBe(group.out);
    expect((await as("ana", "group", "home", "--delete")).out).toBe("Done.\n");
    expect((await as("ana", "grants")).err).toBe("No grants.\n");
    expect(await as("ana", "group", "home")).toMatchObject({ status: 3, err: "No groups found.\n" });
  });
});

describe("clusters, reflect, optimize and vacuum", () => {
  it("give an overview and keep memories in order", TIMEOUT, async () => {
    await remember("I work at Vantor.", "My boss at Vantor is Petra.", "I do not eat meat.");
    const clusters = await keepsake("clusters", "--limit", "1");
    expect(clusters.status).toBe(0);
    expect(clusters.out).toMatch(/^\S.* \(\d memor(?:y|ies)\)\n {2}The user /);
    const reflected = await keepsake("reflect", "--topic", "work", "--min-memories", "1");
    expect(reflected.out).toContain("Vantor");
    expect(await keepsake("reflect", "--topic", "work", "--to", "2001-01-01")).toMatchObject({
      status: 3,
      out: "",
    });
    const plan = await keepsake("optimize", "--dry-run", "--kinds", "episodic", "procedural");
    expect(plan).toMatchObject({ status: 0, err: "Nothing was changed.\n" });
    expect(plan.out).toBe(
      ["expiry", "consolidation", "decay", "clean-up"].map((job) => `${job}: nothing to do\n`).join(""),
    );
    expect((await keepsake("optimize", "--json")).json).toMatchObject({ dry_run: false, revision: 3 });
    expect(await keepsake("optimize", "--kinds", "mood")).toMatchObject({ status: 2, out: "" });
    const vacuumed = await keepsake("vacuum");
    expect([vacuumed.status, vacuumed.out]).toEqual([0, expect.stringMatching(/\d (?:kB|MB)/)]);
    expect(await keepsake("clusters", "--user", "nobody")).toMatchObject({ status: 3, out: "" });
  });
});

describe("session", () => {
  it("lists conversations, and refuses a state that would end with the command", TIMEOUT, async () => {
    await keepsake("remember", "I live in Ghent.", "--session", "trip");
    expect((await keepsake("session", "list", "--user", "nobody")).err).toBe("No sessions found.\n");
    expect((await keepsake("session", "list")).out).toMatch(/^trip {2}1 message {2}\d{4}-\d\d-\d\d\n$/);
    const started = await keepsake("session", "start", "trip", "--topic", "Porto");
    expect(started).toMatchObject({ status: 1, out: "" });
    expect(started.err).toContain("REDIS_URL");
    expect(await keepsake("session", "start", "trip", "--context", "{")).toMatchObject({ status: 2 });
    expect(await keepsake("session", "update", "trip", "--drop", "mood")).toMatchObject({ status: 2 });
  });
});

describe("--agent", () => {
  it("labels what is stored and limits what is read, unless agents share", TIMEOUT, async () => {
    await keepsake("remember", "I like risotto.", "--agent", "cook");
    expect((await keepsake("list", "--agent", "cook")).out).toContain("risotto");
    expect((await keepsake("list", "--agent", "coach")).out).toBe("");
    expect((await keepsake("list")).out).toContain("risotto");
    const env = { KEEPSAKE_AGENTS: "shared" };
    expect((await keepsakeWith({ env }, "list", "--agent", "coach")).out).toContain("risotto");
    const wrong = await keepsakeWith({ env: { KEEPSAKE_AGENTS: "both" } }, "list");
    expect([wrong.status, wrong.err]).toEqual([2, expect.stringContaining("walled or shared")]);
  });
});
