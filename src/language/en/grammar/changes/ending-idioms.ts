/**
 * How people say that something of theirs is over, by set phrases. `{}` stands for what is over. Add a row to add a
 * way to say it; a test per row stands beside the table.
 */

/** What the user did with it; the words before are "I", "we've finally", "had to". */
export const ENDED_IT: readonly string[] = [
  "(?:got|gotten|getting) (?:rid|shot|shut) of {}",
  "(?:gave|given|giving|give) up (?:on )?{}",
  "(?:gave|given|giving|give) {} (?:away|up|back|the boot|the push|the chop|the heave-ho|a miss|a rest|to \\w+.*)",
  "(?:gave|given) (?:away|back) {}",
  "(?:packed|packing|pack|jacked|jacking|chucked|chucking|threw|thrown|handed|handing|turned|traded|trading) (?:it )?in {}",
  "(?:packed|jacked|chucked|threw|thrown|handed|turned|traded) {} in(?! for)",
  "(?:threw|thrown|chucked|tossed|binned|slung|flung|kicked|cleared|put) (?:out|away|down) {}",
  "(?:threw|thrown|chucked|tossed|slung|flung|kicked|cleared) {} (?:out|away)",
  "(?:put|had) {} (?:down(?! as\\b| for\\b| in\\b| to\\b)|to sleep)",
  "(?:sold|selling|flogged|ditched|dumped|dropped|binned|scrapped|axed|junked|trashed|shelved|donated|rehomed|returned|discontinued|cancelled|canceled|cancelling|quit|left|deleted|uninstalled|abandoned|chucked|lost|outgrew|unfollowed|unliked|unjoined|handed over|deactivated|deregistered|retired|closed|terminated|finished|stopped|ended|disbanded|dissolved|unfollowed|unsubscribed from|deregistered from|resigned from|withdrew from|dropped out of|opted out of|pulled out of|backed out of|bowed out of|walked out (?:of|on)|moved on from|moved out of|checked out of|signed off from|stepped (?:down|back) (?:from|as)|parted (?:ways |company )?with|fell out with|split (?:up )?with|broke up with|said (?:goodbye|bye|farewell) to|waved goodbye to|called it (?:quits|a day) (?:with|on)|called time on|drew a line under|turned my back on|washed my hands of|pulled the plug on|put (?:an end|a stop) to|cut (?:out|off)|phased out|sold off|closed down|shut down|shut|wound (?:up|down)|folded|handed over|passed on|sent back|took back|let go of|lost interest in|gone off|went off|came off|come off|weaned (?:myself )?off|done with|through with|finished with|over and done with|off|grown out of|grew out of|had enough of|sick of|fed up with) {}",
  "(?:sold|closed|shut|wound|cut|phased|sent|handed|called|turned|switched|knocked|laid) {} (?:off|down|up|out|back|over)",
  // `uses` ends what is used alone, and not where somebody lives; `did` ends what the user did, by that verb.
  "(?<uses>moved away from) {}",
  "(?:cut|cutting) (?:down )?{} out",
  "let {} (?:go|lapse|expire|slide|run out|drop|die)",
  "(?:knocked|knocking|knock) {} on the head",
  "(?:kicked|kicking) (?:the )?{}(?: habit)?",
  "(?:didn['’]?t|did not|haven['’]?t|have not|won['’]?t|not|isn['’]?t) (?:renew|renewed|renewing|extend|extended|extending|re-?sign|re-?signing|re-?signed) (?:for )?{}",
  "(?:haven['’]?t|have not) (?!been|got|had|stopped|quit)\\p{L}+ {} (?:since|in (?:years|months|ages))",
  "(?:no|no more) {} (?:any ?more|any longer|from now on|these days|for me|for us|now)",
  "(?:don['’]?t|do not|no longer) (?:need|want|have|use|like|do) {} (?:any ?more|any longer)",
  "(?:done|through|finished|over) (?:with )?(?:\\p{L}+ing )(?:at |in |on |with |for |to )?{}",
  "(?:got|getting|pulled) out of {}",
  "(?:gave|given|handed in) (?:my |our )?notice (?:on|for|at) {}",
  "(?:stopped|stoped|stopping|quit|quitting|given up|gave up|ceased|finished) (?:\\p{L}+ing) (?:to |at |in |on |with |for )?{}",
];

