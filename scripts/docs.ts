import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { coveragePage } from "./coverage.ts";
import { dashboard } from "./dashboard.ts";
import { defectsPage } from "./defects.ts";
import { libraryReference } from "./library-reference.ts";
import { metricsPage } from "./metrics-table.ts";
import { writePythonClient } from "./python-client.ts";
import { readmeWithQuality } from "./quality-table.ts";
import { targetsPage } from "./targets.ts";

const ROOT = join(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/reference/cli.md");
const LIBRARY_PAGE = join(ROOT, "docs/reference/library.md");
const README = join(ROOT, "README.md");
const METRICS_PAGE = join(ROOT, "docs/metrics.md");
const COVERAGE_PAGE = join(ROOT, "docs/coverage.md");

const DASHBOARD = join(ROOT, "deploy/grafana/dashboards/keepsake.json");

const INTRODUCTION = `# Command line

<!-- Written by \`npm run docs\` from \`--help\`; a test compares. Change the command, not this page. -->

\`npx keepsake COMMAND\` if the package is installed, \`npm run -s keepsake -- COMMAND\` in a checkout.

With \`--json\`, a command prints one JSON document on stdout and nothing else; its shapes are the library's in snake_case.
Messages for people go to stderr. Exit status: 0 success; 1 failure; 2 usage error; 3 nothing found.
`;

/** What \`keepsake …\` prints without colours. */
function help(...command: readonly string[]): string {
  const output = execFileSync(process.execPath, [join(ROOT, "dist/cli/main.js"), ...command, "--help"], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, NO_COLOR: "1" },
  });
  return output.trimEnd();
}

/** The names under "Commands:", in their order. */
export function commandsOf(overview: string): string[] {
  const [, list = ""] = /\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(overview) ?? [];
  const names = [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)].map((match) => match[1] ?? "");
  return names.filter((name) => name !== "help");
}

/** The page \`docs/reference/cli.md\` as it should be now. Needs \`dist/\`. */
export function commandLineReference(): string {
  const overview = help();
  const sections = commandsOf(overview).flatMap((command) => sectionsOf([command]));
  return [INTRODUCTION, `\`\`\`text\n${overview}\n\`\`\`\n`, ...sections].join("\n");
}

/** A command with those below it: "keys", "keys list", "keys create". */
function sectionsOf(command: readonly string[]): string[] {
  const text = help(...command);
  const section = `## keepsake ${command.join(" ")}\n\n\`\`\`text\n${text}\n\`\`\`\n`;
  return [section, ...commandsOf(text).flatMap((below) => sectionsOf([...command, below]))];
}

if (import.meta.main) {
  writeFileSync(PAGE, commandLineReference());
  writeFileSync(LIBRARY_PAGE, libraryReference().page);
  writeFileSync(METRICS_PAGE, metricsPage(readFileSync(METRICS_PAGE, "utf8")));
  writeFileSync(COVERAGE_PAGE, coveragePage());
  writeFileSync(join(ROOT, "docs/targets.md"), targetsPage());
  writeFileSync(join(ROOT, "docs/results/defects.md"), defectsPage());
  writeFileSync(DASHBOARD, `${JSON.stringify(dashboard(), null, 2)}\n`);
  writeFileSync(README, readmeWithQuality(readFileSync(README, "utf8")));
  console.error(
    "Written: docs/reference/cli.md and library.md, docs/coverage.md, docs/targets.md, docs/results/defects.md, the tables of docs/metrics.md and README.md, and the dashboard of deploy/",
  );
  writePythonClient();
}
