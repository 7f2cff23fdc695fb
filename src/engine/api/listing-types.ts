import type { Where } from "../../domain/filters/metadata-filter.ts";
import type { WhereText } from "../../domain/filters/text-filter.ts";
import type { ListOrder } from "../../domain/memories/memory-order.ts";
import type { Kind, KindGroup, Memory, MemoryUsage, Status } from "../../domain/memory.ts";
import type { Origin } from "../../domain/message.ts";
import type { Source } from "../../domain/recall.ts";
import type { CallOptions } from "../../ports/call-options.ts";

/** Options of `list`. */
export interface ListOptions extends CallOptions {
  /** Only memories of this kind, or of this group of kinds ("semantic", "episodic", "procedural"). */
  readonly kind?: Kind | KindGroup;
  /** Only memories with this status (default "current"). */
  readonly status?: Status | "all";
  /** Only quarantined memories, each with its reason as `why`; `false`: only the others. */
  readonly quarantined?: boolean;
  /** Only memories that wait for a review, because something that they depend on has changed. */
  readonly review?: true;
  /** Only memories whose metadata matches. */
  readonly where?: Where;
  /** Only memories by this origin. */
  readonly origin?: Origin;
  /** Only memories said from this time on, inclusive. */
  readonly from?: Date | string;
  /** Only memories said before this time. */
  readonly to?: Date | string;
  /** Only memories that come from a message of this session, or were added in it. */
  readonly session?: string;
  /** Only memories about this topic ("work", "health": see `TOPICS`). Those about secrets have no topic. */
  readonly topic?: string;
  /**
   * Only memories about this person or thing, by the claim: its subject ("user/sister", with her cat), or its value ("Eva").
   * "user" means the user alone.
   */
  readonly subject?: string;
  /** Only memories about health, beliefs, money or secrets; `false`: only the others. */
  readonly sensitive?: boolean;
  /** Only what was true at this time, whatever its status is now. Not together with `status`. */
  readonly asOf?: Date | string;
  /** Each memory as it was stored at this time, with its status then. What was erased or has expired since is gone. */
  readonly knownAt?: Date | string;
  /** The order (default "newest": said last first). */
  readonly sort?: ListOrder;
  /** How many memories to leave out at the beginning (default 0; at most 1,000,000). Not together with `cursor`. */
  readonly offset?: number;
  /** Only memories whose own text matches. */
  readonly whereText?: WhereText;
  /** Default 50; at most 1,000. */
  readonly limit?: number;
  /** From the previous page. */
  readonly cursor?: string;
}

/** A memory as it is shown, with its sources in full. */
export type ShownMemory = Omit<Memory, "sources"> & {
  readonly sources: readonly Source[];
  /** How often recalls returned it. Given by `get`, `list` and `export`, if the memory store keeps it. */
  readonly usage?: MemoryUsage;
  /** How new it is, 0 to 1: 1 when it was said, halved every 90 days (`decayDays`). Given by `get` and `list`. */
  readonly decayScore?: number;
};

/** A part of a list. */
export interface Page<Entry> {
  /** The entries of this page. */
  readonly items: readonly Entry[];
  /** Total number. */
  readonly total: number;
  /** Absent on the last page. */
  readonly cursor?: string;
}

/** Options of a call that returns a page. */
export interface PageOptions extends CallOptions {
  /** Default 50; at most 1,000. */
  readonly limit?: number;
  /** From the previous page. */
  readonly cursor?: string;
}

/** A page; `for await` iterates over all pages from there. */
export interface Listing extends PromiseLike<Page<ShownMemory>>, AsyncIterable<ShownMemory> {}

export const FACET_NAMES = ["topic", "subject", "kind", "month"] as const;
/** What memories are counted by. `subject`: by person and thing. `month`: by when it was said, in UTC or in `zone`. */
export type FacetName = (typeof FACET_NAMES)[number];

/** Options of `facets`: what to count by, and the filters of `list`. */
export interface FacetOptions extends Omit<ListOptions, "sort" | "offset" | "limit" | "cursor"> {
  /** What to count by. */
  readonly by: FacetName;
  /** The most values (default 50; at most 1,000). */
  readonly limit?: number;
  /** The time zone of months, such as "Europe/Lisbon" (default UTC). */
  readonly zone?: string;
}

/** How many memories have each value. It is computed at each call, and stored nowhere. */
export interface Facets {
  /**
   * The values, those of most memories first; months newest first. Each is a filter of `list` by the same name: "work",
   * "user/sister", "Eva", "fact". A month is "2026-03".
   */
  readonly items: readonly { readonly value: string; readonly count: number }[];
  /** The number of memories that pass the filters. One may count under several values. */
  readonly total: number;
  /** How many of them have no value. */
  readonly left: number;
}
