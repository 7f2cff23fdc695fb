import { checkName, checkNewName } from "../domain/limits.ts";
import type { Scope } from "../domain/scope.ts";
import { invalid, MemoryError } from "../errors.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { EmbedderChoice, EmbedderChoices } from "../ports/stores/embedder-choices.ts";
import type { ChosenEmbedder, EmbedderManagement, EmbedderProgress } from "./api/maintenance-types.ts";
import type { BoundPorts, Ports } from "./ports.ts";
import { spaceOf } from "./search-index/search-units.ts";

/** The name of the memory's own embedder: a user may choose it where the project has chosen another. */
export const DEFAULT_EMBEDDER = "default";

const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Checks the names of the option `embedders`. Throws `invalid_input`. */
export function checkEmbedderNames(names: readonly string[]): void {
  for (const name of names) {
    if (NAME_PATTERN.test(name) && name !== DEFAULT_EMBEDDER) continue;
    throw invalid(
      `embedders: a name has 1 to 64 letters, digits, ".", "_" and "-", and is not "${DEFAULT_EMBEDDER}".`,
    );
  }
}

/**
 * Replaces an embedder that this process was not given, or could not open because of `failure`. Texts are found by their
 * words, and get no vectors here.
 */
export function createMissingEmbedder(
  name: string,
  { dimensions, floor }: Embedder,
  failure?: MemoryError,
): Embedder {
  return {
    fingerprint: `missing/${name}`,
    dimensions,
    floor,
    local: false,
    patienceMs: 0,
    async embed() {
      if (failure) throw createOpeningError(name, failure);
      throw new MemoryError("unavailable", `the embedder "${name}" is not configured here.`);
    },
  };
}

/** Gives the error for the users of an embedder. Its `cause` says why; the reason is in the notices of the memory. */
function createOpeningError(name: string, cause: MemoryError): MemoryError {
  const message = `the embedder "${name}" could not be opened here. The notices at the start say why.`;
  return new MemoryError("unsupported", message, { cause });
}

/** An embedder, and whose units it embeds: of users who chose this name, without a choice (null), or of all. */
export interface EmbedderInUse {
  readonly embedder: Embedder;
  readonly chosen?: string | null;
}

/** The embedders that this process has, each with the users that it embeds for. */
export function listEmbedders({
  store,
  embedder,
  embedders,
}: Pick<Ports, "store" | "embedder" | "embedders">): EmbedderInUse[] {
  if (!store.embedders) return [{ embedder }];
  const named = embedders?.names ?? [];
  return [
    { embedder, chosen: null },
    { embedder, chosen: DEFAULT_EMBEDDER },
    ...named.flatMap((chosen) => (embedders ? [{ embedder: embedders.of(chosen).embedder, chosen }] : [])),
  ];
}

/** The same ports with the embedder of a user, and what depends on it. */
export async function portsOfUser<Own extends Partial<Ports>>(ports: Own, scope: Scope): Promise<Own> {
  return ports.ofUser ? { ...ports, ...(await ports.ofUser(scope)) } : ports;
}

/**
 * Adds `ofUser` to the ports, if there is more than one embedder. A choice is looked up at each use, so that a change in
 * another process applies at once. `build` makes what depends on all other ports.
 */
export function withChosenEmbedders(ports: Ports, build: (own: Ports) => BoundPorts): BoundPorts {
  const { embedders, store, recallWorker } = ports;
  const { embedders: choices } = store;
  const base = build(ports);
  if (!embedders || !choices) return base;
  const opened = new Map<string, BoundPorts>();
  const open = (name: string): BoundPorts => {
    const known = opened.get(name);
    if (known) return known;
    const own = build({
      ...ports,
      ...embedders.of(name),
      // Its processes have the default embedder. They still take part in erasures.
      ...(recallWorker ? { recallWorker: { ...recallWorker, recall: async () => undefined } } : {}),
    });
    opened.set(name, own);
    return own;
  };
  return {
    ...base,
    async ofUser(scope) {
      const name = (await choices.read(scope)) ?? DEFAULT_EMBEDDER;
      return name === DEFAULT_EMBEDDER ? base : open(name);
    },
  };
}

