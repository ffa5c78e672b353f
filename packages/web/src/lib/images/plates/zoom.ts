/** How large the map of a plate is drawn: plates of few wells fill their panel, and stay in the window. */
export const WIDE = 24;
/** Letters and gaps of a map without pictures grow with it up to here. */
export const LARGE = 2.5;

const LETTERS = 20;
const FEW = 6;
const HIGHEST = 640;
const WIDEST = 640;
/** So that a single well is no poster. */
const LEAST_ACROSS = 110;

/** Of a well with a picture, in pixels of the page. */
const largest = (rows: number, columns: number) => Math.max(columns <= FEW ? 200 : 120, Math.min(360, HIGHEST / rows));

/** Pixels of the page for one unit of the map, where there is so much room across. */
export function zoomOf(
  { rows, columns }: { rows: number; columns: number },
  room: number,
  hasPictures: boolean,
): number {
  const across = LETTERS + columns * (WIDE + 2);
  if (!hasPictures) return Math.min(room, WIDEST) / Math.max(across, LEAST_ACROSS);
  // beside pictures letters and gaps stay small, so that these get what is left
  const left = (room - LETTERS - columns * 2) / (columns * (WIDE + 0.4));
  return Math.min(left > 1 ? left : room / across, largest(rows, columns) / WIDE);
}
