/** A month of the reader's own time zone, from its first moment to the first moment of the next. */
export function monthBounds(month: string): { start_timestamp_min: string; start_timestamp_max: string } {
  const [year, number] = month.split('-').map(Number);
  return {
    start_timestamp_min: new Date(year!, number! - 1, 1).toISOString(),
    start_timestamp_max: new Date(year!, number!, 1).toISOString(),
  };
}
