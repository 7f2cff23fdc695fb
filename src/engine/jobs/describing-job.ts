import {
  ATTACHMENT_LIMITS,
  type AttachmentPart,
  hasBytes,
  listAttachmentParts,
} from "../../domain/attachment.ts";
import { toStorableText } from "../../domain/limits.ts";
import type { Message } from "../../domain/message.ts";
import type { JobProgress } from "../../domain/operations/job.ts";
import type { Scope } from "../../domain/scope.ts";
import { redactCredentials } from "../../domain/text/credentials.ts";
import { stripPromptBlocks } from "../../domain/text/prompt-safety.ts";
import { isMemoryError } from "../../errors.ts";
import { commitChange } from "../change-set.ts";
import { portsOfUser } from "../embedders.ts";
import { redactErased } from "../erase/tombstone-filter.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import type { UserState } from "../user-state/user-state.ts";
import type { Job, JobStep } from "./job.ts";
import { isVisitDue } from "./maintenance-job.ts";
import { isGlobalFailure, toFailedProgress } from "./quarantine.ts";

const EVERY_MS = 60_000;
const USERS = 200;
const NAME = "describing";

/** Describes images and recordings user by user, where something has changed. The progress of each user is in the store. */
export function createDescribingJob(ports: Ports): Job {
  return {
    name: NAME,
    about: "describes images and transcribes recordings",
    everyMs: EVERY_MS,
    restFactor: 0,
    async *run(signal) {
      let done = 0;
      let after: string | undefined;
      do {
        const page = await ports.store.jobs.jobProgress(NAME, {
          limit: USERS,
          ...(after === undefined ? {} : { after }),
        });
        for (const user of page.users) {
          signal.throwIfAborted();
          done += await visitUser(ports, user, signal);
          yield { done } satisfies JobStep;
        }
        after = page.cursor;
      } while (after !== undefined);
    },
  };
}

type VisitedUser = Awaited<ReturnType<Ports["store"]["jobs"]["jobProgress"]>>["users"][number];

async function visitUser(
  ports: Ports,
  { scope, revision, visit }: VisitedUser,
  signal: AbortSignal,
): Promise<number> {
  const at = ports.clock().toISOString();
  if (!isVisitDue(revision, visit, at)) return 0;
  const { done, failure } = await describeAttachments(await portsOfUser(ports, scope), scope, signal);
  // If another process wrote meanwhile, the user is visited again.
  const now = revision + done;
  const progress: JobProgress =
    failure === undefined
      ? { revision: now }
      : toFailedProgress(failure, { before: visit, revision: now, at });
  await ports.store.jobs.saveProgress(NAME, [{ scope, visit: progress }]);
  return done;
}

/** The result of describing a user's attachments. */
interface DescribingResult {
  /** Descriptions stored. */
  readonly done: number;
  /** The first failure that concerns one attachment only. */
  readonly failure?: unknown;
}

interface WaitingAttachment {
  readonly message: Message;
  readonly part: AttachmentPart;
}

/**
 * Has a model describe the images and recordings without a description, oldest first. Each description is a message of its
 * own, with the role "tool": it is recalled, but no memory is extracted from it, because a picture may say anything. It is erased
 * with its attachment. Throws what stops it (a server that is down, a budget); an attachment that cannot be described is
 * skipped.
 */
async function describeAttachments(
  ports: Ports,
  scope: Scope,
  signal?: AbortSignal,
): Promise<DescribingResult> {
  const { describer } = ports;
  if (!describer) return { done: 0 };
  let done = 0;
  let failure: unknown;
  for (const { message, part } of listWaiting(await ports.states.of(scope), describer.types)) {
    signal?.throwIfAborted();
    try {
      const text = await describeOne(ports, scope, part, signal);
      if (text === undefined) continue;
      if (await storeDescription(ports, scope, { message, part, text })) done += 1;
    } catch (error) {
      if (signal?.aborted || !isMemoryError(error) || isGlobalFailure(error)) throw error;
      failure ??= error;
    }
  }
  return { done, ...(failure === undefined ? {} : { failure }) };
}

/** Attachments without a description, each once: the same bytes in a later message have the same one. */
function listWaiting(
  { messages }: Pick<UserState, "messages">,
  types: readonly string[],
): WaitingAttachment[] {
  const waiting = new Map<string, WaitingAttachment>();
  const described = new Set<string>();
  for (const message of messages.values()) {
    if (message.undone || !message.parts) continue;
    for (const part of listAttachmentParts(message)) {
      if (part.of !== undefined) described.add(part.id);
      else if (part.description === undefined && hasBytes(part) && !waiting.has(part.id))
        waiting.set(part.id, { message, part });
    }
  }
  return [...waiting.values()].filter(({ part }) => types.includes(part.type) && !described.has(part.id));
}

async function describeOne(
  { store, describer }: Ports,
  scope: Scope,
  { type, id, mediaType = "" }: AttachmentPart,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const stored = await store.attachments?.read(scope, id);
  // Erased meanwhile.
  if (!stored) return undefined;
  const options = { scope, ...(signal ? { signal } : {}) };
  return describer?.describe({ type, mediaType, bytes: stored.bytes }, options);
}

/** Stores a description, unless the attachment has been erased or described meanwhile. Gives whether it was stored. */
async function storeDescription(
  ports: Ports,
  scope: Scope,
  { message: original, part, text }: WaitingAttachment & { readonly text: string },
): Promise<boolean> {
  const id = ports.ids();
  const { result } = await commitChange(ports, scope, async (state, at) => {
    const now = state.messages.get(original.id);
    const isThere = now && !now.undone && listAttachmentParts(now).some((one) => one.id === part.id);
    if (!isThere || isDescribed(state, part.id)) return { result: false };
    const message = toDescription(ports, now, part, { id, at, text });
    const screened = redactErased(ports, scope, message, state.tombstones).message;
    // What was erased does not come back; the attachment counts as described.
    const stored = screened === message ? message : toDescription(ports, now, part, { id, at, text: "" });
    return {
      draft: {
        cause: "digest",
        messages: [stored],
        units: stored.content === "" ? [] : await createSearchUnits(ports, [stored], []),
      },
      result: true,
    };
  });
  return result;
}

function isDescribed({ messages }: Pick<UserState, "messages">, id: string): boolean {
  for (const { undone, parts } of messages.values())
    if (
      !undone &&
      parts &&
      listAttachmentParts({ parts }).some((part) => part.of !== undefined && part.id === id)
    )
      return true;
  return false;
}

function toDescription(
  { redact }: Pick<Ports, "redact">,
  original: Message,
  { type, id: attachment, mediaType, size }: AttachmentPart,
  { id, at, text }: { readonly id: string; readonly at: string; readonly text: string },
): Message {
  const plain = stripPromptBlocks(toStorableText(text).text).slice(0, ATTACHMENT_LIMITS.descriptionBytes / 4);
  const content = (redact === false ? plain : redactCredentials(plain).text).toWellFormed().trim();
  const { session, agent, zone } = original;
  return {
    id,
    turn: 0,
    role: "tool",
    content,
    parts: [
      {
        type,
        id: attachment,
        ...(mediaType === undefined ? {} : { mediaType }),
        ...(size === undefined ? {} : { size }),
        ...(content === "" ? {} : { description: content }),
        of: original.id,
      },
    ],
    origin: "tool_result",
    // It was said when the attachment was sent.
    at: original.at,
    storedAt: at,
    digest: "never",
    ...(zone === undefined ? {} : { zone }),
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
  };
}
