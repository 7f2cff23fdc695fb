import { toSingular } from "../../word-forms.ts";
import { PERSONS } from "./lexicon.ts";

/** Nouns that end like a person's trade and are none. */
const NO_PERSON = new Set(
  "number computer printer paper water dinner letter sweater weather router charger mower freezer cooker toaster boiler heater scooter trailer order folder answer offer summer winter corner shoulder finger liver bladder slipper ladder hammer drawer mirror motor door floor color monitor processor tractor sensor elevator error humor flavor harbor border cover layer poster sticker butter pepper ginger silver powder shower tower flower feather leather matter center counter filter gutter helicopter hoover jumper lighter locker newsletter oyster plaster quarter register roller rubber saucer shelter speaker starter supper theater thriller timer transfer trigger tumor vinegar wafer wrapper zipper blender mixer dryer washer dishwasher fryer recorder player burner amplifier decor sector factor vector visor minor odor rumor ever never other either after under over super hyper cucumber lobster hamster list wrist fist mist twist waist playlist checklist wishlist appetizer planter planner fever beer deer career gear spider tiger beaver".split(
    " ",
  ),
);
const PROFESSION =
  /(?:[a-z]{2}er|[a-z]{2}or|[a-z]{2}ist|[a-z]{2}ian|[a-z]{2}eer|accountant|assistant|consultant|student|agent|resident|president|superintendent|[a-z]{2}man|woman|nurse|chef|vet|cook|pilot|guard|clerk|judge|mechanic|barista|coach|nanny|surgeon|analyst|apprentice|ceo|cto|professor|actress|waitress|model|postie|cop|rep|associate|partner|fellow|architect|smith|wright|midwife|paramedic|attorney|intern|trainee|temp|paralegal|monk|courier|concierge|tutor|postman|bricklayer|chaplain|priest|imam|rabbi|soldier|sailor|marine|cadet|postdoc|undergrad|poet|host)s?$/;

/** Persons by what they are, and not by what they do for a living. */
const NO_TRADE = new Set(
  "person parent member smoker beginner owner lover drinker eater sleeper sister brother mother father grandmother grandfather granddaughter grandson stepmother stepfather daughter teenager citizen resident partner foreigner perfectionist pessimist optimist feminist atheist introvert extrovert believer dreamer hoarder widower widow user supporter follower subscriber customer survivor minor starter riser loner twin friend vegetarian pescatarian christian buddhist baptist neighbour neighbor stranger godmother godfather newcomer outsider insider homeowner renter lodger commuter migrant woman man kid child baby toddler sibling cousin guest fellow cop-out daydreamer partygoer churchgoer dancer runner swimmer hiker gamer".split(
    " ",
  ),
);

/** Whether a noun names what somebody does for a living. */
export function isTrade(word: string): boolean {
  const one = toSingular(word);
  return TRADES.has(one) || (!NO_TRADE.has(one) && isPersonNoun(one) && PROFESSION.test(one));
}

const TRADES = new Set(
  "paralegal lead admin dev freelancer pa gp priest monk farmhand concierge host courier apprentice intern trainee student builder plumber head principal ref referee postdoc undergrad".split(
    " ",
  ),
);

/** Whether a noun names what somebody does for a living, or a person at all. */
export function isPersonNoun(word: string): boolean {
  const one = toSingular(word);
  return PERSONS.has(one) || (!NO_PERSON.has(one) && PROFESSION.test(one));
}

/** "Our youngest": one of the children, or of the brothers and sisters. */
export function isByAge(words: string): boolean {
  return /^(?:eldest|oldest|youngest|firstborn|little one|(?:eldest|oldest|youngest|middle) one)$/.test(
    words,
  );
}
