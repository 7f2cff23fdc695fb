import { createInMemoryStore } from "../adapters/memory/index.ts";
import { checkName, checkNewName, checkScope } from "../domain/limits.ts";
import { type Scope, toReadScope } from "../domain/scope.ts";
import { audit } from "../engine/admin/audit.ts";
import { backup } from "../engine/admin/backup.ts";
import { watchDependencies } from "../engine/admin/dependencies.ts";
import { examine } from "../engine/admin/doctor.ts";
import { explain } from "../engine/admin/explain.ts";
import { countFacets } from "../engine/admin/facets.ts";
import { watchHealth } from "../engine/admin/health.ts";
import {
  findMessages,
  getMemory,
  getMessage,
  getSession,
  listLog,
  listMemories,
  listSessions,
  listVersions,
} from "../engine/admin/listings.ts";
import { endSession, getSessionState, startSession, updateSession } from "../engine/admin/session-states.ts";
import { projectStats, userStats } from "../engine/admin/stats.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import type { JobState } from "../engine/api/maintenance-types.ts";
import type { ScopedMemory, SharingMethods } from "../engine/api/scoped-memory.ts";
import type {
  ExportedPiece,
  ExportFilesOptions,
  FileImportOptions,
  ImportEntry,
} from "../engine/api/transfer-types.ts";
import type { InputMessage } from "../engine/api/writing-types.ts";
import { link, listLinks, unlink } from "../engine/associations/associations.ts";
import { findRelated } from "../engine/associations/related.ts";
import { getAttachment, listAttachments } from "../engine/attachments/listing.ts";
import { createContextBuilder } from "../engine/context/context.ts";
import { answer, answerStream } from "../engine/conversation/answer-with-model.ts";
import { converse, converseStream } from "../engine/conversation/converse.ts";
import { createEmbedderManagement, withChosenEmbedders } from "../engine/embedders.ts";
import { forget, planForget } from "../engine/erase/forget.ts";
import { createIndexes, notifyOnCommit, startIndexSync } from "../engine/index-sync/index-sync.ts";
import { findHindrance, understand } from "../engine/ingest/extract-pending.ts";
import { createIdempotentAnswers } from "../engine/ingest/idempotency.ts";
import { add, remove, supersede, update } from "../engine/ingest/manual-edits.ts";
import { remember } from "../engine/ingest/remember.ts";
import { undo } from "../engine/ingest/undo.ts";
import { createRoutedMemory, instrumentMemory } from "../engine/instrumentation.ts";
import { type BackgroundJobs, startBackgroundJobs } from "../engine/jobs/background-jobs.ts";
import { optimize } from "../engine/jobs/optimize.ts";
import { createQuarantineActions } from "../engine/jobs/quarantine.ts";
import { listClusters } from "../engine/overview/clusters.ts";
import { reflect } from "../engine/overview/reflections.ts";
import type { BoundPorts, Ports } from "../engine/ports.ts";
import { profile } from "../engine/profile/profile.ts";
import { recall } from "../engine/recall/recall.ts";
import { createRecallReceiptStore } from "../engine/recall/receipts.ts";
import { createUsageTracker } from "../engine/recall/usage.ts";
import { compareExtractors, replay } from "../engine/replay/replay.ts";
import {
  decline,
  deleteGroup,
  listGrants,
  listGroups,
  saveGroup,
  share,
  withdraw,
} from "../engine/sharing/grants.ts";
import { listShared } from "../engine/sharing/shared-list.ts";
import { deriveSigningKeys } from "../engine/sign-receipt.ts";
import { exportLines, stopAtErasure } from "../engine/transfer/export.ts";
import { importEntries, toEntries } from "../engine/transfer/import.ts";
import { startWebhookDelivery } from "../engine/webhooks/deliver-webhooks.ts";
import { createWebhookManagement } from "../engine/webhooks/manage-webhooks.ts";
import { MemoryError } from "../errors.ts";
import { findTopicOf } from "../language/en/topics.ts";
import { openVisibleRules } from "./language-ports.ts";

