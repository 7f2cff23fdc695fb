/** A way to say that something changed in somebody's life, what it means, and an example that tests it. */
export interface LifeEventRow {
  /**
   * Base forms in order, with `|` between alternatives and `?` behind what may be absent. Adverbs and auxiliaries may stand between them.
   * `S` is whose life changes, `O` the other one or the thing, `X` somebody else; the first of them is the subject. A subject
   * can have to end in a word: `X:baby|son`. A full stop at the end: no "at" or "as" follows.
   */
  readonly pattern: string;
  /** What is so from then on: "S | like | O". A row that needs `O` applies only where there is one. */
  readonly means?: string;
  /** The same for "Tom and I", with Tom as `O`. */
  readonly meansWith?: string;
  /** The states of `S` that end (see `states.ts`), for `O` alone where it is named. */
  readonly ends?: readonly string[];
  /** What has happened, kept as an event: "divorce O". Without it the verb alone. */
  readonly event?: string;
  /** The words must deny it: "not with Lea any more". */
  readonly isDenied?: true;
  /** It means that only where the contrary was told: "I've come round to olives", of one who does not like them. */
  readonly isContrary?: true;
  /** The words tell more, and are read as any others too. */
  readonly isBeside?: true;
  readonly example: LifeEventExample;
}

interface LifeEventExample {
  readonly before: string;
  readonly says: string;
  /** A word that no current memory holds then. */
  readonly gone: string;
}

const PARTNERSHIP = ["together", "engaged", "married"];

const row = (
  pattern: string,
  result: Pick<
    LifeEventRow,
    "means" | "meansWith" | "ends" | "event" | "isDenied" | "isBeside" | "isContrary"
  >,
  before: string,
  says: string,
  gone: string,
): LifeEventRow => ({ pattern, ...result, example: { before, says, gone } });

const mayLike = { means: "S | like | O", isContrary: true } as const;
const likes = { means: "S | like | O" };
const dislikes = { means: "S | not like | O" };
const parts = { ends: PARTNERSHIP, event: "break up with O" };
const divorces = { ...parts, means: "S | be | divorced", event: "divorce O" };
const marries = { means: "S | be | married", meansWith: "S | be married to | O", event: "get married" };
const jobLost = { ends: ["employed"] };

