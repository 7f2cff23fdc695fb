import { type ErasureSelection, mergeSelections, NO_SELECTION } from "../../../domain/erasure-selection.ts";
import type { Memory } from "../../../domain/memory.ts";
import { extractTerms } from "../../../domain/search/search-terms.ts";
import type { TextCut } from "../../../domain/text/cut-text.ts";
import { spansOverlap, type TextSpan } from "../../../domain/text/split-text.ts";
import type { DescribedSelection } from "../../../ports/language/forget-request-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { isKeeping } from "../grammar/forgetting/exceptions.ts";
import { type Segment, splitSegments } from "../transformer/segments.ts";
import { isKin } from "./kin.ts";
import { holdsValue } from "./retrieve.ts";
import { isTakenFrom, toCuts } from "./select-spans.ts";

/** "The rest", "the other two", "everything else": what a request does not mean stays anyway. */
const COMPLEMENT = /\b(?:rest|remainder|others?|else)\b/i;
/** "The one" and "those" name nothing by themselves. */
const PRONOUN = /^(?:(?:the|this|that|these|those|my|our|any) )?(?:ones?|it|them|this|that|these|those)$/iu;
/** "The theatre one": what it is told by. */
const PRONOUN_HEAD = /\s+ones?$/i;

/** Reads a phrase in a content. */
type PhraseReader = (content: StoredContent, phrase: string) => Promise<DescribedSelection>;

/**
 * Takes what a request excepts out of what it means, and out of what it may mean. What may be excepted is left
 * to a question; so is everything that was sure, if nothing else would remain of it, or if the exception names nothing
 * that is stored.
 */
export async function keepExcepted(
  read: PhraseReader,
  content: StoredContent,
  found: DescribedSelection,
  except: string,
): Promise<DescribedSelection> {
  const phrases = except
    .split("; ")
    .filter(namesThing)
    .map((phrase) => phrase.replace(PRONOUN_HEAD, ""));
  const isUncertain = isNone(found.sure);
  if (phrases.length === 0 || (isUncertain && isNone(found.unsure))) return found;
  const within = restrictTo(content, mergeSelections([found.sure, found.unsure]));
  const kept: KeptContent[] = [];
  const doubtful: KeptContent[] = [];
  for (const phrase of phrases) {
    const inside = await read(within, phrase);
    kept.push(toKept(content, inside.sure, phrase));
    doubtful.push(toKept(content, inside.unsure, phrase));
    if (!isNone(inside.sure) || !isNone(inside.unsure)) continue;
    // It may mean something else that is stored, which the request does not touch.
    if (isNone((await read(content, phrase)).sure)) doubtful.push(toKept(content, found.sure, ""));
  }
  const stays = mergeKept(kept);
  const mayStay = mergeKept(doubtful);
  const open = subtract(content, found.unsure, stays);
  const clear = subtract(content, open, mayStay);
  // A yes to a question erases all of it, so what may be excepted is only in it if nothing else is.
  if (isUncertain) return { ...found, unsure: isNone(clear) ? open : clear };
  const rest = subtract(content, found.sure, stays);
  const sure = subtract(content, rest, mayStay);
  if (isNone(sure)) return askAbout([found.sure, found.unsure]);
  const asked = intersect(content, rest, mayStay);
  return isNone(asked) ? { ...found, sure, unsure: open } : { ...askAbout([open, asked]), sure };
}

function namesThing(phrase: string): boolean {
  return !COMPLEMENT.test(phrase) && !PRONOUN.test(phrase) && !isKeeping(phrase);
}

function askAbout(selections: readonly ErasureSelection[]): DescribedSelection {
  return { sure: NO_SELECTION, unsure: mergeSelections(selections), isLikely: true };
}

function isNone({ memories, cuts }: ErasureSelection): boolean {
  return memories.size === 0 && [...cuts.values()].every((some) => some.length === 0);
}

/** The messages and memories that a selection touches. */
function restrictTo({ messages, memories }: StoredContent, selection: ErasureSelection): StoredContent {
  return {
    messages: new Map([...messages].filter(([id]) => selection.cuts.has(id))),
    memories: new Map([...memories].filter(([, memory]) => selection.memories.has(memory))),
  };
}

/** What stays: whole clauses, and memories. */
interface KeptContent {
  readonly memories: ReadonlySet<Memory>;
  readonly clauses: ReadonlyMap<string, readonly Segment[]>;
}

