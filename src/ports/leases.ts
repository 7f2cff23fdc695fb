/**
 * Who may do now what only one of all processes on this record may do at a time. A lease runs out by itself, so that nobody waits
 * for one that was killed; it is counted by the record's own clock (the database server's, where there is one), so that
 * machines need not agree on the time.
 *
 * A process that was stopped for longer than its lease may go on without it for a moment: what it writes then is held by the
 * revision that it was based on, as any other write.
 */
export interface Leases {
  /**
   * Takes a lease for so long (ms). Refused where somebody has it, and while it rests after it was given back; an `isUrgent`
   * one cuts the rest short. Of several who ask at once, one gets it.
   */
  takeLease(
    name: string,
    options: { readonly forMs: number; readonly isUrgent?: boolean },
  ): Promise<LeaseResult>;

  /** Holds it for so long (ms) from now on. False where it is not this token's any more: it ran out, whether or not anybody has it now. */
  renewLease(name: string, token: string, forMs: number): Promise<boolean>;

  /** Gives it back before it runs out; nobody gets it for `restMs` (0) then. False, and nothing is done, where it is not this token's. */
  releaseLease(name: string, token: string, restMs?: number): Promise<boolean>;
}

/** The token that shows whose it is; or why it is refused, and for how long (ms) at the most, if it is not renewed. */
export type LeaseResult =
  | { readonly token: string }
  | { readonly token?: undefined; readonly refused: "held" | "resting"; readonly waitMs: number };
