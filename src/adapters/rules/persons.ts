import { singular } from "../../domain/english.ts";
import { PERSONS } from "./lexicon.ts";

/** Nouns that end like a person's trade and are none. */
const NO_PERSON = new Set(
  "number computer printer paper water dinner letter sweater weather router charger mower freezer cooker toaster boiler heater scooter trailer order folder answer offer summer winter corner shoulder finger liver bladder slipper ladder hammer drawer mirror motor door floor color monitor processor tractor sensor elevator error humor flavor harbor border cover layer poster sticker butter pepper ginger silver powder shower tower flower feather leather matter center counter filter gutter helicopter hoover jumper lighter locker newsletter oyster plaster quarter register roller rubber saucer shelter speaker starter supper theater thriller timer transfer trigger tumor vinegar wafer wrapper zipper blender mixer dryer washer dishwasher fryer recorder player burner amplifier decor sector factor vector visor minor odor rumor ever never other either after under over super hyper cucumber lobster hamster list wrist fist mist twist waist playlist checklist wishlist appetizer planter planner fever beer deer career gear spider tiger beaver".split(
    " ",
  ),
);
const PROFESSION =
  /(?:[a-z]{2}er|[a-z]{2}or|[a-z]{2}ist|[a-z]{2}ian|[a-z]{2}eer|accountant|assistant|consultant|student|agent|resident|president|superintendent|[a-z]{2}man|woman|nurse|chef|vet|cook|pilot|guard|clerk|judge|mechanic|barista|coach|nanny|surgeon|analyst|apprentice|ceo|cto|professor|actress|waitress|model|postie|cop|rep|associate|partner|fellow|architect|smith|wright|midwife|paramedic|attorney|intern|trainee|temp)s?$/;

/** Whether a noun names what somebody does for a living, or a person at all. */
export function isPersonNoun(word: string): boolean {
  const one = singular(word);
  return PERSONS.has(one) || (!NO_PERSON.has(one) && PROFESSION.test(one));
}
