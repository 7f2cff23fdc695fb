import { checkName, checkNewName, checkScope } from "../domain/limits.ts";
import type { Scope } from "../domain/scope.ts";
import { MemoryError } from "../errors.ts";
import { add, remove, update } from "./add.ts";
import { audit } from "./audit.ts";
import { backup } from "./backup.ts";
import { answer, answerStream } from "./by-model/answer.ts";
import { converse, converseStream } from "./converse.ts";
import { examine } from "./doctor/examine.ts";
import { explain } from "./explain.ts";
import { following } from "./following/index.ts";
import { indexesOf } from "./following/indexes.ts";
import { tellingRecord } from "./following/telling-record.ts";
import { forget, planForget } from "./forget.ts";
import { watchHealth } from "./health/checks.ts";
import { watchDependencies } from "./health/dependencies.ts";
import { type Background, background } from "./jobs/index.ts";
import { optimize } from "./jobs/optimize.ts";
import { workSetAside } from "./jobs/set-aside.ts";
import { keptAnswers } from "./kept-answers.ts";
import { exportLines, importMessages } from "./move.ts";
import { observing } from "./observing.ts";
import type { Ports } from "./ports.ts";
import { profile } from "./profile/profile.ts";
import { recallKeeper } from "./recall/receipts.ts";
import { recall } from "./recall.ts";
import { remember } from "./remember.ts";
import { session, sessions } from "./sessions.ts";
import { get, list, log, versionsOf } from "./show.ts";
import { projectStats, userStats } from "./stats.ts";
import { supersede } from "./supersede.ts";
import type { JobState, Keepsake, ScopedMemory } from "./surface.ts";
import { hindrance, understand } from "./understand/understand.ts";
import { undo } from "./undo.ts";

/** A lease that nobody works under. */
const PROBE = "probe";

