import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  atCommit,
  dependencySizes,
  drawLayers,
  measureStructure,
  readSources,
  type SourceFile,
  type Structure,
} from "./structure.ts";

/** The rows of the page, and what each takes from a measurement. */
export const STRUCTURE_ROWS: readonly {
  readonly title: string;
  readonly countOf: (structure: Structure) => number;
  /** Whether the figure follows every change, so that a page may differ from it by a twentieth. */
  readonly isVolatile?: boolean;
}[] = [
  { title: "files", countOf: ({ files }) => files, isVolatile: true },
  { title: "lines", countOf: ({ lines }) => lines, isVolatile: true },
  {
    title: "files with one importer and at most 60 lines",
    countOf: ({ smallFilesOfOneImporter }) => smallFilesOfOneImporter.length,
    isVolatile: true,
  },
  {
    title: "of these, neither listed with a reason nor imported from another layer",
    countOf: ({ smallFilesWithoutReason }) => smallFilesWithoutReason.length,
  },
  { title: "exported names declared twice", countOf: ({ namesDeclaredTwice }) => namesDeclaredTwice.length },
  { title: "types declared twice", countOf: ({ typesDeclaredTwice }) => typesDeclaredTwice.length },
  { title: "globals that a type shadows", countOf: ({ shadowedGlobals }) => shadowedGlobals.length },
  {
    title: "methods of the largest port, inherited ones included",
    countOf: ({ largestPort }) => largestPort.methods,
  },
  {
    title: "files in the largest folder",
    countOf: ({ largestFolder }) => largestFolder.files,
    isVolatile: true,
  },
  { title: "import cycles between files", countOf: ({ circles }) => circles.length },
  {
    title: "pairs of folders that import each other",
    countOf: ({ foldersBothWays }) => foldersBothWays.length,
  },
  {
    title: "imports against the direction of the layers",
    countOf: ({ againstDirection }) => againstDirection.length,
  },
];

/** The states that the page compares. The parts that know English had other folders at first. */
const FIRST = {
  commit: "8e76640",
  english: ["adapters/rules", "engine/answer", "engine/forget/"],
};
const BEFORE = {
  commit: "b712fadc",
  english: [
    "adapters/rules",
    "language/en/answers",
    "language/en/forget-requests",
    "language/en/grammar",
    "language/en/parser",
    "language/en/questions",
  ],
};

const ROOT = join(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/results/structure.md");

interface MeasuredTree {
  readonly all: Structure;
  /** Without the parts that know English. */
  readonly rest: Structure;
  readonly layers: string;
}

function measureTree(src: string, english: readonly string[]): MeasuredTree {
  const sources = readSources(src);
  const measure = (some: readonly SourceFile[]): Structure =>
    measureStructure(some, (path) => readFileSync(join(src, path), "utf8"));
  return {
    all: measure(sources),
    rest: measure(sources.filter(({ path }) => !english.some((one) => path.startsWith(one)))),
    layers: drawLayers(sources),
  };
}

const formatCount = (count: number): string => count.toLocaleString("en");
const formatSize = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** The page, from the measurements of the three states and the sizes of the dependencies. */
export function formatStructurePage(
  { first, before, now }: { readonly [state in "first" | "before" | "now"]: MeasuredTree },
  dependencies: readonly { readonly name: string; readonly bytes: number }[],
  date: string,
): string {
  const rows = STRUCTURE_ROWS.map(({ title, countOf }) => {
    const counts = [first.all, before.all, now.all, first.rest, before.rest, now.rest].map(countOf);
    return `| ${title} | ${counts.map(formatCount).join(" | ")} |`;
  });
  const sizes = dependencies.map(({ name, bytes }) => `| \`${name}\` | ${formatSize(bytes)} |`);
  return `# The structure of the source, before and after

Measured on ${date} by \`node scripts/structure-page.ts\`, which writes this page. It reads \`src/\` without tests, fixtures and
\`src/testing\`. "First" is commit ${FIRST.commit} and "before" is commit ${BEFORE.commit}, both read from git history. The last three
columns leave out the parts that know English. Imports against the direction are counted by today's rules.

| | all, first | all, before | all, now | without English, first | before | now |
|---|---:|---:|---:|---:|---:|---:|
${rows.join("\n")}

\`node scripts/structure.ts --lists\` names the files and names behind each number. \`--at COMMIT\` measures an earlier state.

A file at the root counts as a folder of its own: all folders import \`errors.ts\`, and \`memory.ts\` imports all of them.

\`test/names.test.ts\` and \`test/architecture.test.ts\` hold these figures. Exceptions are listed there:

* Names of migrations: each migration stays as it landed.
* Small files, each with its reason: \`SMALL_FILES\` in \`scripts/structure.ts\`.
* Folders that import each other: \`BOTH_WAYS\` in \`test/architecture.test.ts\`.
* Folders of more than 15 files: the rules for English, and the migrations of a database.

The code grew: features and tests of faults came in the same time, and longer names wrap more lines.
[Ten files, side by side](ten-files.md) show the effect on a random sample.

## Run-time dependencies

Each with everything that it needs itself, as installed. Two dependencies may share a package.

| Package | Size |
|---|---:|
${sizes.join("\n")}

## The import graph

Each arrow is labelled with the number of imports. \`node scripts/structure.ts --graph\` draws folders instead of layers, for Graphviz.

Now:

\`\`\`mermaid
${now.layers}
\`\`\`

First:

\`\`\`mermaid
${first.layers}
\`\`\`
`;
}

if (import.meta.main) {
  const page = formatStructurePage(
    {
      first: atCommit(FIRST.commit, (src) => measureTree(src, FIRST.english)),
      before: atCommit(BEFORE.commit, (src) => measureTree(src, BEFORE.english)),
      now: measureTree(join(ROOT, "src"), BEFORE.english),
    },
    dependencySizes(),
    new Date().toISOString().slice(0, 10),
  );
  writeFileSync(PAGE, page);
}
