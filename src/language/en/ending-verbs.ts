/**
 * Verbs that end something of one's own: what was quit, sold or dropped is no longer owned or done. Used by
 * the grammar of changes and by answers ("No, you sold the canoe"). In base form, with their particle.
 * Additions are welcome.
 */
export const ENDING_VERBS: readonly string[] = [
  ..."abandon axe bin cancel chuck ditch discontinue donate dump flog junk kick lapse leave outgrow quit rehome resign return scrap sell shelve stop terminate uninstall unsubscribe delete divorce drop die disband unfollow withdraw".split(
    " ",
  ),
  "back out",
  "bin off",
  "bow out",
  "break up with",
  "call off",
  "chuck in",
  "chuck out",
  "close down",
  "come off",
  "cut out",
  "drop out",
  "get rid",
  "get shot",
  "get shut",
  "give away",
  "give back",
  "give up",
  "go off",
  "hand in",
  "hand over",
  "jack in",
  "knock",
  "let go",
  "move out",
  "opt out",
  "pack in",
  "pass away",
  "phase out",
  "pull out",
  "sack off",
  "sell off",
  "send back",
  "shut down",
  "step back",
  "step down",
  "take back",
  "throw away",
  "throw out",
  "trade in",
  "turn in",
  "wind down",
  "wind up",
];

/** Verbs that sometimes end something. They alone never make an answer "no". */
export const TEMPORARY_ENDING_VERBS: readonly string[] = [
  ..."close finish give hand lose retire swear".split(" "),
  "pay off",
  "pass on",
  "put off",
];
