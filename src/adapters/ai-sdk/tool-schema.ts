/** A schema of a tool's input: a Standard Schema with its JSON Schema, which is also a schema of the AI SDK. */
export interface AiSdkToolSchema<Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(
      value: unknown,
    ): { readonly value: Input } | { readonly issues: readonly { readonly message: string }[] };
    readonly jsonSchema: {
      input(options: unknown): Record<string, unknown>;
      output(options: unknown): Record<string, unknown>;
    };
  };
}

/** A text field of a tool's input. */
interface ToolField {
  readonly description: string;
  /** In characters. */
  readonly maxLength: number;
  readonly isOptional?: boolean;
}

/** AI SDK 5 knows no Standard Schema: it knows its own schemas by this symbol. */
const AI_SDK_SCHEMA = Symbol.for("vercel.ai.schema");

/** Makes the schema of an input whose fields are texts. Other fields are refused: no argument can name a user. */
export function createToolSchema<Input>(
  fields: {
    readonly [field in keyof Input]-?: ToolField;
  },
): AiSdkToolSchema<Input> {
  const known = Object.entries(fields) as [string, ToolField][];
  const jsonSchema = {
    type: "object",
    properties: Object.fromEntries(
      known.map(([name, { description, maxLength }]) => [
        name,
        { type: "string", minLength: 1, maxLength, description },
      ]),
    ),
    required: known.flatMap(([name, { isOptional }]) => (isOptional ? [] : name)),
    additionalProperties: false,
  };
  const validate = (value: unknown) => {
    const problems = findProblems(value, known);
    return problems.length === 0
      ? { value: value as Input }
      : { issues: problems.map((message) => ({ message })) };
  };
  return {
    "~standard": {
      version: 1,
      vendor: "keepsake",
      validate,
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
    ...{
      [AI_SDK_SCHEMA]: true,
      jsonSchema,
      validate(value: unknown) {
        const result = validate(value);
        if (!result.issues) return { success: true, value: result.value };
        return {
          success: false,
          error: new TypeError(result.issues.map(({ message }) => message).join(" ")),
        };
      },
    },
  };
}

function findProblems(value: unknown, known: readonly [string, ToolField][]): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return ["The input must be an object."];
  const names = new Set(known.map(([name]) => name));
  const input = value as { readonly [field: string]: unknown };
  return [
    ...(Object.keys(input).every((name) => names.has(name))
      ? []
      : [`The input has a field other than: ${[...names].join(", ")}.`]),
    ...known.flatMap(([name, { maxLength, isOptional }]) => {
      const given = input[name];
      if (given === undefined && isOptional) return [];
      const isText = typeof given === "string" && given !== "" && given.length <= maxLength;
      return isText ? [] : [`"${name}" must be a text of 1 to ${maxLength} characters.`];
    }),
  ];
}
