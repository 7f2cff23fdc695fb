import { foldText } from "../../domain/text/normalize-text.ts";
import type { TextSpan } from "../../domain/text/split-text.ts";

/**
 * Words that occur in nearly every sentence of a language, without accents. Words that English shares ("on",
 * "bin", "me", "man") count for neither.
 *
 * To add a language, add a row with thirty to eighty indispensable everyday words: pronouns, forms of to be
 * and to have, prepositions, question words, greetings.
 */
export const FUNCTION_WORDS: Readonly<Record<string, string>> = {
  german:
    "ich du er wir ihr sie mich dich mir dir uns euch mein meine meinen meinem meiner dein deine ist sind bist seid hab habe hast " +
    "hatte haben wird werde werden wurde der das dem den ein eine einen einem einer und oder aber nicht kein keine keinen " +
    "mit auf fur fuer von zu zum zur bei nach uber ueber seit vor im am auch noch schon sehr nur wenn weil dass wie wo wer " +
    "warum wann heute morgen gestern immer bitte danke ja nein heisse heisst wohne gehe geht kann muss will mag moechte gern " +
    "alles klar bis spater hallo los gibt macht mache doch mal " +
    "unser unsere unserem ihm ihn ihnen gute guten nacht tag abend wochenende trinke trinkt esse isst schlafen spielt kind " +
    "kinder tochter sohn bruder schwester mutter vater haus wohnung arbeit arbeite jahre alt neu gut magst geh komme kommt",
  french:
    "je j tu il elle nous vous ils elles moi toi mon ma mes ton tes sa ses notre votre est suis es sommes etes sont ai avons avez " +
    "ont etait c qu n d l s m le la les une des du au aux et ou mais pas ne que qui quoi quand comment pourquoi avec sans dans sur pour " +
    "par chez depuis tres aussi bien merci bonjour oui non fait faire vais va ce cette ces ici hier demain aujourd hui plait " +
    "habite appelle aime travaille deux soir matin ans on " +
    "bonne bonsoir nuit encore toujours jamais mange manger bois boire dormir pleut fille fils frere soeur mere pere maison " +
    "travail voiture chat chien huit nouveau nouvelle acheter achete perdu peux peut veux dois sais rien tout toute tous " +
    "mal",
  spanish:
    "yo tu el ella nosotros ustedes ellos mi mis su sus nos te se lo los las una unos unas es soy eres somos estoy esta estan " +
    "tengo tiene tienen hay era fue y pero no que quien cuando donde como por para con sin del al en de muy tambien gracias hola " +
    "si ayer manana hoy siempre nunca gusta gustan vivo voy va hace mucho llamo llama trabajo quiero puedo mas este esta hermana " +
    "hermano madre padre dos anos nada " +
    "buenas buenos noches tardes dias amigo amiga bebo comer dormir llueve hija hijo casa coche perro gato nuevo nueva " +
    "perdi compro compramos puede quiere hacer tener ser estar ahora bien todo todos toda bueno malo otra vez entonces",
  italian:
    "io tu lui lei noi voi loro mio mia miei mie tuo tua suo sua mi ti si ci il lo gli la le uno una e sono sei siamo siete ho hai ha " +
    "abbiamo hanno era non che chi cosa dove quando come perche con senza di del della dei delle da dal nel nella per molto anche " +
    "grazie ciao ieri domani oggi sempre mai piace piacciono abito chiamo chiama lavoro vado fa questa questo al alla alle sera anni " +
    "buona buono notte giorno bevo mangiare mangio dormire piove figlia figlio sorella fratello madre padre casa macchina " +
    "cane gatto nuovo nuova perso riesco posso vorrei voglio devo ora bene tutto tutti ancora insegnante vive anno ogni",
  portuguese:
    "eu tu ele ela nos voce voces eles meu minha meus minhas seu sua os as um uma e sou somos esta estou estao tenho tem era foi nao que " +
    "quem quando onde como por para com sem do da dos das no na nos nas em de ao muito tambem obrigado obrigada ola sim ontem amanha hoje " +
    "sempre nunca gosto moro vivo chamo chama trabalho vou faz isso este esta numa num dia sozinho toco comprei " +
    "boa bom noite tarde bebo comer dormir chove filha filho irma irmao mae pai casa carro cao gato novo nova perdi posso " +
    "quero consigo agora bem tudo todos toda ainda mais",
  dutch:
    "ik jij hij zij wij jullie mijn jouw zijn haar ons je ze we het een de en of maar niet geen met op voor van naar bij uit aan ook nog " +
    "heel wel als omdat dat wat wie waar wanneer hoe waarom heb hebt heeft hebben bent zal wordt werd moet kan wil hou houd ga gaat gaan " +
    "vandaag gisteren morgen altijd nooit alsjeblieft dank heet woon woont werk tijd elke erg weer jaren " +
    "goede goeden goedenacht nacht dag avond drink eet slapen regent dochter zoon broer zus moeder vader huis auto hond kat " +
    "nieuw nieuwe kwijt alleen allemaal nou eens graag mooi goed slecht weet kom komt",
  swedish:
    "jag du han hon vi ni dem mig dig oss min mitt mina din ditt sin ar och att det som en ett pa av med for till fran om inte ingen men " +
    "nar var hur varfor vad vem har hade ska skulle kan maste vill blir ocksa mycket bara igar imorgon idag alltid aldrig tack hej heter bor " +
    "tycker jobbar hela dagen vet sommar " +
    "god natt kvall dricker ater sova regnar dotter son bror syster mamma pappa hus hund katt ny nya tappat allihop igen nu " +
    "bra dalig kanske lite tror kommer gar gor jobb arbete",
  danish:
    "jeg du han hun vi dem mig dig os min mit mine din dit er og at det som en et pa af med til fra om ikke ingen men nar hvor hvordan " +
    "hvorfor hvad hvem har havde skal skulle kan ma vil bliver ogsa meget kun igar imorgen idag altid aldrig tak hej hedder bor kunne lide " +
    "arbejder hele dagen ved gar morgen " +
    "god godnat aften drikker spiser sove regner datter son bror soster mor far hus hund kat ny nye mistet alle sammen igen " +
    "nu godt maske lidt tror kommer gor arbejde glem",
  finnish:
    "mina sina han me te he minun sinun en et ei emme eivat olen olet ollut oli olivat ja tai mutta kun jos koska missa mista mika kuka " +
    "milloin miten miksi se tama tuo nama myos vain hyvin paljon kiitos moi hei eilen huomenna tanaan aina koskaan koko joka kanssa pidan " +
    "asun menen nimi paivan " +
    "hyvaa yota paivaa huomenta juon syon nukkua sataa taas tyttareni poikani siskoni veljeni aitini isani kotini taloni " +
    "autoni koirani kissani uusi uuden hukassa rikki nyt ehka vahan toissa ostin ostimme teen",
  estonian:
    "mina sina tema meie teie nemad minu sinu olen oled oli ja voi aga kui kus mis kes miks kuidas ei ma sa ta ka vaga homme tana eile elan",
  hungarian:
    "en te o mi ti ok az egy es vagy de nem is hogy ha mert mit ki hol mikor hogyan miert van volt vagyok vannak lesz volna nekem neked " +
    "csak nagyon meg igen koszonom szia ma tegnap holnap mindig soha egesz nap el fel hol " +
    "jo ejszakat napot estet reggelt iszom eszem aludni esik lanyom fiam noverem ocsem anyam apam hazam kocsim kutyam " +
    "macskam uj elromlott elvesztettem tudok akarok szeretek szeretem lakom dolgozom nincs most jol talan kicsit neve mar " +
    "ezt azt",
  polish:
    "ja ty ona my wy oni mnie mi ciebie ci moj moja moje twoj sie jest sa jestem jestes bylem byla bylo mam masz ma maja i w z na do od po " +
    "za przez dla nie tak ale lub albo czy ze co kto gdzie kiedy jak dlaczego bardzo tez juz tylko wczoraj jutro dzis zawsze nigdy prosze " +
    "dziekuje lubie mieszkam pracuje wiem u o jako roku " +
    "dobranoc dobry wieczor dzien pije jem spac pada znowu corka syn brat siostra mama tata dom praca samochod pies kot " +
    "nowy nowa zgubilem zgubilam moge chce musze teraz dobrze wszystko wszystkim troche mowi ide lat",
  czech:
    "ja ty ona my vy oni me mi tebe ti muj moje moji tvuj se je jsem jsi jsou byl byla bylo mam mas ma maji v z na do od po za pro ne ano ale " +
    "nebo ze co kdo kde kdy jak proc velmi taky uz jen jenom vcera zitra dnes vzdy nikdy prosim dekuji rad rada bydlim pracuji jako cely den s i " +
    "dobrou dobry noc vecer piju jim spat prsi dcera syn bratr sestra mama tata dum prace auto pes kocka novy nova ztratil " +
    "ztratila muzu chci musim ted dobre vsechno vsem trochu jdu mu let",
  croatian:
    "ja ti ona mi vi oni mene tebe moj moja moje tvoj se je sam si su bio bila imam imas ima u na do od po za iz sa ne da ali ili sto tko " +
    "gdje kada kako zasto vrlo takoder vec samo jucer sutra danas uvijek nikad molim hvala zivim radim volim zovem zove " +
    "dobar dobra laku noc dan vecer pijem jedem spavati kisa kci sin brat sestra mama tata kuca posao auto pas macka nov " +
    "nova izgubio izgubila mogu zelim moram sad sada dobro sve svima malo idem",
  romanian:
    "eu el ea noi voi ei ele ma te se imi iti mea mele tau sau si este e sunt esti suntem am ai are avem au fost un una o la in cu de pe din " +
    "pentru fara nu da dar ca ce cine unde cand cum foarte doar ieri maine azi mereu niciodata multumesc merg lucrez locuiesc plac place toata " +
    "meu mei nu " +
    "buna noapte ziua seara beau mananc dorm ploua iar fiica fiul sora fratele mama tata casa serviciu masina caine pisica " +
    "nou noua pierdut pot vreau trebuie acum bine tot toti putin cheama",
  turkish:
    "ben sen biz siz onlar benim senin bizim bana sana beni ve ile ama fakat veya icin gibi kadar cok daha bir bu su ne kim nerede nereye " +
    "zaman nasil neden var yok degil mi evet hayir tesekkurler merhaba bugun yarin dun her hic adim adi oturuyorum yasiyorum calisiyorum " +
    "seviyorum sevmem istiyorum gidiyorum butun gun yeni aldik unut olarak " +
    "iyi geceler gunler aksamlar icerim yerim uyumak yagmur yagiyor yine kizim oglum kardesim annem babam evim isim arabam " +
    "kopegim kedim bozuldu kaybettim lazim simdi tamam herkese biraz belki sadece nerde aldim",
  vietnamese:
    "toi ban anh chi em cua la va o tai voi khong co duoc se da dang cho nhung nay do gi ai dau bao gio nhu the nao rat cung chi hom nay qua ngay " +
    "mai ten thich song lam viec con mot hai chung ho ghi nam nguoi nha xin cam on chao " +
    "uong an ngu mua gai trai bo me xe meo moi mat muon phai bay tot chuc ngon lai roi hong tam tuoi",
  indonesian:
    "saya aku kamu anda dia kami kita mereka adalah ini itu di ke dari dan atau tetapi tapi yang untuk dengan tidak bukan belum sudah akan ada " +
    "apa siapa mana kapan bagaimana kenapa sangat juga hanya kemarin besok hari selalu terima kasih suka tinggal bernama nama bekerja sebagai " +
    "pergi setiap main rumah bisa mau " +
    "selamat malam pagi siang minum makan tidur hujan lagi anak kakak adik ibu ayah mobil kerja kucing anjing baru hilang " +
    "rusak harus sekarang baik semua sedikit berumur tahun lupakan sama",
  tagalog:
    "ako ikaw siya kami tayo sila ang ng mga sa at ay ko mo niya namin natin nila hindi oo kung kapag ano sino saan kailan paano bakit dito nakatira ako po",
  swahili:
    "mimi wewe yeye sisi ninyi wao ni na ya wa kwa katika lakini au hapana ndiyo nini nani wapi lini sana pia jina langu yangu ninaishi napenda naitwa",
};

