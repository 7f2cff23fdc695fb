import { rulesExtractor, rulesQuestionReader } from "./adapters/rules/index.ts";
import { staticEmbedder } from "./adapters/static/index.ts";
import { passingSecret, systemClock, uuidv7 } from "./adapters/system/index.ts";
import { keepsake } from "./engine/keepsake.ts";
import type { Ports } from "./engine/ports.ts";
import type { Keepsake } from "./engine/surface.ts";
import { userStates } from "./engine/user-state.ts";
import { openRecord } from "./open-record.ts";
import type { Clock } from "./ports/clock.ts";
import type { Embedder } from "./ports/embedder.ts";
import type { Extractor } from "./ports/extractor.ts";
import type { Ids } from "./ports/ids.ts";
import type { QuestionReader } from "./ports/question-reader.ts";
import type { Record } from "./ports/record.ts";
import type { Secret } from "./ports/secret.ts";

export interface MemoryOptions {
  /** The database file (`keepsake.db`); ":memory:" keeps nothing. */
  readonly path?: string;
  readonly record?: Record;
  readonly embedder?: Embedder;
  readonly extractor?: Extractor;
  readonly questions?: QuestionReader;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly secret?: Secret;
}

/** Wires the engine to its ports. Each has a default in this process, so `createMemory()` runs alone. */
export async function createMemory(options: MemoryOptions = {}): Promise<Keepsake> {
  const clock = options.clock ?? systemClock;
  const opened = options.record
    ? { record: options.record, secret: passingSecret(), close: async () => {} }
    : await openRecord(options.path ?? "keepsake.db");
  const ports: Ports = {
    record: opened.record,
    embedder: options.embedder ?? staticEmbedder(),
    extractor: options.extractor ?? rulesExtractor(),
    questions: options.questions ?? rulesQuestionReader(),
    clock,
    ids: options.ids ?? uuidv7(clock),
    secret: options.secret ?? opened.secret,
    states: userStates(opened.record),
  };
  return keepsake(ports, opened.close);
}
