/** A word of the tagger, as far as its patterns look at it. */
interface Term {
  readonly text: string;
  readonly normal: string;
  readonly machine?: string | null;
  readonly implicit?: string;
  readonly root?: string;
  readonly alias?: readonly string[];
  readonly switch?: string;
  readonly tags: ReadonlySet<string>;
  readonly index: readonly [sentence: number, word: number];
}

/** A step of a pattern of the tagger. */
interface Step {
  readonly word?: string;
  readonly tag?: string;
  readonly fastOr?: ReadonlySet<string>;
  readonly greedy?: boolean;
  readonly start?: boolean;
  readonly [kind: string]: unknown;
}

/** What the tagger does where a pattern matches. */
interface Correction {
  readonly match: string;
  readonly tag?: string | undefined;
  readonly unTag?: string | undefined;
  readonly chunk?: string | undefined;
  readonly reason?: string | undefined;
  readonly safe?: boolean | undefined;
  readonly freeze?: boolean | undefined;
}

/** A pattern, with the words and tags (`#Noun`) that a part of a sentence must have for it. */
interface Pattern extends Correction {
  readonly regs: readonly Step[];
  readonly needs: readonly string[];
  readonly wants: readonly string[];
  readonly ifNo?: readonly string[];
  readonly minWant: number;
  readonly minWords: number;
}

/** A pattern as it is written. What must not be in a match is a text that building a net replaces. */
interface SourcePattern {
  readonly match: string;
  notIf?: unknown;
}

interface PatternNet {
  readonly hooks: Readonly<Record<string, readonly Pattern[]>>;
  readonly always: readonly Pattern[];
}

type Pointer = [part: number, ...rest: unknown[]];
type Match = Correction & { readonly pointer: Pointer };
type Parts = readonly (readonly Term[])[];

interface World {
  readonly model: { readonly two: { readonly matches: readonly SourcePattern[] } };
  readonly methods: {
    readonly one: {
      buildNet(matches: readonly SourcePattern[], world: World): PatternNet;
      cacheDoc(parts: Parts): ReadonlySet<string>[];
      match(parts: Parts, pattern: Pattern): { readonly ptrs: readonly Pointer[] };
      bulkTagger(matches: readonly Match[], parts: Parts, world: World): void;
    };
    readonly two: { quickSplit(sentences: Parts): Parts };
  };
}

interface View {
  readonly world: World;
  readonly docs: Parts;
  update(pointers: readonly (readonly [number, number, number])[]): View;
  uncache(): void;
  unfreeze(): void;
}

/** What the tagger's own `plugin` takes. */
export interface TaggerPlugin {
  readonly compute: { readonly postTagger: (view: View) => View };
}

/**
 * The tagger's last step, which corrects tags by some thousand patterns: the same tags in less than half of the time. It looks up which
 * patterns a part of a sentence can hold by the rarest word that each needs, and tries a pattern only where its first steps fit.
 */
export function createTagCorrections(): TaggerPlugin {
  let findPatterns: PatternFinder | undefined;
  return {
    compute: {
      postTagger(view) {
        const { world } = view;
        const { one, two } = world.methods;
        findPatterns ??= createPatternFinder(buildNet(world));
        const parts = view.update(two.quickSplit(view.docs).map(toPointer)).docs;
        const words = one.cacheDoc(parts);
        const matches: Match[] = [];
        for (const [n, terms] of parts.entries()) {
          for (const pattern of findPatterns(words[n] as ReadonlySet<string>, terms)) {
            for (const pointer of one.match([terms], pattern).ptrs) {
              pointer[0] = n;
              matches.push(toMatch(pattern, pointer));
            }
          }
        }
        one.bulkTagger(matches, parts, world);
        view.uncache();
        view.unfreeze();
        return view;
      },
    },
  };
}

/** The net of the tagger's patterns. They are copied: building changes them, and the tagger can have built its own before. */
function buildNet(world: World): PatternNet {
  const { matches } = world.model.two;
  const copies = matches.map((pattern) => ({
    ...pattern,
    notIf: typeof pattern.notIf === "string" ? pattern.notIf : undefined,
  }));
  const net = world.methods.one.buildNet(copies, world);
  for (const [i, { notIf }] of matches.entries())
    if (typeof notIf === "object") (copies[i] as SourcePattern).notIf = notIf;
  return net;
}

function toPointer(terms: readonly Term[]): [number, number, number] {
  const [sentence, word] = terms[0]?.index ?? [0, 0];
  return [sentence, word, word + terms.length];
}

function toMatch({ match, tag, unTag, chunk, reason, safe, freeze }: Pattern, pointer: Pointer): Match {
  return { match, tag, unTag, chunk, reason, safe, freeze, pointer };
}

/** The patterns that a part of a sentence may hold, by all that is in it and its words, in the order of the net. */
type PatternFinder = (held: ReadonlySet<string>, terms: readonly Term[]) => Pattern[];

/** A pattern with what is worked out of it once. Words and tags have numbers, by which they are looked up faster. */
interface Candidate {
  readonly pattern: Pattern;
  readonly needs: readonly number[];
  readonly wants: readonly number[];
  readonly ifNo: readonly number[];
  /** Where it is in the net, by the word or tag there, in the order of the net. */
  readonly places: readonly { readonly key: number; readonly at: number }[];
  /** Its first steps, as far as they are plain. */
  readonly lead: readonly Step[];
  /** The search in which it was found last. */
  search: number;
}

/** Above the longest list of patterns of a word. */
const LIST_SIZE = 100_000;

