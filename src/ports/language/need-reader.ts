/** Knows what requests need without naming it: a snack, what one may not eat. */
export interface NeedReader {
  /**
   * The direction in which the vectors of memories lie that such a request needs, of unit length; undefined if the request
   * has no vector, or none can be computed now. `vector` is the request's.
   */
  findNeed(vector: Float32Array | undefined): Promise<Float32Array | undefined>;
}
