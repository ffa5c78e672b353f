/** Numbers in the headers of a picture. */

/** Whole numbers as they are, others without what their 32 bits did not say. */
export const writtenNumber = (value: number): string =>
  String(Number.isInteger(value) ? value : Number(value.toPrecision(8)));
