import type { Memory } from "../memory.ts";

/** The sections of a profile, in reading order. */
export const PROFILE_SECTIONS = [
  "person",
  "people",
  "home",
  "work",
  "likes",
  "habits",
  "health",
  "private",
  "plans",
  "instructions",
  "other",
] as const;
export type ProfileSection = (typeof PROFILE_SECTIONS)[number];

/** Weight of a memory: importance, confidence, and how often it was stated. */
export function weightOf({ importance, confidence, evidence }: Memory): number {
  return importance * confidence * (1 + Math.log2(evidence) / 4);
}
