import { describe, expect, it } from "vitest";
import { splitSentences } from "../../domain/text/split-text.ts";
import { FUNCTION_WORDS, findEnglishSpans, isEnglish } from "./detect-language.ts";

/** Everyday sentences in each language, as people type them. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  german: [
    "Ich wohne seit drei Jahren in Leipzig.",
    "mein Hund heisst Bruno",
    "ich bin muede",
    "Was war gestern los?",
  ],
  french: [
    "J'habite à Lyon depuis deux ans.",
    "mon frere joue du violon",
    "Je suis infirmière.",
    "Il fait froid ce matin",
  ],
  spanish: [
    "Vivo en Sevilla con mi hermana.",
    "no me gusta el café",
    "tengo dos hijos",
    "Soy alérgico a los cacahuetes",
  ],
  italian: [
    "Abito a Torino da cinque anni.",
    "il mio gatto si chiama Micio",
    "non lo so",
    "Lavoro come insegnante",
  ],
  portuguese: [
    "Moro em Coimbra com os meus pais.",
    "não gosto de cebola",
    "eu moro sozinho",
    "Sou alérgica a camarão",
  ],
  dutch: [
    "Ik woon al jaren in Utrecht.",
    "mijn kat heet Poes",
    "ik heb geen tijd",
    "We gaan in juli naar Frankrijk",
  ],
  swedish: [
    "Jag bor i Uppsala med min sambo.",
    "min hund heter Sixten",
    "jag vet inte",
    "Igår regnade det hela dagen",
  ],
  danish: [
    "Jeg bor i Aarhus med min kæreste.",
    "min kat hedder Mis",
    "jeg kan ikke sove",
    "Hvor er mine nøgler?",
  ],
  finnish: [
    "Asun Tampereella siskoni kanssa.",
    "en pidä sienistä",
    "Olen töissä sairaalassa",
    "Missä avaimeni ovat?",
  ],
  polish: [
    "Mieszkam w Krakowie od roku.",
    "nie lubię grzybów",
    "nie wiem co robic",
    "Moja siostra studiuje medycynę",
  ],
  czech: ["Bydlím v Brně s přítelem.", "nemám rád houby", "Zítra jdu k doktorovi", "Kde jsou moje klíče?"],
  hungarian: [
    "A kutyám és én Szegeden lakunk.",
    "nem szeretem a gombát",
    "Hol vannak a kulcsaim?",
    "holnap orvoshoz megyek",
  ],
  romanian: [
    "Locuiesc la Cluj cu sora mea.",
    "nu-mi plac ciupercile",
    "Lucrez ca profesoară",
    "Unde sunt cheile mele?",
  ],
  turkish: [
    "İzmir'de annemle yaşıyorum.",
    "Köpeğimin adı Karabaş",
    "yarin doktora gidiyorum",
    "Balık sevmem",
  ],
  vietnamese: [
    "Tôi sống ở Đà Nẵng với bố mẹ.",
    "toi song o ha noi",
    "Con mèo của tôi tên là Miu.",
    "Hôm qua trời mưa cả ngày",
  ],
  indonesian: [
    "Saya tinggal di Bandung bersama ibu.",
    "saya tidak suka durian",
    "Besok saya pergi ke dokter",
    "Di mana kunci saya?",
  ],
  chinese: ["我住在成都。", "我的猫叫豆豆", "明天要去看牙医", "我不吃香菜"],
  japanese: ["京都に住んでいます。", "ねこの名前はタマです", "きのこが苦手です", "明日は歯医者に行く"],
  korean: ["저는 부산에 살아요.", "고양이 이름은 나비예요", "버섯을 싫어해요", "내일 치과에 가요"],
  russian: ["Я живу в Казани.", "мою кошку зовут Муся", "не люблю грибы", "завтра к врачу"],
  arabic: ["أسكن في عمّان.", "اسم قطتي لولو", "لا أحب الفطر", "غدا عندي موعد"],
  hindi: ["मैं जयपुर में रहता हूँ।", "मेरी बिल्ली का नाम मिनी है", "मुझे मशरूम पसंद नहीं", "कल डॉक्टर के पास जाना है"],
};

/** English as people chat: slang, typos, names and foreign words. */
const ENGLISH = (
  "i live in leeds w my gf|my dogs called bruno|dont like spinach tbh|got dentist tmrw ugh|im alergic to peanuts|Moved to Porto.|Porto|" +
  "Not anymore.|And Magnet too|Nurse.|use linear n jira|switched from spotify to tidal|u remember my dog?|quit smoking yesterday|" +
  "Ana and I got engaged|born in Sao Paulo|my fave band is Sigur Ros|I'm learning Español|we had crème brûlée in Zürich|José is my brother|" +
  "my boss Jürgen quit|lunch w/ Maïté tmrw|renting a flat near Gare du Nord|reading Don Quijote|My name's Siobhán.|I drive a Škoda|" +
  "owe Tom 50 quid|on metformin|kids: Max and Lena|Mi casa is my cafe's name|die hard is my fav movie|I was in Nice|a job in Rome|" +
  "los angeles is home|el nino ruined my trip|des moines iowa is where i grew up|la croix addict|tu es belle is my ringtone|per diem nurse|" +
  "vet appt fri|namaste, I'm Ravi|gonna b late|idk where my keys r|mortgage w Nationwide|nonna's lasagne recipe|moving to Den Haag|" +
  "PhD in astrophysics|barista at Costa|wrk at google|piano lessons w/ Mrs Lindqvist|danke! see you later|my abuela taught me to cook"
).split("|");

describe("isEnglish", () => {
  it.each(Object.entries(OTHERS))("does not treat %s as English", (_language, sentences) => {
    expect(sentences.filter(isEnglish)).toEqual([]);
  });

  it("accepts English chat with typos, slang and names of all countries", () => {
    expect(ENGLISH.filter((sentence) => !isEnglish(sentence))).toEqual([]);
  });

  it("rejects text without a letter", () => {
    expect(["34", "", "🙂", "…", "한국"].filter(isEnglish)).toEqual([]);
  });

  it.each(Object.entries(FUNCTION_WORDS))("has enough function words for %s", (_language, words) => {
    expect(new Set(words.split(" ")).size).toBeGreaterThan(20);
    expect(words).toBe(words.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase());
  });
});

describe("findEnglishSpans in a message of two languages", () => {
  const english = (text: string): string[] =>
    findEnglishSpans(text, splitSentences(text)).map(({ start, end }) => text.slice(start, end));

  it("judges each sentence by itself", () => {
    expect(english("Ich wohne in Leipzig. I work as a nurse. Mein Hund heißt Bruno.")).toEqual([
      "I work as a nurse.",
    ]);
    expect(english("我住在成都。My cat is called Miso.")).toEqual(["My cat is called Miso."]);
  });

  it("judges a sentence without signs by the rest of the text", () => {
    expect(english("Mein Hund ist weg. Bruno. Leipzig.")).toEqual([]);
    expect(english("I lost my dog. Bruno. Leipzig.")).toEqual(["I lost my dog.", "Bruno.", "Leipzig."]);
  });
});
