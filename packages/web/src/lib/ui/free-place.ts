/** Where a small notice can be without lying over something that can be pressed. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

const MARGIN = 20;
/** Below the bar on top. */
const BAR = 48;

const overlaps = (a: Box, b: Box) =>
  a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;

/** The corners and the middle, those at the end of the window first: there people expect it. */
function places({ width, height }: Pick<Box, 'width' | 'height'>, room: Pick<Box, 'width' | 'height'>): Box[] {
  const [right, middle] = [room.width - width - MARGIN, (room.width - width) / 2];
  const [bottom, top] = [room.height - height - MARGIN, BAR + 8];
  const across = [right, middle, MARGIN].map((left) => Math.max(8, left));
  return [bottom, top].flatMap((down) => across.map((left) => ({ left, top: down, width, height })));
}

/** The first place with nothing under it, else the one with the least. */
export function freePlace(
  size: Pick<Box, 'width' | 'height'>,
  room: Pick<Box, 'width' | 'height'>,
  obstacles: readonly Box[],
): Box {
  const counted = places(size, room).map((place) => ({
    place,
    count: obstacles.filter((obstacle) => overlaps(place, obstacle)).length,
  }));
  return counted.reduce((best, one) => (one.count < best.count ? one : best)).place;
}
