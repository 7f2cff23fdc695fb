// The page that `conformance.ts` writes, and compares with what it finds. Pure: no suite and no server is needed to read it.

/** The revisions of the protocol that are served, newest first. */
export const REVISIONS = ["2026-07-28", "2025-11-25"] as const;

/** A revision of the protocol. */
export type Revision = (typeof REVISIONS)[number];

/** The servers that the suite runs against, with the titles of their columns. */
export const SERVERS = {
  plain: "`/mcp`",
  fixtures: "`/mcp` with fixtures",
  stdio: "stdio with fixtures",
} as const;

/** One of the servers. */
export type ServerName = keyof typeof SERVERS;

/** What a scenario found on a server, in numbers of checks. None passed and none failed: it had nothing to check. */
export interface ScenarioOutcome {
  readonly passed: number;
  readonly failed: number;
  /** Checks of what the protocol recommends. */
  readonly warned: number;
}

/** A scenario of a revision, and what it found on each server where it ran. */
export interface ScenarioRow {
  readonly name: string;
  /** Whether the revision requires it. The suite runs others, too, and does not score them. */
  readonly isRequired: boolean;
  readonly outcomes: { readonly [Name in ServerName]?: ScenarioOutcome | undefined };
}

/** All scenarios of each revision. */
export type ConformanceResults = { readonly [Name in Revision]: readonly ScenarioRow[] };

/** Why some scenarios pass on none of the servers. */
interface Reason {
  readonly scenarios: RegExp;
  readonly revision: Revision;
  readonly why: string;
}

const REASONS: readonly Reason[] = [
  {
    scenarios: /^tasks-/,
    revision: "2026-07-28",
    why: "They are of an extension, which is optional. The server does not announce it, and answers its methods as unknown.",
  },
  {
    scenarios: /^server-(?:session-lifecycle|sse-multiple-streams|sse-polling)$/,
    revision: "2025-11-25",
    why: "They check sessions, and streams that can be resumed. The server has neither, as the protocol allows, so there is nothing to check.",
  },
];

const isPass = (outcome: ScenarioOutcome | undefined): boolean =>
  outcome !== undefined && outcome.failed + outcome.warned === 0 && outcome.passed > 0;
const isEmpty = (outcome: ScenarioOutcome | undefined): boolean =>
  outcome === undefined || outcome.failed + outcome.passed === 0;

/** Whether a scenario passes on a server with fixtures. */
function passesSomewhere({ outcomes: { fixtures, stdio } }: ScenarioRow): boolean {
  return isPass(fixtures) || isPass(stdio);
}

/** Finds scenarios that pass nowhere without a reason, and reasons without a scenario. Gives a sentence for each. */
export function findUnexplained(results: ConformanceResults): readonly string[] {
  const failing = REVISIONS.flatMap((revision) =>
    results[revision].filter((row) => !passesSomewhere(row)).map(({ name }) => ({ name, revision })),
  );
  const explains = (reason: Reason, { name, revision }: (typeof failing)[number]): boolean =>
    reason.revision === revision && reason.scenarios.test(name);
  return [
    ...failing
      .filter((one) => !REASONS.some((reason) => explains(reason, one)))
      .map(
        ({ name, revision }) => `${revision}: ${name} does not pass on any server, and no reason is given`,
      ),
    ...REASONS.filter((reason) => !failing.some((one) => explains(reason, one))).map(
      ({ scenarios, revision }) => `${revision}: no failing scenario has the reason for ${scenarios.source}`,
    ),
  ];
}

/** The numbers of a revision. */
export interface ConformanceCounts {
  readonly required: number;
  /** Required scenarios that pass at `/mcp` with the fixtures. */
  readonly overHttp: number;
  /** Further required scenarios that pass over stdin and stdout with the fixtures. */
  readonly overStdio: number;
  /** Required scenarios that have nothing to check. */
  readonly empty: number;
  /** Required scenarios that fail. */
  readonly failed: number;
  /** Scenarios that are not required, and those of them that pass. */
  readonly others: number;
  readonly othersPassed: number;
  /** Scenarios that pass without any fixture, at `/mcp` as people run it. */
  readonly plain: number;
}

