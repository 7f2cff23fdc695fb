import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./own-server.ts";

const run = promisify(execFile);
const { KEEPSAKE_SERVICES_DIR: shared, KEEPSAKE_SERVICES_PYTHONS: pythons } = process.env;

/** A PostgreSQL of its own that keeps its promises on the disk (fsync), to be killed. */
export interface OwnPostgres {
  readonly address: string;
  /** SIGKILL for the server and all that it has started, at once. */
  kill(): Promise<void>;
  /** Starts it again; it answers when this ends. */
  start(): Promise<void>;
  /** Ends it, and takes everything away. */
  remove(): Promise<void>;
}

export async function ownPostgres(): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "keepsake-postgres-"));
  // Where this is root, it runs as another account, which has to get there.
  await chmod(folder, 0o755);
  const env = {
    ...process.env,
    KEEPSAKE_SERVICES_DIR: folder,
    KEEPSAKE_SERVICES_PORT: String(await freePort()),
    KEEPSAKE_SERVICES_PYTHONS: pythons ?? join(shared ?? join(tmpdir(), "keepsake-services"), "python"),
  };
  const script = (file: string, ...given: string[]) =>
    run(join(import.meta.dirname, file), [...given, "postgres"], { env, timeout: 120_000 });
  let address = "";
  const start = async (): Promise<void> => {
    const { stdout } = await script("up", "--durable");
    address = /=(\S+)/.exec(stdout)?.[1] ?? "";
  };
  await start();
  return {
    get address() {
      return address;
    },
    start,
    async kill() {
      const mark = join(folder, "postgres-data/postmaster.pid");
      const [line = ""] = readFileSync(mark, "utf8").split("\n");
      const all = [Number(line), ...childrenOf(Number(line))];
      for (const id of all) tryKill(id);
      // The next start finds its shared memory in use while one of them is there.
      while (all.some(lives)) await new Promise((resolve) => setTimeout(resolve, 10));
      // Nobody may have buried it, and then its own programs take it for one that runs.
      await rm(mark, { force: true });
    },
    async remove() {
      await script("down");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    const id = Number(name);
    return Number.isInteger(id) && parentOf(id) === parent ? [id] : [];
  });
}

function parentOf(id: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

function tryKill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Whether it runs; one that has ended and is not yet buried does not. */
function lives(id: number): boolean {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
