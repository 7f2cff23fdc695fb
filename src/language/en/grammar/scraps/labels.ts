import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { listAttributeRelations } from "../../relations/relations.ts";
import { conjugate, toSingular } from "../../word-forms.ts";
import { compose } from "../claims/sentence.ts";
import type { Entity } from "../clauses/entity.ts";
import { readList } from "../clauses/noun-phrases.ts";
import { adding, type Context, claimOf, tidy } from "../context.ts";
import type { Token } from "../words/token.ts";
import type { Fragment } from "./fragment.ts";

/** "my phone number: 0770": a label and its value. */
export function labelled({ context, tokens, place }: Fragment): AddProposal[] | undefined {
  const colon = tokens.findIndex(({ after }) => /^\s*[:=]\s/.test(after));
  const isOwn = tokens[0]?.class === "possessive";
  if (colon < 0 || colon > 4) return undefined;
  const start = tokens[0]?.lower === "new" || tokens[0]?.lower === "the" ? 1 : 0;
  const entity = context.discourse.resolve(tokens, isOwn ? 0 : start, colon + 1);
  const value = tidy(context.content.slice(tokens[colon + 1]?.start, place.end));
  if (!entity || value === "" || entity.path === context.discourse.speaker.path) return undefined;
  const listed = labelledList(context, tokens, entity, { colon, place });
  if (listed.length > 0) return listed;
  const isName = /\/names?$/.test(entity.path);
  const path = isName ? entity.path.replace(/\/names?$/, "") : entity.path;
  const relation = isName || (entity.animate && /^\p{Lu}/u.test(value)) ? "be called" : "be";
  const display = isName ? entity.display.replace(/['’]s? names?$/, "") : entity.display;
  return [
    adding(context, place, {
      text: compose(display, relation === "be" ? "is" : "is called", value),
      claim: claimOf(path, relation, value),
      holds: "one",
      importance: 0.7,
    }),
  ];
}

/** "my subscriptions: Calm and Duolingo Plus": each for itself. */
function labelledList(
  context: Context,
  tokens: readonly Token[],
  entity: Entity,
  { colon, place }: { colon: number; place: { readonly start: number; readonly end: number } },
): AddProposal[] {
  const list = readList(tokens, colon + 1, tokens.length);
  const label = entity.path.split("/").at(-1) ?? "";
  if (!list || list.items.length < 2 || toSingular(label) === label) return [];
  const owner = entity.path.split("/").slice(0, -1).join("/");
  const [relation] = listAttributeRelations(toSingular(label));
  return list.items.map((item) => {
    const value = tidy(context.content.slice(tokens[item[0]]?.start, tokens[item[1] - 1]?.end));
    return relation && owner === context.discourse.speaker.path
      ? adding(context, place, {
          text: compose(context.discourse.speaker.display, conjugate(relation, "third"), value),
          claim: claimOf(owner, relation, value),
        })
      : adding(context, place, {
          text: compose(entity.display, "are", value),
          claim: claimOf(entity.path, "be", value),
          holds: "many",
        });
  });
}
