/** How much of a program is run: what a pull request can wait for, or all that is asked of it. */
export type CampaignSize = "ci" | "full";

/** A program of the campaign. Its last line that is JSON with a `test` tells what it came to. */
export interface CampaignProgram {
  /** The name of the test in the plan. */
  readonly test: string;
  /** Its file, from the root of the repository. */
  readonly file: string;
  /** What it does, for a reader of the page. */
  readonly about: string;
  readonly args: { readonly [size in CampaignSize]: readonly string[] };
  /** It is stopped after so many minutes, and has failed. */
  readonly minutes: { readonly [size in CampaignSize]: number };
  /** The setting that names a server which it needs; without it, it is not run. */
  readonly needs?: string;
}

/** In the order in which they are run and shown. */
export const CAMPAIGN: readonly CampaignProgram[] = [
  {
    test: "R1",
    file: "test/crash/server-kill.ts",
    about: "ends a server under load with SIGKILL and with SIGTERM; every acknowledged write is there",
    args: {
      ci: ["--kills", "5", "--terms", "5", "--json"],
      full: ["--kills", "1000", "--terms", "100", "--json"],
    },
    minutes: { ci: 15, full: 240 },
  },
  {
    test: "R1",
    file: "test/crash/server-stop.ts",
    about: "stops a server under load with SIGTERM; it ends with 0 within five seconds and loses nothing",
    args: { ci: ["--rounds", "2", "--json"], full: ["--rounds", "20", "--json"] },
    minutes: { ci: 10, full: 60 },
  },
  {
    test: "R1",
    file: "test/crash/writer-kill.ts",
    about: "kills a writer; every acknowledged message is there once, word for word, and can be searched",
    args: { ci: ["--kills", "40", "--json"], full: ["--kills", "1000", "--json"] },
    minutes: { ci: 15, full: 120 },
  },
  {
    test: "R1",
    file: "test/crash/import-kill.ts",
    about: "kills an import; repeated, it holds what an undisturbed one holds",
    args: { ci: ["--kills", "5", "--json"], full: ["--kills", "200", "--json"] },
    minutes: { ci: 15, full: 120 },
  },
  {
    test: "R1",
    file: "test/crash/encryption-kill.ts",
    about: "kills the encryption of a database file; it is as before or encrypted, whole, and can be ended",
    args: { ci: ["--kills", "5", "--json"], full: ["--kills", "200", "--json"] },
    minutes: { ci: 10, full: 60 },
  },
  {
    test: "R1",
    file: "test/crash/rotation-kill.ts",
    about: "kills a change of the master key; the next one ends it, and no key is lost or left behind",
    args: { ci: ["--kills", "8", "--json"], full: ["--kills", "200", "--json"] },
    minutes: { ci: 10, full: 60 },
  },
  {
    test: "R2",
    file: "test/faults/power-cut.ts",
    about: "simulates power cuts on a trace of the real server's writes and syncs",
    args: { ci: ["--states", "500"], full: ["--states", "10000"] },
    minutes: { ci: 15, full: 240 },
  },
  {
    test: "R3",
    file: "test/faults/io-failures.ts",
    about: "fails each write and sync of a run, once and from there on",
    args: { ci: ["--sample", "60"], full: ["--all"] },
    minutes: { ci: 20, full: 480 },
  },
  {
    test: "R4",
    file: "test/crash/postgres-kill.ts",
    about: "kills PostgreSQL under a server with load; nothing acknowledged is missing",
    args: { ci: ["--kills", "3", "--json"], full: ["--kills", "100", "--json"] },
    minutes: { ci: 15, full: 120 },
    needs: "KEEPSAKE_TEST_POSTGRES",
  },
  {
    test: "R4",
    file: "test/crash/mariadb-kill.ts",
    about: "kills MariaDB under a server with load; nothing acknowledged is missing",
    args: { ci: ["--kills", "3", "--json"], full: ["--kills", "100", "--json"] },
    minutes: { ci: 15, full: 120 },
    needs: "KEEPSAKE_TEST_MARIADB",
  },
  {
    test: "R5",
    file: "test/faults/main.ts",
    about:
      "breaks the disk, the clock, the model's server and the network, and compares each answer with the table",
    args: { ci: ["--json"], full: ["--json"] },
    minutes: { ci: 30, full: 30 },
  },
  {
    test: "R7/R8",
    file: "test/crash/many-processes.ts",
    about: "plays random histories in several processes at once and checks them against a model",
    args: { ci: ["--histories", "20"], full: ["--histories", "2000"] },
    minutes: { ci: 20, full: 480 },
  },
  {
    test: "R8",
    file: "test/crash/two-process-erasure.ts",
    about: "erases in one process while another reads, writes and is killed; nothing erased comes back",
    args: { ci: ["--rounds", "5"], full: ["--rounds", "200"] },
    minutes: { ci: 20, full: 240 },
  },
  {
    test: "R8",
    file: "test/postgres/histories.ts",
    about: "plays random histories in memory, in SQLite and in PostgreSQL; all three hold the same",
    args: { ci: ["--histories", "100"], full: ["--histories", "2000"] },
    minutes: { ci: 15, full: 120 },
    needs: "KEEPSAKE_TEST_POSTGRES",
  },
  {
    test: "R13",
    file: "test/faults/soak.ts",
    about: "runs a server under a mixed load; memory, files and queues do not grow",
    args: { ci: ["--minutes", "2"], full: ["--minutes", "120"] },
    minutes: { ci: 15, full: 180 },
  },
  {
    test: "R14",
    file: "test/crash/migration-kill.ts",
    about:
      "kills the update of a file of each older format; it is of the old version or the new one, and whole",
    args: { ci: ["--kills", "8"], full: ["--kills", "100"] },
    minutes: { ci: 15, full: 120 },
  },
  {
    test: "R14",
    file: "test/crash/reembed-kill.ts",
    about: "kills a re-embedding; searches go on, and it ends with one kind of vectors",
    args: {
      ci: ["--count", "2000", "--kills", "5", "--json"],
      full: ["--count", "20000", "--kills", "20", "--json"],
    },
    minutes: { ci: 15, full: 60 },
  },
  {
    test: "R15",
    file: "test/move/round-trip.ts",
    about: "moves a database to PostgreSQL and back, killed on the way; it is the same",
    args: { ci: ["--users", "20", "--per-user", "500", "--json"], full: ["--json"] },
    minutes: { ci: 15, full: 60 },
    needs: "KEEPSAKE_TEST_POSTGRES",
  },
  {
    test: "R15",
    file: "test/move/mariadb-round-trip.ts",
    about: "moves a database to MariaDB and back, killed on the way; it is the same",
    args: { ci: ["--users", "20", "--per-user", "500", "--json"], full: ["--json"] },
    minutes: { ci: 15, full: 60 },
    needs: "KEEPSAKE_TEST_MARIADB",
  },
  {
    test: "R16",
    file: "test/faults/planted.ts",
    about: "plants damage in a database; the doctor finds it",
    args: { ci: ["--count", "50"], full: ["--count", "1000"] },
    minutes: { ci: 15, full: 120 },
  },
  {
    test: "R17",
    file: "test/faults/clocks.ts",
    about: "lets the clock jump and run slowly; nothing expires early and no work is lost",
    args: { ci: ["--rounds", "1"], full: ["--rounds", "10"] },
    minutes: { ci: 15, full: 120 },
  },
  {
    test: "S9",
    file: "test/crash/erase-kill.ts",
    about: "kills a large erasure; it is whole or has not begun, and no byte of an erased text is left",
    args: { ci: ["--kills", "6", "--json"], full: ["--kills", "200", "--json"] },
    minutes: { ci: 15, full: 120 },
  },
  {
    test: "S10",
    file: "test/sharing/histories.ts",
    about:
      "plays random histories of grants, groups, private memories and erasures, and of withdrawals during a recall; each user sees what a model says",
    args: { ci: ["--histories", "30"], full: ["--histories", "1000"] },
    minutes: { ci: 15, full: 240 },
  },
  {
    test: "P6",
    file: "test/replay/histories.ts",
    about:
      "plays random histories with a model that never says the same twice, edits, undos and erasures; a replay of the log has the same digest",
    args: { ci: ["--histories", "30"], full: ["--histories", "1000"] },
    minutes: { ci: 15, full: 120 },
  },
  {
    test: "W1",
    file: "test/webhooks/deliver-under-kills.ts",
    about:
      "kills a server that sends webhooks to a receiver that fails one in three; each event arrives, in order, signed",
    args: {
      ci: ["--events", "200", "--users", "8", "--kills", "2"],
      full: ["--events", "10000", "--users", "100", "--kills", "3"],
    },
    minutes: { ci: 10, full: 60 },
  },
];
