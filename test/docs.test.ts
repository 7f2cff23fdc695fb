import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandLineReference } from "../scripts/docs.ts";
import { readmeWithQuality } from "../scripts/quality-table.ts";
import { SETTINGS } from "../src/config/settings.ts";
import { ERROR_CODES } from "../src/errors.ts";
import { apiKeys, httpApp, passingKeys } from "../src/http/index.ts";
import { createMemory } from "../src/memory.ts";
import { readPageAssets } from "../src/ui/index.ts";
import { writeFrameworkTables } from "./clients/framework-table.ts";
import { examplesOf, type PageExample, runConsole } from "./examples.ts";

const ROOT = join(import.meta.dirname, "..");
const PAGES = [
  ...readdirSync(ROOT).filter((file) => file.endsWith(".md")),
  ...readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("examples", file)),
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
].sort();

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const examples = (language: string): PageExample[] =>
  PAGES.flatMap((page) => examplesOf(page, read(page))).filter((example) => example.language === language);

/** The anchors of a page: its headings in GitHub's form, and those that it sets itself. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
  const own = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id);
  return new Set([...headings, ...own]);
}

const PROGRAMS = readdirSync(join(ROOT, "examples")).filter((file) => file.endsWith(".ts"));

let folder: string;

/** Runs a program in the user's folder. */
function run(code: string): { printed: string; failed: string } {
  writeFileSync(join(folder, "program.ts"), code);
  const ran = spawnSync(process.execPath, ["program.ts"], { cwd: folder, encoding: "utf8" });
  return { printed: ran.stdout, failed: ran.stderr };
}

