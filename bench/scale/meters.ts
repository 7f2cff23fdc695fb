import { readFileSync } from "node:fs";
import { Client } from "pg";
import { childrenOf } from "../load/server.ts";

/** What the servers of a database have used so far. */
export interface DatabaseUse {
  /** Of the processor, in ms, in steps of 10. */
  readonly cpuMs: number;
  readonly readBytes: number;
  readonly diskBytes: number;
  readonly walBytes: number;
}

/** The servers of a database on this machine: one, or the nodes of a cluster. */
export interface DatabaseMeter {
  readonly nodes: number;
  readonly version: string;
  read(): Promise<DatabaseUse>;
  close(): Promise<void>;
}

const TICK_MS = 10;

/**
 * Finds the servers behind an address, and reads what they use from `/proc`: they run on this machine, under Linux. Throws where
 * one of them would not wait for the disk (`fsync`).
 */
export async function openDatabaseMeter(url: string): Promise<DatabaseMeter> {
  const first = await connect(url);
  const nodes = [first];
  const citus = await first.query("SELECT extversion AS version FROM pg_extension WHERE extname = 'citus'");
  if (citus.rowCount) {
    const { rows } = await first.query("SELECT nodeport AS port FROM pg_dist_node WHERE groupid > 0");
    for (const { port } of rows) {
      const address = new URL(url);
      address.port = String(port);
      nodes.push(await connect(address.href));
    }
  }
  const pids: number[] = [];
  for (const node of nodes) {
    const { rows } = await node.query(
      "SELECT pg_read_file('postmaster.pid') AS lines, current_setting('fsync') AS fsync, current_setting('server_version') AS version",
    );
    if (rows[0].fsync !== "on") throw new Error("fsync is off on a node. Writes are timed, so switch it on.");
    pids.push(Number(rows[0].lines.split("\n")[0]));
  }
  const { rows } = await first.query("SELECT current_setting('server_version') AS version");
  return {
    nodes: nodes.length,
    version: `PostgreSQL ${rows[0].version}${citus.rowCount ? `, Citus ${citus.rows[0].version}, ${nodes.length} nodes` : ""}`,
    async read() {
      const wal = await Promise.all(
        nodes.map((node) => node.query("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes")),
      );
      const used = pids.flatMap((pid) => [readUse(pid, true), ...childrenOf(pid).map((one) => readUse(one))]);
      const sum = (of: (one: ReturnType<typeof readUse>) => number): number =>
        used.reduce((total, one) => total + of(one), 0);
      return {
        cpuMs: sum(({ ticks }) => ticks) * TICK_MS,
        readBytes: sum(({ read }) => read),
        diskBytes: sum(({ disk }) => disk),
        walBytes: wal.reduce((total, { rows: [row] }) => total + Number(row.bytes), 0),
      };
    },
    async close() {
      await Promise.all(nodes.map((node) => node.end()));
    },
  };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** What a process has used, and with `isParent` also its ended children (`man 5 proc`). */
function readUse(pid: number, isParent = false): { ticks: number; read: number; disk: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    const io = readFileSync(`/proc/${pid}/io`, "utf8");
    const fieldOf = (name: string): number => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(io)?.[1] ?? 0);
    // utime and stime, then those of children that have ended.
    const own = (stat[11] ?? 0) + (stat[12] ?? 0);
    const ended = isParent ? (stat[13] ?? 0) + (stat[14] ?? 0) : 0;
    return { ticks: own + ended, read: fieldOf("rchar"), disk: fieldOf("read_bytes") };
  } catch {
    // It has ended, and its parent counts for it.
    return { ticks: 0, read: 0, disk: 0 };
  }
}
