import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { measureStructure, readSources, SMALL_FILES, type SourceFile } from "../scripts/structure.ts";

const SRC = join(import.meta.dirname, "../src");
/** Rules of English that a parser replaces: they keep their names until then. */
const APART = [
  "adapters/rules/",
  "language/en/answers/",
  "language/en/forget-requests/",
  "language/en/grammar/",
  "language/en/questions/",
];
/** Names that two files declare on purpose. A migration stays as it landed, with its names. */
const SAME_NAMES = ["RECORD", "BLOCKS"];

const SOURCES = readSources(SRC);
/** What tests, measurements and scripts share among themselves. */
const TOOLS = ["test", "bench", "scripts"].flatMap((folder) =>
  readSources(join(SRC, "..", folder)).map((one) => ({ ...one, path: `${folder}/${one.path}` })),
);
const structureOf = (sources: readonly SourceFile[]) =>
  measureStructure(sources, (path) => readFileSync(join(SRC, path), "utf8"));

/** Participles and adverbs that say nothing by themselves, as whole names. A noun of the field stands for them. */
const BARE =
  /^(?:asked|held|told|heard|said|given|gone|kept|lost|shown|sent|taken|written|known|meant|brought|spent|left|lately|once|again|beside|whole|apart|ahead|together|deaf|anew|elsewhere|meanwhile|instead)$/i;
/** A name of one word in -ed. Those that are published keep their names. */
const PARTICIPLE = /^[A-Za-z][a-z]+ed$/;
const PUBLISHED = new Set(["Answered", "Opened", "Optimized", "Restored", "Served", "embed", "feed"]);

/** Exported names that are a bare participle or an adverb. */
const bareNames = (names: readonly string[]): string[] =>
  names.filter((name) => BARE.test(name) || (PARTICIPLE.test(name) && !PUBLISHED.has(name)));

/** Words that a comment does without, see `docs/decisions/0034-names.md`. Words in quotes are examples. */
const UNCLEAR = /\b(?:whoever|nobody|somebody|everybody|of which|holds? up|gives? way|stands?|lest)\b/gi;

/** Unclear words in the comments of a file. */
function unclearWords(text: string): string[] {
  const comments = text.match(/\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm) ?? [];
  const words = comments.join("\n").replace(/"[^"]*"|“[^”]*”|`[^`]*`/g, "");
  return words.match(UNCLEAR) ?? [];
}

const source = (path: string, ...names: readonly string[]): SourceFile => ({
  path,
  lines: 80,
  imports: [],
  exports: names.map((name) => ({ name, isType: /^[A-Z][a-z]/.test(name) })),
});

describe("an exported name", () => {
  it("is declared in one file, except names of migrations", () => {
    expect(structureOf(SOURCES).namesDeclaredTwice.toSorted()).toEqual(SAME_NAMES.toSorted());
  });

  it("of a type is declared in one file, without exception", () => {
    expect(structureOf(SOURCES).typesDeclaredTwice).toEqual([]);
  });

  it("of a type of tests, measurements and scripts is declared in one file, and in none of the program", () => {
    expect(TOOLS.length).toBeGreaterThan(200);
    expect(measureStructure([...SOURCES, ...TOOLS], () => "").typesDeclaredTwice).toEqual([]);
  });

  it("shadows no global", () => {
    expect(structureOf(SOURCES).shadowedGlobals).toEqual([]);
  });

  it("is no bare participle or adverb", () => {
    const held = SOURCES.filter(({ path }) => !APART.some((one) => path.startsWith(one)));
    expect(bareNames(held.flatMap(({ exports }) => exports.map(({ name }) => name)))).toEqual([]);
  });
});