beforeAll(() => {
  // A program of a user: an empty folder with the package in its node_modules.
  folder = mkdtempSync(join(tmpdir(), "keepsake-docs-"));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules/keepsake"));
  symlinkSync(join(ROOT, "node_modules/@types"), join(folder, "node_modules/@types"));
  // Of the vendors' packages in the pages on backends, those that bring their own types.
  for (const name of ["ioredis", "mysql2"])
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  for (const name of ["@modelcontextprotocol", "zod"])
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  symlinkSync(join(ROOT, "dist/cli/main.js"), join(folder, "node_modules/.bin/keepsake"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the pages", () => {
  it("name only scripts that package.json has", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: { [name: string]: string } };
    const named = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map((match) => match[1] ?? ""),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it("name only files and folders that exist", () => {
    const named = PAGES.flatMap((page) =>
      [...read(page).matchAll(/`((?:src|docs|test|scripts|bench|examples|assets|\.ci)\/[\w./*-]*)/g)].map(
        (match) => ({
          page,
          path: (match[1] ?? "").replace(/\/\*.*$/, ""),
        }),
      ),
    ).filter(({ path }) => !path.includes("NAME"));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("link only to files that exist", () => {
    const links = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map((match) => ({
        page,
        link: match[1] ?? "",
      })),
    );
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(({ page, link }) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });

  it("link only to headings that exist", () => {
    const links = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(
        ([, file = "", heading = ""]) => ({
          page,
          target: file === "" ? page : join(dirname(page), file),
          heading,
        }),
      ),
    ).filter(({ target }) => target.endsWith(".md"));
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(({ target, heading }) => !anchorsOf(read(target)).has(heading))).toEqual([]);
  });

  it("promise only what a test proves", () => {
    const proofs = [...read("README.md").matchAll(/^\| [^|]+ \| \[[^\]]+\]\(([^)]+)\): "([^"]+)" \|$/gm)];
    expect(proofs.length).toBeGreaterThan(5);
    expect(proofs.length).toBe(read("README.md").match(/^\| .*\): "/gm)?.length);
    const unproven = proofs.filter(([, file = "", title = ""]) => !read(file).includes(`"${title}"`));
    expect(unproven.map(([line]) => line)).toEqual([]);
  });

  it("list every decision in the index of decisions", () => {
    const decisions = readdirSync(join(ROOT, "docs/decisions")).filter((file) => /^\d{4}-/.test(file));
    const index = read("docs/decisions/README.md");
    expect(decisions.filter((file) => !index.includes(`(${file})`))).toEqual([]);
  });

  it("keep each decision record within 250 words, as context, decision and consequences", () => {
    const records = PAGES.filter((page) => /^docs\/decisions\/\d{4}-/.test(page));
    expect(records.length).toBeGreaterThan(30);
    const tooLong = records
      .map((page) => ({ page, words: read(page).trim().split(/\s+/).length }))
      .filter(({ words }) => words > 250);
    expect(tooLong).toEqual([]);
    const headings = records.map((page) => ({
      page,
      headings: [...read(page).matchAll(/^## (.+)$/gm)].map((match) => match[1]),
    }));
    expect(headings).toEqual(
      records.map((page) => ({ page, headings: ["Context", "Decision", "Consequences"] })),
    );
  });
});

describe("the reference", () => {
  it("gives every error code with its status and whether to call again, and no other", () => {
    const rows = [...read("docs/reference/errors.md").matchAll(/^\| `(\w+)` \| (\d+) \| (yes|no) \|/gm)];
    const documented = Object.fromEntries(
      rows.map((row) => [row[1], { status: Number(row[2]), retryable: row[3] === "yes" }]),
    );
    expect(documented).toEqual(ERROR_CODES);
  });

  it("gives every setting with what is allowed, and no other", () => {
    const rows = [
      ...read("docs/reference/settings.md").matchAll(/^\| `([A-Z][A-Z0-9_]*)` \|[^|]*\| ([^|]+) \|/gm),
    ];
    const documented = Object.fromEntries(rows.map((row) => [row[1], row[2]]));
    expect(documented).toEqual(
      Object.fromEntries(Object.entries(SETTINGS).map(([name, { allowed }]) => [name, allowed])),
    );
  });

  it("gives every route of the server, and no other", async () => {
    await using memory = await createMemory({ path: ":memory:" });
    const keys = apiKeys({ store: passingKeys(), clock: () => new Date() });
    const page = new Set(readPageAssets().map(({ path }) => path));
    // How the API's own page looks is nobody's business but the page's.
    page.add("/docs.css");
    const served = httpApp({ keepsake: memory, keys })
      .routes.filter(({ method, path }) => method !== "ALL" && !page.has(path))
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
    const rows = [...read("docs/reference/http.md").matchAll(/^\| `([A-Z]+ \/[^`]*)` \|/gm)].map(
      (row) => row[1],
    );
    expect([...new Set(rows)].sort()).toEqual([...new Set(served)].sort());
  });

  it("shows the command line as --help does", () => {
    expect(read("docs/reference/cli.md")).toBe(commandLineReference());
  });

  it("gives the frameworks with the versions of the lock files that their tests install", () => {
    const page = read("docs/frameworks.md");
    expect(page).toMatch(
      /^\| \[LangGraph\]\(#langgraph\) \|.*`@langchain\/langgraph` \d[\d.]*,.*\| yes \|$/m,
    );
    expect(page).toBe(writeFrameworkTables(page, new Map()));
  });

  it("show the quality figures of the results, unseen and on development data", () => {
    expect(read("README.md")).toBe(readmeWithQuality(read("README.md")));
    expect(read("README.md")).toMatch(/\| LoCoMo: turn recall@10 \|.*\| [\d.]+ \| [\d.]+ \| [\d.]+ \|/);
  });
});

describe("the examples", () => {
  it("fit the types of the package", { timeout: 60_000 }, () => {
    const programs = [...examples("ts"), ...PROGRAMS.map((file) => ({ code: read(`examples/${file}`) }))];
    expect(programs.length).toBeGreaterThan(PROGRAMS.length + 1);
    for (const [index, { code }] of programs.entries()) {
      writeFileSync(join(folder, `example-${index}.ts`), `${code}\nexport {};\n`);
    }
    const compilerOptions = {
      noEmit: true,
      types: ["node"],
      skipLibCheck: true,
      isolatedDeclarations: false,
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: join(ROOT, "tsconfig.json"), compilerOptions, include: ["example-*.ts"] }),
    );
    const compiled = spawnSync(
      process.execPath,
      [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder],
      {
        encoding: "utf8",
      },
    );
    expect(compiled.stdout).toBe("");
  });

  it("of the README print what the README says", { timeout: 60_000 }, () => {
    const programs = examplesOf("README.md", read("README.md")).filter(({ language }) => language === "ts");
    expect(programs.length).toBeGreaterThan(1);
    for (const { code, output } of programs) {
      expect(output).toBeDefined();
      expect(run(code)).toEqual({ printed: output, failed: "" });
    }
  });

  for (const example of examplesOf("docs/reference/library.md", read("docs/reference/library.md"))) {
    if (example.language !== "ts") continue;
    it(`at ${example.page}:${example.line} prints what stands below it`, { timeout: 30_000 }, () => {
      expect(example.output).toBeDefined();
      expect(run(example.code)).toEqual({ printed: example.output, failed: "" });
    });
  }

  it("of the page on forgetting checks receipts without Keepsake", { timeout: 60_000 }, () => {
    const [script] = examples("js").filter(({ page }) => page === "docs/forgetting.md");
    expect((script?.code ?? "").split("\n").length).toBeLessThan(25);
    const place = mkdtempSync(join(folder, "receipts-"));
    writeFileSync(join(place, "check-receipts.mjs"), script?.code ?? "");
    const keepsake = (...words: string[]): string =>
      spawnSync(process.execPath, [join(ROOT, "dist/cli/main.js"), ...words], {
        cwd: place,
        encoding: "utf8",
      }).stdout;
    keepsake("remember", "I use Shram, Magnet and Pencil.");
    for (const tool of ["Magnet", "Pencil"]) keepsake("forget", tool);
    const audit = keepsake("audit", "--json");
    const { public_key: key, receipts } = JSON.parse(audit) as {
      public_key: string;
      receipts: { id: string }[];
    };
    const check = (input: string) =>
      spawnSync(process.execPath, ["check-receipts.mjs", key], { cwd: place, encoding: "utf8", input });
    expect(check(audit)).toMatchObject({
      status: 0,
      stdout: receipts.map(({ id }) => `${id} holds\n`).join(""),
    });
    expect(check(audit.replace('"memories":1', '"memories":2'))).toMatchObject({ status: 1 });
    expect(check(JSON.stringify({ receipts: receipts.slice(1) }))).toMatchObject({ status: 1 });
  });

  for (const file of PROGRAMS) {
    it(`in examples/${file} print what stands at their end`, { timeout: 30_000 }, () => {
      const [code = "", lines = ""] = read(`examples/${file}`).split("// Prints:\n");
      expect(lines).not.toBe("");
      expect(run(code)).toEqual({ printed: lines.replaceAll(/^\/\/ /gm, ""), failed: "" });
    });
  }

  for (const example of examples("console")) {
    it(`at ${example.page}:${example.line} prints what stands below it`, { timeout: 60_000 }, async () => {
      const { printed, shown } = await runConsole(example, folder);
      expect(printed).toBe(shown);
    });
  }
});
