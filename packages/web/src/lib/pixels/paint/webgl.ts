/** Paints with WebGL 2. Textures are kept while they are used; undefined where the browser has none. */
import { ON_PICTURE } from '@service/contract/ome';

import type { Size } from '../camera.ts';
import type { LabelTile, Tile } from '../facts.ts';
import { LIGHTER } from '../palette.ts';
import { INK, limitsIn, type PaintedLabels, type PaintedTile, type Painter, type Pane, placeOf } from './scene.ts';
import { CHANNELS, CHANNELS_AT_ONCE, CORNERS, LABELS } from './shaders.ts';

const KEPT_BYTES = 256 * 2 ** 20;
/** Of an outline, in pixels of the page. */
const THICK = 1.6;

type Gl = WebGL2RenderingContext;

function compiled(gl: Gl, fragment: string): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, CORNERS],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(type)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`A program of the viewer does not link: ${gl.getProgramInfoLog(program)}`);
  return program;
}

/** How the bytes of a texture make a number again: textures hold parts of 1. */
function formatOf(gl: Gl, pixels: Tile['pixels']) {
  if (pixels instanceof Uint8Array)
    return { inside: gl.R8, format: gl.RED, type: gl.UNSIGNED_BYTE, weight: [255, 0, 0, 0] };
  if (pixels instanceof Uint16Array)
    return { inside: gl.RG8, format: gl.RG, type: gl.UNSIGNED_BYTE, weight: [255, 65_280, 0, 0] };
  return { inside: gl.R32F, format: gl.RED, type: gl.FLOAT, weight: [1, 0, 0, 0] };
}

interface KeptTexture {
  texture: WebGLTexture;
  weight: number[];
  bytes: number;
}

/** Textures of tiles, the ones that were used last at the end. */
function createTextures(gl: Gl) {
  const kept = new Map<object, KeptTexture>();
  let bytes = 0;

  function make(tile: Tile | LabelTile): KeptTexture {
    const { width, height } = tile;
    const pixels = 'labels' in tile ? tile.labels : tile.pixels;
    const { inside, format, type, weight } =
      'labels' in tile
        ? { inside: gl.RGBA8, format: gl.RGBA, type: gl.UNSIGNED_BYTE, weight: [] }
        : formatOf(gl, tile.pixels);
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    const view =
      type === gl.FLOAT
        ? (pixels as Float32Array)
        : new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength);
    gl.texImage2D(gl.TEXTURE_2D, 0, inside, width, height, 0, format, type, view);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.NEAREST],
      [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ] as const)
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    return { texture, weight, bytes: pixels.byteLength };
  }

  return {
    of(tile: Tile | LabelTile): KeptTexture {
      const before = kept.get(tile);
      const texture = before ?? make(tile);
      if (before) kept.delete(tile);
      else bytes += texture.bytes;
      kept.set(tile, texture);
      return texture;
    },
    /** After a frame: all that it used are the last. */
    tidy() {
      for (const [tile, { texture, bytes: size }] of kept) {
        if (bytes <= KEPT_BYTES) return;
        gl.deleteTexture(texture);
        kept.delete(tile);
        bytes -= size;
      }
    },
    drop() {
      for (const { texture } of kept.values()) gl.deleteTexture(texture);
      kept.clear();
      bytes = 0;
    },
  };
}

