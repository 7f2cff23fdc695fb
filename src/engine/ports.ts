import type { Cache } from "../ports/cache.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { Extractor } from "../ports/language/extractor.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { QuestionReader } from "../ports/language/question-reader.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { MemoryStore } from "../ports/memory-store.ts";
import type { Queue } from "../ports/queue.ts";
import type { RecallWorker } from "../ports/recall-worker.ts";
import type { Sessions } from "../ports/sessions.ts";
import type { Clock, Ids, Secret } from "../ports/system.ts";
import type { Meter, Tracer } from "../ports/telemetry.ts";
import type { VectorIndex } from "../ports/vector-index.ts";
import type { ModelServers } from "./admin/dependencies.ts";
import type { SecretState } from "./admin/health.ts";
import type { CostTracker } from "./cost/cost-tracker.ts";
import type { ErasureWatch } from "./erase/erasure-watch.ts";
import type { IndexSearchOptions, IndexSync } from "./index-sync/index-sync.ts";
import type { RecallReceiptStore } from "./recall/receipts.ts";
import type { PendingErasures } from "./secondary-stores/pending-erasures.ts";
import type { UserStates } from "./user-state/user-state.ts";

/** What the engine stands on. Each verb takes the ones it needs. */
export interface Ports {
  readonly record: MemoryStore;
  readonly embedder: Embedder;
  /** Reads within the write. */
  readonly extractor: Extractor;
  /** Reads later, by asking a model, what the other one has heard already; where there is one. */
  readonly modelExtractor?: Extractor;
  readonly questions: QuestionReader;
  /** Answers questions, where there is one; without, answers are composed from memory. */
  readonly model?: LanguageModel;
  /** How long its first word is waited for, and its last, in ms; 15 and 40 seconds where absent. */
  readonly patience?: { readonly first: number; readonly whole: number };
  /** What calls to models cost, and whether more may be made. */
  readonly costs?: CostTracker;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secret: Secret;
  /** False where credentials in messages stay word for word; else they are left out before anything is stored. */
  readonly redact?: boolean;
  /** In so many days being new comes to count half as much (90). */
  readonly decayDays?: number;
  /** Whether the background carries out its clean-up by itself, or leaves that to `optimize`. */
  readonly cleansUp?: boolean;
  /** Vector indexes beside the record, fed from its log. */
  readonly followers?: readonly VectorIndex[];
  /** When they are asked, and for how long. */
  readonly indexSearch?: IndexSearchOptions;
  /** Feeds and asks them; made from the others. */
  readonly following?: IndexSync;
  /** What was said last, for a day. */
  readonly sessions?: Sessions;
  /** Whether these are a server of their own. */
  readonly hasOwnSessions?: boolean;
  /** What is known of the servers of models; absent where none was wired. */
  readonly modelServers?: ModelServers;
  /** Rows that this process read and that were changed since they were written. */
  readonly damagedRows?: () => number;
  /** How it stands with the secret ("own"). */
  readonly secretState?: SecretState;
  /** Looks whether what is configured answers; a server has one. */
  readonly watchesDependencies?: boolean;
  /** Shared by several servers. */
  readonly cache?: Cache;
  /** Tells others that there is work in the background, and hears of it. */
  readonly queue?: Queue;
  /** Whether this process leaves the work in the background to others: workers, on the same record. */
  readonly leavesJobs?: boolean;
  /** Absent where the record keeps nothing. */
  readonly ledger?: Ledger;
  /** Tells the caches of this process what was erased. */
  readonly erasureWatch?: ErasureWatch;
  /** Each user's record as this process knows it; made from `record`. */
  readonly states: UserStates;
  /** Tries again what did not reach the sessions or the cache; made from the others. */
  readonly owing?: PendingErasures;
  /** Carries out recalls elsewhere; here where absent, and where it can't. */
  readonly recaller?: RecallWorker;
  /** Keeps the receipts of recalls; made from `record`. Without one, none are kept. */
  readonly recalls?: RecallReceiptStore;
}
