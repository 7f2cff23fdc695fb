import type { Unit } from "../../domain/change-set.ts";
import type { Memory, Status } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Item } from "../../domain/recall.ts";
import { shownSources } from "../show.ts";
import type { UserState } from "../user-state.ts";

/** A memory as an item of a recall. */
export function memoryItem(state: UserState, memory: Memory, status: Status, score: number): Item {
  const { id, text, kind, claim, at, when, validFrom, validTo } = memory;
  return {
    id,
    type: "memory",
    text,
    kind,
    ...(claim ? { claim } : {}),
    status,
    score,
    at,
    ...(when === undefined ? {} : { when }),
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validTo === undefined ? {} : { validTo }),
    sources: shownSources(state, memory.sources),
  };
}

/** A passage as an item of a recall: its own source. */
export function passageItem(
  state: UserState,
  unit: Unit,
  message: Message,
  status: Status,
  score: number,
): Item {
  const { id, start, end } = unit;
  const text = message.content.slice(start, end);
  return {
    id,
    type: "passage",
    text,
    status,
    score,
    at: message.at,
    sources: shownSources(state, [{ message: message.id, start, end, quote: text }]),
  };
}
