/**
 * Pixels at another size. Smaller: every pixel is the mean of what it covers. Larger: pixels stay squares.
 *
 *     resample({ pixels, width: 540, height: 540, left: 0, top: 0 }, whole, { left: 0, top: 0, width: 64, height: 64 })
 *
 * A part can be drawn alone, and fits to its neighbours: what a pixel covers depends on the whole, not on the part.
 */

/** A part of a source, with where it lies in it. */
export interface Part {
  pixels: Float32Array;
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The whole source, and the size that it is drawn at. */
export interface Whole {
  width: number;
  height: number;
  drawnWidth: number;
  drawnHeight: number;
}

export interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Which pixels of a source a drawn pixel covers: from `first` to `last`, these two with their shares. */
interface Cover {
  first: Int32Array;
  last: Int32Array;
  firstShare: Float64Array;
  lastShare: Float64Array;
}

/** Rounding may make a border of a pixel lie a little beyond it. */
const TINY = 1e-9;

function coverOf(from: number, count: number, size: number, drawn: number): Cover {
  const ratio = size / drawn;
  const cover = {
    first: new Int32Array(count),
    last: new Int32Array(count),
    firstShare: new Float64Array(count),
    lastShare: new Float64Array(count),
  };
  for (let at = 0; at < count; at++) {
    const begin = (from + at) * ratio;
    const end = (from + at + 1) * ratio;
    if (ratio <= 1) {
      cover.first[at] = cover.last[at] = Math.min(size - 1, Math.floor((begin + end) / 2));
      cover.firstShare[at] = 1;
      continue;
    }
    const first = Math.min(size - 1, Math.floor(begin + TINY));
    const last = Math.max(first, Math.min(size - 1, Math.ceil(end - TINY) - 1));
    cover.first[at] = first;
    cover.last[at] = last;
    cover.firstShare[at] = last === first ? 1 : first + 1 - begin;
    cover.lastShare[at] = last === first ? 0 : end - last;
  }
  return cover;
}

/** The part of the source that is needed to draw a part. */
export function neededFor(whole: Whole, drawn: Rectangle): Rectangle {
  const across = coverOf(drawn.left, drawn.width, whole.width, whole.drawnWidth);
  const down = coverOf(drawn.top, drawn.height, whole.height, whole.drawnHeight);
  const [left, top] = [across.first[0]!, down.first[0]!];
  return { left, top, width: across.last.at(-1)! - left + 1, height: down.last.at(-1)! - top + 1 };
}

/** One line of a source at the width that is drawn. */
function squeeze(line: Float64Array, { pixels, left, width }: Part, row: number, across: Cover): void {
  const start = row * width - left;
  for (let at = 0; at < line.length; at++) {
    const [first, last] = [across.first[at]!, across.last[at]!];
    let sum = pixels[start + first]! * across.firstShare[at]!;
    let share = across.firstShare[at]!;
    if (last > first) {
      for (let x = first + 1; x < last; x++) sum += pixels[start + x]!;
      sum += pixels[start + last]! * across.lastShare[at]!;
      share += last - first - 1 + across.lastShare[at]!;
    }
    line[at] = sum / share;
  }
}

/** Draws `drawn`, a part of the whole at its drawn size. */
export function resample(part: Part, whole: Whole, drawn: Rectangle): Float32Array {
  const across = coverOf(drawn.left, drawn.width, whole.width, whole.drawnWidth);
  const down = coverOf(drawn.top, drawn.height, whole.height, whole.drawnHeight);
  const result = new Float32Array(drawn.width * drawn.height);
  const sums = new Float64Array(drawn.width);
  const line = new Float64Array(drawn.width);
  let squeezed = -1;
  for (let at = 0; at < drawn.height; at++) {
    const [first, last] = [down.first[at]!, down.last[at]!];
    sums.fill(0);
    let shares = 0;
    for (let y = first; y <= last; y++) {
      const share = y === first ? down.firstShare[at]! : y === last ? down.lastShare[at]! : 1;
      if (squeezed !== y) squeeze(line, part, y - part.top, across);
      squeezed = y;
      for (let x = 0; x < line.length; x++) sums[x]! += line[x]! * share;
      shares += share;
    }
    for (let x = 0; x < line.length; x++) result[at * drawn.width + x] = sums[x]! / shares;
  }
  return result;
}

/** A part of a label image, whose numbers must stay as they are. */
export interface LabelPart extends Rectangle {
  labels: ArrayLike<number>;
}

/** The same for labels, whose numbers cannot be mixed: the one in the middle counts. */
export function resampleLabels(part: LabelPart, whole: Whole, drawn: Rectangle): Float64Array {
  const middle = (at: number, size: number, of: number) => Math.min(size - 1, Math.floor(((at + 0.5) * size) / of));
  const columns = Int32Array.from(
    { length: drawn.width },
    (_, at) => middle(drawn.left + at, whole.width, whole.drawnWidth) - part.left,
  );
  const result = new Float64Array(drawn.width * drawn.height);
  for (let y = 0; y < drawn.height; y++) {
    const row = (middle(drawn.top + y, whole.height, whole.drawnHeight) - part.top) * part.width;
    for (let x = 0; x < drawn.width; x++) result[y * drawn.width + x] = part.labels[row + columns[x]!]!;
  }
  return result;
}