/** Counts the scenarios of a revision. */
export function countScenarios(rows: readonly ScenarioRow[]): ConformanceCounts {
  const required = rows.filter(({ isRequired }) => isRequired);
  const others = rows.filter(({ isRequired }) => !isRequired);
  const overHttp = required.filter(({ outcomes }) => isPass(outcomes.fixtures)).length;
  const somewhere = required.filter(passesSomewhere).length;
  const empty = required.filter((row) => !passesSomewhere(row) && isEmpty(row.outcomes.fixtures)).length;
  return {
    required: required.length,
    overHttp,
    overStdio: somewhere - overHttp,
    empty,
    failed: required.length - somewhere - empty,
    others: others.length,
    othersPassed: others.filter(passesSomewhere).length,
    plain: rows.filter(({ outcomes }) => isPass(outcomes.plain)).length,
  };
}

/** Writes the rows of numbers, one for each revision. The page on MCP has the same rows. */
export function renderCounts(results: ConformanceResults): string {
  const rows = REVISIONS.map((revision) => {
    const { required, overHttp, overStdio, empty, failed, others, othersPassed, plain } = countScenarios(
      results[revision],
    );
    const cells = [
      revision,
      required,
      overHttp,
      overStdio,
      empty,
      failed,
      `${othersPassed} of ${others}`,
      plain,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    `| Revision | Required scenarios | pass at ${SERVERS.plain} | only over stdio | have nothing to check | fail | others that pass | pass without fixtures |`,
    "|---|---:|---:|---:|---:|---:|---:|---:|",
    ...rows,
  ].join("\n");
}

function renderOutcome(outcome: ScenarioOutcome | undefined): string {
  if (outcome === undefined) return "";
  if (isEmpty(outcome)) return "nothing to check";
  const { passed, failed, warned } = outcome;
  return failed + warned === 0 ? String(passed) : `${passed} of ${passed + failed + warned}`;
}

function renderScenarios(revision: Revision, rows: readonly ScenarioRow[]): string {
  const servers = (Object.keys(SERVERS) as ServerName[]).filter((name) =>
    rows.some(({ outcomes }) => outcomes[name] !== undefined),
  );
  const titles = ["Scenario", "Required", ...servers.map((name) => SERVERS[name])];
  return [
    `## ${revision}`,
    "",
    `| ${titles.join(" | ")} |`,
    `|---|---|${servers.map(() => "---|").join("")}`,
    ...rows.map(({ name, isRequired, outcomes }) => {
      const cells = servers.map((server) => renderOutcome(outcomes[server]));
      return `| ${[`\`${name}\``, isRequired ? "yes" : "no", ...cells].join(" | ")} |`;
    }),
    "",
    "Why the others do not pass:",
    "",
    ...REASONS.filter((reason) => reason.revision === revision).map(({ scenarios, why }) => {
      const names = rows.filter(({ name }) => scenarios.test(name)).map(({ name }) => `\`${name}\``);
      return `* ${names.join(", ")}: ${why}`;
    }),
  ].join("\n");
}

/** Writes the whole page. */
export function renderPage(results: ConformanceResults, version: string): string {
  return `# MCP conformance

<!-- Written by \`node test/clients/mcp/conformance.ts --page\`; CI compares. Run it again, do not edit. -->

The protocol's own tests, \`@modelcontextprotocol/conformance\` ${version}, run in CI against the built program, for both
revisions. Many scenarios call tools, resources and prompts that the suite knows by name, such as \`test_simple_text\`. A
memory has no reason to offer them, so the suite runs against three servers:

* ${SERVERS.plain}: \`keepsake serve\`, as people run it;
* ${SERVERS.fixtures}: the same program, where the server of the SDK also has what the suite knows by name. Routes, keys, limits
  and handlers are those of the program;
* ${SERVERS.stdio}: \`keepsake mcp\` with the same fixtures, behind a bridge that passes each message of a session on unchanged.
  Only here can a server of 2025-11-25 ask its client something, because \`/mcp\` keeps no sessions.

${renderCounts(results)}

A number is that of the checks that pass; "1 of 2" says that one of two does not. A warning does not count as passed.

${REVISIONS.map((revision) => renderScenarios(revision, results[revision])).join("\n\n")}
`;
}
