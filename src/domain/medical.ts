import { splitWords } from "./words.ts";

/** Endings by which substances are named that doctors prescribe (the stems of international nonproprietary names). */
const MEDICINE_ENDINGS =
  "formin statin pril sartan olol cillin mycin micin floxacin cycline azole prazole idone barbital azepam zolam azolam " +
  "oxetine triptyline pramine tidine caine codone morphone glutide gliptin gliflozin parin xaban mab tinib vir vudine " +
  "triptan dronate setron lukast terol tropium profen coxib fenac sone solone sonide thiazide semide gabalin gabapentin " +
  "thyroxine citalopram traline faxine azapine tiapine piprazole dipine afil";

/** Medicines whose name has no such ending, and what people call kinds of them. */
const MEDICINES =
  "insulin ibuprofen paracetamol acetaminophen aspirin warfarin lithium methadone methotrexate morphine codeine digoxin " +
  "naproxen salbutamol albuterol ventolin ritalin adderall methylphenidate prozac zoloft xanax valium cortisone steroids " +
  "steroid statins antihistamine antihistamines antacid antacids painkillers betablockers diuretic diuretics melatonin " +
  "tamoxifen lamotrigine valproate carbamazepine levodopa ozempic chemo chemotherapy";

/** Endings of the names of illnesses. */
const ILLNESS_ENDINGS =
  "itis aemia leukemia anemia septicemia glycemia carcinoma lymphoma melanoma sarcoma glaucoma myeloma algia plegia " +
  "neuropathy myopathy phobia thrombosis fibrosis sclerosis cirrhosis neurosis psychosis tuberculosis scoliosis " +
  "osteoporosis endometriosis sepsis";

const ILLNESSES =
  "pneumonia stroke flu influenza covid measles mumps shingles chickenpox malaria dementia alzheimer alzheimer's " +
  "parkinson's parkinson lupus gout anorexia bulimia ulcer hernia angina concussion coma wheelchair crutches unwell sick " +
  "ebola polio cataract cataracts gallstones appendix hospice chemo dialysis transplant pacemaker bedridden";

/** Who works with the ill: that somebody is one of them says nothing of their own health. */
const HEALERS =
  /\b(?:doctor|gp|physician|nurse|therapist|surgeon|psychiatrist|psychologist|counsell?or|physiotherapist|dentist|paramedic|vet)s?\b/iu;

const splitList = (text: string): string[] => text.split(" ");
const MEDICINE_ENDING = new RegExp(`^\\p{L}{2,}(?:${splitList(MEDICINE_ENDINGS).join("|")})$`, "u");
const ILLNESS_ENDING = new RegExp(`^\\p{L}*(?:${splitList(ILLNESS_ENDINGS).join("|")})$`, "u");
const MEDICINE_WORDS: ReadonlySet<string> = new Set(splitList(MEDICINES));
const ILLNESS_WORDS: ReadonlySet<string> = new Set(splitList(ILLNESSES));

const HURTING = /^(?:break|fracture|sprain|twist|tear|injure|hurt|dislocate|burn|cut|strain|pull)$/;
const BODY =
  /\b(?:legs?|arms?|hips?|ankles?|wrists?|knees?|collarbone|ribs?|foot|feet|toes?|fingers?|thumb|nose|jaw|skull|spine|back|neck|shoulders?|elbows?|hand|hands|head|heart|lungs?|kidneys?|liver|muscle|ligament|tendon|hamstring|meniscus|acl)\b/i;

/** What a statement says, as far as it can be of somebody's health. */
interface MedicalClaim {
  readonly relation: string;
  readonly value: string;
}

/** Whether a word is the name of a medicine: by its ending, as substances are named, or by the list. */
export function isMedicine(word: string): boolean {
  const plain = word.toLowerCase();
  return MEDICINE_WORDS.has(plain) || (plain.length > 5 && MEDICINE_ENDING.test(plain));
}

/** Whether a statement tells of a medicine that is taken, an illness that somebody has, or an injury. */
export function isMedical({ relation, value }: MedicalClaim): boolean {
  const said = splitWords(value);
  if (/^(?:take|be on|use|inject|be given|need|be prescribed|swallow|start)$/.test(relation)) {
    if (said.some(isMedicine)) return true;
  }
  if (HURTING.test(relation) && BODY.test(value)) return true;
  return said.some((word) => ILLNESS_WORDS.has(word) || ILLNESS_ENDING.test(word));
}

/** "is a nurse", "works as a dentist": a medical profession, nobody's illness. */
export function isHealer({ relation, value }: MedicalClaim): boolean {
  return (
    /^(?:be|become|work as|be married to|marry|study to be|train as|want to be)$/.test(relation) &&
    HEALERS.test(value)
  );
}
