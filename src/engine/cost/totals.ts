import { periodsOf } from "../../domain/budget.ts";
import type { ModelCall } from "../../domain/model-call.ts";
import type { Calls } from "../../ports/calls.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LedgerWriter } from "./ledger-writer.ts";
import { added, amountOf, readSpent, type Spent } from "./spending.ts";

/** Whose spending is meant: a project's, or that of one of its users. */
export interface Whose {
  readonly project: string;
  readonly user?: string;
}

/** What has been spent, by project and user: from the ledger, and from calls of this process that are not in it yet. */
export interface Totals {
  /** As it stands now: read from the ledger where that was long ago, for other processes spend too. */
  fresh(whose: Whose): Promise<Spent>;
  /** The same at once, where it is held. */
  held(whose: Whose): Spent | undefined;
  count(call: ModelCall): void;
  drop(whose: Whose): void;
}

/** What other processes spend is known so late at most. */
const FRESH_MS = 10_000;
/** So many are held; more are read from the ledger again. */
const MOST = 10_000;

export function spendingTotals(calls: Pick<Calls, "sums">, clock: Clock, writer: LedgerWriter): Totals {
  const held = new Map<string, Spent>();

  /** Runs while nothing is written: what is noted meanwhile is either in the sums, or still waiting. */
  const read = (whose: Whose, now: Date, known: Spent | undefined): Promise<Spent> =>
    writer.inTurn(async (waiting) => {
      const found = await readSpent((asked) => calls.sums(asked), whose, now, known).catch(() => undefined);
      // A ledger that cannot be read stops nothing either: then what this process knows has to do.
      const spent = found ?? unread(now, known);
      if (found) {
        const since = waiting().filter((call) => isOf(call, whose) && call.at >= found.day);
        spent.today = since.map(amountOf).reduce(added, spent.today);
      }
      // Held from this very step on: what is noted next is added to it.
      held.delete(keyOf(whose));
      held.set(keyOf(whose), spent);
      return spent;
    });

  return {
    async fresh(whose) {
      const now = clock();
      const known = held.get(keyOf(whose));
      const isToday = known?.day === periodsOf(now).day.from;
      if (known && isToday && Math.abs(now.getTime() - known.readAt) < FRESH_MS) return known;
      const spent = await read(whose, now, known);
      for (const oldest of held.keys()) {
        if (held.size <= MOST) break;
        held.delete(oldest);
      }
      return spent;
    },
    held: (whose) => held.get(keyOf(whose)),
    count(call) {
      const amount = amountOf(call);
      const keys = call.user === undefined ? [{ project: call.project }] : [{ project: call.project }, call];
      for (const whose of keys) {
        const spent = held.get(keyOf(whose));
        if (spent && call.at >= spent.day) spent.today = added(spent.today, amount);
      }
    },
    drop(whose) {
      held.delete(keyOf(whose));
    },
  };
}

function unread(now: Date, known: Spent | undefined): Spent {
  const nothing = { usd: 0, tokens: 0 };
  const day = periodsOf(now).day.from;
  const isToday = known?.day === day;
  return {
    day,
    today: isToday ? known.today : nothing,
    before: isToday ? known.before : nothing,
    readAt: now.getTime(),
  };
}

function keyOf({ project, user }: Whose): string {
  return JSON.stringify([project, user]);
}

function isOf(call: ModelCall, { project, user }: Whose): boolean {
  return call.project === project && (user === undefined || call.user === user);
}