describe("a comment", () => {
  it("has no word that leaves open who or what is meant", () => {
    const read = SOURCES.filter(({ path }) => !/^(?:language|engine\/erase)\//.test(path));
    expect(read.length).toBeGreaterThan(600);
    const unclear = read.flatMap(({ path }) =>
      unclearWords(readFileSync(join(SRC, path), "utf8")).map((word) => `${path}: ${word}`),
    );
    expect(unclear).toEqual([]);
  });

  it("is found with its unclear words, and without its examples", () => {
    expect(
      unclearWords('/** What whoever asks gets: "nobody". */\nconst a = 1; // Nobody reads it.\n'),
    ).toEqual(["whoever", "Nobody"]);
  });
});

describe("a file of one importer and at most 60 lines", () => {
  it("is merged into its importer, but for those that are listed with a reason", () => {
    expect(structureOf(SOURCES).smallFilesWithoutReason).toEqual([]);
  });

  it("is listed only while there is one", () => {
    const small = structureOf(SOURCES).smallFilesOfOneImporter;
    const stale = Object.keys(SMALL_FILES).filter((one) => !small.some((path) => path.startsWith(one)));
    expect(stale).toEqual([]);
  });
});

describe("a port", () => {
  it("has at most 12 methods, those of the interfaces that it extends included", () => {
    const { name, methods } = structureOf(SOURCES).largestPort;
    expect(name).not.toBe("");
    expect(methods).toBeLessThanOrEqual(12);
  });
});

describe("the rules of names", () => {
  it("find a type, and a function, that two files declare", () => {
    const { typesDeclaredTwice, namesDeclaredTwice } = measureStructure(
      [source("a.ts", "Place", "findPlace"), source("b.ts", "Place", "findPlace")],
      () => "",
    );
    expect([typesDeclaredTwice, namesDeclaredTwice]).toEqual([["Place"], ["Place", "findPlace"]]);
  });

  it("find a name that hides a global", () => {
    const { shadowedGlobals } = measureStructure([source("a.ts", "Record", "Request", "Store")], () => "");
    expect(shadowedGlobals).toEqual(["Record", "Request"]);
  });

  it("find bare participles and adverbs, and leave verbs and nouns alone", () => {
    expect(bareNames(["Held", "asked", "narrowed", "beside", "embed", "findHeld", "Memory"])).toEqual([
      "Held",
      "asked",
      "narrowed",
      "beside",
    ]);
  });
});

describe("the measure of structure", () => {
  it("finds files that import one another in a circle, and folders that import each other", () => {
    const { circles, foldersBothWays } = measureStructure(
      [
        { ...source("engine/a.ts"), imports: ["http/b.ts"] },
        { ...source("http/b.ts"), imports: ["engine/a.ts"] },
        { ...source("http/c.ts"), imports: ["http/b.ts"] },
      ],
      () => "",
    );
    expect([circles, foldersBothWays]).toEqual([[["engine/a.ts", "http/b.ts"]], ["engine -> http"]]);
  });

  it("counts the methods of the largest port", () => {
    const text =
      "export interface Store {\n  readonly name: string;\n  read(id: string): string;\n  readonly write: (id: string) => void;\n}\n";
    expect(measureStructure([source("ports/store.ts")], () => text).largestPort).toEqual({
      name: "Store",
      methods: 2,
    });
    const wide = `${text}export interface Wide extends Store {\n  list(): string[];\n}\n`;
    expect(measureStructure([source("ports/store.ts")], () => wide).largestPort).toEqual({
      name: "Wide",
      methods: 3,
    });
  });

  it("finds an import against the direction of the layers, and leaves others alone", () => {
    const { againstDirection } = measureStructure(
      [
        { ...source("domain/a.ts"), imports: ["engine/b.ts", "errors.ts"] },
        { ...source("engine/b.ts"), imports: ["domain/a.ts"] },
      ],
      () => "",
    );
    expect(againstDirection).toEqual(["domain/a.ts -> engine/b.ts"]);
  });

  it("finds a small file that one file imports", () => {
    const { smallFilesOfOneImporter } = measureStructure(
      [
        { ...source("a.ts"), lines: 40 },
        { ...source("b.ts"), imports: ["a.ts", "c.ts"] },
        { ...source("c.ts"), lines: 40 },
        { ...source("d.ts"), imports: ["c.ts"] },
      ],
      () => "",
    );
    expect(smallFilesOfOneImporter).toEqual(["a.ts"]);
  });

  it("asks for a reason for a small file, unless its importer is in another layer", () => {
    const small = (path: string, importer: string) =>
      measureStructure(
        [
          { ...source(path), lines: 40 },
          { ...source(importer), imports: [path] },
        ],
        () => "",
      ).smallFilesWithoutReason;
    expect([
      small("engine/recall/a.ts", "engine/b.ts"),
      small("engine/a.ts", "wiring/b.ts"),
      small("adapters/sqlite/migrations/0100-a.ts", "adapters/sqlite/b.ts"),
    ]).toEqual([["engine/recall/a.ts"], [], []]);
  });
});
