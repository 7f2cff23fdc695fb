import type { NeedReader } from "../../../ports/language/context-readers.ts";
import type { Embedder } from "../../../ports/language/embedder.ts";

/** A kind of need: how requests of this kind sound, and what memories that matter to them tell. */
interface NeedKind {
  readonly asks: string;
  readonly tells: string;
}

/**
 * The kinds of need. A request is of several kinds to some degree, and so is a memory, by the vectors of their texts. To add a
 * kind, add a row.
 */
const NEED_KINDS: readonly NeedKind[] = [
  {
    asks: "suggest a snack, a recipe, what to cook for dinner, lunch, breakfast, dessert, cake, what should I order at the restaurant",
    tells:
      "allergic to nuts, shellfish, dairy, gluten, does not eat meat, vegetarian, vegan, halal, diabetes, sugar, hates coriander, cannot stand fish, oven, kitchen",
  },
  {
    asks: "what can I drink at the bar, party, tasting, cocktail, coffee, wine, beer, whisky",
    tells:
      "never drinks alcohol, no caffeine after noon, red wine triggers migraine, teetotal, pregnant, medication",
  },
  {
    asks: "headache, pain, cold, cannot sleep, what can I take from the pharmacy, feel low, ill, doctor, symptoms",
    tells:
      "allergic to ibuprofen, penicillin, takes tablets, medication, asthma, depression, blood pressure, doctor says, diagnosis, condition, migraine",
  },
  {
    asks: "get fit, exercise, workout, sport, training plan, lift, carry, dig, move heavy things, hike, climb stairs",
    tells:
      "bad back, injured shoulder, knee, wrist, physio says, torn, operation, nothing heavy, asthma, runs, swims, climbs",
  },
  {
    asks: "is it worth it, buy, cost, price, cheap, treat, subscription, present for 50, can I afford",
    tells:
      "budget, broke, a month after bills, saving for a deposit, salary, stipend, rent, debt, max euros, not paying",
  },
  {
    asks: "plan my week, saturday, evening, appointment at ten, does that work, which day is best, meet, schedule, remind",
    tells:
      "every tuesday evening class, sundays are family, works shifts, mornings at eight, off on fridays, calls parents on saturday, training at seven",
  },
  {
    asks: "trip, holiday, weekend away, flight, how do I get there, route, train, hotel, pack, abroad",
    tells:
      "does not fly, scared of flying, gets seasick, passport, visa, lost bag, drives electric car, wheelchair, travels with the dog, car range",
  },
  {
    asks: "present, gift, birthday, flowers, surprise, anniversary, what would she like",
    tells:
      "she likes, he collects, is mad on, hates lilies, her birthday is, turns seventy, arthritis in hands, favourite, wears",
  },
  {
    asks: "how do I tell my sister, invite friends, family visit, talk to, call, write to my mother, guests, children, plus one",
    tells:
      "sister is deaf, daughter, son is nine, wife, husband, single, broke up, parents live in, grandson, partner, do not mention",
  },
  {
    asks: "who looks after the animals, walk, friend with kittens, dog park, stay overnight with pets",
    tells: "cat, dog, insulin for the cat, allergic to cats, vet, old dog, died, pet sitter, feeds",
  },
  {
    asks: "delivery, sofa, furniture, install at home, fit a charger, decorate, repair, garden, grow plants, balcony, landlord",
    tells:
      "fourth floor, no lift, rented flat, landlord forbids drilling, terraced house, street parking, balcony, allotment, small kitchen, neighbours",
  },
  {
    asks: "write a short bio, introduce me, newsletter, application, about me, programme, profile text, cover letter",
    tells:
      "works as a designer, drives a bus for 31 years, studies, started at a company, lives in, dances since six, hobby, speaks, award",
  },
  {
    asks: "command, script, code, computer, run it, process files, app, which software, laptop, phone, install",
    tells:
      "uses linux, fedora, windows laptop, mac, python, cluster account, framework, no gpu, iphone, keeps notes in, spreadsheet",
  },
  {
    asks: "what should I wear, buy shoes, jacket, tools, knife, scissors, glasses, instrument, desk, chair",
    tells:
      "left-handed, size 43, tall, colour blind, sensitive skin, allergic to wool, glasses, hearing aid, right ear",
  },
  {
    asks: "recommend a book, film, series, music, concert, game, evening out, something fun to do",
    tells:
      "loves crime novels, cannot stand fantasy, plays, listens to, reads, fan of, collects, quiz, lego, trains, choir",
  },
  {
    asks: "plan until the end of the year, goals, what should I prepare, next months, career, study plan",
    tells:
      "deadline in september, exam, wedding in december, due in march, wants to, retires, moving in july, saving for, paper has to go out",
  },
];

