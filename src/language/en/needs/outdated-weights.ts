/** Fitted by `scripts/context/fit-changes.ts`; one weight for each value of `readPair`. */
export const OUTDATED_WEIGHTS: readonly number[] = [
  -3.231, 1.405, 0.769, 1.618, 0.356, -0.789, -0.015, -0.17, -0.158, 0.292, -0.274, 0.042, 0.749, 0.398,
  0.436, 0.593, 0.914, 0.179, 0.686, 1.679, -0.133, 0.518, 0.22, 0.314, 0.436, -0.057, -0.719, 0.278, -0.157,
  0.887, 0.596, 0.53,
];
