import { isWellFormed, MOST_ID_BYTES } from "../../domain/limits.ts";