function createPatternFinder({ hooks, always }: PatternNet): PatternFinder {
  const numbers = new Map(Object.keys(hooks).map((key, i) => [key, i]));
  const byKey = indexCandidates(hooks, numbers);
  const others = always.map((pattern) => toCandidate(pattern, numbers));
  // For each word and tag, the last search that had it.
  const seen = new Int32Array(numbers.size);
  let search = 0;
  return (held, terms) => {
    search += 1;
    const keys: number[] = [];
    for (const name of held) {
      const key = numbers.get(name);
      if (key === undefined) continue;
      seen[key] = search;
      keys.push(key);
    }
    const found: { readonly pattern: Pattern; readonly at: number }[] = [];
    const consider = (candidate: Candidate): void => {
      if (candidate.search === search) return;
      candidate.search = search;
      if (!isPossible(candidate, seen, search) || !mayStand(candidate, terms)) return;
      const place = candidate.places.find(({ key }) => seen[key] === search);
      found.push({ pattern: candidate.pattern, at: place?.at ?? 0 });
    };
    for (const key of keys) byKey[key]?.forEach(consider);
    found.sort((one, other) => one.at - other.at);
    const inOrder = [...found, ...others.filter((candidate) => mayStand(candidate, terms))];
    return inOrder.map(({ pattern }) => pattern);
  };
}

/** Patterns by the rarest thing that they need, or by each of what they want. Words are rarer than tags. */
function indexCandidates(hooks: PatternNet["hooks"], numbers: Map<string, number>): Candidate[][] {
  const places = new Map<Pattern, { readonly key: number; readonly at: number }[]>();
  for (const [key, patterns] of Object.values(hooks).entries()) {
    for (const [i, pattern] of patterns.entries()) {
      const known = places.get(pattern) ?? [];
      known.push({ key, at: key * LIST_SIZE + i });
      places.set(pattern, known);
    }
  }
  const commonness = (key: string): number =>
    (hooks[key]?.length ?? 0) + (key.startsWith("#") ? LIST_SIZE : 0);
  const byKey: Candidate[][] = Object.keys(hooks).map(() => []);
  for (const [pattern, known] of places) {
    const candidate = toCandidate(pattern, numbers, known);
    const rarest = pattern.needs.toSorted((one, other) => commonness(one) - commonness(other))[0];
    for (const key of rarest === undefined ? new Set(pattern.wants) : [rarest])
      byKey[numbers.get(key) ?? -1]?.push(candidate);
  }
  return byKey;
}

/** A word that no pattern needs can still rule one out: it gets a number, too. */
function toCandidate(
  pattern: Pattern,
  numbers: Map<string, number>,
  places: Candidate["places"] = [],
): Candidate {
  const toNumbers = (names: readonly string[]): number[] =>
    names.map((name) => {
      const number = numbers.get(name) ?? numbers.size;
      numbers.set(name, number);
      return number;
    });
  const { regs } = pattern;
  const odd = regs.findIndex((step) => !isPlain(step));
  const plain = odd < 0 ? regs : regs.slice(0, odd);
  const greedy = plain.findIndex((step) => step.greedy);
  return {
    pattern,
    needs: toNumbers(pattern.needs),
    wants: toNumbers(pattern.wants),
    ifNo: toNumbers(pattern.ifNo ?? []),
    places,
    lead: greedy < 0 ? plain : plain.slice(0, greedy + 1),
    search: 0,
  };
}

function isPossible({ pattern, needs, ifNo, wants }: Candidate, seen: Int32Array, search: number): boolean {
  for (const need of needs) if (seen[need] !== search) return false;
  for (const word of ifNo) if (seen[word] === search) return false;
  let missing = wants.length === 0 ? 0 : pattern.minWant;
  for (let i = 0; missing > 0 && i < wants.length; i += 1)
    if (seen[wants[i] as number] === search) missing -= 1;
  return missing <= 0;
}

/** Whether the first steps of a pattern fit somewhere. */
function mayStand({ pattern, lead }: Candidate, terms: readonly Term[]): boolean {
  if (terms.length < pattern.minWords) return false;
  if (lead.length === 0) return true;
  const last = lead[0]?.start ? 0 : terms.length - lead.length;
  for (let i = 0; i <= last; i += 1) if (fitsFrom(terms, i, lead)) return true;
  return false;
}

function fitsFrom(terms: readonly Term[], from: number, lead: readonly Step[]): boolean {
  for (let k = 0; k < lead.length; k += 1) {
    const term = terms[from + k] as Term;
    if (!fits(term, lead[k] as Step)) return false;
    // A contraction can be two words for one step.
    if (term.implicit) return true;
  }
  return true;
}

/** Kinds of steps that the tagger tests before a list of words, or by other words than those of one place. */
const OTHER_KINDS: readonly string[] =
  "optional negative anything fuzzy use id method pre post regex chunk switch machine sense choices".split(
    " ",
  );

/** Whether a step takes exactly one word, and by its words or its tag alone. */
function isPlain(step: Step): boolean {
  const { word, tag, fastOr } = step;
  return (word ?? tag ?? fastOr) !== undefined && OTHER_KINDS.every((kind) => !step[kind]);
}

/** Whether a word fits a plain step, as the tagger tests it. */
function fits(term: Term, { word, tag, fastOr }: Step): boolean {
  if (word !== undefined)
    return (
      word === term.normal ||
      word === term.text ||
      word === term.machine ||
      term.alias?.includes(word) === true
    );
  if (tag !== undefined) return term.tags.has(tag);
  const form = term.root || term.implicit || term.machine || term.normal;
  return fastOr !== undefined && (fastOr.has(form) || fastOr.has(term.text));
}
