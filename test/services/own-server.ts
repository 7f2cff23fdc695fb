import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const { KEEPSAKE_SERVICES_DIR: shared, KEEPSAKE_SERVICES_PYTHONS: pythons } = process.env;

/** Where the ports of each server stand behind the first one, as in lib.sh. */
const PORTS = { redis: 1, chroma: 2, "s3-vectors": 3, mariadb: 7 } as const;

/** A server that a test may kill, pause and empty: in a folder and on ports of its own. */
export interface OwnServer {
  /** What the variable of the tests says: an address. */
  readonly address: string;
  /** Where it keeps its data. */
  readonly data: string;
  pid(): number;
  /** The program that it is, and what it was given: of the last start, whether it lives or not. */
  command(): readonly string[];
  /** Starts it again, on the same port; what it has kept is there. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  pause(): void;
  goOn(): void;
  /** Ends it and takes its data away. */
  empty(): Promise<void>;
  /** Ends it, and takes everything away. */
  remove(): Promise<void>;
}

/** Starts one with test/services/up; MariaDB with further words, where they are given. */
export async function ownServer(name: keyof typeof PORTS, words: readonly string[] = []): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), `keepsake-${name}-`));
  // Where this is root, MariaDB runs as another account, which has to get there.
  await chmod(folder, 0o755);
  const env = {
    ...process.env,
    KEEPSAKE_SERVICES_DIR: folder,
    KEEPSAKE_SERVICES_PORT: String((await freePort()) - PORTS[name]),
    KEEPSAKE_SERVICES_MARIADB: words.join(" "),
    // Those that are installed already: that is what takes long.
    KEEPSAKE_SERVICES_PYTHONS: pythons ?? join(shared ?? join(tmpdir(), "keepsake-services"), "python"),
  };
  const script = (file: string, ...given: string[]) =>
    run(join(import.meta.dirname, file), [...given, name], { env, timeout: 120_000 });
  let address = "";
  let command: readonly string[] = [];
  const pid = (): number => Number(readFileSync(join(folder, `${name}.pid`), "utf8"));
  const start = async (): Promise<void> => {
    const { stdout } = await script("up", ...(name === "mariadb" ? ["--durable"] : []));
    address = /=(\S+)/.exec(stdout)?.[1] ?? "";
    command = readFileSync(`/proc/${pid()}/cmdline`, "utf8").split("\0");
  };
  await start();
  return {
    get address() {
      return address;
    },
    data: join(folder, `${name}-data`),
    pid,
    command: () => command,
    start,
    async kill() {
      const id = pid();
      process.kill(id, "SIGKILL");
      while (lives(id)) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    pause: () => void process.kill(pid(), "SIGSTOP"),
    goOn: () => void process.kill(pid(), "SIGCONT"),
    async empty() {
      await script("down", "--wipe");
    },
    async remove() {
      await script("down");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whether there is a process of this id. */
export function lives(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

/** One that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const found = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof found === "object" && found !== null ? found.port : 0;
}
