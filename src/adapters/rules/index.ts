export { rulesExtractor } from "../../language/en/grammar/rules.ts";
export { rulesQuestionReader } from "../../language/en/questions/questions.ts";
export { warmed } from "../../language/en/questions/warm.ts";
