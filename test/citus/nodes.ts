import { spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { childrenOf } from "../../bench/load/server.ts";
import { type ClusterNode, openNode } from "../postgres/nodes.ts";

/** The server of a node, on this machine. */
export interface NodeProcess {
  readonly port: number;
  /** Ends it and its processes as a crash does. */
  kill(): void;
  /** Starts it again, and waits until it answers. */
  start(): Promise<void>;
}

/** A node that was made for a run. */
export interface AddedNode extends NodeProcess {
  remove(): void;
}

interface Program {
  readonly file: string;
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly uid: number;
  readonly gid: number;
}

const START_MS = 60_000;

/** Finds the server of a node, which runs on this machine. Linux only: it reads `/proc`. */
export async function findProcess(address: string, node: ClusterNode): Promise<NodeProcess> {
  return createProcess(address, node.port, readProgram(await findPid(node)));
}

async function findPid(node: ClusterNode): Promise<number> {
  const [row] = await node.rows<{ lines: string }>("SELECT pg_read_file('postmaster.pid') AS lines");
  return Number(row?.lines.split("\n")[0]);
}

function readProgram(pid: number): Program {
  const { uid, gid } = statSync(`/proc/${pid}`);
  const [, ...words] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean);
  const lines = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
  const env = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  return { file: readlinkSync(`/proc/${pid}/exe`), words, env, uid, gid };
}

function createProcess(address: string, port: number, program: Program): NodeProcess {
  const { file, words, env, uid, gid } = program;
  const folder = words[words.indexOf("-D") + 1] ?? "";
  return {
    port,
    kill() {
      const pid = Number(readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n")[0]);
      for (const one of [pid, ...childrenOf(pid)]) {
        try {
          process.kill(one, "SIGKILL");
        } catch {
          // It has ended already.
        }
      }
    },
    async start() {
      const until = performance.now() + START_MS;
      for (;;) {
        spawn(file, words, { env, uid, gid, detached: true, stdio: "ignore" }).unref();
        await pause(1000);
        const node = await openNode(address, port).catch(() => undefined);
        await node?.close();
        if (node) return;
        if (performance.now() > until) throw new Error(`The node on port ${port} does not start.`);
      }
    },
  };
}

/** Makes a server like a node, with a folder and a port of its own. It is not yet part of the cluster. */
export async function createNode(address: string, like: ClusterNode): Promise<AddedNode> {
  const program = readProgram(await findPid(like));
  const { file, env, uid, gid } = program;
  const folder = mkdtempSync(join(tmpdir(), "keepsake-node-"));
  chownSync(folder, uid, gid);
  const words = ["-D", folder, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"];
  const locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const made = spawnSync(join(dirname(file), "initdb"), [...words, ...locale], { env, uid, gid });
  if (made.status !== 0) throw new Error(`initdb: ${String(made.stderr)}`);
  const port = await findFreePort();
  const [row] = await like.rows<{ settings: string }>("SELECT pg_read_file('postgresql.conf') AS settings");
  const own = row?.settings
    .split("\n")
    .filter((line) => /^[a-z_.]+ *=/.test(line) && !line.startsWith("port"));
  appendFileSync(join(folder, "postgresql.conf"), `\n${own?.join("\n")}\nport=${port}\n`);
  const node = createProcess(address, port, { ...program, words: ["-D", folder] });
  await node.start();
  const client = await openNode(address, port);
  await client.rows("CREATE EXTENSION citus");
  await client.close();
  return {
    ...node,
    remove() {
      node.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
