import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { digestKeyOf, fileSecret, openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createMemory } from "../../src/index.ts";

/** The files that belong to a database. */
const ENDS = ["", ".secret", ".erasures"];

export function copyDatabase(from: string, to: string): void {
  for (const end of ENDS) if (existsSync(from + end)) copyFileSync(from + end, to + end);
}

const LONG = Array.from(
  { length: 160 },
  (_one, i) => `On day ${i} of the journey we walked along the river and slept in village number ${i}.`,
).join(" ");

const SAID = [
  "I use Shram and Magnet as productivity tools.",
  "I live in Lisbon.",
  "My dog is called Miso.",
  "I work at Acme as a welder.",
  "I'm vegetarian.",
  "I don't use Magnet anymore.",
  "I moved to Porto.",
  "I like the town of Évora, and 東京 too.",
  "My sister is called Nadia.",
  "I play the cello on Sundays.",
  LONG,
];

/** A picture that is only its first bytes and a number: nothing looks at what it shows. */
function pictureOf(number: number): Buffer {
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from(`picture ${number}`)]);
}

/**
 * A database with updates, supersessions, erasures, several users and projects, receipts of recalls, kept answers and images; and an older
 * state of it. Gives the paths of both.
 */
export async function makeBase(folder: string): Promise<{ path: string; older: string }> {
  const path = join(folder, "base.db");
  const older = join(folder, "older.db");
  const open = () => createMemory({ path });
  const scopes = [
    { user: "ana" },
    { user: "bob" },
    { user: "cai", project: "other" },
    { user: "ana", project: "other" },
  ];
  let memory = await open();
  for (const [i, scope] of scopes.entries()) {
    const own = memory.scope(scope);
    for (const text of SAID.slice(0, 8))
      await own.remember(text, { idempotencyKey: `${i} ${text.slice(0, 40)}` });
    await own.remember({ role: "user", content: [{ type: "image", data: pictureOf(i) }] });
    await own.recall("Where do I live?");
  }
  await memory.close();
  copyDatabase(path, older);
  memory = await open();
  for (const [i, scope] of scopes.entries()) {
    const own = memory.scope(scope);
    for (const text of SAID.slice(8))
      await own.remember(text, { idempotencyKey: `${i} ${text.slice(0, 40)}` });
    const [first] = (await own.list()).items;
    if (first) await own.update(first.id, { importance: 0.9 });
    await own.recall("What tools do I use?");
    await own.answer("Who is Nadia?");
    await own.forget(i % 2 === 0 ? "Miso" : "Acme");
  }
  await memory.backup(join(folder, "noted.db"));
  await memory.close();
  const digestKey = digestKeyOf(fileSecret(`${path}.secret`).secret);
  const record = await openSqliteStore({ path, digestKey });
  for (const { user, project = "default" } of scopes) {
    const scope = { user, project };
    await record.answers.beginAnswer(
      scope,
      { key: "k", request: "asked", at: "2026-01-01T00:00:00.000Z" },
      { outdated: "", abandoned: "" },
    );
    await record.answers.endAnswer(
      scope,
      "k",
      { status: 200, headers: {}, body: '{"reply":"You live in Porto."}' },
      [],
    );
    const [one, other] = (await record.since(scope, 0)).memories;
    const revision = await record.revision(scope);
    if (one && other) {
      await record.commit(scope, {
        base: revision,
        at: "2026-12-01T00:00:00.000Z",
        cause: "add",
        links: [{ from: one.id, type: "extends", to: other.id, strength: 0.5 }],
      });
    }
    await record.searchIndexes.save(scope, { revision: revision + 1, bytes: new Uint8Array(300).fill(7) });
  }
  await record.close();
  return { path, older };
}
