/** A check of an adapter with the framework that it is for. */
export interface FrameworkCheck {
  readonly name: string;
  /** Each problem is a sentence. */
  run(): Promise<readonly string[]>;
}