/** What every request needs: how the user wants to be answered. */
const ALWAYS =
  "please answer short, keep it plain, no emojis, british spelling, no explanation, just give me the command, how you write to me, no fancy words, call me";
/** Its share beside the kinds of the request. */
const ALWAYS_SHARE = 0.3;

/** How sharply the kinds are told apart: greater means fewer kinds at once. */
const SHARPNESS = 12;

interface NeedFrame {
  readonly mean: Float32Array;
  readonly asks: readonly Float32Array[];
  readonly tells: readonly Float32Array[];
  readonly always: Float32Array;
}

/** Reads needs with the vectors of the memory's embedder. */
export function createNeedReader(embedder: Pick<Embedder, "embed">): NeedReader {
  let frame: NeedFrame | undefined;
  let loading: Promise<void> | undefined;
  const load = async (): Promise<void> => {
    try {
      const [wishes = new Float32Array(0), ...vectors] = await embedder.embed([
        ALWAYS,
        ...NEED_KINDS.flatMap(({ asks, tells }) => [asks, tells]),
      ]);
      const askVectors = vectors.filter((_, i) => i % 2 === 0);
      const tellVectors = vectors.filter((_, i) => i % 2 === 1);
      const mean = meanOf(askVectors);
      const told = meanOf(tellVectors);
      frame = {
        mean,
        always: toUnit(subtract(wishes, told)),
        asks: askVectors.map((vector) => toUnit(subtract(vector, mean))),
        tells: tellVectors.map((vector) => toUnit(subtract(vector, told))),
      };
    } catch {
      // A remote embedder is down: needs are found again when it answers.
    } finally {
      loading = undefined;
    }
  };
  return {
    async findNeed(vector) {
      if (!vector || vector.every((part) => part === 0)) return undefined;
      if (!frame) {
        loading ??= load();
        await Promise.race([loading, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())]);
      }
      return frame && combine(frame, vector);
    },
  };
}

/** How long a request waits for the vectors of the kinds, in ms: once, as they are kept. */
const PATIENCE_MS = 50;

function combine({ mean, asks, tells, always }: NeedFrame, vector: Float32Array): Float32Array {
  const asked = toUnit(subtract(vector, mean));
  const weights = asks.map((kind) => Math.exp(SHARPNESS * dot(asked, kind)));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const need = always.map((part) => ALWAYS_SHARE * part);
  for (const [k, kind] of tells.entries()) {
    const share = (weights[k] ?? 0) / all;
    for (let i = 0; i < need.length; i += 1) need[i] = (need[i] as number) + share * (kind[i] as number);
  }
  return toUnit(need);
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (let i = 0; i < mean.length; i += 1)
      mean[i] = (mean[i] as number) + (vector[i] as number) / vectors.length;
  return mean;
}

function subtract(vector: Float32Array, other: Float32Array): Float32Array {
  return vector.map((part, i) => part - (other[i] as number));
}

function toUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((part) => part / length);
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] as number) * (other[i] as number);
  return sum;
}