const REPLAY_TOOLS = { openStore: createInMemoryStore, openRules: openVisibleRules };

/** A lease that no job uses. */
const PROBE_LEASE = "probe";

/** Builds the whole product over its ports: each method is in a file of its own and bound to a scope here. */
export function createKeepsake(
  plain: Ports,
  { notices = [], release }: { notices?: readonly string[]; release: () => Promise<void> },
): Keepsake {
  const { flush, ...trackers } = createTrackers(plain);
  const { follow, hooks, ports: followers } = startFollowers(plain);
  const ports = withChosenEmbedders({ ...plain, ...trackers, ...followers }, withContexts);
  const work = startBackgroundJobs(ports);
  const jobs = async () => [...(await work.jobs()), ...((await follow?.jobs()) ?? [])];
  let closing: Promise<void> | undefined;
  const check = (): void => {
    if (closing)
      throw new MemoryError("unavailable", "this memory is closed. Open it again with createMemory().");
  };
  const watch = watchOwnHealth(ports, check, jobs);
  const close = (): Promise<void> => {
    watch.stop();
    // Receipts first, because a job may take longer to end than there is time.
    closing ??= flush()
      .then(work.stop)
      .then(() => hooks?.stop())
      .then(() => follow?.stop())
      .then(flush)
      .then(release);
    return closing;
  };
  return {
    notices,
    scope(named) {
      check();
      return openScope(ports, checkScope(named), { check, work });
    },
    answers: createIdempotentAnswers(ports, check),
    ...bindLanguage(ports),
    ...bindChecks(ports, check),
    health: watch.health,
    async erasures(project = "default") {
      check();
      const wanted = checkName(project, "project");
      return (await ports.store.erasures.list()).filter((receipt) => receipt.project === wanted);
    },
    async backup(file, options) {
      check();
      return backup(ports, file, options);
    },
    async users(project = "default") {
      check();
      return ports.store.users(checkName(project, "project"));
    },
    async stats({ project = "default", ...options } = {}) {
      check();
      return projectStats(ports, checkName(project, "project"), options);
    },
    onCall(report, scope) {
      // Whatever its purpose was, it belongs to the caller, and no budget counts it.
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
    ...createQuarantineActions(ports, work, check),
    reindex({ signal } = {}) {
      check();
      return work.embedNow(signal);
    },
    embedders: createEmbedderManagement(ports, work, check),
    webhooks: createWebhookManagement(ports, { check, onChange: hooks?.onWebhookChange }),
    indexes: createIndexes(follow, check),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What servers and programs need of the language that the memory reads and writes. */
const bindLanguage = ({
  promptGuard,
  vocabulary,
  replies,
}: Ports): Pick<Keepsake, "promptGuard" | "messageScanner" | "receiptWriter"> => ({
  promptGuard,
  messageScanner: vocabulary.phrases,
  receiptWriter: replies,
});

/** All methods for one scope, with the embedder that its user has at each call. */
function openScope(
  ports: BoundPorts,
  scope: Scope,
  run: { check: () => void; work: BackgroundJobs },
): ScopedMemory {
  const { ofUser } = ports;
  const memory = ofUser
    ? createRoutedMemory(async () => {
        run.check();
        return bindScope(await ofUser(scope), scope, run);
      })
    : bindScope(ports, scope, run);
  return instrumentMemory(memory, ports);
}

/** What is written a moment after a recall. */
function createTrackers({ store, meter }: Ports) {
  const recalls = createRecallReceiptStore(store);
  const usage = store.usage && createUsageTracker(store.usage, { meter });
  return {
    recalls,
    ...(usage ? { usage } : {}),
    flush: () => Promise.all([recalls.flush(), usage?.flush()]),
  };
}

/** Starts what follows the log: vector indexes, and webhooks unless this process leaves background work to others. */
function startFollowers(ports: Ports) {
  const { webhooks } = ports.store;
  const follow = startIndexSync(ports);
  const hooks = webhooks && !ports.leavesJobs ? startWebhookDelivery(ports, webhooks) : undefined;
  const onCommit = (scope: Scope): void => {
    follow?.onCommit(scope);
    hooks?.onCommit();
  };
  const store = follow || hooks ? notifyOnCommit(ports.store, onCommit) : ports.store;
  return { follow, hooks, ports: { store, ...(follow ? { indexSync: follow } : {}) } };
}

function withContexts(ports: Ports): BoundPorts {
  return { ...ports, contexts: createContextBuilder(ports) };
}

/** A server watches its dependencies; sessions in this process always work. */
function watchOwnHealth(
  ports: Ports,
  check: () => void,
  jobs: () => Promise<readonly JobState[]>,
): Pick<Keepsake, "health"> & { stop(): void } {
  const { sessions, hasOwnSessions, damagedRows = () => 0, secretState: secret = "own", ...others } = ports;
  const isServer = ports.watchesDependencies === true;
  const watched = { ...others, ...(sessions && hasOwnSessions ? { sessions } : {}) };
  const dependencies = isServer ? watchDependencies(watched) : undefined;
  const healthWatch = watchHealth(ports, { dependencies, damagedRows, secret, jobs }, { isServer });
  return {
    async health() {
      check();
      return healthWatch.health();
    },
    stop() {
      dependencies?.stop();
      healthWatch.stop();
    },
  };
}

/** Checks of the whole store, whether it can be written, and its space. */
function bindChecks(
  ports: Ports,
  check: () => void,
): Pick<Keepsake, "check" | "examine" | "audit" | "probe" | "vacuum"> {
  return {
    async check() {
      check();
      return ports.store.check();
    },
    async vacuum() {
      check();
      if (!ports.store.maintenance)
        throw new MemoryError("unsupported", "this memory store keeps nothing on disk.");
      return ports.store.maintenance.compact();
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
      // If another process probes now, it will find out.
      const { token } = await ports.store.jobs.takeLease(PROBE_LEASE, { forMs: 1000 });
      if (token !== undefined) await ports.store.jobs.releaseLease(PROBE_LEASE, token);
    },
  };
}

/** All methods, for one scope. */
function bindScope(
  ports: BoundPorts,
  scope: Scope,
  { check, work }: { check: () => void; work: BackgroundJobs },
): ScopedMemory {
  const open = <Result>(run: () => Result): Result => {
    check();
    return run();
  };
  const write = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    const result = await open(run);
    work.onWrite();
    return result;
  };
  const store = <Result>(run: () => Result): Result => open(() => withNewNames(scope, run));
  const reading = toReadScope(scope, ports.agents);
  /** A message just stored may wait for a model. */
  const later = (): void => {
    work.onWrite();
    if (ports.modelExtractor) work.scheduleReading(scope);
  };
  return {
    async remember(input, options = {}) {
      const receipt = await write(() => store(() => remember(ports, scope, input, options)));
      if (ports.describer && hasAttachments(input)) work.onAttachment();
      if (receipt.pending === 0 || options.extract === "never") return receipt;
      work.scheduleReading(scope, { isUnheard: options.extract === "later" });
      const hindered = await findHindrance(ports, scope);
      return hindered ? { ...receipt, hindered } : receipt;
    },
    understand: (options) => write(() => understand(ports, scope, options)),
    add: (memory) => write(() => store(() => add(ports, scope, memory))),
    supersede: (what, memory) => write(() => store(() => supersede(ports, scope, what, memory))),
    recall: async (query, options) => open(() => recall(ports, reading, query, options)),
    context: async (request, options) => open(() => ports.contexts.build(reading, request, options)),
    answer: async (question, options) => open(() => answer(ports, reading, question, options)),
    answerStream: (question, options) => open(() => answerStream(ports, reading, question, options)),
    converse: (message, options) =>
      write(() => store(() => converse(ports, scope, message, options))).finally(later),
    converseStream: (message, options) =>
      tapEnd(
        store(() => converseStream(ports, scope, message, options)),
        later,
      ),
    explain: async (recalled, options) => open(() => explain(ports, scope, recalled, options)),
    forget: (async (what, options) =>
      options?.dryRun
        ? open(() => planForget(ports, scope, what))
        : write(() => forget(ports, scope, what, options))) as ScopedMemory["forget"],
    attachments: async (options) => open(() => listAttachments(ports, reading, options)),
    attachment: async (id) => open(() => getAttachment(ports, reading, id)),
    erasures: async () => open(() => ports.store.erasures.list(scope)),
    get: async (id) => open(() => getMemory(ports, scope, id)),
    list: (options) => open(() => listMemories(ports, reading, options)),
    update: (id, changes) => write(() => update(ports, scope, id, changes)),
    remove: (id) => write(() => remove(ports, scope, id)),
    ...bindAssociations(ports, scope, { open, write }),
    ...bindSharing(ports, scope, open),
    history: (async (id?: string, options?: { before?: number; limit?: number }) =>
      open<Promise<unknown>>(() =>
        id === undefined ? listLog(ports, scope, options) : listVersions(ports, scope, id),
      )) as ScopedMemory["history"],
    revision: async () => open(() => ports.store.revision(scope)),
    undo: (revision) => write(() => undo(ports, scope, revision)),
    optimize: async (options) => open(() => optimize(ports, scope, options)),
    ...bindSessions(ports, scope, { open, store }),
    profile: async (options) => open(() => profile(ports, reading, options)),
    stats: async (options) => open(() => userStats(ports, scope, options)),
    ...bindTransfer(ports, scope, { open, store, later }),
  };
}

/** Whether a message may have an image or a recording among its parts. */
function hasAttachments(input: Parameters<ScopedMemory["remember"]>[0]): boolean {
  const messages = Array.isArray(input)
    ? (input as readonly InputMessage[])
    : [input as string | InputMessage];
  return messages.some((one) => typeof one === "object" && typeof one.content !== "string");
}

/** The methods that move a user's data in and out, and read it again, for one scope. */
function bindTransfer(
  ports: Ports,
  scope: Scope,
  run: {
    readonly open: <Result>(run: () => Result) => Result;
    readonly store: <Result>(run: () => Result) => Result;
    readonly later: () => void;
  },
): Pick<ScopedMemory, "export" | "exportFiles" | "import" | "replay" | "compareExtractors"> {
  return {
    replay: async (options) => run.open(() => replay(ports, scope, REPLAY_TOOLS, options)),
    compareExtractors: async (options) =>
      run.open(() => compareExtractors(ports, scope, REPLAY_TOOLS, options)),
    export: () => run.open(() => exportLines(ports, scope)),
    exportFiles: (options) => run.open(() => stopAtErasure(ports, scope, writeFiles(ports, scope, options))),
    import: (source: ImportInput, options: FileImportOptions = {}) =>
      tapEach(
        run.store(() => importEntries(ports, scope, readImport(source, options), options)),
        options.dryRun ? () => {} : run.later,
      ),
  };
}

/** The methods for conversations and their messages, for one scope. */
function bindSessions(
  ports: Ports,
  scope: Scope,
  { open, store }: Record<"open" | "store", <Result>(run: () => Result) => Result>,
): Pick<
  ScopedMemory,
  | "sessions"
  | "session"
  | "message"
  | "findMessages"
  | "startSession"
  | "sessionState"
  | "updateSession"
  | "endSession"
> {
  return {
    sessions: async (options) => open(() => listSessions(ports, scope, options)),
    session: async (id, options) => open(() => getSession(ports, scope, id, options)),
    message: async (id) => open(() => getMessage(ports, scope, id)),
    findMessages: async (endings, options) => open(() => findMessages(ports, scope, endings, options)),
    startSession: async (session, options) => store(() => startSession(ports, scope, session, options)),
    sessionState: async (id, options) => open(() => getSessionState(ports, scope, id, options)),
    updateSession: async (id, changes, options) =>
      open(() => updateSession(ports, scope, id, changes, options)),
    endSession: async (id, options) => open(() => endSession(ports, scope, id, options)),
  };
}

/** Writes an export in another format. Writers are loaded only here. */
async function* writeFiles(
  ports: Ports,
  scope: Scope,
  { format, conversations = true }: ExportFilesOptions,
): AsyncGenerator<ExportedPiece, void, void> {
  const lines = exportLines(ports, scope);
  if (format === "markdown") {
    const { writeMarkdown } = await import("../formats/markdown-export.ts");
    yield* writeMarkdown(lines, findTopicOf);
    return;
  }
  const { writePam } = await import("../formats/pam-export.ts");
  const { publicKey, sign } = deriveSigningKeys(ports.secret);
  const signer = {
    publicKey: Buffer.from(publicKey, "base64url"),
    sign: (text: string) => sign(text).replace(/^ed25519:/, ""),
  };
  yield* writePam(lines, { exportId: ports.ids(), signer, conversations });
}

/** What `import` takes: messages, the path of a file, or its bytes. */
type ImportInput = string | AsyncIterable<InputMessage | Uint8Array> | Iterable<InputMessage>;

/** Gives the entries of an import. Readers of files are loaded only here. */
async function* readImport(
  source: ImportInput,
  { format }: FileImportOptions,
): AsyncGenerator<ImportEntry, void, void> {
  if (typeof source === "string" || format !== undefined) {
    const { readImportFile } = await import("../formats/index.ts");
    yield* readImportFile(source as string | AsyncIterable<Uint8Array>, format);
  } else {
    yield* toEntries(source as Iterable<InputMessage>);
  }
}

/** The methods for associations and overviews, for one scope. */
function bindAssociations(
  ports: Ports,
  scope: Scope,
  run: {
    readonly open: <Result>(run: () => Result) => Result;
    readonly write: <Result>(run: () => Promise<Result>) => Promise<Result>;
  },
): Pick<ScopedMemory, "link" | "unlink" | "links" | "related" | "clusters" | "reflect" | "facets"> {
  const reading = toReadScope(scope, ports.agents);
  return {
    link: (from, to, options) => run.write(() => link(ports, scope, { from, to }, options)),
    unlink: (from, to, options) => run.write(() => unlink(ports, scope, { from, to }, options)),
    links: async (options) => run.open(() => listLinks(ports, scope, options)),
    related: async (id, options) => run.open(() => findRelated(ports, reading, id, options)),
    clusters: async (options) => run.open(() => listClusters(ports, reading, options)),
    reflect: async (options) => run.open(() => reflect(ports, reading, options)),
    facets: async (options) => run.open(() => countFacets(ports, reading, options)),
  };
}

/** The methods for sharing, for one scope. */
function bindSharing(
  ports: Ports,
  scope: Scope,
  open: <Result>(run: () => Result) => Result,
): SharingMethods {
  return {
    share: async (grant, options) =>
      open(() => withNewNames(scope, () => share(ports, scope, grant, options))),
    withdraw: async (id, options) => open(() => withdraw(ports, scope, id, options)),
    decline: async (id, options) => open(() => decline(ports, scope, id, true, options)),
    accept: async (id, options) => open(() => decline(ports, scope, id, false, options)),
    grants: async (options) => open(() => listGrants(ports, scope, options)),
    shared: async (options) => open(() => listShared(ports, scope, options)),
    saveGroup: async (group, options) =>
      open(() => withNewNames(scope, () => saveGroup(ports, scope, group, options))),
    deleteGroup: async (group, options) => open(() => deleteGroup(ports, scope, group, options)),
    groups: async (options) => open(() => listGroups(ports, scope, options)),
  };
}

/** Runs a call that stores something new, with names that every interface accepts. */
function withNewNames<Result>({ user, session }: Scope, run: () => Result): Result {
  checkNewName(user, "user");
  if (session !== undefined) checkNewName(session, "session");
  return run();
}

/** The same values, with a side effect at each step. */
async function* tapEach<Value>(values: AsyncIterable<Value>, then: () => void): AsyncGenerator<Value> {
  for await (const value of values) {
    then();
    yield value;
  }
}

/** The same, with a side effect at the end. */
async function* tapEnd<Value, Result>(
  values: AsyncGenerator<Value, Result, void>,
  then: () => void,
): AsyncGenerator<Value, Result, void> {
  try {
    return yield* values;
  } finally {
    then();
  }
}
