/** A few things that somebody says in a language, with what they look for and what they take back. */
export interface Spoken {
  readonly language: string;
  /** What is said, a message each; the first holds `word`, and no other does. */
  readonly says: readonly [string, string, string];
  /** A word of the first, as one would type it into a search, in another form where the language has any. */
  readonly word: string;
  /** A question whose answer stands in the first. */
  readonly asks: string;
  /** A word of the second, to be forgotten. */
  readonly forgets: string;
}

export const SPOKEN: readonly Spoken[] = [
  {
    language: "Chinese",
    says: ["我家的猫叫豆豆，已经三岁了。", "我在成都的一家医院上班。", "周末常去爬山。"],
    word: "豆豆",
    asks: "我的猫叫什么？",
    forgets: "医院",
  },
  {
    language: "Japanese",
    says: ["うちのねこの名前はタマです。", "京都の本屋で働いています。", "きのこが苦手です。"],
    word: "ねこ",
    asks: "ねこの名前は何ですか？",
    forgets: "本屋",
  },
  {
    language: "Korean",
    says: ["고양이를 두 마리 키워요.", "부산에서 간호사로 일해요.", "버섯은 못 먹어요."],
    word: "고양이",
    asks: "고양이가 몇 마리예요?",
    forgets: "간호사",
  },
  {
    language: "Thai",
    says: ["ฉันเลี้ยงแมวสองตัวที่บ้าน", "ฉันทำงานที่โรงพยาบาลในเชียงใหม่", "ฉันแพ้กุ้ง"],
    word: "แมว",
    asks: "ฉันเลี้ยงแมวกี่ตัว",
    forgets: "โรงพยาบาล",
  },
  {
    language: "Arabic",
    says: ["اسم قطتي لولو وعمرها سنتان.", "أعمل ممرضة في عمّان.", "عندي حساسية من الفول السوداني."],
    word: "قطتي",
    asks: "ما اسم قطتي؟",
    forgets: "ممرضة",
  },
  {
    language: "Hebrew",
    says: ["הכלב שלי נקרא שוקו.", "אני עובדת כאחות בחיפה.", "יש לי אלרגיה לבוטנים."],
    word: "כלב",
    asks: "איך קוראים לכלב שלי?",
    forgets: "אחות",
  },
  {
    language: "Hindi",
    says: ["मेरी बिल्ली का नाम मिनी है।", "मैं जयपुर में नर्स हूँ।", "मुझे मूँगफली से एलर्जी है।"],
    word: "बिल्ली",
    asks: "मेरी बिल्ली का नाम क्या है?",
    forgets: "नर्स",
  },
  {
    language: "Russian",
    says: ["Мою кошку зовут Муся.", "Я работаю медсестрой в Казани.", "У меня аллергия на орехи."],
    word: "кошку",
    asks: "Как зовут мою кошку?",
    forgets: "медсестрой",
  },
  {
    language: "Greek",
    says: ["Η γάτα μου λέγεται Λούνα.", "Δουλεύω νοσοκόμα στην Πάτρα.", "Έχω αλλεργία στα φιστίκια."],
    word: "ΓΑΤΑ",
    asks: "Πώς λέγεται η γάτα μου;",
    forgets: "νοσοκόμα",
  },
  {
    language: "Turkish",
    says: ["Kedimin adı Pamuk.", "Isparta'da hemşire olarak çalışıyorum.", "Fıstığa alerjim var."],
    word: "KEDİMİN",
    asks: "Kedimin adı ne?",
    forgets: "hemsire",
  },
  {
    language: "Vietnamese",
    says: ["Con mèo của tôi tên là Miu.", "Tôi làm y tá ở Đà Nẵng.", "Tôi bị dị ứng đậu phộng."],
    word: "con meo",
    asks: "Con mèo của tôi tên gì?",
    forgets: "Đà Nẵng",
  },
  {
    language: "German",
    says: [
      "Meine Katze heißt Minka.",
      "Ich arbeite als Krankenschwester in Jena.",
      "Ich vertrage keine Erdnüsse.",
    ],
    word: "katze",
    asks: "Wie heißt meine Katze?",
    forgets: "Krankenschwester",
  },
  {
    language: "French",
    says: ["Mon chat s'appelle Filou.", "Je suis infirmière à Nantes.", "Je suis allergique aux arachides."],
    word: "chat",
    asks: "Comment s'appelle mon chat ?",
    forgets: "infirmiere",
  },
  {
    language: "Spanish",
    says: ["Mi gata se llama Luna.", "Trabajo de enfermera en Cádiz.", "Soy alérgica a los cacahuetes."],
    word: "gata",
    asks: "¿Cómo se llama mi gata?",
    forgets: "enfermera",
  },
  {
    language: "Polish",
    says: ["Mój kot nazywa się Mruczek.", "Pracuję jako pielęgniarka w Łodzi.", "Mam alergię na orzechy."],
    word: "kot",
    asks: "Jak nazywa się mój kot?",
    forgets: "pielegniarka",
  },
  {
    language: "Finnish",
    says: ["Kissani nimi on Misu.", "Olen sairaanhoitaja Turussa.", "Olen allerginen maapähkinälle."],
    word: "kissani",
    asks: "Mikä on kissani nimi?",
    forgets: "sairaanhoitaja",
  },
  {
    language: "Indonesian",
    says: [
      "Kucing saya bernama Manis.",
      "Saya bekerja sebagai perawat di Solo.",
      "Saya alergi kacang tanah.",
    ],
    word: "kucing",
    asks: "Siapa nama kucing saya?",
    forgets: "perawat",
  },
  {
    language: "Khmer",
    says: ["ឆ្មារបស់ខ្ញុំឈ្មោះមីមី។", "ខ្ញុំធ្វើការនៅមន្ទីរពេទ្យ។", "ខ្ញុំមិនញ៉ាំបង្គាទេ។"],
    word: "ឆ្មា",
    asks: "ឆ្មារបស់ខ្ញុំឈ្មោះអ្វី?",
    forgets: "មន្ទីរពេទ្យ",
  },
];