/** Life events in the order in which they are tried. To add one, add a row. */
export const LIFE_EVENTS: readonly LifeEventRow[] = [
  // --- tastes
  row("S go off O", dislikes, "I adore horror films.", "I've gone off horror films.", "adores"),
  row("S lose interest in O", dislikes, "I love chess.", "I lost interest in chess.", "loves"),
  row("S fall out of love with O", dislikes, "I love chess.", "I've fallen out of love with chess.", "loves"),
  row("S grow|get|become tired|sick|bored of O", dislikes, "I love sushi.", "I got tired of sushi.", "loves"),
  row(
    "S be over O",
    { means: "S | not like | O", isContrary: true },
    "I love ramen.",
    "I'm over ramen.",
    "loves",
  ),
  row("O grow on me|us", likes, "I hate techno.", "Techno has grown on me.", "hates"),
  row("O win me|us over", likes, "I hate techno.", "Techno has won me over.", "hates"),
  row("S come round|around to O", mayLike, "I don't like olives.", "I've come round to olives.", "not like"),
  row("S warm up? to O", mayLike, "I don't like olives.", "I've warmed to olives.", "not like"),
  row("S take to O", mayLike, "I hate golf.", "I've really taken to golf.", "hates"),
  row("S get into O", mayLike, "I hate golf.", "I've got into golf.", "hates"),
  row(
    "S fall in love with O",
    { means: "S | love | O" },
    "I hate golf.",
    "I've fallen in love with golf.",
    "hates",
  ),
  row(
    "S grow|come|learn|start|begin to? like|love|enjoy|adore O",
    likes,
    "I hate golf.",
    "I've learned to love golf.",
    "hates",
  ),
  row(
    "S grow|come|start|begin to? hate|dislike|loathe|detest O",
    dislikes,
    "I like golf.",
    "I've grown to hate golf.",
    "likes",
  ),
  // --- partners
  row(
    "S get married|hitched to O",
    { means: "S | be married to | O" },
    "I'm single.",
    "I got married to Paul.",
    "single",
  ),
  row("S get married|hitched|remarried", marries, "I'm single.", "I got married last weekend!", "single"),
  row("S tie the knot", marries, "I'm single.", "We tied the knot on Saturday!", "single"),
  row(
    "S marry|remarry O",
    { means: "S | be married to | O" },
    "I'm single.",
    "I married Paul in May.",
    "single",
  ),
  row("S remarry|elope", marries, "I'm divorced.", "I remarried in spring.", "is divorced"),
  row(
    "S get engaged to O",
    { means: "S | be engaged to | O" },
    "I'm single.",
    "I got engaged to Paul.",
    "single",
  ),
  row(
    "S get engaged",
    { means: "S | be | engaged", meansWith: "S | be engaged to | O" },
    "I'm single.",
    "We got engaged!",
    "single",
  ),
  row("S divorce O", divorces, "My wife is called Ann.", "I divorced Ann.", "wife"),
  row(
    "S get divorced|divorce from? O?",
    divorces,
    "My husband Paul is a chef.",
    "Paul and I got divorced last month.",
    "husband",
  ),
  row("S get a|our|my divorce", divorces, "I'm married to Dan.", "Dan and I got a divorce.", "married"),
  row(
    "S break|split|separate up? with|from O",
    parts,
    "My girlfriend is called Mia.",
    "I split up with Mia last week.",
    "girlfriend",
  ),
  row("S break|split up", parts, "My boyfriend is called Tom.", "Tom and I broke up.", "boyfriend"),
  row("S split|separate|part", parts, "I'm married to Jo.", "Jo and I have separated.", "is married"),
  row("S part ways|company with O", parts, "I'm dating Sven.", "I parted ways with Sven.", "dating"),
  row("S finish|end|call it|thing with O", parts, "I'm dating Sven.", "I ended it with Sven.", "dating"),
  row("O dump|leave|divorce me", parts, "My partner is Alex.", "Alex left me.", "partner is"),
  row("O break|split up with me", parts, "I'm dating Sven.", "Sven broke up with me.", "dating"),
  row("S dump|leave O", parts, "I'm dating Sven.", "I dumped Sven.", "dating"),
  row(
    "S call off the|our|my engagement|wedding",
    { ends: ["engaged"] },
    "My fiancée is called Rosa.",
    "We called off the engagement.",
    "fianc",
  ),
  row(
    "S be with|together|date|see with? O",
    { ...parts, isDenied: true },
    "My girlfriend is called Lea.",
    "I'm not with Lea any more.",
    "girlfriend",
  ),
  row(
    "S be together",
    { ...parts, isDenied: true },
    "My girlfriend is called Lea.",
    "Lea and I aren't together any more.",
    "girlfriend",
  ),
  row(
    "O call off the|our|my engagement|wedding",
    { ends: ["engaged"] },
    "I'm engaged to Callum.",
    "Callum called off the wedding.",
    "is engaged",
  ),
  // --- friends and fears
  row(
    "S be friends with? O?",
    { ends: ["friends"], isDenied: true },
    "My best friend is Priya.",
    "Priya and I aren't friends anymore.",
    "Priya",
  ),
  row(
    "S fall out with O",
    { ends: ["friends"] },
    "My best friend is Priya.",
    "I fell out with Priya.",
    "best friend",
  ),
  row(
    "S get|be over my fear of O",
    { means: "S | not be scared of | O" },
    "I'm afraid of flying.",
    "I got over my fear of flying.",
    "is afraid",
  ),
  row(
    "S overcome|conquer|lose|beat my fear of O",
    { means: "S | not be scared of | O" },
    "I'm scared of dogs.",
    "I've overcome my fear of dogs.",
    "is scared",
  ),
  // --- work and study
  row(
    "S get|be promoted to O",
    { means: "S | work as | O" },
    "I work as a nurse.",
    "I got promoted to ward manager.",
    "nurse",
  ),
  row(
    "X make|promote me to? O",
    { means: "S | work as | O" },
    "I work as a nurse.",
    "They made me ward manager!",
    "nurse",
  ),
  row(
    "S get|be fired|sacked|redundant|axed",
    jobLost,
    "I work as a nurse.",
    "I got fired yesterday.",
    "nurse",
  ),
  row("S get|be laid off", jobLost, "I work at Barclays.", "I was laid off on Friday.", "at Barclays"),
  row("S get|be let go", jobLost, "I work at Barclays.", "I got let go on Friday.", "at Barclays"),
  row(
    "S get|be made redundant",
    jobLost,
    "I work at Barclays.",
    "I was made redundant on Friday.",
    "at Barclays",
  ),
  row("S get the sack|boot|chop", jobLost, "I work at Barclays.", "I got the sack.", "at Barclays"),
  row("S lose|quit|leave my|the job .", jobLost, "I work as a teacher.", "I quit my job.", "teacher"),
  row(
    "S start work at|for|with O",
    { means: "S | work at | O" },
    "I'm unemployed.",
    "I started work at the post office.",
    "unemployed",
  ),
  row("S retire", { means: "S | be | retired" }, "I work as a teacher.", "I retired in June.", "teacher"),
  row(
    "S get|find|land|start|take|accept|have a|the|my new? job at|with O",
    { means: "S | work at | O" },
    "I'm unemployed.",
    "I got a job at the bakery!",
    "unemployed",
  ),
  row(
    "S get|find|land|start|take|accept a|the|my new? job as O",
    { means: "S | work as | O" },
    "I'm unemployed.",
    "I found a job as a baker.",
    "unemployed",
  ),
  row(
    "S get|find|land a|the|my new? job",
    { ends: ["job hunting", "unemployed"] },
    "I'm job hunting.",
    "I found a job!",
    "hunting",
  ),
  row(
    "S graduate",
    { ends: ["student"] },
    "I'm studying chemistry at Leeds.",
    "I graduated last month.",
    "studying",
  ),
  row(
    "S finish|complete my|the|a degree|studies|phd|master|bachelor|course|uni|university|college",
    { ends: ["student"] },
    "I study law.",
    "I finished my degree.",
    "studies",
  ),
  row("S drop out", { ends: ["student"] }, "I study law.", "I dropped out of uni.", "studies"),
  // --- what one eats and is
  row("S go|turn|become O", { means: "S | be | O" }, "I eat meat every day.", "I've gone vegan.", "meat"),
  // --- family and health
  row(
    "X:baby|babies|girl|boy|son|daughter|twins|child be born",
    { ends: ["pregnant"], isBeside: true },
    "I'm pregnant.",
    "Our baby girl Nora was born on Sunday!",
    "is pregnant",
  ),
  row("S give birth", { ends: ["pregnant"] }, "I'm pregnant.", "I gave birth on Sunday.", "is pregnant"),
  row(
    "S have the|our|my|a baby",
    { ends: ["pregnant"] },
    "I'm pregnant.",
    "We had our baby on Sunday.",
    "is pregnant",
  ),
  row("S miscarry", { ends: ["pregnant"] }, "I'm pregnant.", "I miscarried.", "is pregnant"),
];
