export { findKind, isOfKind } from "../categories.ts";
