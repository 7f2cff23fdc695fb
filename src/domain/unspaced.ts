/**
 * Text whose words no space parts, or whose words carry endings that a search must see through: Chinese, Japanese and
 * Korean, Thai, Lao, Khmer and Burmese. All by what Node brings along (Intl.Segmenter); no dictionary of ours.
 */

const EAST = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々`;
const SOUTH = String.raw`\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;

/** Letters of these scripts, for a pattern with the flag `v`. */
export const UNSPACED: string = EAST + SOUTH;

const RUN = new RegExp(`^[${UNSPACED}]`, "v");
const SOUTHERN = new RegExp(`^[${SOUTH}]`, "v");
const PARTS = /\p{Script=Han}+|[\p{Script=Katakana}ー]+|[\p{Script=Hiragana}ー]+|\p{Script=Hangul}+/gu;

/** Whether a word begins in one of these scripts. */
export function isUnspaced(word: string): boolean {
  return RUN.test(word);
}

/** Characters that stand in every Chinese sentence; a pair of two of them tells nothing. */
const COMMON_CHARACTERS: ReadonlySet<string> = new Set(
  "的了是我你他她它们吗呢吧啊呀哦嘛和与在有就都也还很那这个么什哪谁几多少来着请问一下想要知道",
);

/** Pairs of hiragana that are grammar, and words that stand in every Thai, Lao, Khmer or Burmese sentence. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "です でし ます まし まし ませ せん した して しま いま いる いた いて ある あり あっ この その あの どの これ それ あれ どれ ここ そこ どこ " +
    "から まで なに なん いつ だれ とき こと もの もう よう ので のは のが のに のを とは とい いう って った たい たち ない なか なっ なの " +
    "では には への での とか さん ちゃ くだ ださ さい わた たし わた ぼく あな なた です すか ます すよ すね るの てい てる れた れて られ てく " +
    "ฉัน ผม ดิฉัน คุณ เขา เธอ เรา มัน ที่ ใน ของ และ คือ เป็น มี อยู่ ไม่ ได้ จะ ให้ กับ นี้ นั้น อะไร ไหน ใคร เมื่อไร เมื่อไหร่ อย่างไร ทำไม ไหม ครับ ค่ะ คะ ชอบ " +
    "ຂ້ອຍ ເຈົ້າ ຢູ່ ໃນ ຂອງ ແລະ ເປັນ ມີ ບໍ່ ຫຍັງ ໃສ ໃຜ ບໍ ទី ខ្ញុំ អ្នក គាត់ នៅ ក្នុង របស់ និង ជា មាន មិន អ្វី ណា ទេ ដែល ကျွန်တော် ကျွန်မ မှာ ကို က တယ် ပါ သည် လဲ ဘာ ဘယ် "
  )
    .split(" ")
    .filter(Boolean),
);

/** What follows a Korean noun, and how Korean sentences end; neither tells what they speak of. */
const PARTICLE =
  /(?<=.)(?:은|는|이|가|을|를|에|의|로|와|과|도|만|에서|으로|에게|한테|까지|부터|처럼|보다|이랑|랑|하고|이나|에는|에서는|이라고|라고)$/u;
const ENDING =
  /(?:(?:했|었|았|있|였)?(?:습니다|습니까|어요|아요)|합니다|합니까|입니다|입니까|해요|이에요|예요|에요|세요|네요|군요|지요|나요|인가요|할까요|죠|니다|니까|었다|았다|했다|있다|한다|이다|(?<=..)[요다])$/u;
const KOREAN_COMMON: ReadonlySet<string> = new Set(
  "나 저 제 내 너 우리 그 이 저희 무엇 뭐 어디 언제 누구 왜 어떻게 어떤 무슨 있 없 하 것 거 수 때".split(" "),
);

/** The search terms of a run of these scripts. What it gives of a word does not depend on what stands beside it. */
export function extractUnspacedTerms(run: string): string[] {
  if (SOUTHERN.test(run)) return extractSouthernTerms(run);
  return Array.from(run.matchAll(PARTS), ([part]) => part).flatMap((part) => {
    if (/^\p{Script=Han}/u.test(part)) return extractChineseTerms(part);
    if (/^\p{Script=Hangul}/u.test(part)) return extractKoreanTerms(part);
    // One letter of hiragana between characters is a particle.
    if (/^[\p{Script=Hiragana}ー]$/u.test(part)) return [];
    return toPairs(part).filter((pair) => !COMMON.has(pair));
  });
}

/**
 * Pairs of neighbouring characters, and the single ones: what is 38岁 in one place is 年龄 or 几岁 in the other. Where
 * words end depends on what stands beside them (the segmenter makes 猫叫 one word), and a search must not.
 */
function extractChineseTerms(run: string): string[] {
  const singles = Array.from(run).filter((letter) => !COMMON_CHARACTERS.has(letter));
  const pairs = Array.from(run).length === 1 ? [] : toPairs(run);
  return [
    ...singles,
    ...pairs.filter((pair) => !Array.from(pair).every((one) => COMMON_CHARACTERS.has(one))),
  ];
}

/** Pairs of syllables of a word without its ending and particle; a noun of one syllable is found by it. */
function extractKoreanTerms(word: string): string[] {
  const stem = word.replace(ENDING, "").replace(PARTICLE, "");
  if (stem === "" || KOREAN_COMMON.has(stem)) return [];
  return toPairs(stem);
}

/** Words; long ones by runs of three letters: กรุงเทพ is found in กรุงเทพมหานคร, which is one word too. */
function extractSouthernTerms(run: string): string[] {
  return segmentWords(run).flatMap((word) => {
    if (COMMON.has(word)) return [];
    const letters = Array.from(word);
    if (letters.length < 5) return [word];
    return letters.slice(2).map((_one, i) => letters.slice(i, i + 3).join(""));
  });
}

function toPairs(text: string): string[] {
  const letters = Array.from(text);
  if (letters.length === 1) return letters;
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

let segmenter: Intl.Segmenter | undefined;

/** The words of a run as a dictionary parts them; it knows all these scripts whatever its language is called. */
export function segmentWords(run: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "word" });
  return Array.from(segmenter.segment(run)).flatMap(({ segment, isWordLike }) =>
    isWordLike ? [segment] : [],
  );
}
