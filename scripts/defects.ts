import { hasTest } from "./coverage.ts";

/** A defect that was found by trying an early version, and the test that fails if it comes back. */
export interface DefectRow {
  /** Its section and its place in it: 1 is data lost or wrong, 2 is security and availability. */
  readonly number: `${1 | 2}.${number}`;
  /** What was wrong. */
  readonly wrong: string;
  /** The test that holds it: its file and its title. */
  readonly test: readonly [file: string, title: string];
}

const STAY = "test/pains/others-stay.test.ts";

/** All rows. A title that is in no test fails a test. */
export const DEFECT_ROWS: readonly DefectRow[] = [
  {
    number: "1.1",
    wrong: "After an erasure, a second process could delete the log with acknowledged messages in it",
    test: [
      "test/crash/two-process-erasure.test.ts",
      "a server that erased, and is killed after another process (%s) used the file, has kept what it acknowledged",
    ],
  },
  {
    number: "1.2",
    wrong: "A statement under a clock that had been set back was not learnt",
    test: ["src/engine/earlier-clock.test.ts", "%j followed by %j takes effect under a clock that ran back"],
  },
  {
    number: "1.3",
    wrong: "Values that differ in a number alone took each other's place",
    test: [
      "src/language/en/grammar/numbered-names.test.ts",
      "fifty values that differ in a number alone leave fifty memories",
    ],
  },
  {
    number: "1.4",
    wrong: "An erasure of a number cut longer numbers in half",
    test: [
      "test/forgetting/whole-values.test.ts",
      "takes it wherever it stands, and cuts no longer value that it is a part of",
    ],
  },
  {
    number: "1.5",
    wrong: "Forgetting one thing of a sentence erased the others",
    test: [
      STAY,
      "are two memories: forgetting the dog leaves the home and the diet, and nothing of the dog's name",
    ],
  },
  {
    number: "1.6",
    wrong: "A change of one thing of a sentence ended the others",
    test: [STAY, "are two memories: another home does not end the dog"],
  },
  {
    number: "1.7",
    wrong: "A blank message, or one with a control character, refused all messages of its request",
    test: [
      "src/engine/ingest/parse-messages.test.ts",
      "a batch with a control character and a blank message is stored without them, and the receipt says so",
    ],
  },
  {
    number: "1.8",
    wrong: "A line of the profile that was too long for its budget was left out whole",
    test: [
      "src/engine/profile/profile.test.ts",
      "shortens a line of 800 likes to its budget instead of leaving it out",
    ],
  },
  {
    number: "1.9",
    wrong: "A changed byte of a memory was not noticed",
    test: [
      "test/e2e/doctor.test.ts",
      "finds a changed byte of a memory, says what can be restored from where, and restores it from the backup",
    ],
  },
  {
    number: "1.10",
    wrong: "No test opened a file of an earlier version",
    test: [
      "test/formats/formats.test.ts",
      "reads as it did to the version that made it, and all is well with it",
    ],
  },
  {
    number: "2.1",
    wrong: "The name of a model in a path reached other parts of the upstream, with the server's key",
    test: [
      "test/openai/upstream-path.test.ts",
      "reaches nothing of the upstream but its models, in any encoding",
    ],
  },
  {
    number: "2.2",
    wrong: "The erasure of a large user held up everybody",
    test: [
      "src/language/en/forget-requests/much.test.ts",
      "erasing all of a user with 8,000 memories holds up neither the process nor another user's write",
    ],
  },
  {
    number: "2.3",
    wrong: "A body that was nested deeply, or had very many parts, held up everybody",
    test: ["src/http/limits.test.ts", "is not read further after a refusal"],
  },
  {
    number: "2.4",
    wrong: "A chat in the background was accepted, and nobody could read its answer",
    test: [
      "test/openai/server-key.test.ts",
      "the built-in model refuses background, whose answer nobody could read",
    ],
  },
  {
    number: "2.5",
    wrong: "A user whose name is a step of a path could be written and not be reached",
    test: ["test/http/user-ids.test.ts", "%j is refused by the library, the API and the proxy alike"],
  },
  {
    number: "2.6",
    wrong: "Parts of instructions to the model stayed in what was learnt",
    test: [
      "src/engine/injected.test.ts",
      "keeps the user's statement and removes a prompt injection next to it",
    ],
  },
  {
    number: "2.7",
    wrong: "Guesses of keys were not slowed down",
    test: [
      "src/http/middleware/failed-keys.test.ts",
      "of one address are slowed down, then get 429 with a time to retry",
    ],
  },
  {
    number: "2.8",
    wrong: "The user of a chat was looked for in one field only",
    test: [
      "test/openai/who-speaks.test.ts",
      "is the one that stands first in the order of precedence where several places name different users",
    ],
  },
  {
    number: "2.9",
    wrong: "Metrics had several prefixes and units",
    test: [
      "test/metrics.test.ts",
      "gives every metric with one prefix and in base units, and says of each earlier name what took its place",
    ],
  },
  {
    number: "2.10",
    wrong: "A server that was told to stop under load took longer than containers wait",
    test: [
      "test/crash/server-stop.test.ts",
      "a server that is told to stop under load, with streams that never end, ends with 0 within five seconds and loses nothing",
    ],
  },
];

/** What is wrong with rows: a test that is not there, or a number that occurs twice. */
export function findDefectFaults(rows: readonly DefectRow[]): string[] {
  const numbers = rows.map(({ number }) => number);
  return rows.flatMap(({ number, test }, i) => [
    ...(hasTest(...test) ? [] : [`row ${number}: there is no such test`]),
    ...(numbers.indexOf(number) === i ? [] : [`row ${number}: occurs twice`]),
  ]);
}

const INTRODUCTION = `# Defects found by use

<!-- Written by \`npm run docs\` from scripts/defects.ts; a test compares. -->

An early version was tried as new users, attackers and readers would. Each defect of the first two kinds has a row: data that was
lost or wrong (1), and security and availability (2). The row names a test that fails if the defect comes back. Most defects have
more tests than that. A test fails if a title named here is in no test.
`;

/** The page \`docs/results/defects.md\` as it should be now. */
export function defectsPage(): string {
  const rows = DEFECT_ROWS.map(
    ({ number, wrong, test: [file, title] }) =>
      `| ${number} | ${wrong} | [${file}](../../${file}): "${title}" |`,
  );
  return `${[INTRODUCTION, "| # | What was wrong | The test that holds it |", "|---:|---|---|", ...rows].join("\n")}\n`;
}
