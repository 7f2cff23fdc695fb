/** Makes ids: UUIDv7 (RFC 9562), rising within a process. */
export type Ids = () => string;
