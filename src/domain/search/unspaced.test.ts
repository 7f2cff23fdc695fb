import { describe, expect, it } from "vitest";
import { extractTerms, splitWords } from "./search-terms.ts";

/** Whether the text contains all search terms. */
const finds = (query: string, text: string): boolean => {
  const terms = new Set(extractTerms(text));
  const wanted = extractTerms(query);
  return wanted.length > 0 && wanted.every((term) => terms.has(term));
};

describe("finds a word in a sentence regardless of its neighbours", () => {
  it.each([
    ["Chinese, two characters", "豆豆", "我家的猫叫豆豆，已经三岁了。"],
    ["Chinese, one character", "猫", "我家的猫叫豆豆。"],
    ["Chinese, a name from abroad", "波尔图", "我下个月搬到波尔图去住。"],
    ["Japanese, hiragana", "ねこ", "うちのねこの名前はタマです。"],
    ["Japanese, katakana", "タワー", "東京タワーの近くに住んでいます。"],
    ["Japanese, kanji", "京都", "来年は京都大学を受けます。"],
    ["Korean, with another particle", "고양이는", "고양이를 두 마리 키워요."],
    ["Korean, of one syllable", "집", "어제 집에서 쉬었어요."],
    ["Korean, inside a compound", "부산", "부산역에서 만나요."],
    ["Thai", "แมว", "ฉันเลี้ยงแมวสองตัวที่บ้าน"],
    ["Thai, inside a longer name", "กรุงเทพ", "ฉันทำงานอยู่ในกรุงเทพมหานคร"],
    ["Lao", "ວຽງຈັນ", "ຂ້ອຍອາໄສຢູ່ວຽງຈັນ"],
    ["Khmer", "ភ្នំពេញ", "ខ្ញុំរស់នៅភ្នំពេញ"],
    ["Arabic, without the article and points", "كتاب", "قرأتُ الكِتاب أمس"],
    ["Arabic, an alef without its hamza", "احمد", "أخي اسمه أحمد"],
    ["Hebrew, without the article", "כלב", "הכלב שלי אוהב לרוץ"],
    ["Hindi", "किताब", "मैंने कल एक किताब पढ़ी।"],
    ["Vietnamese, typed without marks", "da nang", "Tôi sống ở Đà Nẵng."],
    ["Turkish, in capitals", "ISPARTA", "Annem Isparta'da oturuyor."],
    ["Turkish, with a dotted capital", "izmir", "İzmir'de yaşıyorum."],
    ["German, without ß and umlaut", "strasse uberquert", "Sie hat die Straße überquert."],
    ["Greek, without accents, in capitals", "ΘΑΛΑΣΣΑ", "Μου αρέσει η θάλασσα."],
    ["Russian, with e for ё", "елка", "У нас высокая ёлка."],
    ["Polish, without its strokes", "lodz", "Mieszkam w mieście Łódź."],
  ])("%s", (_language, query, text) => {
    expect(finds(query, text)).toBe(true);
  });

  it.each([
    ["Hindi vowels", "काम", "मुझे कम चाहिए।"],
    ["Japanese voicing", "ガス", "カスが残った。"],
    ["Russian й", "май", "Маи были поздними."],
    ["Thai vowels", "ปา", "ฉันเห็นปูที่ทะเล"],
  ])("treats %s as another word", (_language, query, text) => {
    expect(finds(query, text)).toBe(false);
  });
});

it("ignores particles and endings", () => {
  expect(extractTerms("これはとてもいいです。")).not.toContain("です");
  expect(extractTerms("저는 있습니다")).toEqual([]);
  expect(extractTerms("ฉันมี")).toEqual([]);
});

it("splits words by the dictionary if single words are wanted", () => {
  expect(splitWords("我住在北京。")).toEqual(["我", "住在", "北京"]);
  expect(splitWords("ฉันชอบแมว")).toEqual(["ฉัน", "ชอบ", "แมว"]);
  expect(splitWords("고양이를 키워요")).toEqual(["고양이를", "키워요"]);
});

it.each([
  ["Thai", "ก"],
  ["Chinese", "我"],
  ["Japanese", "ねこ"],
  ["Korean", "가나다"],
  ["accented letters", "é"],
  ["a letter under a tower of accents", `e${"\u0301".repeat(200_000)}`],
])("handles a megabyte of %s quickly", (_name, letters) => {
  const began = performance.now();
  extractTerms(letters.repeat(Math.max(1, 1_000_000 / letters.length)));
  expect(performance.now() - began).toBeLessThan(10_000);
});