/** Everyday English words, including chat words and common typos. */
const ENGLISH_WORDS: string =
  "a an the i im ive ill id u ur r me my mine we our ours us you your yours he she it its they them their his her hers this that these those there " +
  "here who whom whose what which when where why how is am are was were be been being do does did done dont doesnt didnt isnt arent wasnt werent " +
  "have has had havent hasnt hadnt having can cant could couldnt will wont would wouldnt shall should shouldnt may might must not no nope yes yep " +
  "yeah yup ok okay and but or nor so if because cos coz cuz as of to in on at by for from with without about into onto over under after before " +
  "since until till during between through up down out off than then too also just only even still again now never always often sometimes ever " +
  "usually already yet today tonight tomorrow tmrw yesterday morning evening night week weeks month months year years yr yrs day days time ago last next " +
  "every each all any some many much more most few less lot lots very really quite pretty both either other another same one two three " +
  "go goes going gonna went gone get gets got getting make makes made take takes took come came coming see saw seen say said tell told know knew " +
  "think thought want wants wanted wanna need needs like likes liked love loves loved hate hates live lives lived living work works worked working use uses used " +
  "using play plays played eat eats ate drink call called calls name names named named move moved moving start started stop stopped quit try tried tryna help put " +
  "buy bought sell sold pay paid keep kept let lets find found give gave feel felt left leave meet met run ran read reading speak learn learning study studying " +
  "teach drive ride wear cook visit remember forget forgot please pls plz thanks thank thx ty hi hello hey bye sorry sure lol haha btw tbh idk omg rn innit bro " +
  "actually instead anymore maybe probably almost around away back home house flat job boss friend friends mum mom dad mother father sister sis brother wife " +
  "husband son daughter kids kid baby boyfriend girlfriend gf bf partner man men woman people dog dogs cat cats car bike phone number money food water tea coffee " +
  "good bad new old big small nice great best fav fave favourite favorite better happy sad sick tired busy free right wrong first second born allergic vegan " +
  "vegetarian nurse teacher school uni college office doctor dentist meeting birthday bday party holiday city town";

