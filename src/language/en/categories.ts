import { splitWords } from "../../domain/search/search-terms.ts";
import { isKindOf, toCanonicalThing } from "./relations/relations.ts";
import { toSingular } from "./word-forms.ts";

/**
 * Things by category, so that "What instrument do I play?" finds the cello and not the chess. Additions are
 * welcome.
 */
const MEMBERS: Readonly<Record<string, string>> = {
  instrument:
    "piano keyboard guitar bass violin viola cello drums drum ukulele flute clarinet saxophone sax trumpet trombone tuba oboe bassoon harp banjo mandolin accordion harmonica recorder organ euphonium cornet bugle piccolo lute zither sitar tabla cajon bodhran marimba xylophone glockenspiel concertina keytar synth bagpipes theremin fiddle percussion bodhran sitar marimba xylophone",
  sport:
    "football soccer tennis padel squash badminton basketball volleyball handball hockey rugby cricket golf baseball softball swimming running cycling climbing bouldering yoga pilates boxing judo karate taekwondo fencing rowing sailing surfing skiing snowboarding skating skateboarding hiking archery gymnastics athletics triathlon lacrosse kayaking canoeing wrestling netball darts billiards snooker jogging crossfit bowling dodgeball polo curling parkour kickboxing jiu-jitsu aikido frisbee pickleball wakeboarding windsurfing kitesurfing spinning weightlifting powerlifting marathon",
  game: "chess go poker bridge backgammon catan scrabble checkers draughts mahjong minecraft fortnite tetris zelda mario fifa solitaire dominoes monopoly risk sudoku",
  language:
    "english french german spanish italian portuguese dutch polish russian ukrainian czech hungarian romanian greek turkish arabic hebrew persian farsi hindi urdu bengali tamil mandarin chinese cantonese japanese korean vietnamese thai indonesian swahili welsh irish gaelic catalan basque swedish norwegian danish finnish icelandic latin esperanto croatian serbian bulgarian slovak slovenian lithuanian latvian estonian tagalog malay punjabi gujarati amharic yoruba igbo zulu afrikaans flemish breton albanian georgian armenian",
  "programming language":
    "python javascript typescript java kotlin swift rust go golang c c++ c# ruby php perl scala haskell elixir erlang clojure lua r julia dart zig ocaml f# fortran cobol lisp prolog sql bash assembly nim crystal",
  color:
    "red blue green yellow orange purple pink brown black white grey gray silver gold golden beige turquoise teal navy maroon violet indigo lilac lavender mustard cream crimson scarlet olive burgundy magenta cyan bronze copper mint coral charcoal ivory khaki ginger tabby brindle blonde blond auburn chestnut calico tortoiseshell spotted striped transparent",
  drink:
    "coffee tea matcha water juice milk beer wine cider whisky whiskey gin vodka rum cola coke lemonade espresso latte cappuccino americano mocha kombucha smoothie cocoa chai mate tequila prosecco champagne ale stout lager soda decaf rooibos",
  fruit:
    "apple pear banana orange mango grape kiwi plum cherry peach apricot pineapple melon strawberry raspberry blueberry blackberry lemon lime grapefruit fig date papaya pomegranate lychee watermelon",
  vegetable:
    "carrot potato tomato onion garlic broccoli cauliflower spinach kale cabbage leek pepper cucumber courgette aubergine pumpkin squash pea bean lettuce beetroot radish celery asparagus mushroom sprout",
  vehicle:
    "car van bike bicycle scooter motorbike motorcycle truck lorry bus tram skoda volvo ford toyota honda bmw audi mercedes volkswagen vw golf polo fiat renault peugeot citroen tesla nissan mazda kia hyundai opel vauxhall seat mini subaru jeep suzuki dacia jaguar porsche lexus mitsubishi chevrolet saab prius corolla civic fabia octavia passat fiesta focus clio corsa leaf yaris micra panda",
  car: "car van truck skoda volvo ford toyota honda bmw audi mercedes volkswagen vw fiat renault peugeot citroen tesla nissan mazda kia hyundai opel vauxhall seat mini subaru jeep suzuki dacia jaguar porsche lexus mitsubishi chevrolet saab prius corolla civic fabia octavia passat fiesta focus clio corsa leaf yaris micra panda hatchback estate suv saloon convertible hybrid polo golf twingo picanto",
  bike: "bike bicycle brompton trek giant specialized cannondale canyon bianchi e-bike ebike roadbike tandem mtb gravel cube ribble cargo",
  camera:
    "camera canon nikon canon fujifilm pentax leica sony olympus polaroid hasselblad dslr mirrorless gopro lumix rolleiflex",
  phone: "phone iphone pixel samsung galaxy nokia oneplus fairphone motorola xiaomi android smartphone",
  computer: "laptop computer macbook thinkpad imac pc dell lenovo chromebook desktop surface xps framework",
  console: "playstation xbox switch ps4 ps5 wii nintendo steamdeck",
  pet: "dog cat rabbit hamster parrot budgie tortoise turtle fish goldfish snake lizard gecko ferret rat mouse horse pony hen chicken canary cockatiel hedgehog chinchilla axolotl puppy kitten bird bunny",
  supplement:
    "vitamin magnesium zinc iron omega creatine protein melatonin probiotic probiotics calcium folate collagen turmeric ashwagandha b12 biotin multivitamin electrolytes",
  medication:
    "ibuprofen paracetamol aspirin metformin insulin statin antihistamine antihistamines antibiotic antibiotics inhaler levothyroxine sertraline omeprazole prednisone ritalin warfarin lisinopril cetirizine naproxen amoxicillin tablets pills",
  food: "pizza pasta sushi ramen pho laksa curry bread cheese rice soup salad noodles burger tacos tapas steak chocolate cake ice-cream dumplings risotto stew kimchi falafel hummus lasagne paella shellfish peanuts nuts eggs gluten dairy lactose soy sesame fish milk wheat strawberries",
  genre:
    "jazz rock pop metal classical techno house blues folk country reggae soul funk punk opera hip-hop rap indie ambient disco swing salsa bossa fantasy sci-fi crime romance thriller horror",
  newspaper: "guardian times economist telegraph independent ft spectator post",
  metal: "gold silver copper iron steel tin zinc",
  seat: "aisle window middle",
  material:
    "wood metal glass plastic leather cotton wool silk linen steel stone concrete bamboo ceramic clay",
  breed:
    "beagle labrador poodle terrier spaniel collie retriever dachshund corgi husky pug bulldog greyhound whippet shepherd boxer schnauzer chihuahua rottweiler dalmatian setter pointer hound siamese persian ragdoll bengal sphynx mongrel mutt tabby shorthair cockapoo labradoodle cavapoo doodle mix cross lurcher vizsla weimaraner akita samoyed shiba malamute pinscher maltese bichon shih bernard staffie staffy kelpie heeler",
  continent: "europe asia africa america australia antarctica oceania",
  season: "spring summer autumn winter fall",
  weekday: "monday tuesday wednesday thursday friday saturday sunday",
  condition:
    "diabetic diabetes asthma asthmatic coeliac celiac epilepsy epileptic arthritis migraine migraines eczema psoriasis anaemia anemia adhd autism autistic depression anxiety hypertension cancer dementia parkinson alzheimer thyroid hypothyroidism endometriosis scoliosis sciatica tinnitus insomnia allergy lupus crohn ibs gout glaucoma dyslexia dyslexic tourette fibromyalgia",
  diet: "vegan vegetarian pescatarian keto paleo halal kosher gluten-free coeliac omnivore flexitarian carnivore lactose",
  religion:
    "muslim christian catholic protestant jewish buddhist hindu sikh atheist agnostic quaker orthodox methodist baptist mormon pagan islam christianity judaism",
  nationality:
    "british english scottish welsh irish french german dutch belgian spanish portuguese italian greek turkish polish czech slovak hungarian romanian bulgarian ukrainian russian swedish norwegian danish finnish icelandic estonian latvian lithuanian swiss austrian american canadian mexican brazilian argentinian chilean peruvian colombian chinese japanese korean vietnamese thai indian pakistani bangladeshi nepali egyptian moroccan nigerian ghanaian kenyan ethiopian australian israeli iranian iraqi lebanese syrian filipino indonesian malaysian",
  animal:
    "dog cat rabbit hamster parrot budgie tortoise turtle fish goldfish snake lizard gecko ferret rat mouse horse pony donkey goat sheep pig cow hen chicken duck goose quail bee alpaca llama canary hedgehog chinchilla axolotl puppy kitten bird bunny turkey peacock spider tarantula snail newt frog",
  person:
    "son daughter brother sister sibling twin kid child baby mother father mum mom dad parent wife husband boyfriend girlfriend uncle aunt cousin nephew niece grandson granddaughter grandmother grandfather stepson stepdaughter flatmate roommate housemate colleague neighbour boss friend",
  voice: "soprano mezzo alto contralto countertenor tenor baritone bass treble",
  app: "app",
};