/** What the background does, as far as choices of embedders need it. */
interface EmbeddingWork {
  onEmbedderChange(): void;
  readEmbeddingState(): Pick<EmbedderProgress, "running" | "problem">;
}

/** `check` throws if the memory is closed. */
export function createEmbedderManagement(
  ports: Pick<Ports, "store" | "embedder" | "embedders">,
  work: EmbeddingWork,
  check: () => void,
): EmbedderManagement {
  const names = [DEFAULT_EMBEDDER, ...(ports.embedders?.names ?? [])];
  const open = (): EmbedderChoices => {
    check();
    if (ports.store.embedders) return ports.store.embedders;
    throw new MemoryError("unsupported", "this memory store keeps no choices of embedders.");
  };
  return {
    names,
    async list(project = "default") {
      return open().list(checkName(project, "project"));
    },
    async get(of = {}) {
      const project = checkName(of.project ?? "default", "project");
      const user = of.user === undefined ? undefined : checkName(of.user, "user");
      return findChosen(await open().list(project), project, user);
    },
    async choose(embedder, of = {}) {
      const choices = open();
      const project = checkName(of.project ?? "default", "project");
      if (of.user !== undefined) checkNewName(of.user, "user");
      const owner = { project, ...(of.user === undefined ? {} : { user: of.user }) };
      if (embedder === null) await choices.remove(owner);
      else if (names.includes(embedder)) {
        const failure = ports.embedders?.failures.get(embedder);
        if (failure) throw createOpeningError(embedder, failure);
        await choices.save({ ...owner, embedder });
      } else throw invalid(`There is no embedder of that name. Available: ${names.join(", ")}.`);
      work.onEmbedderChange();
      return findChosen(await choices.list(project), project, of.user);
    },
    async progress(of = {}) {
      const choices = open();
      const project = checkName(of.project ?? "default", "project");
      const counts =
        of.user === undefined
          ? { left: await countStaleUnits(ports, project) }
          : await countUnitsOfUser(ports, choices, { project, user: checkName(of.user, "user") });
      return { ...counts, ...work.readEmbeddingState() };
    },
  };
}

/** Number of units of a project's users that wait for an embedder of this process. */
async function countStaleUnits(
  ports: Pick<Ports, "store" | "embedder" | "embedders">,
  project: string,
): Promise<number> {
  let sum = 0;
  for (const { embedder, chosen } of listEmbedders(ports)) {
    const options = chosen === undefined ? undefined : { chosen };
    const users = await ports.store.staleEmbeddings.users(
      spaceOf(embedder),
      Number.MAX_SAFE_INTEGER,
      options,
    );
    for (const { scope, units } of users) if (scope.project === project) sum += units;
  }
  return sum;
}

async function countUnitsOfUser(
  { store, embedder, embedders }: Pick<Ports, "store" | "embedder" | "embedders">,
  choices: EmbedderChoices,
  scope: Scope,
): Promise<Pick<EmbedderProgress, "left" | "total">> {
  const name = (await choices.read(scope)) ?? DEFAULT_EMBEDDER;
  const chosen =
    name === DEFAULT_EMBEDDER
      ? embedder
      : (embedders?.of(name).embedder ?? createMissingEmbedder(name, embedder));
  const { total, stale } = await store.staleEmbeddings.count(scope, spaceOf(chosen));
  return { left: stale, total };
}

function findChosen(
  choices: readonly EmbedderChoice[],
  project: string,
  user: string | undefined,
): ChosenEmbedder {
  const owner = { project, ...(user === undefined ? {} : { user }) };
  const own = user === undefined ? undefined : choices.find((choice) => choice.user === user);
  const common = choices.find((choice) => choice.user === undefined);
  const found = own ?? common;
  if (!found) return { ...owner, embedder: DEFAULT_EMBEDDER, from: "default" };
  return { ...owner, embedder: found.embedder, from: own ? "user" : "project" };
}
