/** The time now. Tests and replays hold it still. */
export type Clock = () => Date;