const SETS = new Map(
  Object.entries(MEMBERS).map(([kind, list]) => [toCanonicalThing(kind), new Set(list.split(" "))]),
);

/**
 * True if a text names a thing of a kind, false if it names one of another known kind, otherwise undefined.
 */
export function isOfKind(text: string, kind: string): boolean | undefined {
  const wanted = findKind(kind);
  if (wanted === undefined) return undefined;
  const words = splitWords(text).flatMap((word) => [word, toSingular(word)]);
  if (words.some((word) => wanted.set.has(word) || isKindOf(word, wanted.name))) return true;
  const isOther = [...SETS].some(
    ([name, set]) =>
      name !== wanted.name &&
      set !== wanted.set &&
      !RELATED.has(`${wanted.name} ${name}`) &&
      words.some((word) => set.has(word)),
  );
  return isOther ? false : undefined;
}

/** Kinds that one thing can belong to at once. */
const RELATED = new Set([
  "sport game",
  "game sport",
  "car vehicle",
  "vehicle car",
  "bike vehicle",
  "vehicle bike",
  "food drink",
  "drink food",
  "food fruit",
  "fruit food",
  "food vegetable",
  "vegetable food",
  "language programming language",
  "metal color",
  "fruit color",
  "sport vehicle",
  "animal pet",
  "pet animal",
  "animal food",
  "food animal",
]);

/** The known kind that a topic asks for, if any. */
export function findKind(topic: string): { name: string; set: ReadonlySet<string> } | undefined {
  const lower = topic.toLowerCase();
  const two = splitWords(lower)
    .slice(-2)
    .map((word, i, all) => (i === all.length - 1 ? toSingular(word) : word))
    .join(" ");
  const one = toSingular(splitWords(lower).at(-1) ?? "");
  for (const name of [toCanonicalThing(two), toCanonicalThing(one)]) {
    const set = SETS.get(name);
    if (set) return { name, set };
  }
  return undefined;
}

/** The kinds of the things that a text names: "the trombone in a brass band" -> instrument. */
export function findKinds(text: string): string[] {
  const words = splitWords(text).flatMap((word) => [word, toSingular(word)]);
  return [...SETS].flatMap(([name, set]) => (words.some((word) => set.has(word)) ? [name] : []));
}
