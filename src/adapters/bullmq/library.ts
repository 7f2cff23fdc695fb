/** The part of BullMQ (6) that is used. `bullmqQueue({ library: await import("bullmq"), … })` fits it. */
export interface BullmqLibrary<Connection> {
  readonly Queue: new (
    name: string,
    options: { readonly connection: Connection; readonly prefix: string },
  ) => BullmqQueue;
  readonly Worker: new (
    name: string,
    processor: (job: BullmqJob, token?: string) => Promise<void>,
    options: BullmqWorkerOptions<Connection>,
  ) => BullmqWorker;
  /** Thrown by a processor whose job it has moved to a later time itself. */
  readonly DelayedError: new (
    message?: string,
  ) => Error;
}

/** The part of an ioredis client that is used here; BullMQ itself uses all of it. */
export interface BullmqConnection {
  readonly status: string;
  ping(): Promise<unknown>;
}

export interface BullmqQueue {
  add(name: string, data: object, options: BullmqJobOptions): Promise<unknown>;
  /** The newest first. */
  getFailed(start?: number, end?: number): Promise<(BullmqJob | undefined)[]>;
  getJob(id: string): Promise<BullmqJob | undefined>;
  on(event: "error", listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

export interface BullmqWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  close(force?: boolean): Promise<void>;
}

export interface BullmqJob {
  id?: string;
  failedReason: string;
  finishedOn?: number;
  timestamp: number;
  attemptsMade: number;
  attemptsStarted: number;
  isFailed(): Promise<boolean>;
  remove(): Promise<void>;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

export interface BullmqJobOptions {
  delay?: number;
  attempts: number;
  backoff: { type: "exponential"; delay: number };
  deduplication: { id: string; keepLastIfActive: boolean };
  removeOnComplete: boolean;
  removeOnFail: { count: number };
  stackTraceLimit: number;
}

export interface BullmqWorkerOptions<Connection> {
  readonly connection: Connection;
  readonly prefix: string;
  readonly concurrency: number;
  readonly maxStalledCount: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
}
