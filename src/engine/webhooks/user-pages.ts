import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { WebhookStore } from "../../ports/stores/webhook-store.ts";

/** Users of one page. A page in which one user has changed is looked at as a whole. */
const USERS_PER_PAGE = 100;
/** The most consecutive pages that one query reads. */
const PAGES_PER_RANGE = 10;

/** The sum of the revisions of each page of users, as last read. All webhooks of the process share it. */
export interface UserPages {
  readonly sums: ReadonlyMap<number, number>;
  /** Reads the sums again. True if one has changed. Throws what the store throws. */
  refresh(): Promise<boolean>;
}

export function createUserPages(webhooks: Pick<WebhookStore, "readPageSums">): UserPages {
  let sums: ReadonlyMap<number, number> = new Map();
  return {
    get sums() {
      return sums;
    },
    async refresh() {
      const read = new Map<number, number>();
      let hasChanged = false;
      for (let from: number | undefined = 0; from !== undefined; ) {
        const some = await webhooks.readPageSums({ from, size: USERS_PER_PAGE });
        for (const { page, sum } of some.sums) {
          hasChanged ||= sums.get(page) !== sum;
          read.set(page, sum);
        }
        from = some.next;
        await yieldToEventLoop();
      }
      sums = read;
      return hasChanged;
    },
  };
}

/** Pages in a row that a webhook has not seen in their present state. */
interface UserRange {
  /** The numbers of their users. */
  readonly after: number;
  readonly upTo: number;
  /** Call it if none of their users had anything to send. */
  markSeen(): void;
}

/** Gives the pages whose sums differ from those in `seen`, which `markSeen` changes. */
export function* findUnseenRanges(
  sums: ReadonlyMap<number, number>,
  seen: Map<number, number>,
): Generator<UserRange, void, void> {
  let run: [page: number, sum: number][] = [];
  for (const [page, sum] of sums) {
    if (seen.get(page) === sum) continue;
    const isNext = page === (run.at(-1)?.[0] ?? page) + 1 && run.length < PAGES_PER_RANGE;
    if (run.length > 0 && !isNext) {
      yield toRange(run, seen);
      run = [];
    }
    run.push([page, sum]);
  }
  if (run.length > 0) yield toRange(run, seen);
}

function toRange(run: readonly [page: number, sum: number][], seen: Map<number, number>): UserRange {
  const pages = run.map(([page]) => page);
  return {
    after: Math.min(...pages) * USERS_PER_PAGE,
    upTo: (Math.max(...pages) + 1) * USERS_PER_PAGE,
    markSeen() {
      for (const [page, sum] of run) seen.set(page, sum);
    },
  };
}