/** Between the user and somebody: "it's over with Marco". */
export const OVER_WITH: readonly string[] = [
  "(?:it|things|that)(?:['’]?s| is| are|['’]?re)(?: all| totally| completely| finally)* (?:over|finished|done|it) (?:with|between me and|for me and) {}",
  "(?:me|i) and {} (?:are|['’]?re|aren['’]?t|split|split up|broke up|separated|called it a day|called it quits)(?: (?:over|finished|done|history|not|through|together|any ?more|an item))*",
  "{} and (?:i|me) (?:are|['’]?re|aren['’]?t|are not|split|split up|broke up|separated|called it a day|called it quits|have split|have broken up|have separated|(?:don['’]?t|no longer) (?:talk|speak|see each other|live together))(?: (?:over|finished|done|history|no longer|not|through|together|any ?more|an item))*",
];

/** What others did with it, or to the user: "they took me off it". */
export const TAKEN_OFF: readonly string[] = [
  "(?:took|taken|takes|taking) (?:me|us) off (?:of )?{}",
  "(?:kicked|chucked|threw|thrown|booted) (?:me|us) (?:out of|off) {}",
  // "My sister stopped using it" is of her.
  "(?:stopped(?! (?:using|taking|doing|playing|going|eating|drinking|smoking|watching|reading|wearing|buying)\\b)|cancelled|canceled|discontinued|scrapped|axed|closed|shut|sold) {}",
];

/** What became of it, as words behind its name. */
export const IT_ENDED: readonly string[] = [
  "(?:is|are|was|were|has been|have been|had been|got|['’]?s|['’]?s been|['’]?ve been|been)(?: all| now| finally| officially| completely| just| been| already| well and truly)* (?:cancelled|canceled|off|over|gone|history|toast|kaput|sold|stolen|nicked|dead(?: to me)?|broken|bust|finished|closed|shut|out|done for|no more|no longer|discontinued|scrapped|written off|called off|axed|given away|binned|deleted|put down|put to sleep|rehomed|shut down|closed down|disbanded|a thing of the past|in the past|wound up|sold off|returned|lost|ancient history|behind (?:me|us)|on hold)",
  "(?:died|broke|broke down|packed up|packed in|conked out|gave up the ghost|bit the dust|got the (?:chop|boot|axe|push)|got (?:cancelled|canceled|stolen|nicked|sold|axed|scrapped|binned|rehomed)|fell (?:apart|through)|went (?:bust|under|back|missing)|folded|expired|lapsed|ran out|ended|closed|closed down|shut|shut down|split up|disbanded|has (?:gone|died|ended|expired|lapsed|folded|closed|left)|went to (?:a new home|the tip|the charity shop|the dump|landfill|ebay|a friend|a farm|my \\w+)|found a new home|didn['’]?t (?:work|pan) out|had to go|is going back|crashed and burned|came to an end)",
  "(?:is|are|was|were)(?:n['’]?t| not|['’]s not) (?:something|anything|one|what) (?:that )?(?:i|we) (?<did>\\p{L}+)(?: (?:with|to|for|at|in|on))? (?:any ?more|any longer|now|these days)",
];

/** Nouns for what one is or has with somebody, and the relations under which that is told. */
export const STATE_NOUNS: readonly (readonly [string, readonly string[]])[] = [
  ["engagement", ["be engaged to", "be engaged", "be going to marry", "marry"]],
  ["wedding", ["be engaged to", "be engaged", "be going to marry", "be getting married", "get married"]],
  ["marriage", ["be married to", "be married"]],
  [
    "relationship",
    ["be with", "be together with", "be in a relationship with", "date", "see", "go out with"],
  ],
  ["job", ["work at", "work for", "work as"]],
  ["tenancy", ["rent"]],
  ["lease", ["rent", "lease"]],
  ["membership", ["be a member of"]],
  ["subscription", ["be subscribed to", "subscribe to"]],
  ["apprenticeship", ["be an apprentice at", "be an apprentice"]],
];
