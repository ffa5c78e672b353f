/** Paints without WebGL: tiles are composed here, kept while they look the same, and laid on a canvas. */
import type { LabelTile } from '../facts.ts';
import { stillOf, stillOfLabels } from './compose.ts';
import { INK, type PaintedChannel, type PaintedTile, type Painter, type Pane, placeOf } from './scene.ts';

interface Kept {
  look: string;
  picture: OffscreenCanvas;
}

export function createCanvasPainter(canvas: HTMLCanvasElement): Painter | undefined {
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  const kept = new WeakMap<object, Kept>();

  function once(holder: object, look: string, make: () => OffscreenCanvas): OffscreenCanvas {
    const before = kept.get(holder);
    if (before?.look === look) return before.picture;
    const picture = make();
    kept.set(holder, { look, picture });
    return picture;
  }

  const lookOf = (channels: readonly PaintedChannel[]) =>
    channels.map(({ tile, colour, limits }) => `${tileNumber(tile)} ${colour.join()} ${limits.join()}`).join(';');

  const picture = ({ channels }: PaintedTile) => once(channels[0]!.tile, lookOf(channels), () => stillOf(channels)!);

  const labelPicture = (tile: LabelTile, { look, palette }: Pane) =>
    once(tile, `${JSON.stringify(look)} ${palette ? tileNumber(palette) : ''}`, () =>
      stillOfLabels(tile, look, palette),
    );

  function paintPane(pane: Pane, ratio: number) {
    const { clip } = pane;
    context!.save();
    context!.beginPath();
    context!.rect(clip.left, clip.top, clip.width, clip.height);
    context!.clip();
    context!.imageSmoothingEnabled = pane.smooth;
    const lay = (source: OffscreenCanvas, box: PaintedTile['box']) => {
      const { left, top, right, bottom } = placeOf(pane, box);
      // whole pixels of the device, so that no seam shows between tiles
      const [x, y] = [Math.round(left * ratio) / ratio, Math.round(top * ratio) / ratio];
      context!.drawImage(source, x, y, Math.round(right * ratio) / ratio - x, Math.round(bottom * ratio) / ratio - y);
    };
    for (const tile of pane.tiles) if (tile.channels.length > 0) lay(picture(tile), tile.box);
    context!.imageSmoothingEnabled = false;
    for (const { tile, box } of pane.labels) lay(labelPicture(tile, pane), box);
    context!.restore();
  }

  return {
    kind: 'canvas',
    paint(panes, { width, height }, ratio) {
      const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = `rgb(${INK.join(' ')})`;
      context.fillRect(0, 0, width, height);
      for (const pane of panes) paintPane(pane, ratio);
    },
    dispose() {
      // the pictures go with the tiles
    },
  };
}

const numbers = new WeakMap<object, number>();
let count = 0;

function tileNumber(tile: object): number {
  const number = numbers.get(tile) ?? ++count;
  numbers.set(tile, number);
  return number;
}
