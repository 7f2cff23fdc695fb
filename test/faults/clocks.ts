import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, started } from "../../bench/load/server.ts";
import { option, random } from "../crash/kill.ts";

/** What rounds under wrong clocks came to. All counts but `rounds` must be 0. */
export interface ClockCounts {
  readonly rounds: number;
  /** Acknowledged messages that are not there. */
  lost: number;
  /** Answers, dates, repeats and statuses that the order of what was said does not give. */
  wrong: number;
  /** Memories that a read left out before their time. */
  earlyExpiry: number;
  /** Durations below zero in metrics and in the table of jobs. */
  negativeDurations: number;
  /** Why, in words, the first twenty. */
  readonly faults: string[];
}

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const SHIFTED = ["--import", join(import.meta.dirname, "shifted-clock.mjs")];

/** How far the clocks of the two servers are from the true time (ms) at each of the steps of a round. */
type Course = (step: number, draw: () => number) => readonly [number, number];

const COURSES: { readonly [name: string]: Course } = {
  "back 10 s": (step) => both(step < 2 ? 0 : -10 * SECOND_MS),
  "back 1 day": (step) => both(step < 2 ? 0 : -DAY_MS),
  "forward 400 days and back": (step) => both(step === 1 || step === 2 ? 400 * DAY_MS : 0),
  "two servers 3 s apart": () => [0, -3 * SECOND_MS],
  "a slow clock": (step) => both(-step * 20 * SECOND_MS),
  "running backwards": (step) => both(-step * step * 3600 * SECOND_MS),
  "one server ahead by 400 days": (step) => [step < 3 ? 400 * DAY_MS : 0, 0],
  random: (_step, draw) => [(draw() - 0.5) * 2 * DAY_MS, (draw() - 0.5) * 2 * DAY_MS],
};

function both(ms: number): readonly [number, number] {
  return [ms, ms];
}

interface World {
  readonly servers: readonly [Running, Running];
  readonly clocks: readonly [string, string];
  readonly counts: ClockCounts;
  readonly draw: () => number;
}

/** Runs rounds on two servers that share one database, each round with a user of its own and a course of the clocks. */
export async function wrongClocks(rounds: number, seed: number): Promise<ClockCounts> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-clocks-"));
  const path = join(folder, "memory.db");
  const clocks = [join(folder, "clock-a"), join(folder, "clock-b")] as const;
  const counts = { rounds, lost: 0, wrong: 0, earlyExpiry: 0, negativeDurations: 0, faults: [] };
  const servers: Running[] = [];
  try {
    for (const clock of clocks) {
      writeFileSync(clock, "0");
      servers.push(await started(path, { KEEPSAKE_TEST_CLOCK: clock }, SHIFTED));
    }
    const [one, other] = servers as [Running, Running];
    const world: World = { servers: [one, other], clocks, counts, draw: random(seed) };
    const names = Object.keys(COURSES);
    for (let round = 0; round < rounds; round += 1) {
      await tryRound(world, `user-${round}`, names[round % names.length] ?? "");
    }
    for (const server of world.servers) await countNegative(server, counts);
  } finally {
    await Promise.all(servers.map((server) => server.end()));
    rmSync(folder, { recursive: true });
  }
  return counts;
}

type Kind = "lost" | "wrong" | "earlyExpiry";

/** One user's round: what was acknowledged, and where a fault is noted. */
interface Round {
  readonly user: string;
  readonly course: Course;
  readonly acknowledged: string[];
  step: number;
  fault(kind: Kind, why: string): void;
}

async function tryRound(world: World, user: string, name: string): Promise<void> {
  const { counts } = world;
  const round: Round = {
    user,
    course: COURSES[name] ?? (() => both(0)),
    acknowledged: [],
    step: 0,
    fault(kind, why) {
      counts[kind] += 1;
      if (counts.faults.length < 20) counts.faults.push(`${name}: ${why}`);
    },
  };
  await speak(world, round, name === "forward 400 days and back");
  for (const clock of world.clocks) writeFileSync(clock, "0");
  for (const server of world.servers) await judge(server, round);
}

/** Sets the clocks for the next step, and gives the server whose turn it is: of two, the one that is ahead speaks first. */
function turn({ clocks, servers, draw }: World, round: Round): Running {
  for (const [i, ms] of round.course(round.step, draw).entries()) {
    writeFileSync(clocks[i] ?? "", String(Math.round(ms)));
  }
  round.step += 1;
  return servers[(round.step - 1) % 2] as Running;
}

