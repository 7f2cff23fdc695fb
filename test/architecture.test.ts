import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { circlesOf, layerOf, MAY_IMPORT, measureStructure, readSources } from "../scripts/structure.ts";
import { readPageAssets } from "../src/ui/index.ts";

/** Which packages and parts of Node a folder or a file may import. What is not named here imports none. */
const MAY_USE: { readonly [folder: string]: readonly RegExp[] } = {
  "domain/text/server-sent-events.ts": [/^eventsource-parser$/],
  "domain/filters/text-filter.ts": [/^re2js$/],
  engine: [/^node:crypto$/],
  formats: [/^node:/],
  adapters: [/^node:/],
  "language/en": [/^node:(?:crypto|diagnostics_channel|fs|module|url|zlib)$/, /^compromise/, /^chrono-node/],
  testing: [/^node:/, /^vitest$/, /^fast-check$/],
  http: [/^node:/, /^hono/, /^@hono\/node-server/, /^zod$/],
  ui: [/^node:/, /^hono/],
  // The package itself is loaded by `vendor-packages.ts`; here stand only its types.
  mcp: [/^node:(?:crypto|util)$/, /^zod$/, /^@modelcontextprotocol\/server$/],
  config: [/^node:/, /^zod$/, /^yaml$/],
  // The one table of packages that their users install.
  "config/vendor-packages.ts": [
    /^(pg|mysql2\/promise|ioredis|bullmq|chromadb|@pinecone-database\/pinecone|@aws-sdk\/client-kms|@aws-sdk\/client-s3|@aws-sdk\/client-s3vectors|jose)$/,
    /^@modelcontextprotocol\/server(\/stdio)?$/,
  ],
  cli: [/^node:/, /^commander$/],
};

