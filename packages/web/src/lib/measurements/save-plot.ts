/**
 * A plot as a file. What is drawn on the page as SVG is taken along with the styles that it has there; dots that are drawn on
 * a canvas become a picture inside it. `data-plot` marks the drawing, `data-dots` the canvas that lies under it, `data-under`
 * the lines behind both.
 */
import { saveFile } from '../ui/export.ts';

/** Everything that our drawings are styled by. */
const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'opacity',
];
const SVG = 'http://www.w3.org/2000/svg';
/** Pixels of a PNG for one of the page: sharp in print. */
const SHARP = 2;

function styled(from: Element, to: Element): void {
  const computed = getComputedStyle(from);
  if (computed.display === 'none' || computed.visibility === 'hidden') {
    to.remove();
    return;
  }
  for (const name of STYLES) to.setAttribute(name, computed.getPropertyValue(name));
  for (const name of ['class', 'style', 'tabindex', 'role', 'aria-label', 'aria-selected']) to.removeAttribute(name);
  const [sources, copies] = [[...from.children], [...to.children]];
  for (const [at, source] of sources.entries()) styled(source, copies[at]!);
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

interface Drawing {
  text: string;
  width: number;
  height: number;
}

/** Undefined where the panel has nothing drawn yet. */
function drawingOf(panel: HTMLElement): Drawing | undefined {
  const plot = panel.querySelector<SVGSVGElement>('svg[data-plot], [data-plot] svg');
  if (!plot) return undefined;
  const box = plot.getBoundingClientRect();
  const [width, height] = [Math.round(box.width), Math.round(box.height)];
  const copy = plot.cloneNode(true) as SVGSVGElement;
  styled(plot, copy);
  copy.setAttribute('xmlns', SVG);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const [left = 0, top = 0, across = width, down = height] = (plot.getAttribute('viewBox') ?? '')
    .split(' ')
    .map(Number);
  const under: SVGElement[] = [
    element('rect', { x: left, y: top, width: across, height: down, fill: getComputedStyle(panel).backgroundColor }),
  ];
  const lines = panel.querySelector<SVGSVGElement>('svg[data-under]');
  if (lines) {
    const behind = lines.cloneNode(true) as SVGSVGElement;
    styled(lines, behind);
    under.push(...([...behind.children] as SVGElement[]));
  }
  const dots = panel.querySelector<HTMLCanvasElement>('canvas[data-dots]');
  if (dots) {
    const place = dots.getBoundingClientRect();
    const image = element('image', {
      x: place.left - box.left,
      y: place.top - box.top,
      width: place.width,
      height: place.height,
    });
    image.setAttribute('href', dots.toDataURL('image/png'));
    under.push(image);
  }
  copy.prepend(...under);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

async function pngOf({ text, width, height }: Drawing): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [width * SHARP, height * SHARP];
  const context = canvas.getContext('2d')!;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The plot could not be saved.'))), 'image/png'),
  );
}

export async function savePlot(panel: HTMLElement, name: string, format: 'svg' | 'png'): Promise<void> {
  const drawing = drawingOf(panel);
  if (!drawing) return;
  if (format === 'svg') saveFile(`${name}.svg`, drawing.text, 'image/svg+xml');
  else saveFile(`${name}.png`, await pngOf(drawing), 'image/png');
}