export function createWebglPainter(canvas: HTMLCanvasElement, onlost: () => void): Painter | undefined {
  const gl = canvas.getContext('webgl2', { alpha: false, antialias: false, depth: false, stencil: false });
  if (!gl) return undefined;
  const [channels, labels] = [compiled(gl, CHANNELS), compiled(gl, LABELS)];
  const textures = createTextures(gl);
  const places = new Map<WebGLProgram, Map<string, WebGLUniformLocation | null>>();
  const lost = (event: Event) => {
    event.preventDefault();
    onlost();
  };
  canvas.addEventListener('webglcontextlost', lost);

  /** Where a program takes a value. */
  function uniform(program: WebGLProgram, name: string): WebGLUniformLocation | null {
    const known = places.get(program) ?? new Map<string, WebGLUniformLocation | null>();
    places.set(program, known);
    if (!known.has(name)) known.set(name, gl!.getUniformLocation(program, name));
    return known.get(name)!;
  }

  function setPlace(program: WebGLProgram, pane: Pane, box: PaintedTile['box'], { width, height }: Size) {
    const { left, top, right, bottom } = placeOf(pane, box);
    const across = (x: number) => (x / width) * 2 - 1;
    const down = (y: number) => 1 - (y / height) * 2;
    gl!.uniform4f(uniform(program, 'place'), across(left), down(top), across(right), down(bottom));
  }

  function paintTile(pane: Pane, { box, channels: shown }: PaintedTile, size: Size) {
    for (let from = 0; from < shown.length; from += CHANNELS_AT_ONCE) {
      const some = shown.slice(from, from + CHANNELS_AT_ONCE);
      setPlace(channels, pane, box, size);
      gl!.uniform1i(uniform(channels, 'count'), some.length);
      gl!.uniform1i(uniform(channels, 'smoothed'), pane.smooth ? 1 : 0);
      gl!.uniform2f(uniform(channels, 'size'), some[0]!.tile.width, some[0]!.tile.height);
      for (const [index, { tile, colour, limits }] of some.entries()) {
        gl!.activeTexture(gl!.TEXTURE0 + index);
        const { texture, weight } = textures.of(tile);
        gl!.bindTexture(gl!.TEXTURE_2D, texture);
        gl!.uniform1i(uniform(channels, `tile${index}`), index);
        gl!.uniform4fv(uniform(channels, `weights[${index}]`), weight);
        gl!.uniform2fv(uniform(channels, `limits[${index}]`), [...limitsIn(tile, limits)]);
        gl!.uniform3fv(
          uniform(channels, `colours[${index}]`),
          colour.map((part) => part / 255),
        );
      }
      if (from > 0) {
        gl!.enable(gl!.BLEND);
        gl!.blendFunc(gl!.ONE, gl!.ONE);
      }
      gl!.drawArrays(gl!.TRIANGLE_STRIP, 0, 4);
      gl!.disable(gl!.BLEND);
    }
  }

  /** A program needs a texture in every place, whether it looks there or not. */
  function setPalette(palette: LabelTile, mapped: boolean) {
    gl!.activeTexture(gl!.TEXTURE1);
    gl!.bindTexture(gl!.TEXTURE_2D, textures.of(palette).texture);
    gl!.uniform1i(uniform(labels, 'palette'), 1);
    gl!.uniform1i(uniform(labels, 'mapped'), mapped ? 1 : 0);
    gl!.uniform2i(uniform(labels, 'paletteSize'), palette.width, palette.height);
    gl!.uniform1f(uniform(labels, 'lighter'), LIGHTER);
  }

  function paintLabels(pane: Pane, { box, tile }: PaintedLabels, size: Size, ratio: number) {
    const { look, camera, palette } = pane;
    setPlace(labels, pane, box, size);
    gl!.activeTexture(gl!.TEXTURE0);
    gl!.bindTexture(gl!.TEXTURE_2D, textures.of(tile).texture);
    gl!.uniform1i(uniform(labels, 'labels'), 0);
    setPalette(palette ?? tile, palette !== undefined);
    gl!.uniform2f(uniform(labels, 'size'), tile.width, tile.height);
    const perPixel = (pixels: number, length: number) => pixels / length / camera.zoom / ratio;
    gl!.uniform2f(
      uniform(labels, 'step'),
      perPixel(tile.width, box.right - box.left),
      perPixel(tile.height, box.bottom - box.top),
    );
    gl!.uniform1f(uniform(labels, 'thick'), THICK * ratio);
    gl!.uniform1i(uniform(labels, 'outlined'), look.look === 'fill' ? 0 : 1);
    gl!.uniform1i(uniform(labels, 'random'), look.random ? 1 : 0);
    gl!.uniform1f(uniform(labels, 'strength'), look.look === 'outline' ? 0 : look.strength);
    gl!.uniform3fv(
      uniform(labels, 'colour'),
      ON_PICTURE.map((part) => part / 255),
    );
    gl!.drawArrays(gl!.TRIANGLE_STRIP, 0, 4);
  }

  return {
    kind: 'webgl',
    paint(panes, size, ratio) {
      if (gl.isContextLost()) return;
      const [across, down] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
      if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
      gl.viewport(0, 0, across, down);
      gl.disable(gl.SCISSOR_TEST);
      gl.clearColor(INK[0] / 255, INK[1] / 255, INK[2] / 255, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.enable(gl.SCISSOR_TEST);
      for (const pane of panes) {
        const { left, top, width, height } = pane.clip;
        gl.scissor(
          Math.round(left * ratio),
          Math.round((size.height - top - height) * ratio),
          Math.round(width * ratio),
          Math.round(height * ratio),
        );
        gl.useProgram(channels);
        for (const tile of pane.tiles) if (tile.channels.length > 0) paintTile(pane, tile, size);
        gl.useProgram(labels);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        for (const one of pane.labels) paintLabels(pane, one, size, ratio);
        gl.disable(gl.BLEND);
      }
      textures.tidy();
    },
    dispose() {
      canvas.removeEventListener('webglcontextlost', lost);
      textures.drop();
      gl.deleteProgram(channels);
      gl.deleteProgram(labels);
    },
  };
}