function mergeKept(all: readonly KeptContent[]): KeptContent {
  const clauses = Map.groupBy(
    all.flatMap((one) => [...one.clauses]),
    ([id]) => id,
  );
  return {
    memories: new Set(all.flatMap(({ memories }) => [...memories])),
    clauses: new Map([...clauses].map(([id, some]) => [id, some.flatMap(([, own]) => own)])),
  };
}

/** Of the clauses of a selection, those that share a word with the phrase, with what is attached to them; all, where none does. */
function toKept({ messages }: StoredContent, selection: ErasureSelection, phrase: string): KeptContent {
  const terms = extractTerms(phrase);
  const clauses = [...selection.cuts].map(([id, cuts]) => {
    const content = messages.get(id)?.content ?? "";
    const all = splitSegments(content).filter((clause) => overlapsAny(clause, cuts));
    let isNear = false;
    const sharing = all.filter(({ start, end, isAttached }) => {
      const own = extractTerms(content.slice(start, end));
      isNear = terms.some((term) => own.some((word) => isKin(word, term))) || (isAttached && isNear);
      return isNear;
    });
    return [id, sharing.length > 0 ? sharing : all] as const;
  });
  return { memories: selection.memories, clauses: new Map(clauses) };
}

function overlapsAny(span: TextSpan, others: readonly TextSpan[]): boolean {
  return others.some((other) => spansOverlap(span, other));
}

/** A selection without what stays. */
function subtract(content: StoredContent, selection: ErasureSelection, kept: KeptContent): ErasureSelection {
  const cuts = new Map<string, readonly TextCut[]>();
  for (const [id, some] of selection.cuts) {
    const text = content.messages.get(id)?.content ?? "";
    const left = some.flatMap((cut) => withoutClauses(text, cut, kept.clauses.get(id) ?? []));
    if (left.length > 0) cuts.set(id, left);
  }
  const memories = [...selection.memories].filter((memory) => !isKeptMemory(memory, kept, cuts, content));
  const isKeptValue = ({ text }: { readonly text: string }): boolean => isToldBy(text, content, kept);
  return {
    ...selection,
    cuts,
    memories: new Set(memories),
    values: (selection.values ?? []).filter((value) => !isKeptValue(value)),
    wordings: (selection.wordings ?? []).filter((text) => !isKeptValue({ text })),
  };
}

function withoutClauses(text: string, cut: TextCut, clauses: readonly Segment[]): readonly TextCut[] {
  if (!overlapsAny(cut, clauses)) return [cut];
  const others = splitSegments(text).filter((one) => spansOverlap(one, cut) && !overlapsAny(one, clauses));
  return toCuts(text, others);
}

function isKeptMemory(
  memory: Memory,
  { memories, clauses }: KeptContent,
  cuts: ReadonlyMap<string, readonly TextCut[]>,
  content: StoredContent,
): boolean {
  if (memories.has(memory)) return true;
  const isTouched = memory.sources.some((source) => overlapsAny(source, clauses.get(source.message) ?? []));
  return isTouched && !isTakenFrom(memory, cuts, content);
}

function isToldBy(value: string, { messages }: StoredContent, { memories, clauses }: KeptContent): boolean {
  const texts = [
    ...[...memories].map(({ text }) => text),
    ...[...clauses].flatMap(([id, some]) =>
      some.map(({ start, end }) => messages.get(id)?.content.slice(start, end) ?? ""),
    ),
  ];
  return texts.some((text) => holdsValue(text, value));
}

/** The part of a selection that may have to stay. */
function intersect(content: StoredContent, selection: ErasureSelection, kept: KeptContent): ErasureSelection {
  const left = subtract(content, selection, kept);
  const cuts = new Map(
    [...selection.cuts].flatMap(([id, some]) => {
      const clauses = kept.clauses.get(id) ?? [];
      const text = content.messages.get(id)?.content ?? "";
      const asked = splitSegments(text).filter((one) => overlapsAny(one, clauses) && overlapsAny(one, some));
      return asked.length === 0 ? [] : [[id, toCuts(text, asked)] as const];
    }),
  );
  return {
    cuts,
    memories: new Set([...selection.memories].filter((memory) => !left.memories.has(memory))),
  };
}
