/** What one person told over a year, and the same asked for in other words. */
export const TOLD: readonly (readonly [said: string, asked: string])[] = [
  ["I work as a nurse at the children's hospital in Ghent.", "what is my profession"],
  ["My sister Marloes keeps bees on her roof.", "who in my family is a beekeeper"],
  ["I am allergic to shellfish.", "can I eat prawns"],
  ["We bought a narrowboat called Heron last spring.", "the boat we own"],
  ["I play the viola in an amateur orchestra.", "which musical instrument do I play"],
  ["My landlord is Mr Achterberg.", "who owns the flat I rent"],
  ["I take the 7:40 train to the office every weekday.", "how do I commute to work"],
  ["Our cat Pixel hates the vacuum cleaner.", "what is my pet afraid of"],
  ["I'm learning Portuguese with a tutor on Mondays.", "the language lessons I take"],
  ["My car failed its inspection because of the brakes.", "what was wrong with my vehicle"],
  ["I run a book club that meets on the first Thursday of the month.", "when do we discuss novels together"],
  ["I don't drink coffee after noon, it keeps me awake.", "why do I avoid caffeine in the afternoon"],
  ["My grandmother turned ninety in June.", "how old is my gran"],
  ["I lost my wallet on the ferry to Texel.", "where did I lose my purse"],
  ["I prefer window seats on planes.", "where do I like to sit when flying"],
  ["My best friend Tobias moved to Oslo.", "which friend lives in Norway"],
  ["I've been a vegetarian since university.", "do I eat meat"],
  ["The password hint is the street I grew up on.", "what is the hint for logging in"],
  ["I have a dentist appointment on 14 March.", "when do I see the dentist"],
  ["My knee hurts when I climb stairs.", "which joint is painful"],
  ["I sold my motorbike to a colleague.", "who has my old motorcycle"],
  ["Our daughter Linde starts school in September.", "when does our girl begin school"],
  ["I keep the spare key under the blue flowerpot.", "where is the extra key hidden"],
  ["My favourite film is Paris, Texas.", "which movie do I like best"],
  ["I'm saving for a trip to Patagonia.", "what am I putting money aside for"],
  ["My boss Renata wants the quarterly report by Friday.", "the deadline for the report"],
  ["I bake sourdough bread on Sundays.", "what do I bake at the weekend"],
  ["We painted the bedroom dark green.", "what colour are the bedroom walls"],
  ["I wear size 43 shoes.", "my shoe size"],
  ["My brother is training to become a pilot.", "what job is my brother learning"],
  ["I subscribe to a weekly vegetable box.", "how do I get my vegetables delivered"],
  ["I broke my wrist skiing in 2019.", "the skiing injury I had"],
  ["My neighbour Ilse waters our plants when we're away.", "who looks after the plants during holidays"],
  ["I use Obsidian for my notes.", "what note-taking app do I use"],
  ["My blood type is O negative.", "which blood group am I"],
  ["I volunteer at the food bank on Saturdays.", "where do I help out as a volunteer"],
  ["I am afraid of heights.", "what scares me"],
  ["My wedding anniversary is on 2 October.", "when did I get married"],
  ["I studied geology in Utrecht.", "what subject did I study at university"],
  ["The heating in our house is a heat pump.", "how is our home heated"],
  ["My phone screen is cracked again.", "what happened to my mobile"],
  ["I swim two kilometres before breakfast.", "what sport do I do in the morning"],
  ["My uncle left me his stamp collection.", "who did I inherit the stamps from"],
  ["I can't stand coriander.", "which herb do I dislike"],
  ["I go to a physiotherapist for my back.", "who treats my back pain"],
  ["My team supports customers in Latin America.", "which region does my team serve"],
  ["I planted three apple trees behind the shed.", "which fruit trees are in the garden"],
  ["My old laptop runs Debian.", "which operating system is on my laptop"],
  ["I owe Hanneke fifty euros.", "who do I have to pay back"],
  ["My passport expires in November.", "when does my passport run out"],
  ["I collect vintage fountain pens.", "what do I collect"],
  ["I named my sourdough starter Clint.", "the name of my starter"],
  ["We're getting solar panels installed in May.", "when will the solar panels be put in"],
  ["My therapist recommended a sleep diary.", "what did the therapist advise"],
  ["I failed my first driving test.", "did I pass the driving exam"],
  ["I like my tea with oat milk.", "how do I take my tea"],
  ["My cousin Bram is a goalkeeper for the local club.", "which relative plays football"],
  ["I'm reading a biography of Marie Curie.", "what book am I reading"],
  ["Our wifi router is in the meter cupboard.", "where is the internet router"],
  ["I usually fall asleep around eleven.", "what time do I go to sleep"],
];

/** Nonsense, and questions that nothing of it has to do with. */
export const ELSEWHERE: readonly string[] = (
  "xqzv plomf grindel|asdf jkl qwerty|florbnak vintu|zzzzzz zzzz|lorem ipsum dolor sit amet|blorptastic quux frobnicate|" +
  "what is the boiling point of mercury|who won the 1954 football world cup|explain quantum entanglement|capital of Mongolia|" +
  "how does photosynthesis work|difference between TCP and UDP|the plot of Hamlet|what is the GDP of Brazil|" +
  "derivative of a logarithm|how do volcanoes erupt|when was the printing press invented|who composed the Magic Flute|" +
  "how to declare a variable in Rust|largest moon of Saturn|causes of the French Revolution|how do magnets attract iron|" +
  "convert miles into furlongs|who was the first emperor of Rome|how many bits in a byte|what is a haiku|rules of cricket|" +
  "how is steel made|distance from Earth to the Sun|what does DNA stand for|history of the Ottoman empire|" +
  "how do submarines dive|Pythagorean theorem proof|which gas do plants absorb|what is a black hole|inventor of the telescope|" +
  "average rainfall in the Sahara|how does a jet engine produce thrust|chemical symbol for tungsten|tallest building in Dubai|" +
  "who painted the Night Watch|how to compute a standard deviation|what is inflation in economics|the speed of light in glass|" +
  "life cycle of a butterfly|how do vaccines produce immunity|what is a monad|Kepler's laws of planetary motion|" +
  "symptoms of scurvy in sailors|origin of the Olympic games|meaning of the word ubiquitous|how are diamonds formed|" +
  "syntax of a SQL join|which planet has rings|how tides depend on the moon|battle of Waterloo commanders|" +
  "what is a Turing machine|how many players in a rugby team|periodic table noble gases|formula for the area of a circle"
).split("|");
