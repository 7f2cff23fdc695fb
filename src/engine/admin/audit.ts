import { createHash } from "node:crypto";
import type { ErasureReceipt, Trace } from "../../domain/receipt.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { invalid } from "../../errors.ts";
import type { Audit } from "../api/keepsake.ts";
import type { Ports } from "../ports.ts";
import { deriveSigningKeys, findBrokenReceipts, hashTrace } from "../sign-receipt.ts";

interface AuditFault {
  readonly id: string;
  readonly problem: string;
}

/** Kinds of fault that suggest that someone removed a receipt or data it depends on. */
const RECEIPT_FAULT_PLACES: ReadonlySet<string> = new Set(["file", "rows", "users", "log", "erasures"]);

/**
 * Checks the erasures and their receipts: each user's chain, every signature, the log, the traces and the
 * ledger outside the store. A receipt that was removed from the middle, changed or moved breaks its chain.
 * The log and the ledger reveal one removed from the end. The head of an earlier audit reveals what both have
 * lost.
 */
export async function audit(
  ports: Pick<Ports, "store" | "secret" | "ledger">,
  { head }: { head?: string } = {},
): Promise<Audit> {
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(head)) {
    throw invalid("head must be the head of an earlier audit: 64 hexadecimal digits.");
  }
  const receipts = await ports.store.erasures.list();
  const heads = computeHeads(receipts);
  const broken: AuditFault[] = [
    ...groupByUser(receipts).flatMap((userReceipts) => findBrokenReceipts(ports.secret, userReceipts)),
    ...(await findFalseTraces(receipts, await ports.store.erasures.traces())),
    ...(await findLedgerMismatches(ports, receipts)),
    ...(await findStoreFaults(ports)),
  ];
  if (head !== undefined && !heads.includes(head)) {
    broken.push({ id: "", problem: "receipts are missing that an earlier audit saw" });
  }
  return {
    receipts,
    broken,
    publicKey: deriveSigningKeys(ports.secret).publicKey,
    head: heads.at(-1) ?? "",
    backups: (await ports.store.backups.list()).filter(({ bytes }) => bytes > 0),
  };
}

/**
 * For each receipt, the hash of the previous head and the receipt's hash. The chain starts with an empty
 * head.
 */
function computeHeads(receipts: readonly ErasureReceipt[]): string[] {
  const heads = [sha256("")];
  for (const { hash } of receipts) heads.push(sha256(`${heads.at(-1)}${hash}`));
  return heads;
}

function groupByUser(receipts: readonly ErasureReceipt[]): ErasureReceipt[][] {
  return [...Map.groupBy(receipts, toScopeKey).values()];
}

async function findFalseTraces(
  receipts: readonly ErasureReceipt[],
  traces: readonly Trace[],
): Promise<AuditFault[]> {
  const tracesByReceipt = new Map(traces.map((trace) => [trace.receipt, trace]));
  const faults: AuditFault[] = [];
  for (const { id, trace: hash } of receipts) {
    const trace = tracesByReceipt.get(id);
    if (hash === undefined || (trace && (await hashTrace(trace)) === hash)) continue;
    faults.push({
      id,
      problem: trace ? "its trace was changed" : "its trace is missing",
    });
  }
  return faults;
}

async function findLedgerMismatches(
  { ledger }: Pick<Ports, "ledger">,
  receipts: readonly ErasureReceipt[],
): Promise<AuditFault[]> {
  const read = await ledger?.read();
  const damage =
    read && read.damaged > 0 ? [{ id: "", problem: `lines of the ledger are damaged: ${read.damaged}` }] : [];
  const receiptIds = new Set(receipts.flatMap(({ id, replays }) => [id, replays]));
  const missed = (read?.traces ?? []).filter(
    ({ receipt, replays }) => !receiptIds.has(receipt) && !(replays && receiptIds.has(replays)),
  );
  const hashes = new Map(receipts.map(({ id, trace }) => [id, trace]));
  const changed: AuditFault[] = [];
  for (const trace of read?.traces ?? []) {
    const hash = hashes.get(trace.receipt);
    if (hash === undefined || (await hashTrace(trace)) === hash) continue;
    changed.push({ id: trace.receipt, problem: "its entry in the ledger was changed" });
  }
  return [
    ...damage,
    ...changed,
    ...missed.map(({ receipt }) => ({
      id: receipt,
      problem: "it is in the ledger but not in the database",
    })),
  ];
}

async function findStoreFaults({ store }: Pick<Ports, "store">): Promise<AuditFault[]> {
  const faults = await store.check();
  return faults
    .filter(({ place }) => RECEIPT_FAULT_PLACES.has(place))
    .map(({ place, problem, count }) => ({ id: "", problem: `${place}: ${count} ${problem}` }));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