/** What reaches outside the program, and the only folders where it may stand. */
const ONLY_IN: readonly {
  readonly what: string;
  readonly pattern: RegExp;
  readonly folders: readonly string[];
}[] = [
  { what: "console", pattern: /\bconsole\.\w+/, folders: ["cli"] },
  { what: "process.env", pattern: /\bprocess\.env\b/, folders: ["config"] },
  { what: "process.exit", pattern: /\bprocess\.exit(Code)?\b/, folders: ["cli"] },
  { what: "the clock", pattern: /\bDate\.now\(|\bnew Date\(\s*\)/, folders: ["adapters", "cli", "config"] },
  { what: "chance", pattern: /\bMath\.random\(/, folders: ["adapters", "cli", "config"] },
];

interface Source {
  /** Relative to src/, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

interface Import {
  readonly target: string;
  readonly isTypeOnly: boolean;
}

const SRC = join(import.meta.dirname, "../src");
const SOURCES: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(SRC, path), "utf8") }));

/** Groups of files that import one another in a circle, types included. */
const importCycles = (sources: ReturnType<typeof readSources>): string[][] =>
  circlesOf(new Map(sources.map(({ path, imports }) => [path, imports])));

/**
 * Folders that may import each other. A command and its frame, an operation and its server, a tool and its server: each is one thing
 * in two folders. Texts are cut by words, and words are found in texts. Erasures that are due are a job, and leave edits to it.
 */
const BOTH_WAYS: readonly string[] = [
  "cli -> cli/commands",
  "domain -> domain/text",
  "domain/search -> domain/text",
  "engine/erase -> engine/jobs",
  "http -> http/middleware",
  "http -> http/proxy",
  "http -> http/routes",
  "mcp -> mcp/tools",
];

const adapterOf = (path: string): string => path.split("/").slice(0, 2).join("/");
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

function importsOf(source: Source): Import[] {
  const statements = withoutComments(source.text).matchAll(
    /^\s*(?:import|export)\s+(type\s)?(?:[^;"']*?\sfrom\s+)?"([^"]+)"/gm,
  );
  const dynamic = withoutComments(source.text).matchAll(/\b(?:import|require|load)\(\s*"([^"]+)"/g);
  return [
    ...[...statements].map((match) => ({ target: match[2] ?? "", isTypeOnly: match[1] !== undefined })),
    ...[...dynamic].map((match) => ({ target: match[1] ?? "", isTypeOnly: false })),
  ];
}

/** Imports of the project's own files, as paths relative to src/. */
const ownImportsOf = (source: Source): Import[] =>
  importsOf(source)
    .filter(({ target }) => target.startsWith("."))
    .map(({ target, isTypeOnly }) => ({
      target: posix.normalize(posix.join(posix.dirname(source.path), target)),
      isTypeOnly,
    }));

function isAllowed(from: string, to: Import): boolean {
  const folder = layerOf(to.target);
  if (folder === from || to.target === "errors.ts") return true;
  const allowed = MAY_IMPORT[from] ?? [];
  return (
    allowed.includes(folder) ||
    allowed.includes(posix.dirname(to.target)) ||
    (to.isTypeOnly && allowed.includes(`${folder} (types)`))
  );
}

const wrongDirections = (sources: readonly Source[]): string[] =>
  sources.flatMap((source) =>
    ownImportsOf(source)
      .filter((to) => !isAllowed(layerOf(source.path), to))
      .map((to) => `${source.path} -> ${to.target}`),
  );

const adaptersImportingAdapters = (sources: readonly Source[]): string[] =>
  sources
    .filter((source) => layerOf(source.path) === "adapters")
    .flatMap((source) =>
      ownImportsOf(source)
        .filter(
          ({ target }) => layerOf(target) === "adapters" && adapterOf(target) !== adapterOf(source.path),
        )
        .filter(({ target }) => adapterOf(target) !== "adapters/shared")
        .map(({ target }) => `${source.path} -> ${target}`),
    );

const strangePackages = (sources: readonly Source[]): string[] =>
  sources.flatMap((source) => {
    const places = [layerOf(source.path), adapterOf(source.path), source.path];
    const allowed = [...new Set(places)].flatMap((place) => MAY_USE[place] ?? []);
    return importsOf(source)
      .filter(({ target }) => !target.startsWith(".") && !allowed.some((pattern) => pattern.test(target)))
      .map(({ target }) => `${source.path} -> ${target}`);
  });

const reachingOut = (sources: readonly Source[]): string[] =>
  sources.flatMap((source) =>
    ONLY_IN.filter(({ folders }) => !folders.includes(layerOf(source.path)))
      .filter(({ pattern }) => pattern.test(withoutComments(source.text)))
      .map(({ what }) => `${source.path}: ${what}`),
  );

/** Layers that know no English, but for the files below. Decision 0053 says why. */
const LAYERS_WITHOUT_ENGLISH: readonly string[] = [
  "adapters",
  "domain",
  "engine",
  "http",
  "mcp",
  "ports",
  "ui",
  "wiring",
];

/** Files of these layers with patterns of words. */
const WORD_PATTERNS: readonly string[] = [
  "adapters/openai/completion.ts", // Tags of models.
  "adapters/pinecone/indexes.ts", // Errors of a server.
  "domain/search/base-forms.ts", // The analyzer of search terms, which are stored.
  "domain/text/credentials.ts", // Names of credentials, in several languages.
  "domain/text/prompt-safety.ts", // Marks of prompts.
  "domain/text/rewrite-text.ts", // Tags of HTML.
  "domain/text/split-text.ts", // Passages are stored by their positions.
];

const inLayersWithoutEnglish = (test: (text: string) => boolean): string[] =>
  SOURCES.filter(({ path, text }) => LAYERS_WITHOUT_ENGLISH.includes(layerOf(path)) && test(text)).map(
    ({ path }) => path,
  );

/** Whether a file has a pattern of five alternatives or more that are words. */
const hasEnglishPattern = (text: string): boolean =>
  /(?:[a-z][a-z'’?()[\]:*+\\ -]*\|){4}[a-z]/.test(withoutComments(text));

/** Whether a file has a text in which the memory speaks of itself, as it does in replies. */
const hasReply = (text: string): boolean =>
  /["'`“](?:I (?:am|can|did|do|don['’]t|found|have|know|only|will)\b|I['’]m\b|Shall I\b|Noted\b|Done\.|Forgotten\b)/.test(
    withoutComments(text),
  );

/** Methods that an object of an interface may lack. A callback in the options of a call is none. */
const optionalMethods = ({ path, text }: Source): string[] =>
  [...withoutComments(text).matchAll(/^\s+(?:readonly )?(\w+)\?(?:<[^(\n]*>)?\(/gm)].map(
    ([, name = ""]) => `${path}: ${name}`,
  );

describe("the source tree", () => {
  it("has no folder without a rule", () => {
    const folders = new Set(SOURCES.map(({ path }) => layerOf(path)));
    expect([...folders].filter((folder) => !(folder in MAY_IMPORT))).toEqual([]);
  });

  it("imports inwards only", () => {
    expect(wrongDirections(SOURCES)).toEqual([]);
  });

  it("has no files that import one another in a circle", () => {
    expect(importCycles(readSources(SRC))).toEqual([]);
  });

  it("has no folders that import each other, but for those that are listed", () => {
    const { foldersBothWays } = measureStructure(readSources(SRC), () => "");
    expect(foldersBothWays.toSorted()).toEqual(BOTH_WAYS);
  });

  it("has no adapter that imports another adapter", () => {
    expect(adaptersImportingAdapters(SOURCES)).toEqual([]);
  });

  it("uses a package or a part of Node only in the folder that it belongs to", () => {
    expect(strangePackages(SOURCES)).toEqual([]);
  });

  it("prints, reads settings, asks the clock and throws dice only where it may", () => {
    expect(reachingOut(SOURCES)).toEqual([]);
  });

  it("has at most 15 sources or scripts in a folder, outside the English language and the migrations of a database", () => {
    const scripts = readPageAssets().filter(({ path }) => path.endsWith(".js"));
    expect(scripts.length).toBeGreaterThan(50);
    const files = [...readSources(SRC), ...scripts.map(({ path }) => ({ path: `ui${path}` }))];
    const folders = Map.groupBy(files, ({ path }) => posix.dirname(path));
    const full = [...folders].filter(
      ([folder, files]) =>
        files.length > 15 && !folder.startsWith("language/en/") && !folder.endsWith("/migrations"),
    );
    expect(full.map(([folder]) => folder)).toEqual([]);
  });

  it("has no port with an optional method: a capability is an object of its own", () => {
    const ports = SOURCES.filter(({ path }) => layerOf(path) === "ports");
    expect(ports.length).toBeGreaterThan(20);
    expect(ports.flatMap(optionalMethods)).toEqual([]);
  });

  it("reads English by patterns in no layer that knows no English", () => {
    expect(inLayersWithoutEnglish(hasEnglishPattern)).toEqual(WORD_PATTERNS);
  });

  it("writes replies in no layer that knows no English", () => {
    expect(SOURCES.filter(({ text }) => hasReply(text)).map(({ path }) => path)).toContain(
      "language/en/replies/replies.ts",
    );
    expect(inLayersWithoutEnglish(hasReply)).toEqual([]);
  });

  it("names what it exports", () => {
    const stars = SOURCES.filter(({ text }) => /^export \*/m.test(text)).map(({ path }) => path);
    expect(stars).toEqual([]);
  });

  it("keeps every file within 500 lines of code", () => {
    const lines = (text: string) =>
      withoutComments(text)
        .split("\n")
        .filter((line) => line.trim() !== "").length;
    const long = SOURCES.filter((source) => lines(source.text) > 500).map(({ path }) => path);
    expect(long).toEqual([]);
  });

  it.each([
    [
      "memory store",
      /^export (?:async )?function (?:open|create)\w*(?<!Job)Store\(/m,
      "memoryStoreConformance(",
    ],
    ["embedder", /^export (?:async )?function \w+Embedder\(/m, "embedderConformance("],
    ["reranker", /^export (?:async )?function \w+Reranker\(/m, "rerankerConformance("],
    ["language model", /^export (?:async )?function \w+Model\(/m, "languageModelConformance(", 1], // The other one is for tests.
    ["vector index", /^export (?:async )?function create\w*vectors?Index\(/im, "vectorIndexConformance("],
    ["ledger of calls", /^export (?:async )?function \w+(?:Calls|CallLedger)\(/m, "callsConformance("],
    ["documents", /^export (?:async )?function \w+Documents\(/m, "documentsConformance("],
    ["store of sessions", /^export (?:async )?function \w+Sessions\(/m, "sessionsConformance("],
    ["cache", /^export (?:async )?function \w+Cache\([^)]*\): Cache\b/m, "cacheConformance("],
    ["limit of rates", /^export (?:async )?function \w+RateLimits\(/m, "rateLimitsConformance("],
    ["queue", /^export (?:async )?function \w+Queue\b/m, "queueConformance("],
  ] as [string, RegExp, string, number?][])(
    "runs the conformance suite on every adapter that is a %s",
    (_port, made, suite, least = 2) => {
      const adapters = SOURCES.filter(({ path, text }) => path.startsWith("adapters/") && made.test(text));
      expect(adapters.length).toBeGreaterThanOrEqual(least);
      const unproven = adapters.filter(({ path }) => {
        const folder = join(SRC, posix.dirname(path));
        return !readdirSync(folder)
          .filter((file) => file.endsWith(".test.ts"))
          .some((file) => readFileSync(join(folder, file), "utf8").includes(suite));
      });
      expect(unproven.map(({ path }) => path)).toEqual([]);
    },
  );
});

describe("the rules themselves", () => {
  const seen = (path: string, text: string): readonly Source[] => [{ path, text }];

  it("see an import that points outwards", () => {
    const outwards = seen("domain/a.ts", 'import { recall } from "../engine/recall.ts";');
    expect(wrongDirections(outwards)).toEqual(["domain/a.ts -> engine/recall.ts"]);
  });

  it.each(["domain", "engine", "http", "cli", "ui", "formats", "config"])("see English in %s", (folder) => {
    const english = seen(`${folder}/a.ts`, 'import { TOPICS } from "../language/en/topics.ts";');
    expect(wrongDirections(english)).toEqual([`${folder}/a.ts -> language/en/topics.ts`]);
  });

  it("let the server open files of keys, and no other adapter", () => {
    const file = seen("http/a.ts", 'import { a } from "../adapters/shared/state-files/state-file.ts";');
    const other = seen("http/a.ts", 'import { a } from "../adapters/sqlite/index.ts";');
    expect([wrongDirections(file), wrongDirections(other)]).toEqual([
      [],
      ["http/a.ts -> adapters/sqlite/index.ts"],
    ]);
  });

  it("see an import over several lines, one for its effect and one at run time", () => {
    const text =
      'import {\n  a,\n  b,\n} from "../cli/a.ts";\nimport "../cli/b.ts";\nawait import("../cli/c.ts");';
    expect(wrongDirections(seen("ports/a.ts", text))).toHaveLength(3);
  });

  it("let a format name the engine's types, and not its code", () => {
    const types = seen("formats/a.ts", 'import type { InputMessage } from "../engine/surface.ts";');
    const code = seen("formats/a.ts", 'import { remember } from "../engine/remember.ts";');
    expect([wrongDirections(types), wrongDirections(code)]).toEqual([
      [],
      ["formats/a.ts -> engine/remember.ts"],
    ]);
  });

  it("see a pattern of English words, and leave a union of types alone", () => {
    expect(hasEnglishPattern("const YES = /^(?:yes|yep|sure|ok|okay)$/;")).toBe(true);
    expect(hasEnglishPattern('type State = "a" | "b" | "c" | "d" | "e" | "f";')).toBe(false);
  });

  it("see a reply, and leave an example of what a user says alone", () => {
    expect(hasReply('const UNKNOWN = "I don\'t know that.";')).toBe(true);
    expect(hasReply('const example = "I live in Porto.";')).toBe(false);
  });

  it("see an optional method of a port, and leave a callback alone", () => {
    const text =
      "export interface Port {\n  evict?(): void;\n  list?<T>(): T;\n  readonly onCall?: () => void;\n}";
    expect(seen("ports/a.ts", text).flatMap(optionalMethods)).toEqual([
      "ports/a.ts: evict",
      "ports/a.ts: list",
    ]);
  });

  it("see an adapter that leans on another", () => {
    const leaning = seen("adapters/sqlite/record.ts", 'import { x } from "../memory/record.ts";');
    expect(adaptersImportingAdapters(leaning)).toEqual([
      "adapters/sqlite/record.ts -> adapters/memory/record.ts",
    ]);
  });

  it("see a package that is loaded when it is needed", () => {
    const text = 'const nlp = createRequire(import.meta.url)("compromise/two");\nload("compromise/two");';
    expect(strangePackages(seen("engine/a.ts", text))).toEqual(["engine/a.ts -> compromise/two"]);
  });

  it("see a package where it does not belong", () => {
    expect(strangePackages(seen("engine/a.ts", 'import { z } from "zod";'))).toEqual(["engine/a.ts -> zod"]);
  });

  it("see the clock in the engine, and not in a comment", () => {
    const text = "// Date.now() would be wrong here\nconst now = new Date();";
    expect(reachingOut(seen("engine/a.ts", text))).toEqual(["engine/a.ts: the clock"]);
    expect(reachingOut(seen("engine/a.ts", "// Date.now() would be wrong here"))).toEqual([]);
  });
});