/** Words with an accent that English has adopted. */
const LOAN_WORDS: string =
  "café cafés crème brûlée naïve résumé fiancé fiancée jalapeño déjà vu touché über cliché décor façade voilà purée sauté entrée pâté " +
  "piñata señor señora née à la carte rosé latté matcha soufflé papier mâché soirée protégé blasé exposé applé maté açaí doppelgänger smörgåsbord";

/** Scores of a text by language; both are 0 if nothing is known ("Porto.", "34"). */
interface LanguageScores {
  readonly english: number;
  /** The score of the best other language. */
  readonly other: number;
}

const toWordSet = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const ENGLISH = toWordSet(ENGLISH_WORDS);
const LOANS = toWordSet(LOAN_WORDS);

/** Languages by word, except English words; and words shared with English. */
const LANGUAGES_OF = new Map<string, string[]>();
const SHARED = new Set<string>();
for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
  for (const word of toWordSet(words)) {
    if (ENGLISH.has(word)) SHARED.add(word);
    else LANGUAGES_OF.set(word, [...(LANGUAGES_OF.get(word) ?? []), language]);
  }
}

/**
 * Prefixes of names (Los Angeles, La Croix, Van Dyke) and short forms that are frequent in English text. One
 * alone means little.
 */
const IN_NAMES = toWordSet(
  "la le les el los las de del della di da das do dos du des der die den von van il un une al san sur mi ma sa mit na mon vet auto pas son far dos",
);
const IN_NAME = 0.5;
/** The English score of a word that other languages share ("in", "no", "me"). */
const SHARED_WORD = 0.5;
/** The score of a letter that English lacks, in a word that is not a name. */
const STRANGE = 1;
const ASCII = /^\p{ASCII}*$/u;
const LETTERS = /\p{L}/gu;
const LATIN = /\p{Script=Latin}/gu;
const WORDS = /\p{L}+(?:['’]\p{L}+)*/gu;
const ENGLISH_ENDINGS = /['’](?:s|m|re|ve|ll|d|t)$/i;

/**
 * Scores English and other languages word by word. It is made for single chat sentences. English is assumed
 * unless another language scores higher, because names, typos and slang are in no list.
 */
function scoreLanguages(text: string): LanguageScores {
  const sample = text.slice(0, 1500);
  const foreign = ASCII.test(sample) ? 0 : countForeignLetters(sample);
  if (foreign > 0) return { english: 0, other: foreign };
  let english = 0;
  let strange = 0;
  const others = new Map<string, number>();
  for (const [place, word] of (sample.match(WORDS) ?? []).entries()) {
    const score = scoreEnglishWord(word);
    english += score;
    if (score === 0)
      for (const part of word.split(/['’]/)) strange += addLanguages(part, place === 0, others);
  }
  return { english, other: strange + Math.max(0, ...others.values()) };
}

/** All letters of a text of which less than 70 % are Latin; else 0. */
function countForeignLetters(text: string): number {
  const letters = text.match(LETTERS)?.length ?? 0;
  const latin = text.match(LATIN)?.length ?? 0;
  return letters > 0 && latin / letters < 0.7 ? letters : 0;
}

function scoreEnglishWord(word: string): number {
  const lower = word.toLowerCase();
  if (SHARED.has(lower)) return SHARED_WORD;
  return ENGLISH.has(lower) || ENGLISH_ENDINGS.test(word) ? 1 : 0;
}

/** Adds a word to the scores of its languages. Returns the score of its letters. */
function addLanguages(word: string, isFirst: boolean, others: Map<string, number>): number {
  const lower = word.toLowerCase();
  const bare = ASCII.test(word) ? lower : foldText(word).replaceAll("ß", "ss");
  const languages = LANGUAGES_OF.get(bare) ?? [];
  const weight = IN_NAMES.has(lower) || lower.length < 3 ? IN_NAME : 1;
  for (const language of languages) {
    others.set(language, (others.get(language) ?? 0) + weight);
  }
  const isName = !isFirst && word !== lower;
  return languages.length === 0 && bare !== lower && !isName && !LOANS.has(lower) ? STRANGE : 0;
}

/**
 * Whether rules for English may read a text. A text without any sign counts as English if it has a letter.
 */
export function isEnglish(text: string): boolean {
  return LATIN_LETTER.test(text) && isMostlyEnglish(scoreLanguages(text));
}

/** Whether a text is recognisably in another language. A number, a name or an emoji is no sign. */
export function isOfOtherLanguage(text: string): boolean {
  return !isMostlyEnglish(scoreLanguages(text));
}

/**
 * The sentences of a text that rules for English may read. A sentence without any sign is judged by the whole
 * text.
 */
export function findEnglishSpans(text: string, sentences: readonly TextSpan[]): TextSpan[] {
  let isTextEnglish: boolean | undefined;
  return sentences.filter(({ start, end }) => {
    const signs = scoreLanguages(text.slice(start, end));
    if (signs.english > 0 || signs.other > 0) return isMostlyEnglish(signs);
    isTextEnglish ??= isEnglish(text);
    return isTextEnglish;
  });
}

function isMostlyEnglish({ english, other }: LanguageScores): boolean {
  return other <= Math.max(english, IN_NAME);
}

const LATIN_LETTER = /\p{Script=Latin}/u;
