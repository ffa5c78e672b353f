/** The view as a PNG file, with its scale bar. */
import type { ScaleBar } from '../pixels/scale-bar.ts';

const MARGIN = 20;

/** `ratio`: pixels of the picture for one of the page. */
export async function pngOf(picture: HTMLCanvasElement, bar: ScaleBar | undefined, ratio: number): Promise<Blob> {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvas.getContext('2d')!;
  context.drawImage(picture, 0, 0);
  if (bar) {
    context.scale(ratio, ratio);
    const [left, bottom] = [MARGIN, picture.height / ratio - MARGIN];
    context.shadowColor = '#000';
    context.shadowBlur = 4;
    context.fillStyle = '#fff';
    context.fillRect(left, bottom - 3, bar.width, 3);
    context.font = '600 13px sans-serif';
    context.textAlign = 'center';
    context.fillText(bar.words, left + bar.width / 2, bottom - 9);
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture could not be saved.'))), 'image/png'),
  );
}
