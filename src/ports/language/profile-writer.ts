import type { ProfileSection } from "../../domain/memories/profile.ts";
import type { Memory } from "../../domain/memory.ts";

/** One line of a profile: one or a few sentences, and the memories that they were merged from. */
export interface DraftLine {
  readonly section: ProfileSection;
  readonly text: string;
  readonly memories: readonly Memory[];
  readonly weight: number;
  /** The same line for only some of its memories. */
  withOnly(some: readonly Memory[]): string;
}

/** Formats memories as the lines of a profile in a language. */
export interface ProfileWriter {
  titleOf(section: ProfileSection): string;
  /**
   * Formats memories as lines: statements with one verb share a line, and so do statements about one person or
   * thing. `today` is ISO 8601.
   */
  buildLines(memories: readonly Memory[], today: string): Promise<DraftLine[]>;
}