async function speak(world: World, round: Round, isDated: boolean): Promise<void> {
  const { user, acknowledged, fault } = round;
  const say = async (content: string): Promise<Said> => {
    const id = `${user}-${acknowledged.length}`;
    const body = { user_id: user, messages: [{ id, role: "user", content }] };
    const said = await post<Said>(turn(world, round), "/api/v1/messages", body);
    acknowledged.push(id);
    return said;
  };
  await post(world.servers[0], "/api/v1/memories", {
    user_id: user,
    content: "The user's parcel lies in locker 12.",
    expires_at: new Date(Date.now() + 30 * DAY_MS).toISOString(),
  });
  await say("I use Shram and Magnet as productivity tools.");
  await say("I live in Lisbon.");
  await say("I don't use Magnet anymore.");
  await say("I moved to Porto.");
  const dentist = await say("I have a dentist appointment tomorrow.");
  const again = { id: `${user}-again`, role: "user", content: "I play the oboe." };
  const server = turn(world, round);
  const key = `${user}-key`;
  const answers = [];
  for (let time = 0; time < 2; time += 1) {
    const body = { user_id: user, messages: [again] };
    answers.push(JSON.stringify(await post(server, "/api/v1/messages", body, key)));
  }
  acknowledged.push(again.id);
  if (answers[0] !== answers[1]) fault("wrong", "a repeat was answered otherwise");
  // The clocks are right again when this is said.
  const when = isDated ? await whenOf(server, user, dentist) : "";
  if (isDated && when !== dayOf(Date.now() + DAY_MS)) fault("wrong", `"tomorrow" is ${when}`);
}

async function judge(server: Running, { user, acknowledged, fault }: Round): Promise<void> {
  for (const [message, right] of [
    ["What productivity tools do I use?", "You use Shram."],
    ["Where do I live?", "You live in Porto."],
  ] as const) {
    const body = { user_id: user, message };
    const { reply } = await post<{ reply: string }>(server, "/api/v1/conversation", body);
    if (reply !== right) fault("wrong", `${message} ${reply}`);
  }
  const query = "Where does my parcel lie?";
  const found = await post(server, `/api/v1/memories/${user}/search`, { query });
  if (!JSON.stringify(found).includes("locker 12")) fault("earlyExpiry", "not found by a search");
  const listed = await ask(server, `/api/v1/memories/${user}?limit=100`);
  if (!listed.includes("locker 12")) fault("earlyExpiry", "not listed");
  const kept = await ask(server, `/api/v1/export/${user}`);
  for (const id of acknowledged) if (!kept.includes(`"${id}"`)) fault("lost", id);
}

interface Said {
  readonly memories: readonly { readonly id: string; readonly text: string }[];
}

async function whenOf(server: Running, user: string, { memories }: Said): Promise<string> {
  const [memory] = memories.filter(({ text }) => text.includes("dentist"));
  if (!memory) return "";
  const shown = JSON.parse(await ask(server, `/api/v1/memories/${user}/${memory.id}`)) as { when?: string };
  return (shown.when ?? "").slice(0, 10);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

async function countNegative(server: Running, counts: ClockCounts): Promise<void> {
  const texts = [await ask(server, "/metrics"), await ask(server, "/api/v1/jobs")];
  const sums = texts[0]?.match(/^\S*(?:duration|seconds|_ms)\S*_sum\S* -\S+$/gm) ?? [];
  const took = texts[1]?.match(/"took_ms":\s*-/g) ?? [];
  counts.negativeDurations += sums.length + took.length;
}

async function post<Answer>(server: Running, path: string, body: object, key?: string): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.key}`,
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as Answer;
}

async function ask(server: Running, path: string): Promise<string> {
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${server.key}` },
    signal: AbortSignal.timeout(60_000),
  });
  return response.text();
}

if (import.meta.main) {
  // The built server is what is tried.
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const seed = option("seed", Date.now() % 1_000_000);
  const { faults, ...counts } = await wrongClocks(option("rounds", 40), seed);
  for (const one of faults) console.error(`  ${one}`);
  console.log(JSON.stringify({ test: "R17", seed, ...counts }));
  const { lost, wrong, earlyExpiry, negativeDurations } = counts;
  process.exitCode = lost + wrong + earlyExpiry + negativeDurations === 0 ? 0 : 1;
}
