import { eraseUser, sendOne } from "./soak-requests.ts";
import { MOST_OPEN, makeSoakWorld, type SoakUser, type SoakWorld, WORD } from "./soak-world.ts";

export interface SoakLoad {
  /** Sends requests for so long, each at its moment, whether the ones before it have been answered or not. */
  run(milliseconds: number): Promise<void>;
  /** Erases one user, whether their turns are over or not. */
  eraseOne(): Promise<void>;
  /** Ends the connections that are kept alive. */
  hangUp(): void;
  counts(): { readonly users: number; readonly sent: number; readonly shed: number };
  /** Reads every user again; gives what is not as it was acknowledged. */
  check(): Promise<SoakFindings>;
  /** What no request of the load should get, and how often it did. */
  readonly unexpected: { readonly [what: string]: number };
}

export interface SoakFindings {
  readonly acked: number;
  readonly lost: number;
  readonly resurrected: number;
  /** Words whose erasure was acknowledged: they must be in no file. */
  readonly erasedWords: ReadonlySet<string>;
}

const USERS_AT_ONCE = 80;
/** So many turns has a user before all of it is erased: what is known at a time levels off within minutes. */
const TURNS_EACH = 25;

/** A mixed load on a server: users come, say and ask this and that, and go with all that they said. */
export function makeSoakLoad(
  server: { readonly url: string; readonly key: string },
  { rate, draw }: { readonly rate: number; readonly draw: () => number },
): SoakLoad {
  const world = makeSoakWorld(server, draw);
  let sent = 0;
  let shed = 0;
  return {
    unexpected: world.unexpected,
    async run(milliseconds) {
      const until = performance.now() + milliseconds;
      const running = new Set<Promise<void>>();
      for (let due = performance.now(); due < until; due += (-Math.log(1 - draw()) / rate) * 1000) {
        const wait = due - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        if (running.size >= MOST_OPEN) {
          shed += 1;
          continue;
        }
        sent += 1;
        const work: Promise<void> = takeTurn(world).finally(() => running.delete(work));
        running.add(work);
      }
      await Promise.all(running);
    },
    async eraseOne() {
      const user = world.users.find(({ isLeaving }) => !isLeaving);
      if (user) await eraseUser(world, user);
    },
    hangUp: world.hangUp,
    counts: () => ({ users: world.users.length, sent, shed }),
    check: () => checkWorld(world),
  };
}

async function takeTurn(world: SoakWorld): Promise<void> {
  const { users, draw } = world;
  const staying = users.filter(({ isLeaving }) => !isLeaving);
  const isRoom = staying.length < USERS_AT_ONCE;
  const found = isRoom && draw() < 0.3 ? undefined : staying[Math.floor(draw() * staying.length)];
  const user: SoakUser = found ?? world.arrive();
  if (user.turns >= TURNS_EACH) return await eraseUser(world, user);
  user.turns += 1;
  user.requestsOpen += 1;
  try {
    await sendOne(world, user);
  } finally {
    user.requestsOpen -= 1;
  }
}

async function checkWorld({ users, erasedUsers, erasedWords, send }: SoakWorld): Promise<SoakFindings> {
  let acked = 0;
  let lost = 0;
  let resurrected = 0;
  const countErased = (text: string): number =>
    [...text.matchAll(WORD)].filter(([word]) => erasedWords.has(word)).length;
  for (const { id, facts } of users) {
    const { text } = await send(`/api/v1/export/${id}`);
    acked += facts.length;
    lost += facts.filter((fact) => !(text.includes(`"${fact.message}"`) && text.includes(fact.word))).length;
    resurrected += countErased(text);
  }
  for (const id of erasedUsers) resurrected += countErased((await send(`/api/v1/export/${id}`)).text);
  return { acked, lost, resurrected, erasedWords };
}
