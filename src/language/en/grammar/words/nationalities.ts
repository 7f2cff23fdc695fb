const NATIONS: ReadonlySet<string> = new Set(
  (
    "danish swedish finnish spanish polish turkish irish scottish british english welsh dutch french greek czech swiss thai " +
    "german american mexican cuban korean moroccan african kenyan ugandan ethiopian nigerian ghanaian texan canadian " +
    "australian austrian belgian italian norwegian russian ukrainian romanian bulgarian hungarian croatian serbian bosnian " +
    "albanian estonian latvian lithuanian brazilian argentinian argentine chilean peruvian colombian venezuelan bolivian " +
    "ecuadorian egyptian tunisian algerian syrian iranian jordanian palestinian indian indonesian malaysian cambodian " +
    "chinese japanese vietnamese portuguese lebanese taiwanese maltese nepalese senegalese sudanese burmese israeli iraqi " +
    "pakistani bengali bangladeshi saudi afghan kurdish icelandic jamaican filipino filipina latino latina hispanic asian " +
    "european puerto dominican haitian hawaiian persian arab jewish slovak slovenian flemish basque catalan"
  ).split(" "),
);

/** Whether a word says where somebody is from: "Danish". It is no name. */
export function isNationality(word: string): boolean {
  return NATIONS.has(word.toLowerCase());
}