/** The whole product over its ports: each verb in a file of its own, bound to a scope here. */
export function keepsake(
  plain: Ports,
  { notices = [], release }: { notices?: readonly string[]; release: () => Promise<void> },
): Keepsake {
  const recalls = recallKeeper(plain.record);
  const follow = following(plain);
  const ports: Ports = {
    ...plain,
    recalls,
    ...(follow ? { following: follow, record: tellingRecord(plain.record, follow.written) } : {}),
  };
  const work = background(ports);
  const jobs = async () => [...(await work.jobs()), ...((await follow?.jobs()) ?? [])];
  let closing: Promise<void> | undefined;
  const check = (): void => {
    if (closing)
      throw new MemoryError("unavailable", "this memory is closed. Open it again with createMemory().");
  };
  const watch = watched(ports, check, jobs);
  const close = (): Promise<void> => {
    watch.stop();
    // Receipts first: a job may take longer to end than there is time.
    closing ??= recalls
      .flush()
      .then(work.stop)
      .then(() => follow?.stop())
      .then(recalls.flush)
      .then(release);
    return closing;
  };
  return {
    notices,
    scope(named) {
      check();
      return observing(scoped(ports, checkScope(named), { check, work }), ports);
    },
    answers: keptAnswers(ports, check),
    ...checks(ports, check),
    health: watch.health,
    async erasures(project = "default") {
      check();
      const wanted = checkName(project, "project");
      return (await ports.record.erasures()).filter((receipt) => receipt.project === wanted);
    },
    async backup(file, options) {
      check();
      return backup(ports, file, options);
    },
    async users(project = "default") {
      check();
      return ports.record.users(checkName(project, "project"));
    },
    async stats({ project = "default", ...options } = {}) {
      check();
      return projectStats(ports, checkName(project, "project"), options);
    },
    onCall(report, scope) {
      // Whatever it was for: it is the caller's own, and no budget counts it.
      ports.costs?.onCall({ ...report, purpose: "chat" }, scope);
    },
    async embedding() {
      check();
      return work.embedding();
    },
    watchErased: (listener) => ports.erasureWatch?.watch(listener) ?? (() => {}),
    async jobs() {
      check();
      return jobs();
    },
    ...workSetAside(ports, work, check),
    reindex({ signal } = {}) {
      check();
      return work.embedNow(signal);
    },
    indexes: indexesOf(follow, check),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A server looks whether what it stands on answers; sessions in this process always do. */
function watched(
  ports: Ports,
  check: () => void,
  jobs: () => Promise<readonly JobState[]>,
): Pick<Keepsake, "health"> & { stop(): void } {
  const { sessions, hasOwnSessions, damagedRows = () => 0, secretState: secret = "own", ...others } = ports;
  const isServer = ports.watchesDependencies === true;
  const own = { ...others, ...(sessions && hasOwnSessions ? { sessions } : {}) };
  const dependencies = isServer ? watchDependencies(own) : undefined;
  const whole = watchHealth(ports, { dependencies, damagedRows, secret, jobs }, { isServer });
  return {
    async health() {
      check();
      return whole.health();
    },
    stop() {
      dependencies?.stop();
      whole.stop();
    },
  };
}

/** What checks the whole record, and whether it can be written. */
function checks(ports: Ports, check: () => void): Pick<Keepsake, "check" | "examine" | "audit" | "probe"> {
  return {
    async check() {
      check();
      return ports.record.check();
    },
    async examine(options) {
      check();
      return examine(ports, options);
    },
    async audit(options) {
      check();
      return audit(ports, options);
    },
    async probe() {
      check();
      // Refused where another process probes at this moment: then it is that one's to find out.
      const { token } = await ports.record.takeLease(PROBE, { forMs: 1000 });
      if (token !== undefined) await ports.record.giveBackLease(PROBE, token);
    },
  };
}

/** Every verb, for one scope. */
function scoped(
  ports: Ports,
  scope: Scope,
  { check, work }: { check: () => void; work: Background },
): ScopedMemory {
  const open = <Result>(run: () => Result): Result => {
    check();
    return run();
  };
  const write = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    const result = await open(run);
    work.written();
    return result;
  };
  const store = <Result>(run: () => Result): Result => open(() => underNewName(scope, run));
  /** What was just stored may wait for a model. */
  const later = (): void => {
    work.written();
    if (ports.modelExtractor) work.later(scope);
  };
  return {
    async remember(input, options = {}) {
      const receipt = await write(() => store(() => remember(ports, scope, input, options)));
      if (receipt.pending === 0 || options.extract === "never") return receipt;
      work.later(scope, { isUnheard: options.extract === "later" });
      const hindered = await hindrance(ports, scope);
      return hindered ? { ...receipt, hindered } : receipt;
    },
    understand: (options) => write(() => understand(ports, scope, options)),
    add: (memory) => write(() => store(() => add(ports, scope, memory))),
    supersede: (what, memory) => write(() => store(() => supersede(ports, scope, what, memory))),
    recall: async (query, options) => open(() => recall(ports, scope, query, options)),
    answer: async (question, options) => open(() => answer(ports, scope, question, options)),
    answerStream: (question, options) => open(() => answerStream(ports, scope, question, options)),
    converse: (message, options) =>
      write(() => store(() => converse(ports, scope, message, options))).finally(later),
    converseStream: (message, options) =>
      whole(
        store(() => converseStream(ports, scope, message, options)),
        later,
      ),
    explain: async (recalled, options) => open(() => explain(ports, scope, recalled, options)),
    forget: (async (what, options) =>
      options?.dryRun
        ? open(() => planForget(ports, scope, what))
        : write(() => forget(ports, scope, what, options))) as ScopedMemory["forget"],
    erasures: async () => open(() => ports.record.erasures(scope)),
    get: async (id) => open(() => get(ports, scope, id)),
    list: (options) => open(() => list(ports, scope, options)),
    update: (id, changes) => write(() => update(ports, scope, id, changes)),
    remove: (id) => write(() => remove(ports, scope, id)),
    history: (async (id?: string, options?: { before?: number; limit?: number }) =>
      open<Promise<unknown>>(() =>
        id === undefined ? log(ports, scope, options) : versionsOf(ports, scope, id),
      )) as ScopedMemory["history"],
    revision: async () => open(() => ports.record.revision(scope)),
    undo: (revision) => write(() => undo(ports, scope, revision)),
    optimize: async (options) => open(() => optimize(ports, scope, options)),
    sessions: async (options) => open(() => sessions(ports, scope, options)),
    session: async (id, options) => open(() => session(ports, scope, id, options)),
    profile: async (options) => open(() => profile(ports, scope, options)),
    stats: async (options) => open(() => userStats(ports, scope, options)),
    export: () => open(() => exportLines(ports, scope)),
    import: (source, options) =>
      each(
        store(() => importMessages(ports, scope, source, options)),
        later,
      ),
  };
}

/** Runs what stores something new, under names that every surface can reach. */
function underNewName<Result>({ user, session }: Scope, run: () => Result): Result {
  checkNewName(user, "user");
  if (session !== undefined) checkNewName(session, "session");
  return run();
}

/** The same, and something done at each step. */
async function* each<Value>(values: AsyncIterable<Value>, then: () => void): AsyncGenerator<Value> {
  for await (const value of values) {
    then();
    yield value;
  }
}

/** The same, and something done when it is over. */
async function* whole<Value, Result>(
  values: AsyncGenerator<Value, Result, void>,
  then: () => void,
): AsyncGenerator<Value, Result, void> {
  try {
    return yield* values;
  } finally {
    then();
  }
}
