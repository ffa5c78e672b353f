/**
 * Where the reader looks: the middle of what is seen, in pixels of the image at its full size, and how many pixels of the
 * screen one of them takes.
 *
 *     const camera = fit(size, screen);
 *     zoomAt(camera, screen, pointer, 2);   // what is under the pointer stays there
 */

export interface Camera {
  x: number;
  y: number;
  zoom: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

const MOST_ZOOM = 64;
/** Nothing smaller than a part of the whole is of use. */
const LEAST_OF_FIT = 0.25;

export function fitZoom(size: Size, screen: Size): number {
  return Math.min(screen.width / size.width, screen.height / size.height);
}

export const fit = (size: Size, screen: Size): Camera => ({
  x: size.width / 2,
  y: size.height / 2,
  zoom: fitZoom(size, screen),
});

export const toImage = ({ x, y, zoom }: Camera, screen: Size, point: Point): Point => ({
  x: x + (point.x - screen.width / 2) / zoom,
  y: y + (point.y - screen.height / 2) / zoom,
});

export const toScreen = ({ x, y, zoom }: Camera, screen: Size, point: Point): Point => ({
  x: (point.x - x) * zoom + screen.width / 2,
  y: (point.y - y) * zoom + screen.height / 2,
});

const between = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);

/** The middle stays in the image, and the zoom in its bounds. */
export function within({ x, y, zoom }: Camera, size: Size, screen: Size): Camera {
  const least = Math.min(fitZoom(size, screen), 1) * LEAST_OF_FIT;
  return { x: between(x, 0, size.width), y: between(y, 0, size.height), zoom: between(zoom, least, MOST_ZOOM) };
}

export const moved = (camera: Camera, by: Point): Camera => ({
  ...camera,
  x: camera.x - by.x / camera.zoom,
  y: camera.y - by.y / camera.zoom,
});

/**
 * 100 %, and what is twice or half of it again and again, catch who comes near and let go who leaves: fingers and touch pads
 * zoom in tiny steps.
 */
const CATCH = 0.02;

export function caught(zoom: number, before: number): number {
  const whole = 2 ** Math.round(Math.log2(zoom));
  const isNear = Math.abs(zoom / whole - 1) < CATCH;
  return isNear && Math.abs(zoom - whole) < Math.abs(before - whole) ? whole : zoom;
}

/** `point` is on the screen, and what is there stays there. */
export function zoomAt(camera: Camera, screen: Size, point: Point, factor: number): Camera {
  const there = toImage(camera, screen, point);
  const zoom = caught(camera.zoom * factor, camera.zoom);
  return {
    x: there.x - (point.x - screen.width / 2) / zoom,
    y: there.y - (point.y - screen.height / 2) / zoom,
    zoom,
  };
}

/** The same place of another image of the same scene, which may have another number of pixels. */
export const inOther = (camera: Camera, from: Size, to: Size): Camera => ({
  x: (camera.x * to.width) / from.width,
  y: (camera.y * to.height) / from.height,
  zoom: (camera.zoom * from.width) / to.width,
});

/** `100 %`, `12.5 %` */
export function zoomWords(zoom: number): string {
  const percent = zoom * 100;
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}
